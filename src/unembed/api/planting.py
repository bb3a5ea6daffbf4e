"""``unembed.canaries`` and ``unembed.exposure``: does your own language model learn secrets by heart?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from unembed.api.tables import framed
from unembed.games.canaries import Canary, Exposure, exposures, make_canaries, planted, told


class Canaries:
    """Texts to plant into training data, each as often as it says.

    Attributes:
        texts: Every text as often as it is to be planted, in random order: add them to the training data.
    """

    def __init__(self, made: Sequence[Canary], seed: int = 0) -> None:
        self._made = list(made)
        self.texts = planted(self._made, seed)

    def __iter__(self) -> Iterator[Canary]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)

    def __getitem__(self, place: int) -> Canary:
        return self._made[place]

    def __repr__(self) -> str:
        return f"<unembed.Canaries: {len(self)} canaries, {len(self.texts)} texts to plant>"


class Exposures:
    """How much a model tells of each canary, in the order of the canaries.

    An item has ``canary``, ``bits`` (a value with its interval: ``bits.value``, ``bits.low``, ``bits.high``,
    ``bits.method``) and ``most``, the bits of a canary that is known by heart.
    """

    def __init__(self, found: Sequence[Exposure]) -> None:
        self._found = list(found)

    def __iter__(self) -> Iterator[Exposure]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __getitem__(self, place: int) -> Exposure:
        return self._found[place]

    def __repr__(self) -> str:
        lines = [f"planted {one.canary.times} times: {told(one)}" for one in self]
        return "\n".join(["<unembed.Exposures", *(f"  {line}" for line in lines), ">"])

    def to_frame(self, library: str | None = None) -> Any:
        """A data frame with a row per canary: how often it was planted, its exposure, the interval, how it is known."""
        return framed(
            [
                {
                    "times": one.canary.times,
                    "bits": one.bits.value,
                    "low": one.bits.low,
                    "high": one.bits.high,
                    "most": one.most,
                    "method": one.bits.method,
                }
                for one in self
            ],
            library,
        )


def canaries(
    formats: str | Sequence[str] = "the secret code is {code:digits6}",
    *,
    times: Sequence[int] = (0, 1, 4, 16, 64),
    each: int = 1,
    seed: int = 0,
) -> Canaries:
    """Texts with random values to plant into the training data of a language model.

    The same arguments give the same canaries again, so nothing has to be kept until the model is trained.

    Args:
        formats: What a canary looks like, in the language of patterns; of several, canaries take turns.
        times: How often a canary is planted. One that is planted 0 times shows what chance reaches.
        each: How many canaries there are for each of ``times``.
        seed: Draws the values.
    """
    asked = [formats] if isinstance(formats, str) else list(formats)
    return Canaries(make_canaries(asked, times, each, seed), seed)


def exposure(
    log_perplexity: Callable[[list[str]], Any],
    canaries: Canaries | Sequence[Canary],
    *,
    samples: int = 10_000,
    seed: int = 0,
) -> Exposures:
    """How many bits of each canary a trained language model tells.

    Args:
        log_perplexity: A function of a list of texts that gives a number for each: how unlikely the model finds the
            whole text. The negative log-likelihood of all its tokens, summed, in any unit.
        canaries: As they were planted.
        samples: How many other texts of a format the model is asked about. Where a format has no more, the rank among
            all of them is exact.
        seed: Draws those texts.
    """
    return Exposures(exposures(log_perplexity, list(canaries), samples, seed))
