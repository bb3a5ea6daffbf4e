"""The game of recovery: can vectors behind one secret map be brought back to where the encoder put them?

A rotation is the usual such map. It leaves all distances as they were, so search goes on as before, and nobody without
the key is said to read anything. Whoever brings the vectors back plays every other attack as if there were no defense.

The adversary holds all stored vectors, and vectors of texts of its own as they come from the encoder. Somebody inside
also holds the stored vectors of those texts: pairs. The headline is the share of the recovered vectors that come
nearest to their own plain vector among those of all targets: guessing is right once in their number.

It is asked only where a defense says that it is one map for all vectors, and only of adversaries who know that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from unembed.defenses.base import dense
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.asking import PlainGame
from unembed.games.base import Deal, Detail, Example, IntArray, Material, Scores
from unembed.games.claims import Figures
from unembed.games.facts import GameFacts
from unembed.metrics.estimate import mean
from unembed.metrics.spread import FloatArray, Rates
from unembed.seeds import generator

FEWEST = 20
#: Recovered vectors that are compared with all plain ones at once.
_AT_ONCE = 256


@dataclass(frozen=True)
class RecoveryKnowledge:
    """Plain vectors of the adversary's texts, all stored vectors, and the stored ones of its own texts, if it has them.

    ``pairs`` stand in the order of ``vectors``.
    """

    vectors: Vectors
    stored: Vectors
    pairs: Vectors | None


@dataclass(frozen=True)
class RecoveryTruth:
    """The plain vectors of all targets, and which of them each vector under attack was made from."""

    plain: Vectors
    made_from: IntArray
    groups: Sequence[object] | None = None


#: A guess: the plain vector behind each stored one.
RecoveryGuess = NDArray[np.float32]


class RecoveryGame(PlainGame):
    """Deals vectors behind a secret map; judges who brings them back."""

    facts: ClassVar[GameFacts] = GameFacts(
        name="recovery",
        question="Can the plain vectors be got back from those behind a secret map?",
        metric="recovered",
        metric_meaning="share of the vectors that, brought back, come nearest to their own plain vector among those of "
        "all targets (guessing is right once in their number)",
        consequence="Whoever brings the vectors back can play every attack as if they were not defended, and nothing "
        "has to leak but the vectors.",
        tags=("OWASP LLM08:2025", "MITRE ATLAS AML.T0024.001"),
        needs_map=True,
        curve=True,
    )

    asked: int = 2000

    @staticmethod
    def claim(found: Figures) -> str:
        """What the adversary can do, in words."""
        return (
            f"can bring stored vectors back through the secret map: {found.estimate.value:.0%} come nearest to their "
            f"own plain vector (guessing: {found.floor.value:.1%})"
        )

    def deal(self, material: Material) -> Deal[RecoveryKnowledge, RecoveryTruth]:
        """All stored vectors, plain vectors of the adversary's own texts, and pairs for who is inside."""
        plain, own = material.plain_target_vectors, material.plain_known_vectors
        if plain is None or own is None:
            raise CannotMeasureError("not applicable: no secret map stands before these vectors")
        if self.asked < FEWEST:
            raise UsageError(f"asked of the game 'recovery' is at least {FEWEST}")
        stored = dense(material.target_vectors, "a secret map")
        if len(stored) < FEWEST:
            raise CannotMeasureError(f"{len(stored)} targets; bringing vectors back needs {FEWEST}")
        rows = np.sort(generator(material.seed, "recovery", "asked").permutation(len(stored))[: self.asked])
        rows = rows.astype(np.int64)
        inside = material.adversary.inside
        groups = None if material.groups is None else [material.groups[int(row)] for row in rows]
        held = "with" if inside else "without"
        return Deal(
            RecoveryKnowledge(own, stored, material.known_vectors if inside else None),
            stored[rows],
            RecoveryTruth(plain, rows, groups),
            pairs=len(material.known) if inside else 0,
            queries=len(material.known),
            notes=(f"{len(stored):,} stored vectors, {len(material.known):,} of the adversary's own, {held} pairs",),
            rows=rows,
        )

    def judge(self, truth: RecoveryTruth, guess: RecoveryGuess, seed: int) -> Scores:
        """Nearest to its own plain vector; the cosine to it beside that."""
        plain = np.asarray(dense(truth.plain, "a secret map"), dtype=np.float64)
        if guess.shape != (len(truth.made_from), plain.shape[1]):
            raise CannotMeasureError(
                f"the attack gives vectors of shape {guess.shape}, not {(len(truth.made_from), plain.shape[1])}"
            )
        hits = _nearest_is_own(guess, plain, truth.made_from)
        parts = np.stack([hits, np.ones(len(hits))], axis=1)

        def work_out() -> Detail:
            own = plain[truth.made_from]
            lengths = np.linalg.norm(own, axis=1) * np.linalg.norm(guess, axis=1)
            cosine = np.einsum("ij,ij->i", own, guess) / np.where(lengths > 0, lengths, 1)
            return Detail({"cosine": mean(cosine, groups=truth.groups)})

        return Scores(parts, _share, truth.groups, work_out)

    def prior_guess(self, knowledge: RecoveryKnowledge, n: int) -> RecoveryGuess:
        """The mean of what the adversary's own texts give."""
        own = dense(knowledge.vectors, "a secret map")
        return np.broadcast_to(own.mean(axis=0, dtype=np.float64), (n, own.shape[1])).astype(np.float32)

    def some_pairs(self, knowledge: RecoveryKnowledge, kept: IntArray) -> RecoveryKnowledge:
        """The same adversary with some of its own texts."""
        pairs = None if knowledge.pairs is None else knowledge.pairs[kept]
        return replace(knowledge, vectors=knowledge.vectors[kept], pairs=pairs)

    def rehearsal(self, knowledge: RecoveryKnowledge, seed: int) -> tuple[RecoveryKnowledge, Vectors, RecoveryTruth]:
        """Half of the adversary's own vectors, behind the owner's map where it holds them so, else behind its own."""
        order = generator(seed, "held back").permutation(int(knowledge.vectors.shape[0]))
        rest, held = (np.sort(part) for part in np.array_split(order, 2))
        if len(held) < FEWEST:
            raise CannotMeasureError(f"{len(order)} texts of the adversary are too few to rehearse with")
        plain = dense(knowledge.vectors[held], "a secret map")
        if knowledge.pairs is None:
            turn = np.linalg.qr(generator(seed, "turn").standard_normal((plain.shape[1], plain.shape[1])))[0]
            stored = (plain @ turn).astype(np.float32)
        else:
            stored = dense(knowledge.pairs[held], "a secret map")
        rows = np.arange(min(len(held), self.asked))
        less = replace(self.some_pairs(knowledge, rest), stored=stored)
        return less, stored[rows], RecoveryTruth(plain, rows)

    def examples(self, truth: RecoveryTruth, guess: RecoveryGuess, rows: Sequence[int]) -> list[Example]:
        """Whether its own plain vector is the nearest."""
        some = np.asarray(rows, dtype=np.int64)
        plain = np.asarray(dense(truth.plain, "a secret map"), dtype=np.float64)
        hits = _nearest_is_own(guess[some], plain, truth.made_from[some])
        said = ("another", "its own")
        return [Example(int(row), ["its own"], [said[int(hit)]]) for row, hit in zip(rows, hits, strict=True)]


def _nearest_is_own(guess: RecoveryGuess, plain: FloatArray, own: IntArray) -> FloatArray:
    """1 where no plain vector is nearer to the recovered one than its own."""
    squares = np.square(plain).sum(axis=1)
    hits = np.zeros(len(guess))
    for begin in range(0, len(guess), _AT_ONCE):
        block, mine = guess[begin : begin + _AT_ONCE].astype(np.float64), own[begin : begin + _AT_ONCE]
        apart = squares - 2 * block @ plain.T
        hits[begin : begin + _AT_ONCE] = apart[np.arange(len(block)), mine] <= apart.min(axis=1)
    return hits


#: The share of vectors that came back.
_share = Rates(lambda sums: (sums[..., :1], sums[..., 1:]))
