"""Corò 2022: inversion of sentences (Table 5.2), with [EOS] among the words (A.1), over the number of pairs (5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from unembed.audit.curve import log_spaced
from unembed.games.inversion import InversionGame
from unembed.papers.base import Conditions, ExperimentFacts, by_size
from unembed.papers.coro2022_words import (
    ALL,
    AMOUNTS,
    ENGLISH,
    ITALIAN,
    METRICS,
    MODELS,
    PLAIN,
    WEIGHTED,
    ContentDeals,
    msp,
    printed,
    row_name,
    training_note,
)
from unembed.papers.data import CROSS, IN, coro_texts, sample
from unembed.papers.rows import AttackSpec, Names, Row, Table, played

#: Points of the curve over the number of pairs.
POINTS = by_size(2, 4, 7)
MEANS = (
    "figures are means over texts (eq. 4.6 to 4.8) of content words of the adversary's vocabulary; of the cross-domain "
    "adversary only words that both adversaries know count"
)
IN_DOMAIN = {
    "tfidf": (94.37, 87.05, 89.05, 94.27, 84.73, 87.34),
    "hashing": (94.72, 87.27, 89.33, 94.15, 84.86, 87.21),
    "lsa-tfidf": (62.00, 61.80, 59.40, 57.99, 55.20, 53.48),
    "lsa-hashing": (59.25, 58.31, 56.42, 55.42, 51.79, 50.67),
    "doc2vec": (49.51, 55.10, 49.56, 54.23, 55.65, 52.55),
    "minilm": (41.53, 45.47, 41.36, 41.55, 42.04, 39.58),
}
CROSS_DOMAIN = {
    "tfidf": (90.31, 83.79, 85.20, 91.85, 80.74, 84.10),
    "hashing": (91.81, 83.89, 86.15, 92.52, 80.77, 84.49),
    "lsa-tfidf": (74.20, 67.52, 68.78, 71.78, 61.37, 63.70),
    "lsa-hashing": (71.13, 65.12, 65.97, 68.56, 58.91, 60.79),
    "doc2vec": (52.72, 54.84, 51.21, 57.05, 55.44, 53.90),
    "minilm": (41.14, 41.77, 39.53, 41.27, 38.17, 37.50),
}


class _SentenceTable(Table):
    """What the experiments on sentences share: their texts, one deal after another, what figures mean."""

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

    facts: ClassVar[ExperimentFacts] = ExperimentFacts(
        name="coro2022/table5.2",
        paper="coro2022",
        title="Inversion of sentences by vectoriser",
        section="Table 5.2, section 5.2.1",
        published=(*printed(IN, IN_DOMAIN), *printed(CROSS, CROSS_DOMAIN)),
        departures=ITALIAN,
        headline="F1",
    )
    encoders = by_size(("tfidf", "hashing"), ("hashing", "lsa-tfidf", "doc2vec", "minilm"), tuple(MODELS))

    def rows_of(self, deals: ContentDeals, key: str, conditions: Conditions) -> list[Row]:
        """One row for each adversary."""
        spec = msp(conditions.size)
        return [self.row(deals, key, domain, spec, row_name(key, domain)) for domain in (IN, CROSS)]


class Table52English(Table52):
    """The same in English, where the sentence encoder speaks the language of the texts."""

    language: ClassVar[str] = "en"
    facts: ClassVar[ExperimentFacts] = ExperimentFacts(
        name="coro2022/table5.2-english",
        paper="coro2022",
        title="Inversion of sentences by vectoriser, English",
        section="Table 5.2, section 5.2.1",
        published=Table52.facts.published,
        departures=ENGLISH,
        headline="F1",
    )


class TableA1(_SentenceTable):
    """With [EOS] among the words to predict: fewer false words, far fewer right ones."""

    facts: ClassVar[ExperimentFacts] = ExperimentFacts(
        name="coro2022/tableA.1",
        paper="coro2022",
        title="[EOS] among the words to predict",
        section="Appendix A.1 and Table A.1",
        published=(
            *printed(IN, {"minilm": (64.05, 18.75, 27.20)}, METRICS[:3], "with [EOS]"),
            *printed(IN, {"minilm": (41.53, 45.47, 41.36)}, METRICS[:3], "without [EOS]"),
        ),
        departures=f"{ITALIAN} Table A.1 shows sentences with what came back; no text is shown here, the appendix's "
        "figures stand for it.",
        headline="F1",
    )

    def rows_of(self, deals: ContentDeals, key: str, conditions: Conditions) -> list[Row]:
        """Both forms on the same vectors."""
        forms = {"without [EOS]": "never", "with [EOS]": "always"}
        return [
            self.row(deals, key, IN, msp(conditions.size, eos=eos), row_name(key, IN, form))
            for form, eos in forms.items()
        ]


class Figure51(_SentenceTable):
    """Recovery over the number of pairs, for the encoder that gives away most and for the one that gives least."""

    facts: ClassVar[ExperimentFacts] = ExperimentFacts(
        name="coro2022/figure5.1",
        paper="coro2022",
        title="Recovery over the number of pairs",
        section="Figure 5.1, section 5.2.4",
        published=(),
        departures=f"{ITALIAN} The figure prints no numbers; its right ends are the in-domain rows of Table 5.2.",
        headline="F1",
        axis="pairs the adversary holds",
    )
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
