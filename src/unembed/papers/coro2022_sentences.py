"""Corò 2022: inversion of sentences (Table 5.2), with [EOS] among the words (A.1), over the number of pairs (5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from unembed.games.inversion import InversionGame
from unembed.papers.base import Conditions, by_size
from unembed.papers.coro2022_words import (
    ALL,
    AMOUNTS,
    MODELS,
    PLAIN,
    WEIGHTED,
    ContentDeals,
    msp,
    row_name,
    training_note,
)
from unembed.papers.library import facts_of
from unembed.papers.tables import AttackSpec, Names, Row, Table, played
from unembed.papers.texts import CROSS, IN, coro_texts, sample
from unembed.runner.curve import log_spaced

#: Points of the curve over the number of pairs.
POINTS = by_size(2, 4, 7)
MEANS = (
    "figures are means over texts (eq. 4.6 to 4.8) of content words of the adversary's vocabulary; of the cross-domain "
    "adversary only words that both adversaries know count"
)


class _SentenceTable(Table):
    """What the experiments on sentences share: texts, deals and the meaning of the figures."""

    known: ClassVar[tuple[str, ...]] = ALL
    encoders = by_size(("hashing",), ("minilm",), ("minilm",))
    language: ClassVar[str] = "it"
    names: ClassVar[Names] = {**PLAIN, **WEIGHTED}

    def rows(self, conditions: Conditions, encoders: Sequence[str]) -> tuple[list[Row], Sequence[str]]:
        """The rows of every encoder on the same texts."""
        texts = coro_texts(conditions, AMOUNTS[conditions.size], self.language)
        deals = ContentDeals(conditions, texts)
        rows = [row for key in encoders for row in self.rows_of(deals, key, conditions)]
        return rows, (*texts.notes, MEANS, training_note(conditions.size))

    def rows_of(self, deals: ContentDeals, key: str, conditions: Conditions) -> list[Row]:
        """The rows of one encoder."""
        raise NotImplementedError

    def row(self, deals: ContentDeals, key: str, domain: str, spec: AttackSpec, name: str, **more: Any) -> Row:
        """One attack on the sentences of one encoder by one adversary."""
        dealt = partial(deals.deal, key, domain, more.pop("pairs", None))
        conditions, identity = deals.encoders.conditions, deals.identity(key)
        return played(conditions, spec, InversionGame(), dealt, name, self.names, identity, **more)


class Table52(_SentenceTable):
    """Six vectorisers, two adversaries."""

    facts = facts_of("coro2022/table5.2")
    encoders = by_size(("tfidf", "hashing"), ("hashing", "lsa-tfidf", "doc2vec", "minilm"), tuple(MODELS))

    def rows_of(self, deals: ContentDeals, key: str, conditions: Conditions) -> list[Row]:
        """One row for each adversary."""
        spec = msp(conditions.size)
        return [self.row(deals, key, domain, spec, row_name(key, domain)) for domain in (IN, CROSS)]


class Table52English(Table52):
    """The same in English, where the sentence encoder speaks the language of the texts."""

    language: ClassVar[str] = "en"
    facts = facts_of("coro2022/table5.2-english")


class TableA1(_SentenceTable):
    """With [EOS] among the words to predict: fewer false words, far fewer right ones."""

    facts = facts_of("coro2022/tableA.1")

    def rows_of(self, deals: ContentDeals, key: str, conditions: Conditions) -> list[Row]:
        """Both forms on the same vectors."""
        forms = {"without [EOS]": "never", "with [EOS]": "always"}
        return [
            self.row(deals, key, IN, msp(conditions.size, eos=eos), row_name(key, IN, form))
            for form, eos in forms.items()
        ]


class Figure51(_SentenceTable):
    """Recovery over the number of pairs, for the encoder that gives away most and for the one that gives least."""

    facts = facts_of("coro2022/figure5.1")
    encoders = by_size(("hashing",), ("hashing", "minilm"), ("hashing", "minilm"))
    names: ClassVar[Names] = PLAIN

    def rows_of(self, deals: ContentDeals, key: str, conditions: Conditions) -> list[Row]:
        """One point for each number of pairs, spaced by factors."""
        rows, known = [], deals.texts.known[IN]
        for pairs in pair_counts(len(known), POINTS[conditions.size]):
            # The thesis doubles the epochs here, to make up for the fewer pairs.
            spec = msp(conditions.size, pairs)
            spec = replace(spec, params={**spec.params, "epochs": 2 * spec.params["epochs"]})
            some = sample(known, pairs, conditions.seed, "pairs")
            name, series = row_name(key, IN, f"{pairs:,} pairs"), row_name(key, IN)
            rows.append(self.row(deals, key, IN, spec, name, pairs=some, series=series, x=float(pairs)))
        return rows


def pair_counts(most: int, points: int) -> list[int]:
    """Numbers of pairs from a hundredth of the most (and at least 100) to the most, each the same factor apart."""
    return log_spaced(most, points, least=max(100, most // 100))
