"""Sentences by author for the authorship experiments: who may be asked about, and fresh draws of labels and targets.

| paper | published on | stand-in |
|---|---|---|
| Song 6.3 | BookCorpus, 100 to 800 authors | ``books_by_author`` (156 authors), ``blog_posts_by_user`` (400) |

Blogs are split by post; novels, as in the paper, by sentence.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Literal

import numpy as np

from unembed.corpora.corpus import Corpus
from unembed.corpora.duplicates import drop_duplicates
from unembed.corpora.paragraphs import cut_into_sentences
from unembed.errors import CannotMeasureError
from unembed.papers.base import Conditions
from unembed.papers.datasets import read
from unembed.seeds import generator

Source = Literal["novels", "blogs"]
#: Shorter sentences say next to nothing about their author.
FEWEST_WORDS = 5


@dataclass(frozen=True)
class Draw:
    """One repetition: labelled sentences and targets, as rows of the pool."""

    known: Corpus
    target: Corpus
    known_rows: np.ndarray[tuple[int], np.dtype[np.int64]]
    target_rows: np.ndarray[tuple[int], np.dtype[np.int64]]


@dataclass(frozen=True)
class Pool:
    """Sentences with the columns ``author`` and ``part`` (what must lie on one side), some of every author."""

    corpus: Corpus
    notes: tuple[str, ...]

    @property
    def authors(self) -> int:
        """How many there are."""
        return len(set(self.corpus.column("author")))

    def draw(self, authors: int, labels: int, targets: int, seed: int, *, apart: bool = False) -> Draw:
        """Some authors at random, with labelled sentences and other sentences of each to attack.

        ``apart``: labels and targets of an author come from different parts (posts, books).
        """
        rng = generator(seed, "draw", authors, labels)
        by_author: dict[object, list[int]] = defaultdict(list)
        for row, author in enumerate(self.corpus.column("author")):
            by_author[author].append(row)
        known: list[int] = []
        target: list[int] = []
        chosen = 0
        for i in rng.permutation(len(by_author)):
            if chosen == authors:
                break
            rows = [int(r) for r in rng.permutation(list(by_author.values())[i])]
            own = self._by_part(rows, labels, rng) if apart else (rows[:labels], rows[labels:])
            if len(own[0]) >= labels and len(own[1]) >= targets:
                known += own[0][:labels]
                target += own[1][:targets]
                chosen += 1
        if chosen < authors:
            raise CannotMeasureError(
                f"{self.corpus.name} has {chosen} authors with {labels} labelled sentences and {targets} others, not "
                f"{authors}"
            )
        inside, asked = np.sort(np.array(known)), np.sort(np.array(target))
        return Draw(self.corpus.select(inside), self.corpus.select(asked), inside, asked)

    def _by_part(self, rows: list[int], labels: int, rng: np.random.Generator) -> tuple[list[int], list[int]]:
        """Whole parts for the labels until there are enough, the rest for the targets."""
        part = self.corpus.column("part")
        parts = list(dict.fromkeys(part[r] for r in rows))
        order = [parts[i] for i in rng.permutation(len(parts))]
        first: list[int] = []
        while order and len(first) < labels:
            taken = order.pop()
            first += [r for r in rows if part[r] == taken]
        return first, [r for r in rows if part[r] in set(order)]


def author_pool(conditions: Conditions, source: Source, each: int) -> Pool:
    """At most ``each`` sentences of every author, drawn at random; duplicates are dropped first."""
    if conditions.size == "smoke":
        return _invented(conditions, each)
    if source == "novels":
        books = read(conditions, "books_by_author", "sentence", ["author", "title"])
        whole = Corpus(
            books.texts, books.ids, {"author": books.column("author"), "part": books.column("title")}, "novels"
        )
    else:
        posts = read(conditions, "blog_posts_by_user", "text", ["user_id"])
        homes = {"author": [str(u) for u in posts.column("user_id")], "document": list(posts.ids)}
        cut = cut_into_sentences(Corpus(posts.texts, posts.ids, homes, "blogs"))
        whole = Corpus(cut.texts, cut.ids, {"author": cut.column("author"), "part": cut.column("document")}, "blogs")
    long = whole.select([i for i, text in enumerate(whole.texts) if len(text.split()) >= FEWEST_WORDS])
    kept, dropped = drop_duplicates(long)
    pool = _some_of_each(kept, each, conditions.seed)
    return Pool(
        pool, (f"{source}: {len(pool):,} sentences of {len(set(pool.column('author'))):,} authors, {dropped.dropped:,} "
               "duplicates dropped",)
    )  # fmt: skip


def _some_of_each(corpus: Corpus, each: int, seed: int) -> Corpus:
    taken: dict[object, int] = defaultdict(int)
    kept = []
    authors = corpus.column("author")
    for row in generator(seed, "author pool").permutation(len(corpus)):
        if taken[authors[row]] < each:
            taken[authors[row]] += 1
            kept.append(int(row))
    return corpus.select(np.sort(kept))


def _invented(conditions: Conditions, each: int) -> Pool:
    from unembed.corpora.generators.messages import generate_messages

    made = generate_messages(20 * each, authors=12, seed=conditions.seed)
    columns = {"author": made.column("author"), "part": made.column("document")}
    return Pool(Corpus(made.texts, made.ids, columns, "invented messages"), ())
