"""The game of windows: did the model see these few words in a row when it was trained?

Song and Raghunathan 5.1 and 6.4. A table of word vectors tells by itself which words it learnt from; the question is
whether it saw them together. A trial is a window of a text, its word in the middle first of all: how frequent that one
is decides how much of its neighbours is left in its vector. By default each tenth of the words gives as many windows,
as in the paper's Figure 4, so that rare words are asked about as often as common ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.base import Deal, IntArray, Material
from unembed.games.claims import Figures
from unembed.games.contexts import (
    ContextGame,
    ContextKnowledge,
    Contexts,
    ContextTrials,
    bags,
    dealt,
    documents_of,
    drawing,
    enough_for_tenths,
    knows,
    learnt_from,
    on_one_side,
    recognised,
    side_by_side,
    tenths_of,
)
from unembed.games.facts import GameFacts
from unembed.shadows.base import TokenCorpus

#: Whether the tenths by frequency hold as many words each, or as many places in the texts.
Drawn: TypeAlias = Literal["words", "places"]


class MembershipWindowGame(ContextGame):
    """Deals windows of texts that the model learnt from and of others, as the vectors of their words."""

    facts: ClassVar[GameFacts] = GameFacts(
        name="membership-window",
        question="Were these words, in a row, among the texts that the model was trained on?",
        metric="balanced_accuracy",
        metric_meaning="share of the windows of training texts that are recognised and share of other windows that are "
        "not taken for them, averaged over both (a coin gives 50 %)",
        consequence="Whoever knows or guesses a few words in a row and may ask the model for the vectors of single "
        "words can tell better than by chance whether they stood in its training texts.",
        tags=("OWASP LLM02:2025", "MITRE ATLAS AML.T0024.000"),
        needs_training=True,
        evidence=("auc",),
        counts_hits=False,
        gravest="moderate",
        section="training",
        default=False,
        learns_from="windows of words",
    )

    words: int = 5
    windows: int = 4000
    labelled: int = 4000
    drawn: Drawn = "words"
    most_words: int = 50_000

    @staticmethod
    def claim(found: Figures) -> str:
        """What the adversary can do, in words."""
        return recognised(found, "the windows of words that the model was trained on")

    def deal(self, material: Material) -> Deal[ContextKnowledge, ContextTrials]:
        """Windows of both sides, and the vectors that the model gives for their words."""
        self._check()
        texts = [*material.target.texts, *material.known.texts]
        corpus = TokenCorpus.of(texts)
        whole = self._windows(corpus, learnt_from(material, texts), drawing(material, "texts"))
        if not len(whole.centres):
            raise CannotMeasureError(f"no text has {self.words} words in a row: there is no window to ask about")
        alone = whole.some(on_one_side(whole.keys(), whole.inside))
        asked = alone.some(alone.texts < len(material.target))
        known = alone.some(alone.texts >= len(material.target))
        # The owner's defense stands before what is asked about; the adversary's own windows go past it.
        answers = [_Answers.of(asked, material.challenge), _Answers.of(known, material.encode)]
        asked, known = (side.some(said.legible(side)) for side, said in zip((asked, known), answers, strict=True))
        centres = np.concatenate([asked.middle, known.middle])
        if not len(centres):
            raise CannotMeasureError(
                f"the model knows no two neighbouring words of {len(alone.centres):,} windows: nothing can be asked"
            )
        counts = np.bincount(corpus.tokens, minlength=len(corpus.vocabulary)).astype(np.float64)
        among = counts[np.unique(centres) if self.drawn == "words" else centres]
        documents = documents_of(material)
        drawn = [
            side.drawn(tenths_of(counts[side.middle], among), documents, most, drawing(material, whose))
            for side, most, whose in ((asked, self.windows, "asked"), (known, self.labelled, "known"))
        ]
        (own, targets), (held, pairs) = drawn
        unread, size = len(alone.centres) - len(centres), len(corpus.vocabulary)
        return dealt(
            pairs,
            targets,
            answers[1].vectors(held),
            answers[0].vectors(own),
            parts=self.words,
            words=(bags(list(held.words()), size), bags(list(own.words()), size)),
            queries=len(np.unique(np.concatenate([own.words(), held.words()]))),
            units="windows",
            notes=(
                f"of {len(whole.centres):,} windows {len(whole.centres) - len(alone.centres):,} are left out because "
                f"they stand in texts of both kinds, and {unread:,} because the model does not know the word in the "
                "middle, or none around it",
            ),
        )

    def _check(self) -> None:
        if self.words < 3 or self.words % 2 == 0:
            raise UsageError(f"words of the game 'membership-window' is an odd number from 3 on, not {self.words}")
        if self.drawn not in ("words", "places"):
            raise UsageError(f"drawn of the game 'membership-window' is 'words' or 'places', not '{self.drawn}'")

    def _windows(self, corpus: TokenCorpus, learnt: NDArray[np.bool_], rng: np.random.Generator) -> _Windows:
        """Every place with enough words to either side, in texts whose words are few enough to be asked for."""
        reach = self.words // 2
        text_of = np.repeat(np.arange(len(corpus)), np.diff(corpus.starts))
        places = np.arange(len(corpus.tokens))
        fits = (places - reach >= corpus.starts[text_of]) & (places + reach < corpus.starts[text_of + 1])
        if len(corpus.vocabulary) > self.most_words:
            order = rng.permutation(len(corpus))[text_of]
            first = np.full(len(corpus.vocabulary), len(corpus))
            np.minimum.at(first, corpus.tokens, order)
            fits &= order < np.sort(first)[self.most_words]
        return _Windows(corpus, reach, places[fits], text_of[fits], learnt[text_of[fits]])


@dataclass(frozen=True)
class _Windows:
    """Where windows have their middle, in which texts, and whether those were learnt from."""

    corpus: TokenCorpus
    reach: int
    centres: IntArray
    texts: IntArray
    inside: NDArray[np.bool_]

    def some(self, rows: NDArray[np.bool_] | IntArray) -> _Windows:
        return replace(self, centres=self.centres[rows], texts=self.texts[rows], inside=self.inside[rows])

    @property
    def middle(self) -> NDArray[np.int32]:
        """The word in the middle of each."""
        return self.corpus.tokens[self.centres]

    @property
    def steps(self) -> list[int]:
        """From the middle to every other word."""
        return [step for step in range(-self.reach, self.reach + 1) if step]

    def words(self) -> IntArray:
        """The words of each, that in the middle first."""
        places = self.centres[:, None] + np.array([0, *self.steps])
        return np.asarray(self.corpus.tokens[places], dtype=np.int64)

    def keys(self) -> IntArray:
        """A number for each window, the same for the same words in the same order."""
        keys = np.zeros(len(self.centres), dtype=np.int64)
        for step in (0, *self.steps):
            longer = keys * len(self.corpus.vocabulary) + self.corpus.tokens[self.centres + step]
            keys = np.unique(longer, return_inverse=True)[1].astype(np.int64)
        return keys

    def drawn(
        self, tenths: IntArray, documents: IntArray, most: int, rng: np.random.Generator
    ) -> tuple[_Windows, Contexts]:
        """Some windows, as many that were learnt from as others."""
        tenths = tenths if enough_for_tenths(self.inside) else np.full_like(tenths, -1)
        whole = Contexts(self.inside, tenths, self.texts, documents[self.texts])
        rows = whole.drawn(most, rng)
        return self.some(rows), whole.some(rows)


@dataclass(frozen=True)
class _Answers:
    """What the model gives for the words of some windows: ``row_of`` each word of the corpus, a row of the table."""

    row_of: IntArray
    table: Vectors

    @classmethod
    def of(cls, windows: _Windows, encode: Callable[[Sequence[str]], Vectors]) -> _Answers:
        corpus = windows.corpus
        held = np.zeros(len(corpus.vocabulary), dtype=bool)
        for step in (0, *windows.steps):
            held[corpus.tokens[windows.centres + step]] = True
        row_of = np.cumsum(held) - 1
        return cls(row_of, encode([corpus.vocabulary[int(number)] for number in np.flatnonzero(held)]))

    def legible(self, windows: _Windows) -> NDArray[np.bool_]:
        """Windows whose word in the middle is known, and one of the others."""
        if not len(windows.centres):
            return np.zeros(0, dtype=bool)
        there = knows(self.table)[self.row_of]
        beside = np.zeros(len(windows.centres), dtype=bool)
        for step in windows.steps:
            beside |= there[windows.corpus.tokens[windows.centres + step]]
        return np.asarray(beside & there[windows.middle])

    def vectors(self, windows: _Windows) -> Vectors:
        """The vectors of the words of each window, one after the other."""
        return side_by_side(self.table, self.row_of[windows.words()])
