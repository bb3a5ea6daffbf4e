"""The game of presence: is this text in the index, as it stands or nearly?

Somebody has a text, or a person's document, and a copy of an index, and asks whether the text lies in it. Half of the
targets are put into the index; all of them are asked about, as they stand, with one or two small edits (``near``), and
in other words (``reworded``, by rules: :mod:`unembed.corpora.edits`). The adversary has the candidates encoded and says
of each how near the index comes to it, and whether that is near enough.

Which targets are in the index is drawn from the seed alone. A target outside that is a near-duplicate of one inside is
not asked about: it would count as a false alarm and be none. The adversary also holds texts known to be outside, to
say what false-alarm rate its threshold stands for.

That a text can be recognised by somebody who has it is near-certain for every encoder without a defense: the same text
gives the same vector. So a leak here is never graver than ``moderate``: it confirms what the adversary holds and reads
nothing new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from unembed.corpora.corpus import Corpus
from unembed.corpora.duplicates import remove_leaks
from unembed.corpora.edits import nearly, reworded
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.asking import Audited, Question, Refused
from unembed.games.base import Deal, Detail, Example, IntArray, Material, Scores, SliceScore
from unembed.games.claims import Figures
from unembed.games.facts import GameFacts
from unembed.games.in_or_out import RATES, InOrOutGuess, counts, curve, figures, halves, unseen_rates
from unembed.games.rows import stack_rows
from unembed.games.threat import Adversary, Capability
from unembed.metrics.estimate import Estimate, Measure, estimates_of
from unembed.metrics.roc import tpr_at_fpr_estimate
from unembed.metrics.spread import FloatArray
from unembed.params import Parametrised
from unembed.seeds import generator

FEWEST = 20
EDITS: dict[str, Callable[[str, np.random.Generator], str]] = {
    "exact": lambda text, rng: text,
    "near": nearly,
    "reworded": reworded,
}
KIND = "text"


@dataclass(frozen=True)
class PresenceKnowledge:
    """The index, and vectors of texts that are known to be outside of it."""

    vectors: Vectors
    index: Vectors


@dataclass(frozen=True)
class PresenceTruth:
    """For each candidate whether its text is in the index, how it was changed, and which text it was made of."""

    inside: NDArray[np.bool_]
    kinds: tuple[str, ...]
    texts: IntArray
    documents: Sequence[object] | None = None

    @property
    def groups(self) -> list[object]:
        """Candidates that belong together: of one document, else of one text."""
        if self.documents is not None:
            return list(self.documents)
        return [int(row) for row in self.texts]


class PresenceGame(Parametrised):
    """Deals an index and candidates; judges who can tell which of them are in it."""

    facts: ClassVar[GameFacts] = GameFacts(
        name="presence",
        question="Is this text, or this person's document, in the index?",
        metric="balanced_accuracy",
        metric_meaning="share of the texts in the index that are recognised and share of those outside that are not "
        "taken for it, averaged over both (a coin gives 50 %)",
        consequence="Whoever has a text and the vectors can confirm that it, or a copy with small changes, was stored: "
        "that a person's document lies in this collection can itself be a secret.",
        tags=("OWASP LLM08:2025", "MITRE ATLAS AML.T0024.000"),
        evidence=("auc",),
        gravest="moderate",
        default=False,
    )

    kinds: Sequence[str] = tuple(EDITS)
    asked: int = 2000

    @classmethod
    def for_audit(cls, audited: Audited) -> Iterator[Question | Refused]:
        """One question; none where no candidate can be encoded."""
        if not audited.can_encode:
            yield Refused("presence", NO_ENCODER)
        else:
            yield Question(cls(**audited.given("presence")))

    @staticmethod
    def claim(found: Figures) -> str:
        """What the adversary can do, in words."""
        told = found.secondary.get("found")
        alarms = found.secondary.get("false_alarms")
        if told is None or alarms is None:
            return f"can tell whether a text they have is in the index ({found.estimate.value:.0%} right)"
        return (
            f"can recognise {told.value:.0%} of the stored texts that they already have, as they stand or slightly "
            f"changed, taking {alarms.value:.1%} of other texts for stored ones"
        )

    @property
    def subject(self) -> str | None:
        """There is only one question."""
        return None

    def queries(self, known: Corpus, adversary: Adversary, seed: int) -> list[str]:
        """None beforehand: the candidates are made of the challenger's texts."""
        return []

    def deal(self, material: Material) -> Deal[PresenceKnowledge, PresenceTruth]:
        """The index, texts known to be outside, and candidates from inside and outside."""
        self._check(material)
        inside = _members(len(material.target), material.groups, generator(material.seed, "presence", "index"))
        held, free = np.flatnonzero(inside), np.flatnonzero(~inside)
        apart = remove_leaks(material.target.select(free), material.target.select(held))[0]
        alone = set(apart.ids)
        outside = np.array([row for row in free if material.target.ids[row] in alone], dtype=np.int64)
        if min(len(held), len(outside)) < FEWEST:
            raise CannotMeasureError(
                f"{len(held)} targets in the index and {len(outside)} others that are no near-duplicates of them: "
                f"{FEWEST} of each are needed"
            )
        rng = generator(material.seed, "presence", "asked")
        rows = np.sort(np.concatenate([rng.permutation(side)[: self.asked // 2] for side in (held, outside)]))
        entries = [(int(row), kind, text) for kind in self.kinds for row, text in self._written(material, rows, kind)]
        texts = [text for _, _, text in entries]
        asked = np.array([row for row, _, _ in entries], dtype=np.int64)
        truth = PresenceTruth(
            inside[asked],
            tuple(kind for _, kind, _ in entries),
            asked,
            None if material.groups is None else [material.groups[int(row)] for row in asked],
        )
        negatives = int((~inside[rows]).sum())
        notes = [
            f"an index of {len(held):,} vectors; in a larger one the nearest vector of a text outside is nearer",
            f"{negatives:,} texts outside are asked about, {len(free) - len(outside):,} near-duplicates of stored ones "
            "are not",
        ]
        notes += unseen_rates(negatives, "texts outside")
        return Deal(
            PresenceKnowledge(material.known_vectors, material.target_vectors[held]),
            material.encode(texts),
            truth,
            pairs=len(material.known),
            queries=len(texts),
            notes=tuple(notes),
            rows=asked,
        )

    def _check(self, material: Material) -> None:
        unknown = [kind for kind in self.kinds if kind not in EDITS]
        if unknown or not self.kinds:
            raise UsageError(f"kinds of the game 'presence' are some of {', '.join(EDITS)}, not '{', '.join(unknown)}'")
        if self.asked < 2 * FEWEST:
            raise UsageError(f"asked of the game 'presence' is at least {2 * FEWEST}")
        if Capability.QUERIES not in material.adversary.capabilities:
            raise CannotMeasureError(NO_ENCODER)

    @staticmethod
    def _written(material: Material, rows: IntArray, kind: str) -> Iterator[tuple[int, str]]:
        """Each text as this kind has it; those that an edit leaves as they are count as exact alone."""
        for row in rows:
            text = material.target.texts[int(row)]
            made = EDITS[kind](text, generator(material.seed, "presence", kind, int(row)))
            if kind == "exact" or made != text:
                yield int(row), made

    def judge(self, truth: PresenceTruth, guess: InOrOutGuess, seed: int) -> Scores:
        """Balanced accuracy; curves, kinds and documents beside it."""
        inside = truth.inside
        parts = counts(guess.said, inside)

        def work_out() -> Detail:
            rng = generator(seed, "presence", "judge")
            secondary = figures(guess, inside, truth.groups, rng)
            if truth.documents is not None:
                secondary |= _of_documents(truth, guess, rng)
            return Detail(secondary, tuple(_by_kind(truth, guess, parts, rng)))

        return Scores(parts, halves, truth.groups, work_out)

    def prior_guess(self, knowledge: PresenceKnowledge, n: int) -> InOrOutGuess:
        """Nothing is in it: any constant answer is right for half."""
        return InOrOutGuess.nobody(n)

    def some_pairs(self, knowledge: PresenceKnowledge, kept: IntArray) -> PresenceKnowledge:
        """The same adversary with fewer texts known to be outside."""
        return replace(knowledge, vectors=knowledge.vectors[kept])

    def rehearsal(self, knowledge: PresenceKnowledge, seed: int) -> tuple[PresenceKnowledge, Vectors, PresenceTruth]:
        """A third of the adversary's own texts is put into the index, another is asked about beside it."""
        order = generator(seed, "held back").permutation(int(knowledge.vectors.shape[0]))
        third = len(order) // 3
        inner, outer, rest = (np.sort(part) for part in np.split(order, [third, 2 * third]))
        if third < FEWEST:
            raise CannotMeasureError(f"{len(order)} texts of the adversary are too few to rehearse with")
        index = stack_rows([knowledge.index, knowledge.vectors[inner]])
        asked = np.concatenate([inner, outer])
        truth = PresenceTruth(np.arange(len(asked)) < third, ("exact",) * len(asked), asked)
        return PresenceKnowledge(knowledge.vectors[rest], index), knowledge.vectors[asked], truth

    def examples(self, truth: PresenceTruth, guess: InOrOutGuess, rows: Sequence[int]) -> list[Example]:
        """In the index or not, and what was said."""
        names = ("not stored", "stored")
        return [Example(int(r), [names[int(truth.inside[r])]], [names[int(guess.said[r] >= 0.5)]]) for r in rows]


NO_ENCODER = (
    "not applicable: a text can be looked for in an index only by its vector, and without the encoder no further text "
    "can be encoded"
)


def _members(n: int, groups: Sequence[object] | None, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Half of the targets, those of one document together; it follows from the seed and never from the texts."""
    if groups is None:
        return np.asarray(rng.permutation(n) % 2 == 0)
    of_row = np.unique(np.asarray([str(g) for g in groups]), return_inverse=True)[1]
    return np.asarray((rng.permutation(int(of_row.max(initial=0)) + 1) % 2 == 0)[of_row])


def _by_kind(
    truth: PresenceTruth, guess: InOrOutGuess, parts: FloatArray, rng: np.random.Generator
) -> Iterator[SliceScore]:
    """Each way a text was changed alone: the headline, and the true positives at each of the rates."""
    groups = truth.groups
    for kind in dict.fromkeys(truth.kinds):
        own = np.array([k == kind for k in truth.kinds])
        rows = np.flatnonzero(own)
        measure = Measure(parts[rows], halves, len(rows))
        here = [groups[int(row)] for row in rows]
        yield SliceScore(KIND, kind, estimates_of({kind: measure}, groups=here)[kind], 0.5)
        for rate, name in RATES.items():
            estimate = tpr_at_fpr_estimate(guess.scores[rows], truth.inside[rows], rate, rng=rng, groups=here)
            yield SliceScore(f"{KIND}, {name.replace('_', ' ')}", kind, estimate, rate)


def _of_documents(truth: PresenceTruth, guess: InOrOutGuess, rng: np.random.Generator) -> dict[str, Estimate]:
    """Whole documents, by the nearest of their texts and by the mean over them; of the kind that was changed most."""
    last = np.flatnonzero([kind == truth.kinds[-1] for kind in truth.kinds])
    labels = np.unique(np.asarray([str(g) for g in truth.groups])[last], return_inverse=True)[1]
    scores, count = guess.scores[last], int(labels.max(initial=-1)) + 1
    inside = np.bincount(labels, weights=truth.inside[last], minlength=count) > 0
    highest = np.full(count, -np.inf)
    np.maximum.at(highest, labels, scores)
    mean = np.bincount(labels, weights=scores, minlength=count) / np.bincount(labels, minlength=count)
    found: dict[str, Estimate] = {}
    for how, evidence in (("nearest", highest), ("mean", mean)):
        for name, estimate in curve(evidence, inside, range(count), rng).items():
            found[f"documents_by_{how}_{name}"] = estimate
    return found
