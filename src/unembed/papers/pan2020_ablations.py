"""Pan 2020, VI-D4 and Figure 4: what keyword inference needs, and how far the domains lie apart."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unembed.attacks.keyword.alignment import TwoSides
from unembed.games.keyword import KeywordGame, KeywordKnowledge
from unembed.metrics.estimate import mean
from unembed.papers.base import Conditions, ExperimentFacts, Measured, Published, Reproduction, Size
from unembed.papers.cells import Cell, run_cells
from unembed.papers.lab import RECIPES
from unembed.papers.pan2020_keywords import AT_REAL_SHARE, CORPORA, DANN, MLP, OURS, SVM, KeywordRows, brief, setting
from unembed.papers.pan_worlds import EXTERNAL, NUMBERS, SHADOW, PanDeals, fewer
from unembed.papers.stand_ins import sample
from unembed.seeds import generator, seed_for

SHADOWS: dict[Size, tuple[int, ...]] = {
    "smoke": (20, 60),
    "small": (20, 50, 100, 200),
    "full": (20, 50, 100, 200, 500, 1_000),
}
SHARES: dict[Size, tuple[int, ...]] = {"smoke": (20, 100), "small": (5, 25, 100), "full": (5, 10, 25, 50, 75, 100)}
UNITS: dict[Size, tuple[int, ...]] = {"smoke": (5, 25), "small": (5, 25, 100), "full": (5, 10, 25, 50, 100, 200)}
VICTIMS: dict[Size, tuple[int, ...]] = {
    "smoke": (250,),
    "small": (300, 1_000),
    "full": (500, 1_000, 2_000, 5_000, 10_000),
}
PANELS = {
    "shadow": "accuracy by texts of the shadow corpus (c)",
    "external": "accuracy by percent of the external corpus (d)",
    "units": "accuracy by units of the representation (g)",
    "victims": "accuracy by vectors under attack (h)",
}


class Ablations(KeywordRows):
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

    def run(self, conditions: Conditions) -> Reproduction:
        """All points of all curves."""
        deals, size = self.deals(conditions, "Medical"), conditions.size
        cells = [cell for key in self.encoders(conditions) for cell in self._cells(deals, key, size)]
        return run_cells(self.facts, cells, conditions, deals.world.notes)

    def _cells(self, deals: PanDeals, key: str, size: Size) -> list[Cell]:
        keywords, samples = deals.world.keywords, NUMBERS[size].samples
        shadow, external = (deals.world.known[k] for k in (SHADOW, EXTERNAL))
        cells = []

        def add(panel: str, x: int, knowledge: str, spec: Any, texts: int, less: dict[str, Any]) -> None:
            title = RECIPES[key].title
            game = KeywordGame(keywords=keywords, samples=texts)
            names = {"headline": PANELS[panel]}
            names |= {ours: PANELS[panel].replace("accuracy", shown, 1) for ours, shown in AT_REAL_SHARE.items()}
            name = f"{spec.title} · {title} · {panel} {x}"
            series = f"{spec.title} · {title}"
            cells.append(
                self.cell(
                    deals,
                    key,
                    knowledge,
                    brief(spec, size),
                    game,
                    name,
                    names=names,
                    less=less,
                    series=series,
                    x=float(x),
                )
            )

        for count in (n for n in SHADOWS[size] if n <= len(shadow)):
            less = {"known": fewer(shadow, count, keywords, deals.lab.conditions.seed)}
            add("shadow", count, SHADOW, MLP, min(samples, count), less)
        for share in SHARES[size]:
            part = sample(external, max(8, len(external) * share // 100), deals.lab.conditions.seed, "share")
            for spec in (DANN, OURS):
                add("external", share, EXTERNAL, spec, max(16, samples * share // 100), {"known": part})
        for units in UNITS[size]:
            wide = replace(DANN, params={"units": units})
            add("units", units, EXTERNAL, wide, samples, {})
        for count in (n for n in VICTIMS[size] if n <= len(deals.world.target)):
            for spec in (DANN, OURS):
                add("victims", count, EXTERNAL, spec, samples, {"targets": count})
        return cells


COSINE, AT_HOME, ABROAD = "cosine of the boundaries", "accuracy on own texts", "accuracy on targets"


class Figure4(KeywordRows):
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

    def run(self, conditions: Conditions) -> Reproduction:
        """One row of three figures for each encoder and way of preparing the vectors."""
        deals = self.deals(conditions, "Medical")
        cells = [
            self._angle(deals, key, aligned)
            for key in self.encoders(conditions)
            if key not in ("tfidf", "hashing") or conditions.size == "smoke"
            for aligned in (False, True)
        ]
        return run_cells(self.facts, cells, conditions, deals.world.notes)

    def _angle(self, deals: PanDeals, key: str, aligned: bool) -> Cell:
        how = "whitened apart" if aligned else "standardised together"
        name = setting("SVM", RECIPES[key].title, how)
        game = KeywordGame(keywords=deals.world.keywords, samples=NUMBERS[deals.lab.conditions.size].samples)

        def measure() -> list[Measured]:
            deal = deals.deal(key, EXTERNAL, game)
            seed = seed_for(deals.lab.conditions.seed, "angle", key)
            own, theirs = _prepared(deal.knowledge, aligned)
            found = np.array([_boundaries(deal, own, theirs, k) for k in range(len(game.keywords))])
            rows = []
            for metric, values in zip((COSINE, AT_HOME, ABROAD), found.T, strict=True):
                estimate = mean(values, rng=generator(seed, metric))
                rows.append(Measured(name, metric, estimate.value, estimate.low, estimate.high, estimate.n))
            return rows

        identity = {**deals.lab.identity(key), **SVM.identity(), "data": deals.world.fingerprint, "aligned": aligned}
        return Cell(
            name, {**identity, "game": {**game.get_params(), "place": None, "version": game.facts.version}}, measure
        )


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
    near = LinearSVC(C=0.01, dual="auto", max_iter=5000).fit(own[rows], labels)
    far = LinearSVC(C=0.01, dual="auto", max_iter=5000).fit(theirs[asked], answers)
    normals = near.coef_[0], far.coef_[0]
    cosine = float(normals[0] @ normals[1] / max(np.linalg.norm(normals[0]) * np.linalg.norm(normals[1]), 1e-12))
    return cosine, float(near.score(own[rows], labels)), float(near.score(theirs[asked], answers))
