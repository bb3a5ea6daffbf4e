"""Pan 2020, section VII and Appendix C: four defenses against keyword inference, and how far one word moves a vector.

Every setting is attacked twice: by an adversary who does not know the defense, as in the paper, and by one who does and
learns from vectors behind it. Beside the attacks stands what the vectors are still good for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from unembed.defenses.laplace import l1_distances, pairs_of
from unembed.games.play import play
from unembed.metrics.estimate import mean
from unembed.papers.base import Conditions, Measured, Size, by_size
from unembed.papers.encoders import RECIPES
from unembed.papers.library import facts_of
from unembed.papers.pan2020_defended import (
    PAIRS,
    SUPERVISED,
    DefendedCase,
    Fitted,
    OwnersCase,
    Strength,
    identity_of,
    summed,
    together,
)
from unembed.papers.pan2020_keywords import ABSENT, DANN, MLP, SVM, KeywordCase, KeywordTable
from unembed.papers.pan2020_texts import EXTERNAL, SHADOW
from unembed.papers.tables import HEADLINE, AttackSpec, Row, refused, setting
from unembed.papers.texts import sample
from unembed.papers.usefulness import corpus_of
from unembed.seeds import seed_for

#: The values of each defense's parameter, from weak to strong.
VALUES: Mapping[str, tuple[float, ...]] = {
    "rounding": (3, 2, 1, 0),
    "laplace": (1000, 300, 100, 30, 10, 3),
    "ppm": (10, 3, 1, 0.3, 0.1, 0.01),
    "subspace": (0.01, 0.026, 0.05, 0.1, 0.2, 0.5, 0.9),
}
#: The same for an encoder that is slow, and whose numbers are ten times as large as those of vectors of unit length.
OTHER_VALUES: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "bert-first": {
        "rounding": (1, 0, -1),
        "laplace": (300, 30),
        "ppm": (1,),
        "subspace": (0.01, 0.1),
    }
}
#: How many of them are measured at each size, the strongest.
POINTS = by_size(2, 7, 7)
#: Shares of the dimensions that are taken out to hide one keyword.
ONE_WORD = by_size((0.2,), (0.01, 0.05), (0.01, 0.05))
#: What defenses are fitted with on what is attacked, to show what that does.
PITFALL = {"ppm": 0.1, "subspace": 0.1}
BADLY: tuple[Fitted, ...] = ("targets", "targets and pairs")
#: Who attacks, and knowing what; at size smoke the first alone attacks what is told of one keyword.
Attacks = tuple[tuple[AttackSpec, str], ...]
ALL_ATTACKS: Attacks = ((SVM, SHADOW), (DANN, EXTERNAL), (MLP, SHADOW))
ATTACKS: Mapping[Size, Attacks] = by_size(ALL_ATTACKS[:2], ALL_ATTACKS, ALL_ATTACKS)
ONE_WORD_ATTACKS: Mapping[Size, Attacks] = by_size(ALL_ATTACKS[:1], ALL_ATTACKS, ALL_ATTACKS)
UNAWARE, ADAPTIVE = "unaware", "adaptive"
PLAIN = "no defense"
SAME, ANOTHER = "told of the word", "told of another word"
ACCURACY, UTILITY, LOST, TASK = "accuracy", "utility", "utility lost", "department"
#: Of a service that learnt from vectors as they are.
NOT_TOLD = "utility, service not told"
_ENCODERS = by_size(("lsa-tfidf",), ("minilm",), ("bert-first", "minilm", "bge"))


class Figure7(KeywordTable):
    """Four defenses of rising strength against adversaries with a shadow corpus and one without, and what is left.

    Defenses are fitted on texts that are neither the adversary's nor targets (``pan2020_defended``).
    """

    facts = facts_of("pan2020/figure7")
    encoders: ClassVar[Mapping[Size, tuple[str, ...]]] = _ENCODERS

    def rows(self, conditions: Conditions, encoders: Sequence[str]) -> tuple[list[Row], Sequence[str]]:
        """The rows of every encoder."""
        case = OwnersCase(conditions, self.study)
        rest, asked = (len(rows) for rows in case.examples.folds[0])
        classes = len(case.examples.classes)
        utility = (
            f"utility: {rest:,} descriptions are learnt from and {asked:,} asked about, of {classes} departments with "
            "as many texts each"
        )
        return [row for key in encoders for row in self.rows_of(case, key)], [*case.texts.notes, utility]

    def rows_of(self, case: KeywordCase, key: str) -> list[Row]:
        """No defense, every strength of every defense, one keyword at a time, and the pitfall of fitting."""
        assert isinstance(case, OwnersCase)
        size, words = case.conditions.size, tuple(case.texts.keywords)
        title = RECIPES[key].title
        rows = [
            case.row(key, known, spec, case.game(known), setting(spec.title, title, known, PLAIN), {HEADLINE: ACCURACY})
            for spec, known in ATTACKS[size]
        ]
        rows.append(_utility(case, key, PLAIN, None, ()))
        for defense in VALUES:
            values = OTHER_VALUES.get(key, VALUES)[defense]
            told = words if defense in SUPERVISED else ()
            for value in values[-POINTS[size] :]:
                strength = Strength(defense, value, told)
                rows += _attacked(case, key, strength, defense, ATTACKS[size])
                rows.append(_utility(case, key, defense, value, (strength,)))
        for value in ONE_WORD[size]:
            strengths = tuple(Strength("subspace", value, (word,)) for word in words)
            for told_of, shift in ((SAME, 0), (ANOTHER, 1)):
                asked = words[shift:] + words[:shift]
                rows += _one_by_one(case, key, strengths, asked, f"subspace, {told_of}")
            rows.append(_utility(case, key, f"subspace, {SAME}", value, strengths))
        for defense, value in PITFALL.items():
            for fitted in BADLY:
                badly = Strength(defense, value, words, fitted)
                rows += _attacked(case, key, badly, f"{defense}, fitted on the {fitted}", ALL_ATTACKS[:1])
        return rows


def _attacked(case: OwnersCase, key: str, strength: Strength, how: str, attacks: Attacks) -> list[Row]:
    """One strength of a defense, attacked by who knows it and by who does not."""
    rows = []
    for adaptive in (True, False):
        one = DefendedCase(case.conditions, case.name, case, strength, adaptive)
        for spec, knowledge in attacks:
            name, place = _named(key, spec, knowledge, how, adaptive, strength)
            rows.append(one.row(key, knowledge, spec, case.game(knowledge), name, {HEADLINE: ACCURACY}, **place))
    return rows


def _named(
    key: str, spec: AttackSpec, knowledge: str, how: str, adaptive: bool, strength: Strength
) -> tuple[str, dict[str, Any]]:
    """The name of a row, and its place in the plot: a panel for each encoder and defense."""
    title, who = RECIPES[key].title, ADAPTIVE if adaptive else UNAWARE
    name = setting(spec.title, title, knowledge, how, who, strength.setting)
    series = setting(f"{spec.title}, {knowledge}, {who}", f"{title}, {how}")
    return name, {} if strength.fitted != "owner" else {"series": series, "x": float(strength.value)}


def _one_by_one(case: OwnersCase, key: str, strengths: Sequence[Strength], asked: Sequence[str], how: str) -> list[Row]:
    """A defense told of one keyword at a time, and an attack asking for one; the mean over the keywords."""

    def measure(adaptive: bool, spec: AttackSpec, knowledge: str) -> list[Measured]:
        name, place = _named(key, spec, knowledge, how, adaptive, strengths[0])
        shown = []
        for strength, word in zip(strengths, asked, strict=True):
            one = DefendedCase(case.conditions, case.name, case, strength, adaptive)
            game = case.game(knowledge, keywords=(word,))
            dealt = replace(one.deal(key, knowledge, game), doubt=None)
            seed = seed_for(case.conditions.seed, "play", name, word)
            shown.append(play(game, case.cut(spec).make(case.conditions), dealt, seed))
        return [
            Measured.of(
                name,
                ACCURACY,
                together([one.scores for one in shown]).estimate(),
                floor=float(np.mean([one.floor.value for one in shown])),
                seconds=round(sum(one.fit_seconds + one.run_seconds for one in shown), 2),
                trusted=all(one.check.passed for one in shown),
                **place,
            )
        ]

    rows = []
    for adaptive in (True, False):
        for spec, knowledge in ONE_WORD_ATTACKS[case.conditions.size]:
            name, _ = _named(key, spec, knowledge, how, adaptive, strengths[0])
            identity = {
                **case.identity(key),
                **case.cut(spec).identity(),
                "defenses": [identity_of(case, strength) for strength in strengths],
                "asked": asked,
                "adaptive": adaptive,
                "knowledge": knowledge,
                "game": case.game(knowledge).get_params(),
            }
            rows.append(Row(name, identity, partial(measure, adaptive, spec, knowledge)))
    return rows


def _utility(case: OwnersCase, key: str, how: str, value: float | None, strengths: Sequence[Strength]) -> Row:
    """How well departments are told, and how much worse than from vectors as they are, text by text."""
    title = RECIPES[key].title
    name = setting(TASK, title, how, *(strength.setting for strength in strengths[:1]))
    task, examples = case.task, case.examples
    floor = 1 / len(examples.classes)
    series = setting(TASK, f"{title}, {how}")

    def measure() -> list[Measured]:
        plain = case.useful(key, None)
        if not strengths:
            return [Measured.of(name, UTILITY, plain.estimate(), floor=floor)]
        found, untold = (summed([case.useful(key, one, told) for one in strengths]) for told in (True, False))
        return [
            Measured.of(name, UTILITY, found.estimate(), floor=floor, series=series, x=value),
            Measured.of(name, LOST, plain.excess_over(found)),
            Measured.of(name, NOT_TOLD, untold.estimate(), floor=floor),
        ]

    identity = {
        **case.identity(key),
        "task": {"name": task.facts.name, "version": task.facts.version, "params": task.get_params()},
        "examples": corpus_of(examples.texts, task.facts.name).fingerprint,
        "defenses": [identity_of(case, strength) for strength in strengths],
        "services": 2,
    }
    return Row(name, identity, measure)


LARGEST, AVERAGE = "largest L1 distance", "mean L1 distance"


class Table4(KeywordTable):
    """How far a vector moves, in L1 distance, where one word of the text is exchanged."""

    facts = facts_of("pan2020/table4")
    encoders: ClassVar[Mapping[Size, tuple[str, ...]]] = by_size(
        ("lsa-tfidf",), ("bert-first", "minilm", "bge"), ("bert-first", "bert-mean", "minilm", "bge")
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
