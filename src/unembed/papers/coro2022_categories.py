"""Corò 2022, Table 5.1: what six text representations are good for, by the category of news articles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from unembed.corpora.corpus import Corpus
from unembed.papers.base import Conditions, by_size
from unembed.papers.coro2022_words import ALL, MODELS, row_name
from unembed.papers.datasets import read
from unembed.papers.encoders import Encoders
from unembed.papers.library import facts_of
from unembed.papers.tables import HEADLINE, Names, Row, Table, refused
from unembed.papers.texts import CROSS, IN, sample
from unembed.papers.usefulness import corpus_of, scored
from unembed.seeds import seed_for
from unembed.utility.news_category import NewsCategory

PARTS = {"title": "titles", "sentences": "sentences", "text": "text"}
NAMES: Names = {HEADLINE: "macro-F1", "accuracy": "accuracy"}
#: Encoders that learnt elsewhere, or learn nothing, have one row; the others learn from either kind of text.
DOMAINS = dict.fromkeys(("doc2vec", "minilm", "bge", "bert-mean"), (CROSS,)) | {"hashing": (IN,)}


LEFT_OUT = "at size small BERT reads titles alone: longer texts take it longer than all other rows; see size full"


def left_out(key: str, part: str, conditions: Conditions) -> bool:
    """Whether a row would take more than all others of its size."""
    return conditions.size == "small" and key == "bert-mean" and part != "title"


@dataclass(frozen=True)
class Scale:
    """The news of one size, articles and categories of each, and sentences of the external corpus."""

    news: tuple[str, ...]
    texts: int
    classes: int
    external: int


SCALES = by_size(
    Scale(("invented",), 48, 2, 300),
    Scale(("news_reuters21578",), 560, 8, 10_000),
    Scale(("news_reuters21578", "news_20newsgroups"), 16_000, 8, 150_000),
)


class Table51(Table):
    """Titles, first sentences and whole texts; encoders learn from the same articles or from an external corpus."""

    facts = facts_of("coro2022/table5.1")
    known: ClassVar[tuple[str, ...]] = ALL
    encoders = by_size(
        ("tfidf",),
        ("tfidf", "hashing", "lsa-tfidf", "doc2vec", "minilm", "bert-mean"),
        (*MODELS, "bge", "bert-mean"),
    )

    def rows(self, conditions: Conditions, encoders: Sequence[str]) -> tuple[list[Row], Sequence[str]]:
        """Every encoder on the same articles."""
        scale, seed = SCALES[conditions.size], seed_for(conditions.seed, "categories")
        sources = {name: _news(conditions, name) for name in scale.news}
        external = sample(_external(conditions), scale.external, seed, "external")
        rows: list[Row] = []
        notes = [f"external corpus: {len(external):,} sentences of {external.name}"]
        for name, news in sources.items():
            for part, printed in PARTS.items():
                task = NewsCategory(data=name, part=part, texts=scale.texts, classes=scale.classes)
                examples = task.of(news, seed)
                learnt, asked = (len(rows) for rows in examples.folds[0])
                known = {
                    IN: Encoders(conditions, corpus_of(examples.learnt, "articles that are learnt from")),
                    CROSS: Encoders(conditions, external),
                }
                more = () if name == scale.news[0] else (name,)
                rows += [
                    scored(conditions, task, examples, known[d], key, row_name(key, d, printed, *more), NAMES, domain=d)
                    for key in encoders
                    for d in DOMAINS.get(key, (IN, CROSS))
                    if not left_out(key, part, conditions)
                ]
                rows += [
                    refused(row_name(key, CROSS, printed, *more), LEFT_OUT)
                    for key in encoders
                    if left_out(key, part, conditions)
                ]
            notes.append(
                f"{news.name}: {learnt:,} articles are learnt from and {asked:,} asked about, of "
                f"{len(examples.classes)} categories with as many articles each"
            )
        return rows, notes


def _news(conditions: Conditions, name: str) -> Corpus:
    if conditions.size != "smoke":
        return read(conditions, name, "text", ["title", "category"])
    from unembed.corpora.generators.public_text import generate_public_text

    made = generate_public_text(1_500, seed=conditions.seed)
    titles = [f"{' '.join(text.split()[:4])} {i}" for i, text in enumerate(made.texts)]
    return Corpus(made.texts, made.ids, {"title": titles, "category": made.column("topic")}, "invented statements")


def _external(conditions: Conditions) -> Corpus:
    if conditions.size != "smoke":
        return read(conditions, "wikipedia_sentences", "sentence")
    from unembed.corpora.generators.messages import generate_messages

    return generate_messages(400, seed=conditions.seed)
