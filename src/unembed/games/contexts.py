"""What the games about contexts share: pieces of text that a model learnt from, beside others of the same kind.

Song and Raghunathan ask of the words of a window (5.1) and of sentences that follow each other (5.2) whether a model
saw them together when it was trained. A trial is one such context and its row holds the vectors of its parts, one after
the other. The adversary has contexts of other documents with their labels (the paper's limited D_aux) and asks the same
model for their vectors.

What makes contexts that were learnt from look unlike the others must be the model alone. So both sides are drawn
in equal numbers, also among contexts of equally frequent words; what occurs on both sides is not asked about; and a
classifier that reads the words of the contexts and never asks the model is a floor of these games: where the texts that
were held out are of another kind than those that were learnt from, it rises.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import hstack, issparse

from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError
from unembed.games.asking import PlainGame
from unembed.games.base import Deal, Example, IntArray, Material, Scores
from unembed.games.claims import Figures
from unembed.games.in_or_out import InOrOutGuess, Trials, judged, unseen_rates
from unembed.metrics.spread import FloatArray
from unembed.seeds import generator

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

NO_TRAINING = "not applicable: it is not known which texts the model learnt from (--trained-on names them)"
#: Contexts of either side that a figure needs at least.
FEWEST = 20
#: With fewer of either side, contexts are not told apart by how frequent their words are.
FEWEST_FOR_TENTHS = 200
#: Contexts that a rehearsal asks about at most: what is to be found is small.
MOST_REHEARSED = 5_000
TENTHS = ("1 (most frequent)", *map(str, range(2, 10)), "10 (rarest)")
KIND = "tenth by frequency"


@dataclass(frozen=True)
class ContextKnowledge:
    """Contexts of the adversary's own, and which of them the model learnt from.

    A row holds ``parts`` vectors of one length, one after the other; those of a word that the model does not know are
    zeros. ``documents`` numbers the document of each; ``tenths`` says how frequent its words are, as whoever has the
    texts can count (-1: not told apart).
    """

    vectors: Vectors
    members: NDArray[np.bool_]
    parts: int
    documents: IntArray
    tenths: IntArray

    def held_back(self, seed: int, most: int) -> tuple[IntArray, IntArray]:
        """A third of the contexts, at most ``most``, and the rest; those of one document together."""
        of_document = np.unique(self.documents, return_inverse=True)[1]
        order = generator(seed, "held back").permutation(int(of_document.max(initial=-1)) + 1)
        rows = np.argsort(order[of_document], kind="stable")
        third = min(len(rows) // 3, most)
        held = np.isin(of_document, of_document[rows[:third]])
        return np.flatnonzero(held), np.flatnonzero(~held)


@dataclass(frozen=True)
class ContextTrials(Trials):
    """Which contexts were learnt from, and what a classifier says that reads their words and never asks the model."""

    by_text: InOrOutGuess | None = None


@dataclass(frozen=True)
class Contexts:
    """Contexts of one side of an audit that may be asked about, before some are drawn.

    ``tenths`` of each by the frequency of its words; ``texts`` and ``documents`` that they stand in, by number, those
    of the adversary behind the targets.
    """

    inside: NDArray[np.bool_]
    tenths: IntArray
    texts: IntArray
    documents: IntArray

    def some(self, rows: IntArray) -> Contexts:
        """Some of them, by number."""
        return Contexts(self.inside[rows], self.tenths[rows], self.texts[rows], self.documents[rows])

    def drawn(self, most: int, rng: np.random.Generator) -> IntArray:
        """At most ``most`` of them, in any order: of each tenth as many that were learnt from as others."""
        kinds = np.unique(self.tenths)
        each = max(1, most // (2 * max(1, len(kinds))))
        taken = []
        for kind in kinds:
            sides = [np.flatnonzero((self.tenths == kind) & (self.inside == held)) for held in (True, False)]
            count = min(each, *(len(side) for side in sides))
            taken += [rng.permutation(side)[:count] for side in sides]
        return np.asarray(rng.permutation(np.concatenate([np.zeros(0, dtype=np.int64), *taken])))


def learnt_from(material: Material, texts: Sequence[str]) -> NDArray[np.bool_]:
    """Which of the texts the model learnt from."""
    if material.training is None:
        raise CannotMeasureError(NO_TRAINING)
    return material.training.holds(texts)


def documents_of(material: Material) -> IntArray:
    """The document of each text, by number, the adversary's behind the targets; where none are known, each is one."""
    target = material.groups if material.groups is not None else range(len(material.target))
    known = material.known_groups if material.known_groups is not None else range(len(material.known))
    names = [*(f"target {name}" for name in target), *(f"known {name}" for name in known)]
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


def on_one_side(keys: IntArray, inside: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which contexts, known by a number each, occur only among those that were learnt from or only among the others."""
    kinds = int(keys.max(initial=-1)) + 1
    sides = [np.bincount(keys[inside == held], minlength=kinds) > 0 for held in (True, False)]
    return np.asarray(~(sides[0] & sides[1])[keys])


def tenths_of(frequency: FloatArray, among: FloatArray) -> IntArray:
    """In which tenth of ``among`` each frequency lies, 0 for the most frequent; equal ones in the same."""
    edges = np.quantile(among, np.arange(1, 10) / 10)
    return np.asarray(9 - np.searchsorted(edges, frequency, side="left"), dtype=np.int64)


def row_parts(vectors: Vectors, parts: int) -> list[Vectors]:
    """The first vector of every row, the second, and so on."""
    width = int(vectors.shape[1]) // parts
    return [vectors[:, part * width : (part + 1) * width] for part in range(parts)]


def side_by_side(table: Vectors, numbers: IntArray) -> Vectors:
    """Rows of a table one after the other: ``numbers`` names those of each context."""
    if issparse(table):
        beside: csr_matrix = hstack([table[column] for column in numbers.T], format="csr")
        return beside
    dense = np.asarray(table, dtype=np.float32)
    flat: NDArray[np.float32] = dense[numbers].reshape(len(numbers), numbers.shape[1] * dense.shape[1])
    return flat


def knows(table: Vectors) -> NDArray[np.bool_]:
    """Which rows are not all zeros: what a table of words gives for a text without a known word."""
    return np.asarray(abs(table).sum(axis=1)).ravel() > 0


def by_words(known: csr_matrix, members: NDArray[np.bool_], asked: csr_matrix) -> InOrOutGuess:
    """What a linear classifier says that learnt which words stand in contexts of either side (bags of words)."""
    from sklearn.linear_model import LogisticRegression

    scores = LogisticRegression(C=0.1, max_iter=200).fit(known, members).decision_function(asked)
    return InOrOutGuess(scores, (scores > 0).astype(np.float64))


def bags(numbers: Sequence[IntArray], words: int) -> csr_matrix:
    """Which words each context holds, given by number."""
    from scipy.sparse import csr_matrix

    ends = np.cumsum([0, *(len(row) for row in numbers)])
    columns = np.concatenate([np.zeros(0, dtype=np.int64), *numbers])
    held = csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(numbers), words))
    held.sum_duplicates()
    held.data[:] = 1
    return held


def dealt(
    known: Contexts,
    asked: Contexts,
    known_vectors: Vectors,
    vectors: Vectors,
    *,
    parts: int,
    words: tuple[csr_matrix, csr_matrix] | None,
    queries: int,
    units: str,
    notes: tuple[str, ...],
    way_out: str = "",
) -> Deal[ContextKnowledge, ContextTrials]:
    """A deal of contexts that were drawn, with their vectors and, for both sides, the words they hold."""
    for side, whose in ((known, "the adversary knows"), (asked, "are asked about")):
        held, rest = int(side.inside.sum()), int((~side.inside).sum())
        if min(held, rest) < FEWEST:
            raise CannotMeasureError(
                f"of the {units} that {whose}, {held} were learnt from and {rest} were not: {FEWEST} of each are "
                f"needed{way_out}"
            )
    told = asked.tenths >= 0
    trials = ContextTrials(
        asked.inside,
        asked.documents.tolist(),
        {KIND: [TENTHS[tenth] for tenth in asked.tenths]} if told.all() else {},
        by_text=None if words is None else by_words(words[0], known.inside, words[1]),
    )
    return Deal(
        ContextKnowledge(known_vectors, known.inside, parts, known.documents, known.tenths),
        vectors,
        trials,
        pairs=len(known.inside),
        queries=queries,
        notes=(
            f"{int(asked.inside.sum()):,} {units} that were learnt from and as many others; {len(known.inside):,} of "
            "other documents are known to the adversary",
            *notes,
            *unseen_rates(int((~asked.inside).sum()), f"{units} that were not learnt from"),
        ),
        rows=asked.texts,
    )


def enough_for_tenths(inside: NDArray[np.bool_]) -> bool:
    """Whether there are so many of either side that a tenth of them shows anything."""
    return min(int(inside.sum()), int((~inside).sum())) >= FEWEST_FOR_TENTHS


class ContextGame(PlainGame):
    """How contexts are judged, whatever they are made of."""

    def judge(self, truth: Trials, guess: InOrOutGuess, seed: int) -> Scores:
        """Balanced accuracy; advantage, curves and tenths by frequency beside it."""
        return judged(truth, guess, seed)

    def prior_guess(self, knowledge: ContextKnowledge, n: int) -> InOrOutGuess:
        """Nothing was learnt from."""
        return InOrOutGuess.nobody(n)

    def own_floors(self, truth: ContextTrials, guess: InOrOutGuess) -> dict[str, InOrOutGuess]:
        """What the words of the contexts tell to somebody who never asks the model."""
        return {} if truth.by_text is None else {"texts": truth.by_text}

    def some_pairs(self, knowledge: ContextKnowledge, kept: IntArray) -> ContextKnowledge:
        """The same adversary with fewer contexts."""
        return replace(
            knowledge,
            vectors=knowledge.vectors[kept],
            members=knowledge.members[kept],
            documents=knowledge.documents[kept],
            tenths=knowledge.tenths[kept],
        )

    def rehearsal(self, knowledge: ContextKnowledge, seed: int) -> tuple[ContextKnowledge, Vectors, ContextTrials]:
        """A third of the contexts that the adversary knows is asked about."""
        asked, rest = knowledge.held_back(seed, MOST_REHEARSED)
        if len(rest) < 2 * FEWEST:
            raise CannotMeasureError(f"{len(knowledge.members)} known contexts are too few to rehearse with")
        truth = ContextTrials(knowledge.members[asked])
        return self.some_pairs(knowledge, rest), knowledge.vectors[asked], truth

    def examples(self, truth: Trials, guess: InOrOutGuess, rows: Sequence[int]) -> list[Example]:
        """Learnt from or not, and what was said; no words."""
        names = ("not learnt from", "learnt from")
        return [Example(int(r), [names[int(truth.inside[r])]], [names[int(guess.said[r] >= 0.5)]]) for r in rows]


def recognised(found: Figures, what: str) -> str:
    """What the adversary can do, in words."""
    hits, alarms = found.secondary.get("found"), found.secondary.get("false_alarms")
    if hits is None or alarms is None:
        return f"can tell {what} from others ({found.estimate.value:.0%} right)"
    return f"can recognise {hits.value:.0%} of {what}, taking {alarms.value:.1%} of the others for one of them"


def drawing(material: Material, side: str) -> np.random.Generator:
    """Which contexts of a side are drawn follows from the seed alone."""
    return generator(material.seed, "contexts", side)
