"""The texts of Mahloujifar 4 and 5 by who wrote them, from open stand-ins, or invented ones for ``smoke``.

| paper | stand-in |
|---|---|
| 30 users of the Avocado mails (4.2) | 30 of 400 bloggers (``blog_posts_by_user``), 60 posts each |
| Enron mails, spam and ham (4.2) | ``enron_emails`` |
| 200 users of the Avocado mails (5.1) | 200 senders of ``enron_emails`` |

Mails with senders would be nearer to Avocado, but in Clinton's mails nine senders wrote 1,000 sentences or more, and
most of all words between them: without them 30 users have 30,000 words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unembed.corpora.paragraphs import split_sentences
from unembed.corpora.words import words
from unembed.errors import CannotMeasureError
from unembed.papers.base import Conditions
from unembed.papers.datasets import read
from unembed.shadows.base import IntArray

SPAM = "spam"


@dataclass(frozen=True)
class Writings:
    """Texts with who wrote them and, for mails, whether they are spam; each text once."""

    texts: list[str]
    writers: list[str]
    spam: NDArray[np.bool_]

    @classmethod
    def of(cls, texts: Sequence[str], writers: Sequence[object], spam: Sequence[bool]) -> Writings:
        """Of texts that are there twice the first counts."""
        first: dict[str, int] = {}
        for row, text in enumerate(texts):
            first.setdefault(text, row)
        rows = list(first.values())
        return cls([texts[r] for r in rows], [str(writers[r]) for r in rows], np.array([spam[r] for r in rows]))

    def by_writer(self, rows: IntArray) -> dict[str, IntArray]:
        """Rows of each writer."""
        found: dict[str, list[int]] = {}
        for row in rows:
            found.setdefault(self.writers[int(row)], []).append(int(row))
        return {writer: np.array(own, dtype=np.int64) for writer, own in found.items()}


def mails(conditions: Conditions) -> Writings:
    """The Enron mails with their labels and senders."""
    found = read(conditions, "enron_emails", "text", ["label", "sender"])
    return Writings.of(found.texts, found.column("sender"), [label == SPAM for label in found.column("label")])


def posts(conditions: Conditions) -> Writings:
    """The posts of the bloggers."""
    found = read(conditions, "blog_posts_by_user", "text", ["user_id"])
    return Writings.of(found.texts, found.column("user_id"), [False] * len(found))


def invented(conditions: Conditions, count: int, writers: int) -> Writings:
    """Made-up messages, and statements in the place of spam."""
    from unembed.corpora.generators.messages import generate_messages
    from unembed.corpora.generators.public_text import generate_public_text

    ham = generate_messages(count, authors=writers, seed=conditions.seed)
    spam = generate_public_text(count, seed=conditions.seed)
    return Writings.of([*ham.texts, *spam.texts], [*ham.column("author"), *spam.ids], [False] * count + [True] * count)


def cut_to(texts: Sequence[str], sentences: int) -> list[str]:
    """The first texts with so many sentences in all, the last of them cut; all, where there are fewer."""
    kept: list[str] = []
    left = sentences
    for text in texts:
        if left <= 0:
            break
        own = split_sentences(text)[:left]
        kept.append(" ".join(own))
        left -= len(own)
    return kept


class Asked:
    """Texts of whole data sets first, then those of the pools: rows of one corpus, with a label each.

    For each number of sentences so many data sets are drawn, each of another writer who wrote enough; nothing else by
    these writers is seen by anybody.
    """

    def __init__(self, writings: Writings, wanted: dict[int, int], rng: np.random.Generator) -> None:
        self.texts: list[str] = []
        self.labels: list[bool] = []
        self.rows: list[IntArray] = []
        self.users: dict[int, list[int]] = {sentences: [] for sentences in wanted}
        own = writings.by_writer(np.flatnonzero(~writings.spam))
        writers = [list(own)[int(number)] for number in rng.permutation(len(own))]
        # The longest first, since fewest have written so much.
        for sentences in sorted(wanted, reverse=True):
            for writer in [*writers]:
                if len(self.users[sentences]) == wanted[sentences]:
                    break
                cut = cut_to([writings.texts[int(row)] for row in rng.permutation(own[writer])], sentences)
                if sum(len(split_sentences(text)) for text in cut) >= sentences:
                    writers.remove(writer)
                    self.users[sentences].append(len(self.rows))
                    self.rows.append(self.add(cut))
            if not self.users[sentences]:
                raise CannotMeasureError(f"nobody in the data has written {sentences:,} sentences")
        self.others = [own[writer] for writer in writers]

    def add(self, texts: Sequence[str], labels: Sequence[bool] | NDArray[np.bool_] | None = None) -> IntArray:
        """Rows of further texts."""
        start = len(self.texts)
        self.texts += texts
        self.labels += [False] * len(texts) if labels is None else [bool(label) for label in labels]
        return np.arange(start, len(self.texts))

    def add_of(self, writings: Writings, rows: IntArray) -> IntArray:
        """Rows of further texts, with their labels."""
        return self.add([writings.texts[int(row)] for row in rows], writings.spam[rows])


def sentences_of(texts: Sequence[str]) -> list[str]:
    """The sentences of some texts that have a word and a next one."""
    cut = [sentence for text in texts for sentence in split_sentences(text)]
    return [sentence for sentence in cut if len(words(sentence)) > 1]
