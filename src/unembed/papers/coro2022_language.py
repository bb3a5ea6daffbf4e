"""Corò 2022, sections 3.1 and 3.2: what language models learn by heart, by canaries and by texts that they write.

The thesis quotes Carlini et al. 2019 and 2020; here small character models of two LSTM layers are trained, as the first
of these does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from unembed.games.base import Deal
from unembed.games.canaries import Canary, Exposure, exposures, make_canaries, pattern_of, planted
from unembed.games.language_answers import about_canaries
from unembed.games.membership_model import MembershipModelGame, ModelKnowledge, ModelTrials, dealt
from unembed.games.model_answers import OF_CANARIES, Answered
from unembed.metrics.estimate import Estimate, Measure, estimates_of, mean
from unembed.metrics.exposure import exact_exposure
from unembed.metrics.spread import FloatArray
from unembed.nn.language_model import LanguageModel
from unembed.papers.base import Conditions, Measured, by_size
from unembed.papers.character_models import LONGEST, Characters, log_perplexity_of, sentences
from unembed.papers.library import facts_of
from unembed.papers.tables import HEADLINE, AttackSpec, Names, Row, Table, played, setting
from unembed.seeds import generator, seed_for

EXPOSURE = AttackSpec("canary exposure", "membership/canary-exposure", {})
FIGURES: Names = {
    HEADLINE: "balanced accuracy",
    "advantage": "advantage",
    "auc": "AUC",
    "found_at_1_percent_false_alarms": "TPR at 1 % FPR",
    "found_at_0.1_percent_false_alarms": "TPR at 0.1 % FPR",
}
BITS, SAMPLED, HELD, FOUND = "exposure (bits)", "exposure by a sample", "interval holds it", "found first by search"
LOSS, GAP = "bits per character, other texts", "bits per character, training texts"


@dataclass(frozen=True)
class Scale:
    """Sentences that are learnt, canaries for each number of times, their digits, and the training."""

    sentences: int
    each: int
    digits: int
    epochs: int
    seen: tuple[int, ...]
    samples: int
    units: int = 200
    batch: int = 32


#: Canaries that stay out stand twice among the numbers of times: they are what the others are held against.
TIMES = (0, 0, 1, 4, 16, 64)
SCALES = by_size(
    Scale(60, 5, 2, 2, (1, 2), 50, units=16),
    Scale(1_500, 6, 5, 25, (1, 2, 4, 6, 9, 12, 16, 20, 25), 1_000),
    Scale(25_000, 12, 6, 40, (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40), 10_000, batch=64),
)


class Figure31(Table):
    """Exposure of canaries over the epochs of a training, beside what the model makes of other texts."""

    facts = facts_of("coro2022/figure3.1")
    known: ClassVar[tuple[str, ...]] = ()
    encoders = by_size((), (), ())

    def rows(self, conditions: Conditions, encoders: Sequence[str]) -> tuple[list[Row], Sequence[str]]:
        """The curves, what is left at the end, and whether planted canaries are told from others."""
        study = CanaryStudy(conditions)
        identity = {"scale": vars(study.scale), "data": study.corpus.fingerprint, "times": TIMES}
        rows = [
            Row("exposure during the training", identity, study.curves),
            Row("exposure after the training", identity, study.ends),
            played(
                conditions, EXPOSURE, MembershipModelGame(answers="canaries"), study.deal,
                setting(EXPOSURE.title, "canaries planted or not"), FIGURES, identity,
            ),
        ]  # fmt: skip
        return rows, study.notes


class CanaryStudy:
    """One training with canaries planted; its curves are kept on the way."""

    def __init__(self, conditions: Conditions) -> None:
        self.conditions, self.scale = conditions, SCALES[conditions.size]
        self.corpus = sentences(conditions, 2 * self.scale.sentences)
        self.learnt = list(self.corpus.texts[: self.scale.sentences])
        self.held_out = list(self.corpus.texts[self.scale.sentences :])[:500]
        self.canaries = make_canaries(self._formats(), TIMES, self.scale.each, seed_for(conditions.seed, "canaries"))
        texts = [*self.learnt, *planted(self.canaries)]
        self.characters = Characters(texts)
        self.sequences = [self.characters.of(text) for text in texts]
        self.notes = [
            f"{len(self.learnt):,} sentences of {self.corpus.name} and {len(texts) - len(self.learnt):,} planted "
            f"texts, {sum(map(len, self.sequences)):,} characters; {self.scale.each} canaries for each number of times "
            f"and {2 * self.scale.each} not planted, each with words of its own before {self.scale.digits} digits"
        ]

    def _formats(self) -> list[str]:
        """As many formats as canaries: the same two words stand before no other."""
        known = sorted({word for text in self.learnt for word in text.split() if word.isascii() and word.isalpha()})
        usual = [word for word in known if word.islower() and 4 <= len(word) <= 8]
        rng = generator(self.conditions.seed, "formats")
        pairs = {
            tuple(rng.choice(usual, 2, replace=False).tolist()): None for _ in range(4 * len(TIMES) * self.scale.each)
        }
        chosen = list(pairs)[: len(TIMES) * self.scale.each]
        return [f"the {one} {other} number is {{code:digits{self.scale.digits}}}" for one, other in chosen]

    @cached_property
    def trained(self) -> tuple[LanguageModel, list[tuple[int, list[Exposure], float, float]]]:
        """The model, and after some of the epochs the exact exposures and the bits of texts not seen and seen."""
        curve: list[tuple[int, list[Exposure], float, float]] = []

        def watch(model: LanguageModel, epoch: int) -> None:
            if epoch in self.scale.seen:
                loss, own = (float(np.log2(model.perplexity([self.characters.of(t) for t in texts])))
                             for texts in (self.held_out, self.learnt[: len(self.held_out)]))  # fmt: skip
                curve.append((epoch, self.exact(model), loss, own))

        model = LanguageModel(
            vocabulary=len(self.characters),
            units=self.scale.units,
            epochs=self.scale.epochs,
            batch_size=self.scale.batch,
            reach=LONGEST + 40,
            device=self.conditions.device,
            seed=self.conditions.seed,
        )
        return model.fit(self.sequences, told=watch), curve

    def exact(self, model: LanguageModel) -> list[Exposure]:
        """The exact exposure of every canary, among all texts of its format."""
        from unembed.nn.language_search import bits_of_every

        found = []
        for canary in self.canaries:
            pattern = pattern_of(canary.format)
            every = bits_of_every(model, self.characters.choices(pattern))
            place = int(pattern.find(canary.text)[0].values["code"])
            exact = exact_exposure(float(every[place]), np.delete(every, place))
            found.append(Exposure(canary, exact, float(np.log2(len(every)))))
        return found

    def curves(self) -> list[Measured]:
        """Exposure over epochs for every number of times, and the loss on other texts and on those of the training."""
        rows = []
        for epoch, found, loss, own in self.trained[1]:
            for times, bits in _by_times([(one.canary, one.bits.value) for one in found]).items():
                name = setting(_called(times), f"after {epoch} epochs")
                rows.append(Measured.of(name, BITS, _mean(bits), series=_called(times), x=float(epoch)))
            for metric, value in ((LOSS, loss), (GAP, own)):
                flat = Estimate(value, value, value, len(self.held_out), method="none")
                rows.append(
                    Measured.of(setting(metric, f"after {epoch} epochs"), "loss", flat, series=metric, x=float(epoch))
                )
        return rows

    def ends(self) -> list[Measured]:
        """For every number of times: exact, by a sample with its interval, and whether a search finds the canary."""
        from unembed.nn.language_search import likeliest

        model = self.trained[0]
        exact = self.exact(model)
        drawn = exposures(
            lambda texts: log_perplexity_of(model, self.characters, texts),
            self.canaries,
            self.scale.samples,
            self.conditions.seed,
        )
        held = [one.bits.low <= all_.bits.value <= one.bits.high for one, all_ in zip(drawn, exact, strict=True)]
        first = [
            list(likeliest(model, self.characters.choices(pattern_of(c.format)))[0].tokens)
            == self.characters.of(c.text)
            for c in self.canaries
        ]
        rows = []
        for metric, values, share in (
            (BITS, [one.bits.value for one in exact], False),
            (SAMPLED, [one.bits.value for one in drawn], False),
            (HELD, held, True),
            (FOUND, first, True),
        ):
            for times, numbers in _by_times(list(zip(self.canaries, values, strict=True))).items():
                estimate = mean(numbers) if share else _mean(numbers)
                rows.append(Measured.of(_called(times), metric, estimate))
        return rows

    def deal(self) -> Deal[ModelKnowledge, ModelTrials]:
        """Canaries that were planted, however often, among those that were not."""
        model = self.trained[0]
        texts = [canary.text for canary in self.canaries]
        bits = log_perplexity_of(model, self.characters, texts)
        rows = about_canaries(self.exact(model), bits, [len(text) for text in texts])
        members = np.array([canary.times > 0 for canary in self.canaries])
        return dealt(OF_CANARIES, None, Answered(rows, members, np.zeros(len(texts), dtype=np.int64)))


def _by_times(values: Sequence[tuple[Canary, float]]) -> dict[int, FloatArray]:
    times = sorted({canary.times for canary, _ in values})
    return {k: np.array([float(value) for canary, value in values if canary.times == k]) for k in times}


def _called(times: int) -> str:
    return "not planted" if not times else f"planted {times} time{'s' if times > 1 else ''}"


def _mean(values: FloatArray) -> Estimate:
    """The mean of bits, of which there are never fewer than none."""
    parts = np.stack([values, np.ones(len(values))], axis=1)
    found = estimates_of({"": Measure(parts, lambda sums: sums[..., 0] / sums[..., 1])})[""]
    return replace(found, low=max(0.0, found.low))
