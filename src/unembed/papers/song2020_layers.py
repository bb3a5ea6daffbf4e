"""Song and Raghunathan 2020, Figure 2: inversion of vectors taken from each layer of a model.

The paper draws curves without figures; of the last layer of BERT Table 1 prints them. Multi-label classification
is added to the paper's two white-box curves: whether an attack without the weights loses as much in the
upper layers is a question the figure leaves open.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from unembed.games.inversion import InversionGame
from unembed.papers.base import Conditions, Size, by_size
from unembed.papers.encoders import RECIPES, Encoders
from unembed.papers.library import facts_of
from unembed.papers.song2020_inversion import POOLED, PRINTED, Plan, word_deal
from unembed.papers.tables import HEADLINE, AttackSpec, Row, Table, played
from unembed.papers.texts import IN, Amounts, song_texts

LAYERS: dict[str, tuple[int, ...]] = {"bert-mean": (0, 2, 4, 6, 8, 10, 12), "minilm": (0, 1, 2, 3, 4, 5, 6)}


def layer_setting(attack: str, key: str, layer: int) -> str:
    """The name of a point."""
    model = {"bert-mean": "BERT-base", "minilm": "MiniLM"}[key]
    return f"{attack} · {model} · layer {layer}"


class Figure2(Table):
    """Precision, recall and F1 over the layers of a model, for eq. 5, eq. 7 and multi-label classification."""

    facts = facts_of("song2020/figure2")
    known: ClassVar[tuple[str, ...]] = tuple(LAYERS)
    encoders = by_size(("minilm",), ("minilm",), ("bert-mean", "minilm"))
    amounts = by_size(Amounts(60, 10, 10), Amounts(2_000, 10, 200), Amounts(20_000, 10, 2_000))

    def attacks(self, size: Size) -> list[Plan]:
        """The paper's two attacks and multi-label classification."""
        few = by_size(2, 8, 100)
        brief = {"epochs": 2, "min_steps": 20} if size == "smoke" else {}
        relaxed = {"steps": 5} if size == "smoke" else {}
        return [
            Plan(AttackSpec("Equation 5", "inversion/relaxation", relaxed), most=few[size]),
            Plan(AttackSpec("Equation 7", "inversion/sparse-coding", {})),
            Plan(AttackSpec("MLC, tuned", "inversion/mlc", {"threshold": "tuned", **brief})),
        ]

    def rows(self, conditions: Conditions, encoders: Sequence[str]) -> tuple[list[Row], Sequence[str]]:
        """One point for each layer and attack."""
        size = conditions.size
        texts = song_texts(conditions, self.amounts[size])
        factory = Encoders(conditions, texts.fit)
        places = [(key, layer) for key in encoders for layer in LAYERS[key][:: 3 if size == "smoke" else 1]]
        rows = []
        for (key, layer), plan in ((place, plan) for place in places for plan in self.attacks(size)):
            game = InversionGame(max_targets=plan.most)
            rows.append(
                played(
                    conditions,
                    plan.attack,
                    game,
                    partial(word_deal, factory, texts, key, IN, game, layer),
                    layer_setting(plan.attack.title, key, layer),
                    {**PRINTED, HEADLINE: "content F1"},
                    {**factory.identity(key, layer), "data": texts.fingerprint},
                    series=f"{plan.attack.title} · {RECIPES[key].title.split(',')[0]}",
                    x=float(layer),
                )
            )
        return rows, (*texts.notes, POOLED)
