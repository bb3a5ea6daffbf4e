"""Corò 2022, Table 5.4: inversion of paragraphs, from their own vector or from the vectors of their sentences.

A model trained on sentences is asked for as many words of a paragraph as the adversary's own paragraphs hold on
average, and a model trained on paragraphs for as many of a sentence as its sentences hold: the thesis does not say
how many it asked for, but the printed recall of paragraphs needs more words than a sentence has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from unembed.games.base import Deal, Scores
from unembed.games.inversion import InversionGame, InversionGuess, InversionKnowledge, InversionTruth, words_of
from unembed.games.rounds import play_round
from unembed.papers.base import Conditions, Measured, by_size
from unembed.papers.coro2022_words import ALL, MODELS, PLAIN, SENTENCE, ContentDeals, msp, row_name, training_note
from unembed.papers.library import facts_of
from unembed.papers.tables import Row, Table
from unembed.papers.texts import CROSS, IN, Amounts, ParagraphTexts, paragraph_texts
from unembed.seeds import seed_for

FROM_PARAGRAPH, FROM_SENTENCES = "from the paragraph's vector", "from its sentences' vectors"
ON_SENTENCES, ON_PARAGRAPHS = "trained on sentences", "trained on paragraphs"
#: What the thesis trained on paragraphs.
ALSO_PARAGRAPHS = {IN: ("hashing", *SENTENCE), CROSS: SENTENCE}


class Table54(Table):
    """Paragraphs of 128 to 168 words."""

    facts = facts_of("coro2022/table5.4")
    known: ClassVar[tuple[str, ...]] = ALL
    encoders = by_size(("hashing",), ("hashing", "minilm"), tuple(MODELS))
    amounts = by_size(Amounts(500, 400, 10), Amounts(3_000, 3_000, 60), Amounts(None, 200_000, 1_500))

    def rows(self, conditions: Conditions, encoders: Sequence[str]) -> tuple[list[Row], Sequence[str]]:
        """Every encoder, adversary and way of training that the thesis has."""
        texts = paragraph_texts(conditions, self.amounts[conditions.size], "it")
        deals = ContentDeals(conditions, texts.sentences)
        rows = [
            _row(deals, texts, conditions, key, domain, training)
            for key in encoders
            for domain in (IN, CROSS)
            for training in (ON_SENTENCES, ON_PARAGRAPHS)
            if training == ON_SENTENCES or key in ALSO_PARAGRAPHS[domain]
        ]
        return rows, (*texts.sentences.notes, training_note(conditions.size))


def _row(
    deals: ContentDeals, texts: ParagraphTexts, conditions: Conditions, key: str, domain: str, training: str
) -> Row:
    """One model, trained once, that reads the paragraphs both ways."""
    spec = msp(conditions.size, len(texts.known[domain]) if training == ON_PARAGRAPHS else None)
    paragraphs, sentences = texts.target.paragraphs, texts.target.sentences
    own = {FROM_PARAGRAPH: texts.known[domain], FROM_SENTENCES: texts.sentences.known[domain]}

    def measure() -> list[Measured]:
        known = own[FROM_PARAGRAPH if training == ON_PARAGRAPHS else FROM_SENTENCES]
        knowledge = deals.knowledge(key, domain, known)
        attack = spec.make(conditions).fit(knowledge)
        taught = SimpleNamespace(fit=lambda _: None, run=attack.run)
        truth = deals.truth(domain, paragraphs, paragraphs.ids)
        home = np.repeat(np.arange(len(paragraphs)), [len(rows) for rows in texts.target.rows])
        rows: list[Measured] = []
        for form, targets, homes in (
            (FROM_PARAGRAPH, paragraphs, np.arange(len(paragraphs))),
            (FROM_SENTENCES, sentences, home),
        ):
            name = row_name(key, domain, training, form)
            attack.decoder_.steps = max(1, round(deals.labels(domain, own[form]).nnz / max(1, len(own[form]))))
            game = ReadInParts(home=homes, held=deals.labels(domain, own[FROM_PARAGRAPH]))
            deal = Deal(knowledge, deals.encoders.vectors(key, targets), truth, pairs=len(known), queries=0)
            got = play_round(game, taught, deal, seed_for(conditions.seed, "play", name))
            for ours, printed in PLAIN.items():
                floor = max(scores.secondary[ours].value for scores in got.floors.values())
                more = {"floor": floor, "seconds": round(got.run_seconds, 2), "trusted": got.leaks}
                rows.append(Measured.of(name, printed, got.scores.secondary[ours], **more))
        return rows

    return Row(row_name(key, domain, training), {**deals.identity(key), **spec.identity()}, measure)


class ReadInParts(InversionGame):
    """Judges the words of paragraphs, where each vector under attack is of one part of a paragraph.

    ``home`` is the paragraph of each part, ``held`` the words of the adversary's own paragraphs.
    """

    home: NDArray[np.int64]
    held: csr_matrix

    def judge(self, truth: InversionTruth, guess: InversionGuess, seed: int) -> Scores:
        """The words of a paragraph are all those found in its parts."""
        parts = len(self.home)
        joins = csr_matrix((np.ones(parts), (self.home, np.arange(parts))), shape=(truth.labels.shape[0], parts))
        return super().judge(truth, csr_matrix(joins @ words_of(guess)), seed)

    def prior_guess(self, knowledge: InversionKnowledge, n: int) -> InversionGuess:
        """The best constant set of words for a whole paragraph."""
        return super().prior_guess(replace(knowledge, labels=self.held), n)
