"""Canaries: texts with random values, planted into training data, and what a model then tells of them (Corò 3.1).

A format in the language of patterns says what a canary looks like: ``"the code is {code:digits6}"``. One text of the
format is drawn at random and planted so many times. After the training, the model is asked how likely it finds that
text and others of its format; what it finds likelier than chance it has learnt by heart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unembed.corpora.patterns import Pattern, parse_pattern
from unembed.corpora.patterns.kinds import Run
from unembed.errors import CannotMeasureError, UsageError, fenced
from unembed.metrics.estimate import Estimate
from unembed.metrics.exposure import EXACT, EXTRAPOLATED, exact_exposure, sampled_exposure
from unembed.metrics.spread import FloatArray
from unembed.seeds import generator

#: What a user's model makes of texts: a number for each, the lower the likelier, in any unit.
LogPerplexity = Callable[[list[str]], Any]
#: Texts that a user's model is asked about at a time.
AT_ONCE = 250


@dataclass(frozen=True)
class Canary:
    """A text with random values, the format it was drawn from, and how often it is planted.

    One with ``times`` 0 stays out of the training data, to show what chance reaches.
    """

    text: str
    format: str
    times: int


@dataclass(frozen=True)
class Exposure:
    """How much a model tells of a canary: ``bits`` of at most ``most``.

    ``bits.method`` says how they are known: by the exact rank among all texts of the format, by a sample of them, or
    beyond what the sample sees by a fitted distribution, where ``bits.low`` is what the sample shows.
    """

    canary: Canary
    bits: Estimate
    most: float


def make_canaries(formats: Sequence[str], times: Sequence[int], each: int, seed: int) -> list[Canary]:
    """``each`` canaries for every number of ``times``, taking turns through the formats; no text is drawn twice."""
    if not formats or not times or each < 1 or any(count < 0 for count in times):
        raise UsageError("canaries need a format, a number of times of 0 or more, and at least one for each")
    made: list[Canary] = []
    drawn: dict[str, Iterator[str]] = {}
    for number, count in enumerate(count for _ in range(each) for count in times):
        format_ = formats[number % len(formats)]
        if format_ not in drawn:
            drawn[format_] = _without_repeats(pattern_of(format_), len(times) * each, seed)
        made.append(Canary(next(drawn[format_]), format_, count))
    return sorted(made, key=lambda canary: canary.times)


def pattern_of(format_: str) -> Pattern:
    """The pattern of a format, if every text of it is as long as any other and there are at least two."""
    pattern = parse_pattern(format_)
    if any(isinstance(field.kind, Run) and field.kind.least < field.kind.most for field in pattern.fields):
        raise UsageError(
            "a canary's format has runs of one length, such as {code:digits6}: longer texts are less likely anyway"
        )
    if pattern.size < 2:
        raise UsageError("a canary's format has at least one field with two values, such as {code:digits6}")
    return pattern


def planted(canaries: Sequence[Canary], seed: int = 0) -> list[str]:
    """Every canary as often as it is to be planted, in random order."""
    texts = [canary.text for canary in canaries for _ in range(canary.times)]
    return [texts[int(place)] for place in generator(seed, "planted").permutation(len(texts))]


def exposures(log_perplexity: LogPerplexity, canaries: Sequence[Canary], samples: int, seed: int) -> list[Exposure]:
    """The exposure of every canary; where a format has no more than ``samples`` texts, all of them are asked about.

    Other canaries of a format that were planted are not among the texts that one is held against.
    """
    if samples < 1:
        raise UsageError(f"samples must be at least 1, not {samples}")
    found: dict[Canary, Exposure] = {}
    for format_ in dict.fromkeys(canary.format for canary in canaries):
        own = [canary for canary in canaries if canary.format == format_]
        pattern = pattern_of(format_)
        whole = pattern.size <= samples
        others = list(pattern.every()) if whole else pattern.generate(samples, generator(seed, "others", format_)).texts
        secret = {canary.text for canary in own}
        others = [text for text in others if text not in secret]
        answers = asked(log_perplexity, [canary.text for canary in own] + others)
        drawn, most = answers[len(own) :], math.log2(pattern.size - len(secret) + 1)
        for canary, answer in zip(own, answers[: len(own)].tolist(), strict=True):
            bits = exact_exposure(answer, drawn) if whole else sampled_exposure(answer, drawn, most)
            found[canary] = Exposure(canary, bits, most)
    return [found[canary] for canary in canaries]


def told(exposure: Exposure) -> str:
    """An exposure in words."""
    bits, most = exposure.bits, exposure.most
    if bits.method == EXACT:
        return f"{bits.value:.1f} of {most:.1f} bits"
    if bits.method == EXTRAPOLATED:
        return f"at least {bits.low:.1f}, probably {bits.value:.1f} of {most:.1f} bits"
    return f"{bits.value:.1f} [{bits.low:.1f}–{bits.high:.1f}] of {most:.1f} bits"


def _without_repeats(pattern: Pattern, most: int, seed: int) -> Iterator[str]:
    """Texts of a format at random, none of them twice."""
    rng = generator(seed, "canaries", pattern.format)
    seen: set[str] = set()
    if pattern.size < most:
        raise UsageError(f"a format has {pattern.size} texts, fewer than the {most} canaries that may be drawn from it")
    while True:
        text = pattern.generate(1, rng).texts[0]
        if text not in seen:
            seen.add(text)
            yield text


def asked(log_perplexity: LogPerplexity, texts: list[str]) -> FloatArray:
    """What a user's function says of texts: one finite number for each."""
    parts = []
    for start in range(0, len(texts), AT_ONCE):
        some = texts[start : start + AT_ONCE]
        with fenced("the function that gives log-perplexities"):
            answers = np.asarray(log_perplexity(some), dtype=np.float64)
        if answers.shape != (len(some),):
            raise UsageError(
                f"the function that gives log-perplexities answers {answers.shape} for {len(some)} texts: one number "
                "for each is needed"
            )
        if not np.isfinite(answers).all():
            raise CannotMeasureError("the function that gives log-perplexities answers numbers that are not finite")
        parts.append(answers)
    return np.concatenate(parts)
