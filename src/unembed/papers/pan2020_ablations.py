"""Pan 2020, VI-D4 and Figure 4: what keyword inference needs, and how far the domains lie apart."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unembed.attacks.keyword.alignment import TwoSides
from unembed.games.keyword import KeywordKnowledge
from unembed.metrics.estimate import mean
from unembed.papers.base import Measured, by_size
from unembed.papers.encoders import RECIPES
from unembed.papers.library import facts_of
from unembed.papers.pan2020_keywords import AT_REAL_SHARE, DANN, MLP, OURS, SVM, KeywordCase, KeywordTable
from unembed.papers.pan2020_texts import EXTERNAL, NUMBERS, SHADOW, fewer
from unembed.papers.tables import HEADLINE, Names, Row, setting
from unembed.papers.texts import sample

SHADOWS = by_size((20, 60), (20, 50, 100, 200), (20, 50, 100, 200, 500, 1_000))
SHARES = by_size((20, 100), (5, 25, 100), (5, 10, 25, 50, 75, 100))
UNITS = by_size((5, 25), (5, 25, 100), (5, 10, 25, 50, 100, 200))
VICTIMS = by_size((250,), (300, 1_000), (500, 1_000, 2_000, 5_000, 10_000))
PANELS = {
    "shadow": "accuracy by texts of the shadow corpus (c)",
    "external": "accuracy by percent of the external corpus (d)",
    "units": "accuracy by units of the representation (g)",
    "victims": "accuracy by vectors under attack (h)",
}


class Ablations(KeywordTable):
    """Four curves: shadow corpus, external corpus, representation, vectors under attack."""

    facts = facts_of("pan2020/figure6-ablations")

    def rows_of(self, case: KeywordCase, key: str) -> list[Row]:
        """All points of all curves of one encoder."""
        size, seed, texts = case.conditions.size, case.conditions.seed, case.texts
        shadow, external, samples = texts.known[SHADOW], texts.known[EXTERNAL], NUMBERS[size].samples
        points: list[tuple[str, int, str, Any, int, dict[str, Any]]] = []
        for count in (n for n in SHADOWS[size] if n <= len(shadow)):
            less = {"known": fewer(shadow, count, texts.keywords, seed)}
            points.append(("shadow", count, SHADOW, MLP, min(samples, count), less))
        for share in SHARES[size]:
            part = {"known": sample(external, max(8, len(external) * share // 100), seed, "share")}
            most = max(16, samples * share // 100)
            points += [("external", share, EXTERNAL, spec, most, part) for spec in (DANN, OURS)]
        for units in UNITS[size]:
            points.append(("units", units, EXTERNAL, replace(DANN, params={"units": units}), samples, {}))
        for count in (n for n in VICTIMS[size] if n <= len(texts.target)):
            points += [("victims", count, EXTERNAL, spec, samples, {"targets": count}) for spec in (DANN, OURS)]
        rows = []
        for panel, x, knowledge, spec, most, less in points:
            series = f"{spec.title} · {RECIPES[key].title}"
            row = partial(case.row, key, knowledge, spec, case.game(knowledge, most), f"{series} · {panel} {x}")
            rows.append(row(_panel_names(PANELS[panel]), less, series=series, x=float(x)))
        return rows


def _panel_names(panel: str) -> Names:
    return {
        HEADLINE: panel,
        **{ours: panel.replace("accuracy", shown, 1) for ours, shown in AT_REAL_SHARE.items()},
    }


COSINE, ON_OWN, ON_TARGETS = "cosine of the boundaries", "accuracy on own texts", "accuracy on targets"


class Figure4(KeywordTable):
    """How far the boundary learnt on the external corpus is from the one the targets would give."""

    facts = facts_of("pan2020/figure4")

    def rows_of(self, case: KeywordCase, key: str) -> list[Row]:
        """Three figures for each way of preparing the vectors."""
        if key in ("tfidf", "hashing") and case.conditions.size != "smoke":
            return []
        ways = {"standardised together": False, "whitened apart": True}
        return [self._row(case, key, how, aligned) for how, aligned in ways.items()]

    def _row(self, case: KeywordCase, key: str, how: str, aligned: bool) -> Row:
        name = setting("SVM", RECIPES[key].title, how)
        game = case.game(EXTERNAL)

        def measure() -> list[Measured]:
            deal = case.deal(key, EXTERNAL, game)
            own, theirs = _prepared(deal.knowledge, aligned)
            found = np.array([_boundaries(deal, own, theirs, k) for k in range(len(game.keywords))])
            metrics = zip((COSINE, ON_OWN, ON_TARGETS), found.T, strict=True)
            return [Measured.of(name, metric, mean(values)) for metric, values in metrics]

        identity = {**case.identity(key), **SVM.identity(), "aligned": aligned, "game": game.get_params()}
        return Row(name, identity, measure)


def _prepared(knowledge: KeywordKnowledge, aligned: bool) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    assert knowledge.unlabelled is not None
    sides = TwoSides(0.5).fit(knowledge.vectors, knowledge.unlabelled)
    if aligned:
        return sides.own.transform(knowledge.vectors), sides.theirs.transform(knowledge.unlabelled)
    scaler = sides.own.scaler
    return scaler.transform(knowledge.vectors), scaler.transform(knowledge.unlabelled)


def _boundaries(deal: Any, own: Any, theirs: Any, column: int) -> tuple[float, float, float]:
    """Cosine of both normals, accuracy of the external classifier on its own texts and on the targets asked about."""
    from sklearn.svm import LinearSVC

    rows, labels = deal.knowledge.rows[column], deal.knowledge.labels[column]
    asked = np.flatnonzero(deal.truth.asked[:, column])
    answers = deal.truth.present[asked, column]
    near = LinearSVC(C=0.01, dual="auto", max_iter=5000, random_state=0).fit(own[rows], labels)
    far = LinearSVC(C=0.01, dual="auto", max_iter=5000, random_state=0).fit(theirs[asked], answers)
    normals = near.coef_[0], far.coef_[0]
    cosine = float(normals[0] @ normals[1] / max(np.linalg.norm(normals[0]) * np.linalg.norm(normals[1]), 1e-12))
    return cosine, float(near.score(own[rows], labels)), float(near.score(theirs[asked], answers))
