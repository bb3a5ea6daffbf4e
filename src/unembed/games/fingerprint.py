"""The fingerprint game: which encoder made these vectors? (Pan, Appendix D)

The adversary knows some encoders and can run them on its own texts; one of them is the encoder under attack. Those
that make vectors of another dimension are out at once, as in the paper. What is asked about are vectors of the store
and, because a question with a single answer can't be missed, those that the other candidates make of the same texts.

A guess ranks the candidates for every vector. The evidence of several vectors adds up, so sets of 1, 10 and 100 are
judged from the same guess. The headline is about single vectors, which is what Pan reports and leaves as many targets
as there are vectors; and about *this* encoder against all others: half of it is the share of its vectors that are
given its name, half the share of the others' that are not. An attack that says one name of everything is at one half,
and one that tells all encoders apart but this one (behind a defense, say) is too, where plain accuracy would call that
a success.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.asking import PlainGame
from unembed.games.base import Deal, Detail, Example, IntArray, Lineup, Material, Scores, SliceScore
from unembed.games.claims import Figures
from unembed.games.facts import GameFacts
from unembed.games.rows import hold_back, stack_rows
from unembed.metrics.estimate import mean
from unembed.metrics.spread import FloatArray, Rates
from unembed.seeds import generator

#: Vectors that are judged together.
SETS = (1, 10, 100)
FEWEST_VECTORS = 20


@dataclass(frozen=True)
class FingerprintKnowledge:
    """Vectors of known encoders, all of one dimension; a label is an index into ``encoders``."""

    vectors: Vectors
    labels: IntArray
    encoders: tuple[str, ...]

    @classmethod
    def of(cls, vectors: Mapping[str, Any]) -> FingerprintKnowledge:
        """From the vectors of each encoder by its name."""
        if len(vectors) < 2 or len({int(v.shape[1]) for v in vectors.values()}) != 1:
            raise UsageError("telling encoders apart needs vectors of two or more encoders, all of one dimension")
        sizes = [int(v.shape[0]) for v in vectors.values()]
        return cls(_together(list(vectors.values())), np.repeat(np.arange(len(sizes)), sizes), tuple(vectors))


@dataclass(frozen=True)
class FingerprintTruth:
    """Who made each vector, and which of the encoders is the one under attack (None: they are all asked about)."""

    labels: IntArray
    encoders: tuple[str, ...]
    own: int | None
    groups: Sequence[object] | None = None


@dataclass(frozen=True)
class FingerprintGuess:
    """Evidence for every vector and candidate, which adds up over vectors.

    ``needed``: how much of it, on the mean of a set, a candidate must have to be named, one row for each size of
    :data:`SETS`; None for an attack that always names somebody.
    """

    scores: FloatArray
    needed: FloatArray | None = None

    def __getitem__(self, rows: NDArray[np.int64]) -> FingerprintGuess:
        return FingerprintGuess(self.scores[rows], self.needed)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The evidence."""
        return self.scores if dtype is None else self.scores.astype(dtype)


class FingerprintGame(PlainGame):
    """Deals vectors of several encoders; judges whether those of the one under attack are told from the rest."""

    facts: ClassVar[GameFacts] = GameFacts(
        name="fingerprint",
        question="Which encoder made these vectors?",
        metric="balanced_accuracy",
        metric_meaning="how well single vectors tell that this encoder made them: the share of its vectors that are "
        "given its name and the share of other encoders' vectors that are not, averaged; one half is guessing",
        consequence="Whoever finds the vectors learns which model to attack them with, and can make pairs of their own "
        "wherever that model is to be had.",
        tags=("OWASP LLM08:2025", "MITRE ATLAS AML.T0024.002"),
        version=2,
        needs_lineup=True,
        default=False,
    )

    candidates: Sequence[str] = ()
    samples: int = 300
    targets: int = 500

    @staticmethod
    def claim(found: Figures) -> str:
        """What the adversary can do, in words."""
        return (
            f"can tell from a single vector which encoder made it ({found.estimate.value:.0%} right against others, "
            f"guessing: {found.floor.value:.0%})"
        )

    def deal(self, material: Material) -> Deal[FingerprintKnowledge, FingerprintTruth]:
        """Vectors of every candidate of the right dimension: of the adversary's texts, and of the targets."""
        lineup = self._checked(material)
        held = _drawn(len(material.known), self.samples, material.seed, "samples")
        asked = _drawn(len(material.target), self.targets, material.seed, "targets")
        known = {lineup.name: material.known_vectors[held]}
        stored = {lineup.name: material.target_vectors[asked]}
        dimension, left_out = int(material.target_vectors.shape[1]), list(lineup.left_out)
        texts = [material.target.texts[i] for i in asked]
        for name, encode in lineup.others.items():
            made = encode([material.known.texts[i] for i in held])
            if made.shape[1] != dimension:
                left_out.append(f"{name} ({made.shape[1]:,} dimensions)")
                continue
            known[name], stored[name] = made, (lineup.stored or lineup.others)[name](texts)
        names = sorted(known)
        if len(names) == 1:
            raise CannotMeasureError(dimension_alone(lineup.name, dimension, left_out))
        groups = [int(i) for i in asked] if material.groups is None else [material.groups[int(i)] for i in asked]
        others = "; ".join(n for n in names if n != lineup.name)
        notes = [f"told from {len(names) - 1} other encoders of {dimension:,} dimensions: {others}"]
        if left_out:
            notes.append(f"no candidates: {'; '.join(left_out)}")
        labels = np.repeat(np.arange(len(names)), len(asked))
        rows = [asked if name == lineup.name else np.full(len(asked), -1, dtype=np.int64) for name in names]
        return Deal(
            FingerprintKnowledge.of({name: known[name] for name in names}),
            _together([stored[name] for name in names]),
            FingerprintTruth(labels, tuple(names), names.index(lineup.name), groups * len(names)),
            pairs=len(held),
            queries=0,
            notes=tuple(notes),
            rows=np.concatenate(rows),
        )

    def _checked(self, material: Material) -> Lineup:
        if min(self.samples, self.targets) < FEWEST_VECTORS:
            raise UsageError(f"samples and targets of the game 'fingerprint' are at least {FEWEST_VECTORS}")
        if material.lineup is None:
            raise CannotMeasureError(NO_ENCODER)
        fewest = min(len(material.known), len(material.target))
        if fewest < FEWEST_VECTORS:
            raise CannotMeasureError(f"{fewest} vectors on one side; telling encoders apart needs {FEWEST_VECTORS}")
        return material.lineup

    def judge(self, truth: FingerprintTruth, guess: FingerprintGuess, seed: int) -> Scores:
        """Single vectors of this encoder against those of the others; sets, and every encoder, beside it."""
        named = _first(guess.scores)
        right = named[np.arange(len(named)), truth.labels]
        if truth.own is None:
            one = np.ones(len(right))
            return Scores(np.stack([right, one, right, one], axis=1), _halves, truth.groups)
        own, mine = truth.own, truth.labels == truth.own
        said = named[:, own]
        parts = np.stack([said * mine, mine, (1 - said) * ~mine, ~mine], axis=1)

        def work_out() -> Detail:
            rng = generator(seed, "fingerprint", "judge")
            others = np.flatnonzero(~mine)
            secondary = {"others_taken_for_it": mean(said[others], groups=_groups(truth, others))}
            for place, size in enumerate(SETS):
                sets = _sets(np.flatnonzero(mine), size, rng)
                if not len(sets):
                    continue
                evidence = guess.scores[sets].mean(axis=1)
                needed = None if guess.needed is None else guess.needed[place]
                groups = _groups(truth, sets[:, 0]) if size == 1 else None
                first = _first(evidence)[:, own]
                told = {"ranked_first": first, "named_though_unknown": _alarms(evidence, needed, own)}
                if needed is not None:
                    told["named_rightly"] = first * (evidence[:, own] >= needed[own])
                for what, hits in told.items():
                    secondary[f"{what}_of_{size}"] = mean(hits, groups=groups)
            slices = []
            for i, name in enumerate(truth.encoders):
                made = np.flatnonzero(truth.labels == i)
                floor = float(named[truth.labels != i, i].mean())
                estimate = mean(named[made, i], groups=_groups(truth, made))
                slices.append(SliceScore("encoder", name, estimate, floor))
            return Detail(secondary, tuple(sorted(slices, key=lambda s: s.name != truth.encoders[own])))

        return Scores(parts, _halves, truth.groups, work_out)

    def prior_guess(self, knowledge: FingerprintKnowledge, n: int) -> FingerprintGuess:
        """All candidates of the dimension alike: each is named equally often."""
        return FingerprintGuess(np.zeros((n, len(knowledge.encoders))))

    def some_pairs(self, knowledge: FingerprintKnowledge, kept: IntArray) -> FingerprintKnowledge:
        """The same adversary with some of its pairs."""
        return replace(knowledge, vectors=knowledge.vectors[kept], labels=knowledge.labels[kept])

    def rehearsal(
        self, knowledge: FingerprintKnowledge, seed: int
    ) -> tuple[FingerprintKnowledge, Vectors, FingerprintTruth]:
        """A third of the sample vectors held back; whose is under attack the adversary does not know, so all count."""
        held, rest = hold_back(len(knowledge.labels), seed)
        truth = FingerprintTruth(knowledge.labels[held], knowledge.encoders, None)
        return self.some_pairs(knowledge, rest), knowledge.vectors[held], truth

    def examples(self, truth: FingerprintTruth, guess: FingerprintGuess, rows: Sequence[int]) -> list[Example]:
        """True and guessed encoder."""
        said = guess.scores.argmax(axis=1)
        return [Example(int(r), [truth.encoders[truth.labels[r]]], [truth.encoders[said[r]]]) for r in rows]


NO_ENCODER = (
    "not applicable: without the encoder nobody can tell whether its name is right; ask 'unembed fingerprint' whose "
    "vectors they are"
)


def dimension_alone(name: str, dimension: int, left_out: Sequence[str] = ()) -> str:
    """Why there is nothing to measure with one candidate: its dimension names it, and no classifier is needed."""
    tail = f" (no candidates: {'; '.join(left_out)})" if left_out else ""
    return (
        f"not applicable: {name} is the only encoder at hand that makes vectors of {dimension:,} dimensions{tail}, so "
        "the dimension alone gives it away and no classifier is put to the test; name others with "
        'fingerprint.candidates=["…"]'
    )


def _drawn(n: int, most: int, seed: int, what: str) -> IntArray:
    return np.sort(generator(seed, "fingerprint", what).permutation(n)[:most]).astype(np.int64)


def _together(parts: Sequence[Any]) -> Any:
    """Vectors one below the other; sparse only where all of them are."""
    if all(issparse(p) for p in parts):
        return stack_rows(parts)
    return stack_rows([p.toarray() if issparse(p) else p for p in parts])


def _first(evidence: FloatArray) -> FloatArray:
    """1 for the candidate ranked first, shared evenly where several are."""
    best = evidence == evidence.max(axis=1, keepdims=True)
    return np.asarray(best / best.sum(axis=1, keepdims=True))


#: The mean of two shares.
_halves = Rates(lambda sums: (sums[..., ::2], sums[..., 1::2]))


def _groups(truth: FingerprintTruth, rows: IntArray) -> list[object] | None:
    return None if truth.groups is None else [truth.groups[int(i)] for i in rows]


def _sets(rows: IntArray, size: int, rng: np.random.Generator) -> IntArray:
    """As many sets as there are without a vector in two of them, so that they are independent."""
    count = len(rows) // size
    return rng.permutation(rows)[: count * size].reshape(count, size)


def _alarms(evidence: FloatArray, needed: FloatArray | None, own: int) -> FloatArray:
    """Sets that are given another's name when this encoder is not among those known: its column is left out."""
    if needed is None:
        return np.ones(len(evidence))
    others = np.delete(np.arange(evidence.shape[1]), own)
    best = others[evidence[:, others].argmax(axis=1)]
    return np.asarray(evidence[np.arange(len(best)), best] >= needed[best], dtype=np.float64)
