"""Song and Raghunathan 2020, Figure 2: inversion of vectors taken from each layer of a model.

The paper draws curves without figures; of the last layer of BERT Table 1 prints them. Multi-label classification
is added to the paper's two white-box curves: whether an attack without the weights loses as much in the
upper layers is a question the figure leaves open.
"""

from __future__ import annotations

from typing import ClassVar

from unembed.games.inversion import InversionGame
from unembed.papers.base import Conditions, ExperimentFacts, Measured, Published, Reproduction, Size
from unembed.papers.cells import Cell, run_cells
from unembed.papers.lab import RECIPES, Lab, pick_encoders
from unembed.papers.scoring import AttackSpec, attempt, rows_of, song_metrics
from unembed.papers.song2020 import CORPUS, POOLED
from unembed.papers.song_deals import SongDeals
from unembed.papers.stand_ins import IN, Amounts, song_sides
from unembed.seeds import seed_for

LAYERS: dict[str, tuple[int, ...]] = {"bert-mean": (0, 2, 4, 6, 8, 10, 12), "minilm": (0, 1, 2, 3, 4, 5, 6)}
SHOWN = ("precision", "recall", "F1", "content F1")


def layer_setting(attack: str, key: str, layer: int) -> str:
    """The name of a point."""
    model = {"bert-mean": "BERT-base", "minilm": "MiniLM"}[key]
    return f"{attack} · {model} · layer {layer}"


def _printed(attack: str, *values: float) -> tuple[Published, ...]:
    name = layer_setting(attack, "bert-mean", 12)
    return tuple(Published(name, m, round(v / 100, 4)) for m, v in zip(SHOWN, values, strict=False))


class Figure2:
    """Precision, recall and F1 over the layers of a model, for eq. 5, eq. 7 and multi-label classification."""

    facts: ClassVar[ExperimentFacts] = ExperimentFacts(
        name="song2020/figure2",
        paper="song2020",
        title="Inversion from each layer",
        section="Figure 2, section 6.2",
        published=(*_printed("Equation 5", 0.84, 0.89, 0.87), *_printed("Equation 7", 50.28, 49.17, 49.72)),
        departures=f"{CORPUS} The figure prints no numbers; those of the last layer come from Table 1. Layers of "
        "MiniLM stand beside BERT's, and multi-label classification beside the paper's two attacks.",
        headline="F1",
        axis="layer (0: mean of the word embeddings)",
    )
    encoders: ClassVar[dict[Size, tuple[str, ...]]] = {
        "smoke": ("minilm",),
        "small": ("minilm",),
        "full": ("bert-mean", "minilm"),
    }
    amounts: ClassVar[dict[Size, Amounts]] = {
        "smoke": Amounts(60, 10, 10),
        "small": Amounts(2_000, 10, 200),
        "full": Amounts(20_000, 10, 2_000),
    }

    def attacks(self, size: Size) -> list[tuple[AttackSpec, int | None]]:
        """Each attack with the most targets it is given."""
        few: dict[Size, int] = {"smoke": 2, "small": 8, "full": 100}
        brief = {"epochs": 2, "min_steps": 20} if size == "smoke" else {}
        relaxed = {"steps": 5} if size == "smoke" else {}
        return [
            (AttackSpec("Equation 5", "inversion/relaxation", relaxed), few[size]),
            (AttackSpec("Equation 7", "inversion/sparse-coding", {}), None),
            (AttackSpec("MLC, tuned", "inversion/mlc", {"threshold": "tuned", **brief}), None),
        ]

    def run(self, conditions: Conditions) -> Reproduction:
        """Measure every point that the machine has the encoder for."""
        chosen = pick_encoders(conditions.encoders, self.encoders[conditions.size], tuple(LAYERS))
        sides = song_sides(conditions, self.amounts[conditions.size])
        deals = SongDeals(Lab(conditions, sides.fit), sides)
        layers = {k: LAYERS[k][:: 3 if conditions.size == "smoke" else 1] for k in chosen}
        cells = [
            self._cell(deals, conditions, key, layer, spec, most)
            for key in chosen
            for layer in layers[key]
            for spec, most in self.attacks(conditions.size)
        ]
        return run_cells(self.facts, cells, conditions, (*sides.notes, POOLED))

    def _cell(
        self,
        deals: SongDeals,
        conditions: Conditions,
        key: str,
        layer: int,
        spec: AttackSpec,
        most: int | None,
    ) -> Cell:
        name = layer_setting(spec.title, key, layer)
        game = InversionGame(max_targets=most)

        def measure() -> list[Measured]:
            attack = spec.make(conditions)
            deal = deals.deal(key, IN, game, layer)
            seed = seed_for(conditions.seed, "play", key, layer, spec.title)
            metrics = [m for m in song_metrics(deal.truth, seed) if m[0] in SHOWN]
            return rows_of(
                metrics,
                attempt(game, attack, deal, seed),
                setting=name,
                series=f"{spec.title} · {RECIPES[key].title.split(',')[0]}",
                x=float(layer),
            )

        identity = {**deals.lab.identity(key, layer), **spec.identity(), "game": game.get_params()}
        return Cell(name, {**identity, "data": deals.sides.fingerprint}, measure)
