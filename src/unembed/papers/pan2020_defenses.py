"""Pan 2020, section VII and Appendix C: four defenses against keyword inference, and how far one word moves a vector.

Every setting is attacked twice: by an adversary who does not know the defense, as in the paper, and by one who does and
learns from vectors behind it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from unembed.defenses import DEFENSES
from unembed.defenses.base import Owned, digest_id
from unembed.defenses.chain import Chain
from unembed.defenses.laplace import l1_distances, pairs_of
from unembed.games.base import Deal, Material
from unembed.metrics.estimate import mean
from unembed.papers.base import Conditions, Measured, Size, by_size
from unembed.papers.encoders import RECIPES
from unembed.papers.library import facts_of
from unembed.papers.pan2020_keywords import ABSENT, DANN, SVM, KeywordCase, KeywordTable
from unembed.papers.pan2020_texts import EXTERNAL, SHADOW
from unembed.papers.tables import HEADLINE, Row, refused, setting
from unembed.papers.texts import sample
from unembed.seeds import seed_for

#: The parameter of each defense, and its values from weak to strong.
SETTINGS: Mapping[str, tuple[str, tuple[float, ...]]] = {
    "rounding": ("decimals", (4, 3, 2, 1, 0)),
    "laplace": ("epsilon", (1000, 300, 100, 30, 10)),
    "ppm": ("nearness", (10, 3, 1, 0.3, 0.1)),
    "subspace": ("beta", (0.01, 0.026, 0.05, 0.1, 0.2)),
}
#: How many of them are measured at each size.
POINTS = by_size(2, 5, 5)
PAIRS = by_size(50, 2_000, 10_000)
#: Steps that the mapping is trained for.
STEPS = by_size(40, 300, 300)
UNAWARE, ADAPTIVE = "unaware", "adaptive"
_ENCODERS = by_size(("lsa-tfidf",), ("minilm",), ("bert-first", "minilm", "bge"))


@dataclass(frozen=True)
class DefendedCase(KeywordCase):
    """The case study with a defense of one strength behind the encoder, fitted on the targets, the owner's texts."""

    defense: str = "rounding"
    value: float = 0
    adaptive: bool = True
    chains: dict[tuple[object, ...], Chain] = field(default_factory=dict, compare=False)

    def deal(self, key: str, knowledge: str, game: Any, **less: Any) -> Deal[Any, Any]:
        """The game's deal behind the defense."""
        whole = {SHADOW: "insider", EXTERNAL: "outsider"}[knowledge]
        known = self.texts.known[knowledge]
        seed = seed_for(self.conditions.seed, "deal", self.name)
        plain = self.encoders.material(key, self.texts.target, known, whole, seed)
        found: Deal[Any, Any] = game.deal(self._behind(key, plain))
        return found

    def identity(self, key: str) -> dict[str, Any]:
        """What tells rows of one strength of a defense from others."""
        made = self._made()
        defense = {"name": self.defense, "version": made.facts.version, "params": made.get_params()}
        return {**super().identity(key), "defense": defense, "adaptive": self.adaptive}

    def _made(self) -> Any:
        given: dict[str, Any] = {SETTINGS[self.defense][0]: self.value}
        if self.defense in ("ppm", "subspace"):
            given["keywords"] = tuple(self.texts.keywords)
        if self.defense == "laplace":
            given["pairs"] = PAIRS[self.conditions.size]
        if self.defense == "ppm":
            given["steps"] = STEPS[self.conditions.size]
        return DEFENSES.get(self.defense)(**given)

    def _behind(self, key: str, plain: Material) -> Material:
        held = plain.target
        place = (key, self.defense, self.value)
        if place not in self.chains:
            owned = Owned(held.texts, {}, plain.encode)
            secret = seed_for(self.conditions.seed, "defense")
            self.chains[place] = Chain([self._made()]).fit(plain.target_vectors, secret, owned, held.ids)
        stored = self.chains[place]
        defended = replace(plain, target_vectors=stored.transform(plain.target_vectors, held.ids))
        if not self.adaptive:
            return defended
        own = stored.with_key(seed_for(self.conditions.seed, "defense", "adversary"))
        return replace(
            defended,
            known_vectors=own.transform(plain.known_vectors, plain.known.ids),
            encode=lambda texts: own.transform(plain.encode(texts), [digest_id(text) for text in texts]),
        )


class Figure7(KeywordTable):
    """Four defenses of rising strength against an adversary with a shadow corpus and one without."""

    facts = facts_of("pan2020/figure7")
    encoders: ClassVar[Mapping[Size, tuple[str, ...]]] = _ENCODERS

    def rows_of(self, case: KeywordCase, key: str) -> list[Row]:
        """Every strength of every defense, each attacked by who knows it and by who does not."""
        chains: dict[tuple[object, ...], Chain] = {}
        rows = []
        for defense, (parameter, values) in SETTINGS.items():
            for value in values[-POINTS[case.conditions.size] :]:
                for adaptive in (True, False):
                    one = DefendedCase(case.conditions, case.name, defense, value, adaptive, chains)
                    # Shared, so that texts are read and encoded once.
                    vars(one).update(texts=case.texts, encoders=case.encoders)
                    for spec, knowledge in ((SVM, SHADOW), (DANN, EXTERNAL)):
                        who = ADAPTIVE if adaptive else UNAWARE
                        series = setting(spec.title, RECIPES[key].title, knowledge, defense, who)
                        name = f"{series} · {parameter} {value:g}"
                        game = case.game(knowledge)
                        names = {HEADLINE: "accuracy"}
                        rows.append(one.row(key, knowledge, spec, game, name, names, series=series, x=float(value)))
        return rows


LARGEST, AVERAGE = "largest L1 distance", "mean L1 distance"


class Table4(KeywordTable):
    """How far a vector moves, in L1 distance, where one word of the text is exchanged."""

    facts = facts_of("pan2020/table4")
    encoders: ClassVar[Mapping[Size, tuple[str, ...]]] = by_size(
        ("lsa-tfidf",), ("minilm",), ("bert-first", "bert-mean", "minilm", "bge")
    )

    def rows(self, conditions: Conditions, encoders: Sequence[str]) -> tuple[list[Row], Sequence[str]]:
        """One row per encoder; the paper's others are listed as not measured."""
        rows, notes = super().rows(conditions, encoders)
        if not conditions.encoders:
            rows += [refused(model, "this encoder's weights are not available") for model in ABSENT]
        return rows, notes

    def rows_of(self, case: KeywordCase, key: str) -> list[Row]:
        """The largest distance, and the mean one."""
        title, count = RECIPES[key].title, PAIRS[case.conditions.size]
        return [Row(title, {**case.identity(key), "pairs": count}, partial(self._measure, case, key, title, count))]

    def _measure(self, case: KeywordCase, key: str, title: str, count: int) -> list[Measured]:
        some = sample(case.texts.target, count, case.conditions.seed, "pairs")
        found = l1_distances(pairs_of(some.texts, count), case.encoders.cached(key).encode)
        largest = float(np.max(found))
        # A largest value is a lower bound: it has no interval.
        return [
            Measured(title, LARGEST, largest, largest, largest, len(found)),
            Measured.of(title, AVERAGE, mean(found)),
        ]
