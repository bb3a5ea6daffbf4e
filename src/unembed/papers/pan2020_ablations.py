"""Pan 2020, VI-D4 and Figure 4: what keyword inference needs, and how far the domains lie apart."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unembed.attacks.keyword.alignment import TwoSides
from unembed.games.keyword import KeywordKnowledge
from unembed.metrics.estimate import mean
from unembed.papers.base import ExperimentFacts, Measured, Published, by_size
from unembed.papers.data import sample
from unembed.papers.encoders import RECIPES
from unembed.papers.pan2020_keywords import AT_REAL_SHARE, CORPORA, DANN, MLP, OURS, SVM, Bench, KeywordTable, setting
from unembed.papers.pan2020_texts import EXTERNAL, NUMBERS, SHADOW, fewer
from unembed.papers.rows import HEADLINE, Names, Row

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

    facts: ClassVar[ExperimentFacts] = ExperimentFacts(
        name="pan2020/figure6-ablations",
        paper="pan2020",
        title="Ablations of keyword inference on Medical",
        section="Figure 6(c, d, g, h), section VI-D4",
        published=(
            Published("MLP · GPT-2 · 10", PANELS["shadow"], 0.594),
            Published("MLP · GPT-2 medium · 10", PANELS["shadow"], 0.610),
            Published("MLP · GPT-2 large · 10", PANELS["shadow"], 0.685),
        ),
        departures=f"{CORPORA} The paper uses GPT-2 in three sizes and prints the accuracy for ten texts alone; the "
        "shadow corpus starts at 20 texts here, because every one of ten keywords has to stand in two of them. Ours "
        "stands beside the paper's attack.",
        headline=PANELS["external"],
        axis="texts, percent, units or vectors",
    )

    def rows_of(self, bench: Bench, key: str) -> list[Row]:
        """All points of all curves of one encoder."""
        size, seed, texts = bench.conditions.size, bench.conditions.seed, bench.texts
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
            row = partial(bench.row, key, knowledge, spec, bench.game(knowledge, most), f"{series} · {panel} {x}")
            rows.append(row(_panel_names(PANELS[panel]), less, series=series, x=float(x)))
        return rows


def _panel_names(panel: str) -> Names:
    return {
        HEADLINE: panel,
        **{ours: panel.replace("accuracy", shown, 1) for ours, shown in AT_REAL_SHARE.items()},
    }


COSINE, AT_HOME, ABROAD = "cosine of the boundaries", "accuracy on own texts", "accuracy on targets"


class Figure4(KeywordTable):
    """How far the boundary learnt on the external corpus is from the one the targets would give."""

    facts: ClassVar[ExperimentFacts] = ExperimentFacts(
        name="pan2020/figure4",
        paper="pan2020",
        title="Decision boundaries on the external corpus and on the target",
        section="Figure 4, section VI-B",
        published=(),
        departures=f"{CORPORA} The paper draws the boundary of one keyword ('head', XLNet) in two dimensions and calls "
        "the two 'almost orthogonal'; here the angle is measured, for all keywords: the cosine between the normals of "
        "linear machines trained on either side, on vectors standardised together and on vectors whitened each by its "
        "own side.",
        headline=COSINE,
    )

    def rows_of(self, bench: Bench, key: str) -> list[Row]:
        """Three figures for each way of preparing the vectors."""
        if key in ("tfidf", "hashing") and bench.conditions.size != "smoke":
            return []
        ways = {"standardised together": False, "whitened apart": True}
        return [self._row(bench, key, how, aligned) for how, aligned in ways.items()]

    def _row(self, bench: Bench, key: str, how: str, aligned: bool) -> Row:
        name = setting("SVM", RECIPES[key].title, how)
        game = bench.game(EXTERNAL)

        def measure() -> list[Measured]:
            deal = bench.deal(key, EXTERNAL, game)
            own, theirs = _prepared(deal.knowledge, aligned)
            found = np.array([_boundaries(deal, own, theirs, k) for k in range(len(game.keywords))])
            metrics = zip((COSINE, AT_HOME, ABROAD), found.T, strict=True)
            return [Measured.of(name, metric, mean(values)) for metric, values in metrics]

        identity = {**bench.identity(key), **SVM.identity(), "aligned": aligned, "game": game.get_params()}
        return Row(name, identity, measure)


def _prepared(knowledge: KeywordKnowledge, aligned: bool) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    assert knowledge.unlabelled is not None
    sides = TwoSides(0.5).fit(knowledge.vectors, knowledge.unlabelled)
    if aligned:
        return sides.own.transform(knowledge.vectors), sides.theirs.transform(knowledge.unlabelled)
    scaler = sides.own.scaler
    return scaler.transform(knowledge.vectors), scaler.transform(knowledge.unlabelled)


def _boundaries(deal: Any, own: Any, theirs: Any, column: int) -> tuple[float, float, float]:
    """Cosine of both normals, accuracy of the external machine at home and on the targets asked about."""
    from sklearn.svm import LinearSVC

    rows, labels = deal.knowledge.rows[column], deal.knowledge.labels[column]
    asked = np.flatnonzero(deal.truth.asked[:, column])
    answers = deal.truth.present[asked, column]
    near = LinearSVC(C=0.01, dual="auto", max_iter=5000, random_state=0).fit(own[rows], labels)
    far = LinearSVC(C=0.01, dual="auto", max_iter=5000, random_state=0).fit(theirs[asked], answers)
    normals = near.coef_[0], far.coef_[0]
    cosine = float(normals[0] @ normals[1] / max(np.linalg.norm(normals[0]) * np.linalg.norm(normals[1]), 1e-12))
    return cosine, float(near.score(own[rows], labels)), float(near.score(theirs[asked], answers))
