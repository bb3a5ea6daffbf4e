"""Corò 2022, Table 5.4: inversion of paragraphs, from their own vector or from the vectors of their sentences.

A model trained on sentences is asked for as many words of a paragraph as the adversary's own paragraphs hold on
average, and a model trained on paragraphs for as many of a sentence as its sentences hold: the thesis does not say
how many it asked for, but the printed recall of paragraphs needs more words than a sentence has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix

from unembed.corpora.corpus import Corpus
from unembed.encoders.base import Vectors
from unembed.games.inversion import InversionGame, InversionKnowledge, InversionTruth, words_of
from unembed.games.rows import random_like
from unembed.papers.base import Conditions, ExperimentFacts, Measured, Published, Reproduction, Size
from unembed.papers.cells import Cell, run_cells
from unembed.papers.coro import (
    ITALIAN,
    METRICS,
    MODELS,
    SENTENCE,
    ContentDeals,
    msp,
    row_name,
    training_note,
)
from unembed.papers.lab import Lab, pick_encoders
from unembed.papers.scoring import Attempt, beats_floors, coro_metrics, rows_of
from unembed.papers.stand_ins import CROSS, IN, Amounts, ParagraphSides, paragraph_sides
from unembed.seeds import generator, seed_for

FROM_PARAGRAPH, FROM_SENTENCES = "from the paragraph's vector", "from its sentences' vectors"
ON_SENTENCES, ON_PARAGRAPHS = "trained on sentences", "trained on paragraphs"
#: What the thesis trained on paragraphs.
ALSO_PARAGRAPHS = {IN: ("hashing", *SENTENCE), CROSS: SENTENCE}


def _printed(domain: str, training: str, rows: Mapping[str, tuple[float, ...]]) -> tuple[Published, ...]:
    return tuple(
        Published(row_name(key, domain, training, form), metric, round(value / 100, 4))
        for key, values in rows.items()
        for form, three in ((FROM_PARAGRAPH, values[:3]), (FROM_SENTENCES, values[3:]))
        for metric, value in zip(METRICS[:3], three, strict=True)
    )


class Table54:
    """Paragraphs of 128 to 168 words."""

    facts: ClassVar[ExperimentFacts] = ExperimentFacts(
        name="coro2022/table5.4",
        paper="coro2022",
        title="Inversion of paragraphs",
        section="Table 5.4, section 5.2.2",
        published=(
            *_printed(
                IN,
                ON_SENTENCES,
                {
                    "tfidf": (39.50, 32.62, 35.56, 95.09, 81.44, 87.38),
                    "hashing": (38.71, 32.19, 34.98, 95.35, 81.56, 87.55),
                    "lsa-tfidf": (38.30, 23.92, 29.28, 62.62, 58.76, 60.09),
                    "lsa-hashing": (38.59, 22.19, 28.00, 59.67, 55.07, 56.77),
                    "doc2vec": (28.88, 16.07, 20.51, 53.53, 52.26, 52.41),
                    "minilm": (29.76, 18.67, 22.83, 44.06, 41.69, 42.42),
                },
            ),
            *_printed(
                IN,
                ON_PARAGRAPHS,
                {
                    "hashing": (52.09, 54.34, 53.01, 94.89, 72.07, 81.66),
                    "minilm": (28.57, 20.96, 24.01, 27.62, 24.31, 25.60),
                },
            ),
            *_printed(
                CROSS,
                ON_SENTENCES,
                {
                    "tfidf": (36.34, 27.46, 31.12, 91.98, 84.45, 87.67),
                    "hashing": (36.92, 27.78, 31.50, 93.29, 84.52, 88.34),
                    "lsa-tfidf": (37.77, 27.36, 31.57, 74.95, 67.54, 70.64),
                    "lsa-hashing": (36.43, 23.97, 28.78, 71.48, 64.67, 67.48),
                    "doc2vec": (28.52, 14.41, 19.01, 56.39, 54.63, 55.01),
                    "minilm": (24.35, 15.78, 19.06, 43.89, 39.95, 41.42),
                },
            ),
            *_printed(CROSS, ON_PARAGRAPHS, {"minilm": (29.02, 20.94, 24.16, 30.56, 29.29, 29.63)}),
        ),
        departures=f"{ITALIAN} MiniLM reads 256 word pieces of a paragraph, a Sentence-BERT 512; articles are kept on "
        "one side whole, where the thesis only keeps paragraphs apart.",
        headline="F1",
    )
    encoders: ClassVar[dict[Size, tuple[str, ...]]] = {
        "smoke": ("hashing",),
        "small": ("hashing", "minilm"),
        "full": tuple(MODELS),
    }
    amounts: ClassVar[dict[Size, Amounts]] = {
        "smoke": Amounts(500, 400, 10),
        "small": Amounts(3_000, 3_000, 60),
        "full": Amounts(None, 200_000, 1_500),
    }

    def run(self, conditions: Conditions) -> Reproduction:
        """Measure every row that the machine has the encoder for."""
        known = tuple(dict.fromkeys((*MODELS, *SENTENCE)))
        chosen = pick_encoders(conditions.encoders, self.encoders[conditions.size], known)
        sides = paragraph_sides(conditions, self.amounts[conditions.size], "it")
        sentences = sides.sentences
        deals = ContentDeals(Lab(conditions, sentences.fit, sentences.language, sentences.known[CROSS]), sentences)
        cells = [
            self._cell(deals, sides, conditions, key, domain, training)
            for key in chosen
            for domain in (IN, CROSS)
            for training in (ON_SENTENCES, ON_PARAGRAPHS)
            if training == ON_SENTENCES or key in ALSO_PARAGRAPHS[domain]
        ]
        return run_cells(self.facts, cells, conditions, (*sentences.notes, training_note(conditions.size)))

    def _cell(
        self, deals: ContentDeals, sides: ParagraphSides, conditions: Conditions, key: str, domain: str, training: str
    ) -> Cell:
        spec = msp(conditions.size, len(sides.known[domain]) if training == ON_PARAGRAPHS else None)

        def measure() -> list[Measured]:
            attack = spec.make(conditions)
            trial = _Trial(deals, sides, key, domain)
            known = trial.known[training]
            knowledge = deals.knowledge(key, domain, known)
            attack.fit(knowledge)
            seed = seed_for(conditions.seed, "play", key, domain, training)
            rows: list[Measured] = []
            for form in (FROM_PARAGRAPH, FROM_SENTENCES):
                name = row_name(key, domain, training, form)
                got = trial.attempt(attack, form, seed)
                scored = None if domain == IN else deals.scored(domain)
                metrics = coro_metrics(trial.truth, seed, scored=scored, weighted=False)
                rows += rows_of(metrics, got, setting=name)
            return rows

        identity = {**deals.lab.identity(key), **spec.identity(), "data": sides.sentences.fingerprint}
        return Cell(row_name(key, domain, training), identity, measure)


class _Trial:
    """One encoder and one adversary: the truth of the paragraphs, and both ways of reading them."""

    def __init__(self, deals: ContentDeals, sides: ParagraphSides, key: str, domain: str) -> None:
        self.deals, self.key, self.domain, self.sides = deals, key, domain, sides
        self.vocabulary = deals.vocabulary(domain)
        self.known: dict[str, Corpus] = {
            ON_SENTENCES: deals.sides.known[domain],
            ON_PARAGRAPHS: sides.known[domain],
        }
        texts = sides.target.paragraphs
        self.truth = InversionTruth(deals.labels(domain, texts), np.zeros((len(texts), 2)), self.vocabulary, texts.ids)

    def attempt(self, attack: Any, form: str, seed: int) -> Attempt:
        """Read all target paragraphs one way."""
        import time

        started = time.perf_counter()
        whole = form == FROM_PARAGRAPH
        targets = self.sides.target.paragraphs if whole else self.sides.target.sentences
        vectors = self.deals.lab.vectors(self.key, targets)
        own = self.known[ON_PARAGRAPHS if whole else ON_SENTENCES]
        labels = self.deals.labels(self.domain, own)
        attack.decoder_.steps = max(1, round(labels.nnz / max(1, len(own))))
        read: Callable[[Vectors], csr_matrix] = attack.run if whole else lambda v: self._joined(attack.run(v))
        guess = read(vectors)
        seconds = time.perf_counter() - started
        rng = generator(seed, "floors", form)
        paragraphs = self.deals.labels(self.domain, self.known[ON_PARAGRAPHS])
        blind = InversionKnowledge(vectors[:0], paragraphs, self.vocabulary)
        n = len(self.sides.target.paragraphs)
        floors = {
            "prior": InversionGame().prior_guess(blind, n),
            "shuffled": guess[rng.permutation(n)],
            "random": read(random_like(vectors.copy(), rng)),
        }
        return Attempt(guess, floors, beats_floors(InversionGame(), self.truth, guess, floors, seed), seconds)

    def _joined(self, guess: csr_matrix) -> csr_matrix:
        """The words of a paragraph: all those found in its sentences."""
        guess = words_of(guess)
        sizes = [len(rows) for rows in self.sides.target.rows]
        home = np.repeat(np.arange(len(sizes)), sizes)
        shape = (len(sizes), len(home))
        return csr_matrix(csr_matrix((np.ones(len(home)), (home, np.arange(len(home)))), shape=shape) @ guess)
