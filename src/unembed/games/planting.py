"""Leaks of known size, planted into a copy of the vectors, to see what an audit of this size would have found.

The vectors are shuffled against the texts, so that nothing of the real texts is left in them, and then told something:
a code per text is written into a few directions, with normal noise around it that makes it readable exactly as well as
wanted. What an ideal reader of those directions would score is the size of the leak.

Three kinds: along axes of the space, along rotated directions, and in the distance from the centre, where no linear
model sees it. A sum of many words is planted as such, one direction per word.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags, issparse

from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError
from unembed.games.base import K, T_in

Kind = Literal["axis", "rotated", "distance"]
FloatRows = NDArray[np.float64]

#: Sizes that are tried, as excess over guessing in a game's own metric.
SIZES = (0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6)
#: Words whose presence is planted at once.
MOST_WORDS = 64


class CannotPlantError(CannotMeasureError):
    """These vectors take no leak of this kind: they hold too few dimensions that vary."""


@dataclass(frozen=True)
class Planted(Generic[K]):
    """What the adversary holds and what it attacks after a planting; the truth stays as it was."""

    knowledge: K
    vectors: Vectors


@runtime_checkable
class Plantable(Protocol[K, T_in]):
    """A game into whose vectors a leak of known size can be planted."""

    def kinds(self, knowledge: K) -> tuple[Kind, ...]:
        """The kinds of leaks that are planted for this question."""
        ...

    def room(self, knowledge: K, truth: T_in) -> float:
        """The largest excess over guessing that a planted leak can have."""
        ...

    def plant(
        self, knowledge: K, vectors: Vectors, truth: T_in, kind: Kind, size: float, rng: np.random.Generator
    ) -> Planted[K]:
        """A copy of both sides' vectors that tells the truth with this excess over guessing, and nothing else."""
        ...


def write_codes(
    known: Vectors, asked: Vectors, codes: tuple[FloatRows, FloatRows], kind: Kind, rng: np.random.Generator
) -> tuple[Vectors, Vectors]:
    """Both sides shuffled, with a code per row written into directions of their own, in units of the noise there.

    The component along each direction is replaced by code and fresh noise, so that an ideal reader scores exactly what
    follows from the codes. Sparse vectors, and those with hardly more dimensions than the code has, get it along axes.
    """
    sides = [side[rng.permutation(int(side.shape[0]))] for side in (known, asked)]
    noisy = [code + rng.standard_normal(code.shape) for code in codes]
    if issparse(known):
        return _sparse_axes(sides[0], sides[1], noisy, rng)
    dense = [np.asarray(side, dtype=np.float64) for side in sides]
    together = np.concatenate(dense)
    if kind == "distance":
        return _distances(dense, together, noisy)
    width, count = together.shape[1], noisy[0].shape[1]
    spread = together.std(axis=0)
    live = np.flatnonzero(spread > 1e-6 * max(float(spread.max(initial=0.0)), 1e-12))
    if len(live) < count:
        raise CannotPlantError(f"{count} directions can't be planted into {len(live)} dimensions that vary")
    if kind == "axis":
        directions = np.zeros((count, width))
        directions[np.arange(count), rng.choice(live, size=count, replace=False)] = 1
    else:
        drawn = np.zeros((width, count))
        drawn[live] = rng.standard_normal((len(live), count))
        directions = np.linalg.qr(drawn)[0].T
    along = together @ directions.T
    middle, scale = along.mean(axis=0), along.std(axis=0)
    written = [
        (side + (middle + scale * told - side @ directions.T) @ directions).astype(np.float32)
        for side, told in zip(dense, noisy, strict=True)
    ]
    return written[0], written[1]


def _distances(sides: list[FloatRows], together: FloatRows, noisy: list[FloatRows]) -> tuple[Vectors, Vectors]:
    """The first code in the distance of each row from the centre."""
    centre = together.mean(axis=0)
    lengths = np.linalg.norm(together - centre, axis=1)
    middle, spread = float(lengths.mean()), float(lengths.std())
    found = []
    for side, told in zip(sides, noisy, strict=True):
        away = side - centre
        length = np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-12)
        wanted = np.maximum(middle + spread * told[:, :1], 0.01 * middle)
        found.append((centre + away / length * wanted).astype(np.float32))
    return found[0], found[1]


def _sparse_axes(known: Any, asked: Any, noisy: list[FloatRows], rng: np.random.Generator) -> tuple[Vectors, Vectors]:
    """Codes in columns that are in use, in the units of the values that stand there."""
    used = np.flatnonzero(np.asarray((abs(known)).sum(axis=0)).ravel() > 0)
    count = noisy[0].shape[1]
    if len(used) < count:
        raise CannotPlantError(f"{count} columns can't be planted into {len(used)} that are in use")
    columns = rng.choice(used, size=count, replace=False)
    scale = float(np.sqrt(known.multiply(known).sum() / max(known.nnz, 1)))
    keep = np.ones(known.shape[1])
    keep[columns] = 0
    found = []
    for side, told in zip((known, asked), noisy, strict=True):
        rows = np.repeat(np.arange(len(told)), count)
        written = csr_matrix(((scale * told).ravel(), (rows, np.tile(columns, len(told)))), shape=side.shape)
        found.append(csr_matrix((side @ diags(keep) + written).astype(np.float32)))
    return found[0], found[1]


def strength_for(limit: Callable[[float], float], wanted: float, most: float = 64.0) -> float:
    """The strength at which a rising ``limit`` reaches what is wanted, by halving; ``most`` if it never does."""
    low, high = 0.0, 0.25
    while limit(high) < wanted and high < most:
        low, high = high, 2 * high
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if limit(middle) >= wanted else (middle, high)
    return high


def nearest_code_rate(codes: FloatRows, noise: FloatRows, owners: NDArray[np.int64]) -> float:
    """How often the code nearest to a noisy one is the right one: what an ideal reader of equal classes scores."""
    rows = codes[owners] + noise
    apart = (codes**2).sum(axis=1)[None] - 2 * rows @ codes.T
    return float((apart.argmin(axis=1) == owners).mean())


@dataclass(frozen=True)
class PlantedWords:
    """Words whose presence is planted: which texts of both sides hold them (1) or not (0), and how they are scored.

    ``present`` counts all words of the targets that are scored, planted or not; ``floor`` is the F1 of guessing.
    """

    known: FloatRows
    asked: FloatRows
    share: NDArray[np.float64]
    present: float
    floor: float

    def gain(self, strength: float) -> float:
        """F1 above guessing of an ideal reader: it knows each word's direction and share, and cuts where F1 is best."""
        held = self.asked.ravel() > 0
        if np.isinf(strength):
            odds = np.where(held, 1.0, -1.0)
        else:
            noise = np.random.default_rng(0).standard_normal(self.asked.shape)
            prior = np.log(self.share / (1 - self.share))
            odds = (prior + strength * (strength * self.asked + noise) - strength**2 / 2).ravel()
        hits = np.cumsum(held[np.argsort(-odds, kind="stable")])
        return float((2 * hits / (np.arange(1, len(hits) + 1) + self.present)).max()) - self.floor


def planted_words(
    known: Any, asked: Any, content: NDArray[np.bool_], vectors: Vectors, present: float, floor: float
) -> PlantedWords:
    """The most frequent content words that both sides hold, as many as a quarter of the dimensions can carry."""
    n = known.shape[0]
    counts = np.asarray((known != 0).sum(axis=0)).ravel()
    there = np.asarray((asked != 0).sum(axis=0)).ravel()
    usable = np.flatnonzero(content & (counts >= 2) & (counts < n) & (there > 0))
    most = max(1, min(MOST_WORDS, int(vectors.shape[1]) // 4))
    columns = usable[np.argsort(-counts[usable], kind="stable")[:most]]
    sides = [np.asarray((side[:, columns] != 0).todense(), dtype=np.float64) for side in (known, asked)]
    return PlantedWords(sides[0], sides[1], np.clip(counts[columns] / n, 1e-4, 1 - 1e-4), present, floor)
