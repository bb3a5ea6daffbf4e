"""Projecting out the subspace that tells of keywords (Pan 2020, VII (4) and Appendix C)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unembed.corpora.substitution import substitute
from unembed.corpora.words import build_vocabulary
from unembed.defenses.base import DefenseFacts, Owned, check_finite, dense
from unembed.defenses.keywords import keywords_in, texts_with
from unembed.defenses.tiles import ROWS, as_rows, product, unit_length, usable_tiles
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, UsageError
from unembed.params import Parametrised
from unembed.seeds import generator

_WHAT = "a projection"
#: Texts with and without each keyword of which copies are made.
_COPIED = 60
#: Shorter directions are noise of the arithmetic.
_NOTHING = 1e-6

Matrix = NDArray[np.floating[Any]]


class Subspace(Parametrised):
    """Takes the directions that tell whether a text holds a keyword out of every vector, and gives it unit length.

    First the differences between the mean vectors of texts with and without each keyword; without them, and but for the
    scaling, no linear classifier tells anything on the texts that were learnt from. Then, where the encoder is at hand,
    the directions in which copies move whose only difference is the keyword. Then those of the paper's matrix. Only the
    keywords named are hidden, from classifiers that are about linear, and less so on texts that were not learnt from:
    there is no guarantee. To see what it hides, attack texts that it was not fitted on, with pairs that it was not
    fitted on either: on its own texts an attack may fall below guessing, which is no safety.

    Args:
        beta: Share of the dimensions that is taken out (β).
        keywords: What to hide; empty: ten frequent content words of the texts.
        seed: Nothing follows from it.
    """

    facts: ClassVar[DefenseFacts] = DefenseFacts(
        name="subspace",
        title="Projection that takes keywords out",
        paper="pan2020",
        section="VII (4), Appendix C",
        supervised=True,
        version=2,
        departures="the printed projection adds k vectors, each without one direction, and the printed matrix C holds "
        "what texts with the keyword, or without it, vary by among themselves; what the text describes is built: the "
        "projection on the complement of all directions, the first of which tell the two sets apart, and only the last "
        "are those of C; one subspace for all keywords",
    )

    beta: float = 0.05
    keywords: Sequence[str] = ()
    seed: int = 0

    def fit(self, vectors: Vectors, owned: Owned | None = None) -> Self:
        """Learn the subspace."""
        self.check_parameters()
        rows = check_finite(dense(vectors, _WHAT), self.facts.name).astype(np.float64)
        keywords = keywords_in(self.facts.name, self.keywords, owned, len(rows))
        assert owned is not None, "the texts were found"
        held = texts_with(self.facts.name, keywords, owned.texts)
        if not np.ptp(rows, axis=0).any():
            raise CannotMeasureError("the defense 'subspace' has nothing to learn from: all vectors are the same")
        wanted = max(1, round(self.beta * rows.shape[1]))
        found = _extended(np.zeros((rows.shape[1], 0)), _mean_differences(rows, held), wanted)
        if found.shape[1] < wanted and owned.encode is not None:
            moved = _moves(owned.texts, keywords, held, owned.encode)
            found = _extended(found, np.array([part.mean(axis=0) for part in moved]), wanted)
            found = _extended(found, np.concatenate(moved), wanted)
        if found.shape[1] < wanted:
            found = _extended(found, _within(rows, held, found, wanted), wanted)
        self.directions_ = found.astype(np.float32)
        return self

    def check_parameters(self) -> None:
        """Refuse parameters out of range."""
        if not 0 < self.beta < 1:
            raise UsageError(f"'beta' of the defense 'subspace' must lie between 0 and 1, not {self.beta}")

    def transform(self, vectors: Vectors, ids: Sequence[str]) -> Vectors:
        """The vectors without the subspace, of unit length."""
        rows = as_rows(self.facts.name, vectors, len(self.directions_))
        back = np.ascontiguousarray(self.directions_.T)
        made = np.empty_like(rows)
        for place in usable_tiles(self.facts.name, rows, ROWS):
            told = product(product(rows[place], self.directions_), back)
            unit_length(np.subtract(rows[place], told, out=made[place]))
        return made


def _extended(found: Matrix, further: Matrix, wanted: int) -> Matrix:
    """Orthonormal directions (columns), with the main ones of further rows in what they leave, up to a number."""
    room = wanted - found.shape[1]
    left = further - (further @ found) @ found.T
    lengths = np.linalg.norm(further, axis=1)
    left = left[np.linalg.norm(left, axis=1) > _NOTHING * lengths]
    if room <= 0 or not len(left):
        return found
    _, strength, directions = np.linalg.svd(left, full_matrices=False)
    new = directions[: min(room, int((strength > _NOTHING * strength[0]).sum()))]
    # Once more, because what was left may be short and its direction inexact.
    joined, _ = np.linalg.qr(np.concatenate([found, new.T], axis=1))
    return np.asarray(joined)


def _mean_differences(rows: Matrix, held: NDArray[np.bool_]) -> Matrix:
    """For each keyword, what lies between the means of the texts with and without it."""
    return np.array([rows[has].mean(axis=0) - rows[~has].mean(axis=0) for has in held.T])


def _moves(
    texts: Sequence[str],
    keywords: Sequence[str],
    held: NDArray[np.bool_],
    encode: Callable[[Sequence[str]], Vectors],
) -> list[Matrix]:
    """For each keyword, how vectors move where it takes the place of another word of the text."""
    vocabulary = build_vocabulary(texts, size=5_000, min_count=1)
    moves: list[Matrix] = []
    for keyword, has in zip(keywords, held.T, strict=True):
        rng = generator(0, "copies", keyword)
        chosen = [row for kind in (has, ~has) for row in rng.permutation(np.flatnonzero(kind))[:_COPIED]]
        made = substitute([texts[row] for row in chosen], keyword, vocabulary, rng)
        found = np.asarray(dense(encode(made.texts), _WHAT), dtype=np.float64)
        # Text and copy stand one after the other; the sign makes it the one with the keyword less the other.
        moves.append((found[0::2] - found[1::2]) * np.where(made.labels[0::2], 1, -1)[:, None])
    return moves


def _within(rows: Matrix, held: NDArray[np.bool_], found: Matrix, wanted: int) -> Matrix:
    """The first eigenvectors of the paper's C, of all keywords together, in what the directions leave."""
    left = rows - (rows @ found) @ found.T
    spread = np.zeros((rows.shape[1], rows.shape[1]))
    for has in held.T:
        for kind in (has, ~has):
            spread += np.cov(left[kind].T, bias=True)
    values, vectors = np.linalg.eigh(spread)
    first = slice(None, -(wanted + 1), -1)
    return np.asarray((vectors[:, first] * np.sqrt(np.maximum(values[first], 0))).T)
