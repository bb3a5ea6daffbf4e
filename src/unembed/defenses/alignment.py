"""What one secret linear map hides from somebody who has vectors on both sides of it, with and without a known pair.

A rotation of all vectors leaves every distance as it was, so whatever can be told from distances stays. With as many
pairs as dimensions the map itself follows (orthogonal Procrustes, Schönemann 1966). Without any pair the shape of the
two clouds of points is enough: ``alignment_start`` turns one onto the other by their third moments, and from there
mutual nearest neighbours stand for pairs, in turns with Procrustes. Grave et al. (2019) and Conneau et al. (2018) align
word vectors of two languages this way; the criterion that takes back hubs (CSLS) is Conneau's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unembed.collections.nearest import unit_rows
from unembed.defenses.alignment_start import start
from unembed.defenses.base import dense
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, UsageError
from unembed.seeds import generator

#: Fewer rows on one side say nothing about its shape.
FEWEST = 50
#: Rows of either side that a round compares; the last one takes more.
STORED_AT_ONCE, PUBLIC_AT_ONCE = 5_000, 20_000
#: Rows among which the neighbourhood of a row is measured, and how many of them are its neighbourhood.
AROUND, NEIGHBOURS = 10_000, 10
#: Similarities held at once.
_PRODUCTS = 1 << 24
#: Two sides whose spread differs by less have the same scale.
SAME_SCALE = 1.5

Rows = NDArray[np.float32]
Matrix = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True)
class Alignment:
    """The way back from stored vectors to plain ones, as far as it was found.

    ``confidence``: the mean cosine between what two alignments, each with one half of the public vectors, say of the
    same stored vectors; near 0 where nothing was found, near 1 where both found the same. ``mutual``: the share of the
    stored vectors in the last round that are the nearest neighbour of their own nearest neighbour. ``pairs``: how many
    known ones it follows from, where it does.
    """

    rotation: Matrix
    scale: float
    confidence: float
    mutual: float
    pairs: int = 0

    def back(self, stored: Vectors) -> Rows:
        """Stored vectors where the plain ones lie. The map is linear, so that no mean is needed."""
        return np.asarray(dense(stored, "mapping back") @ (self.scale * self.rotation), dtype=np.float32)


def procrustes(ours: Vectors, theirs: Vectors) -> Matrix:
    """The orthogonal matrix that brings ``ours`` nearest to ``theirs``, row by row (Schönemann 1966).

    With fewer pairs than dimensions it is right within what the pairs span and anything beyond.
    """
    first, second = (np.asarray(dense(side, "an alignment"), dtype=np.float64) for side in (ours, theirs))
    if first.shape != second.shape:
        raise CannotMeasureError(f"pairs come in equal shapes, not {first.shape} and {second.shape}")
    return _nearest_rotation(first.T @ second)


def match_unpaired(
    public: Vectors, stored: Vectors, *, seed: int = 0, rounds: int = 5, most: int = 30_000
) -> Alignment:
    """Find the way from ``stored`` back to the space of ``public`` without knowing a pair.

    Args:
        public: Vectors of one's own texts, as they come from the encoder.
        stored: Vectors of other texts behind a secret rotation.
        seed: Which rows are compared in which round.
        rounds: How often neighbours and map follow from each other.
        most: Rows of either side in the last round; the more, the nearer the neighbours.
    """
    if rounds < 1 or most < FEWEST:
        raise UsageError(f"rounds are at least 1 and most at least {FEWEST}, not {rounds} and {most}")
    ours, theirs = _checked(public, "public"), _checked(stored, "stored")
    if ours.shape[1] != theirs.shape[1]:
        raise CannotMeasureError(
            f"the public vectors have {ours.shape[1]} dimensions and the stored ones {theirs.shape[1]}: "
            "no rotation lies between them"
        )
    ours, theirs = _centred(ours), _centred(theirs)
    order = generator(seed, "halves").permutation(len(ours))
    halves = [_refined(ours[half], theirs, seed, 1, most)[0] for half in np.array_split(order, 2)]
    rotation, mutual = _refined(ours, theirs, seed, rounds, most)
    some = theirs[_drawn(len(theirs), AROUND, seed, "judged")]
    one, other = (unit_rows(some @ half) for half in halves)
    agreement = float(np.einsum("ij,ij->i", one, other).mean())
    ratio = float(np.sqrt(np.square(ours).sum(axis=1).mean() / np.square(theirs).sum(axis=1).mean()))
    scale = 1.0 if 1 / SAME_SCALE < ratio < SAME_SCALE else ratio
    return Alignment(rotation, scale, max(0.0, agreement), mutual)


def _checked(vectors: Vectors, side: str) -> Rows:
    rows = np.asarray(dense(vectors, "an alignment"), dtype=np.float32)
    if len(rows) < FEWEST:
        raise CannotMeasureError(f"{len(rows)} {side} vectors are too few to align: {FEWEST} are needed")
    if not np.isfinite(rows).all():
        raise CannotMeasureError(f"the {side} vectors hold NaN or infinite values")
    if not np.ptp(rows, axis=0).any():
        raise CannotMeasureError(f"the {side} vectors are all the same: they have no shape to align by")
    return rows


def _centred(rows: Rows) -> Rows:
    middle: Rows = rows.mean(axis=0, dtype=np.float64).astype(np.float32)
    return rows - middle


def _refined(ours: Rows, theirs: Rows, seed: int, rounds: int, most: int) -> tuple[Matrix, float]:
    """From the start by third moments, neighbours and map in turns; also the share of mutual neighbours at the end."""
    rotation, share = start(ours, theirs), 0.0
    for number in range(rounds):
        last = number == rounds - 1 and rounds > 1
        sizes = (most, most) if last else (min(STORED_AT_ONCE, most), min(PUBLIC_AT_ONCE, most))
        asked = theirs[_drawn(len(theirs), sizes[0], seed, f"stored {number}")]
        offered = ours[_drawn(len(ours), sizes[1], seed, f"public {number}")]
        here, there = mutual_neighbours(asked @ rotation.astype(np.float32), offered)
        share = len(here) / len(asked)
        if len(here):
            rotation = procrustes(asked[here], offered[there])
    return rotation, share


def mutual_neighbours(asked: Rows, offered: Rows) -> tuple[Places, Places]:
    """Rows of both sides that are each other's nearest, where the nearness to everything else is taken off (CSLS)."""
    left, right = unit_rows(asked), unit_rows(offered)
    left_around, right_around = _around(left, right), _around(right, left)
    forth, back = np.zeros(len(left), dtype=np.int64), np.zeros(len(right), dtype=np.int64)
    best = np.full(len(right), -np.inf, dtype=np.float32)
    step = max(1, _PRODUCTS // len(right))
    for begin in range(0, len(left), step):
        near = 2 * (left[begin : begin + step] @ right.T)
        near -= left_around[begin : begin + step, None]
        near -= right_around
        forth[begin : begin + step] = near.argmax(axis=1)
        at = near.argmax(axis=0)
        values = near[at, np.arange(len(right))]
        better = values > best
        best[better], back[better] = values[better], begin + at[better]
    mutual = np.flatnonzero(back[forth] == np.arange(len(left)))
    return mutual, forth[mutual]


def _around(rows: Rows, others: Rows) -> Rows:
    """How near the nearest few of the other side come to each row; among evenly spaced ones, where they are many."""
    sample = others[:: -(-len(others) // AROUND)]
    few = min(NEIGHBOURS, len(sample))
    found = np.empty(len(rows), dtype=np.float32)
    step = max(1, _PRODUCTS // len(sample))
    for begin in range(0, len(rows), step):
        near = rows[begin : begin + step] @ sample.T
        found[begin : begin + step] = np.partition(near, -few, axis=1)[:, -few:].mean(axis=1)
    return found


def _drawn(n: int, most: int, seed: int, what: str) -> Places:
    if n <= most:
        return np.arange(n, dtype=np.int64)
    return np.sort(generator(seed, what).permutation(n)[:most]).astype(np.int64)


def _nearest_rotation(matrix: Matrix) -> Matrix:
    left, _, right = np.linalg.svd(matrix)
    return np.asarray(left @ right)
