"""Texts of the adversary whose vector is nearly a target's: found after encoding, removed before anything is planned.

The comparison of texts (``corpora.duplicates``) misses a paraphrase, and two long texts that an encoder cuts off after
the same beginning; for an attack on vectors both are copies of a target. How near is too near depends on the encoder
and on the collection, so the rule has no distance in it. A target's distance to a text of the adversary is divided by
its distance to its tenth nearest one. By chance that ratio falls below x for the nearest with a probability of about
9 x^D, where D is the dimension of the space as neighbours see it. D is estimated from the fifth and the tenth
neighbours of the adversary's own texts (after Levina and Bickel 2004), which a copy or two don't change. A ratio that
chance gives one target in a hundred is a twin's. Where texts are made from templates D is small, and few are removed.
Turning, moving or scaling all vectors changes nothing.

The cost is that of comparing all vectors of both sides, by matrix products.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from unembed import seeds
from unembed.encoders.base import Encoder, Vectors
from unembed.errors import CannotMeasureError
from unembed.results.identity import digest_of
from unembed.runner.prepare import INSIDE, ROWS_AT_ONCE, Progress, Sides, encode_sides
from unembed.runner.workspace import load_vectors, save_corpus, save_vectors, save_vectors_in_parts
from unembed.sealed import BrokenSealError, seal, unseal
from unembed.writing import write_atomically

FACT = "near-duplicates of targets by vector removed"
#: Goes up when the rule changes: what an older version found is then looked for again.
_VERSION = 1
_FILE = "vector-twins.json"
_NEIGHBOURS = 10
_MIDDLE = 5
#: How often a target may have a neighbour so near by chance, and the largest ratio of a twin in any case.
_CHANCE, _LARGEST = 0.01, 0.7
_SAMPLE = 2_000
#: Nearer than this share of their length vectors are the same, but for rounding.
_SAME = 1e-4

IntArray = np.ndarray[Any, np.dtype[np.int64]]
BoolArray = np.ndarray[Any, np.dtype[np.bool_]]
FloatArray = np.ndarray[Any, np.dtype[np.float64]]


def vector_twins(adversary: Vectors, target: Vectors, *, seed: int = 0) -> BoolArray:
    """Which of the adversary's vectors are nearly a target's; none where there are too few to say what is usual.

    Args:
        adversary: Dense or sparse, one row per text.
        target: The same for the texts under attack.
        seed: Of the sample that shows what is usual, where there are more than 2,000 vectors.
    """
    from threadpoolctl import threadpool_limits

    found = np.zeros(adversary.shape[0], dtype=bool)
    if adversary.shape[0] <= 2 * _NEIGHBOURS or not target.shape[0]:
        return found
    with threadpool_limits(limits=1):  # the last bits would depend on the number of threads
        rows = _near(adversary, target, seed)
    found[rows] = True
    return found


def _near(adversary: Vectors, target: Vectors, seed: int) -> IntArray:
    from sklearn.neighbors import NearestNeighbors

    nearest = NearestNeighbors(n_neighbors=_NEIGHBOURS, algorithm="brute").fit(adversary)
    rows = np.arange(adversary.shape[0])
    if len(rows) > _SAMPLE:
        rows = np.sort(seeds.generator(seed, "vector twins").choice(rows, size=_SAMPLE, replace=False))
    own = adversary[rows]
    # The nearest is the vector itself, or one that is the same.
    ratios = _ratios(nearest.kneighbors(own, _NEIGHBOURS + 1)[0][:, 1:], own)[:, _MIDDLE - 1]
    ratios = ratios[np.isfinite(ratios)]
    if not len(ratios):
        return np.zeros(0, dtype=np.int64)
    # The lower quartile: a part of the collection may be more alike than the rest.
    spread = -np.log(max(float(np.quantile(ratios, 0.25)), _SAME))
    inverse_dimension = spread / sum(1 / rank for rank in range(_MIDDLE, _NEIGHBOURS))
    limit = min((_CHANCE / (_NEIGHBOURS - 1)) ** inverse_dimension, _LARGEST)
    distances, neighbours = nearest.kneighbors(target)
    return np.unique(neighbours[_ratios(distances, target) < limit])


def _ratios(distances: FloatArray, vectors: Vectors) -> FloatArray:
    """Distances to the nearest vectors as shares of the last; infinite where all of them are the same vector."""
    squares = vectors * vectors if isinstance(vectors, np.ndarray) else vectors.multiply(vectors)
    lengths = np.sqrt(np.asarray(squares.sum(axis=1)).ravel())
    last = distances[:, -1]
    apart = last > _SAME * lengths
    out = np.full(distances.shape, np.inf)
    out[apart] = distances[apart] / last[apart, None]
    return out


def remove_vector_twins(
    sides: Sides, encoder: Encoder, key: str, folder: Path, work: Path, progress: Progress
) -> tuple[Sides, bool]:
    """The sides without vector twins, counted on the cards; and whether the work folder holds their vectors now.

    Which rows are twins is remembered in the run folder: so a complete run is recognised without encoding.

    Args:
        sides: Both sides as they were read.
        encoder: Makes the vectors.
        key: Identifies the encoder.
        folder: The run folder.
        work: Where corpora and vectors are written.
        progress: Told what goes on.
    """
    key = _key(sides, key)
    twins = _remembered(folder / _FILE, key)
    if twins is not None:
        return _without(sides, twins), False
    encode_sides(sides, encoder, work, progress)
    target = load_vectors(work / "target")
    twins = {name: np.flatnonzero(vector_twins(load_vectors(work / name), target)).tolist() for name in sides.known}
    kept = _without(sides, twins)
    for name in [name for name, rows in twins.items() if rows]:
        save_corpus(kept.known[name], work / f"{name}.parquet")
        _keep(np.setdiff1d(np.arange(len(sides.known[name])), twins[name]), work / name)
    write_atomically(folder / _FILE, seal({"key": key, "rows": twins}))
    return kept, True


def _key(sides: Sides, encoder: str) -> str:
    """One key for all that decides which rows are twins."""
    prints = {name: corpus.fingerprint for name, corpus in sides.known.items()}
    return digest_of([_VERSION, encoder, sides.target.fingerprint, prints])


def _remembered(path: Path, key: str) -> dict[str, list[int]] | None:
    """The rows found before for this key; None where the file is missing, damaged or about something else."""
    try:
        saved = unseal(path.read_bytes())
    except (OSError, BrokenSealError):
        return None
    rows: dict[str, list[int]] = saved["rows"]
    return rows if saved["key"] == key else None


def _without(sides: Sides, twins: dict[str, list[int]]) -> Sides:
    """The sides without those rows."""
    known, cards = dict(sides.known), list(sides.cards)
    for name, rows in twins.items():
        kept = np.setdiff1d(np.arange(len(known[name])), rows)
        if not len(kept):
            raise CannotMeasureError(f"{known[name].name}: every vector of the adversary is nearly a target's")
        if rows:
            known[name] = known[name].select(kept)
        role = "adversary" if name == INSIDE else name
        facts = {"rows": len(known[name]), "fingerprint": known[name].fingerprint}
        cards = [
            card.model_copy(update={**facts, "facts": {**card.facts, FACT: len(rows)}}) if card.role == role else card
            for card in cards
        ]
    return replace(sides, known=known, cards=cards)


def _keep(rows: IntArray, path: Path) -> None:
    """Write a file of vectors again with these rows alone."""
    vectors = load_vectors(path)
    if isinstance(vectors, np.ndarray):
        parts = (vectors[rows[i : i + ROWS_AT_ONCE]] for i in range(0, len(rows), ROWS_AT_ONCE))
        save_vectors_in_parts(parts, (len(rows), vectors.shape[1]), path)
    else:
        save_vectors(vectors[rows], path)
