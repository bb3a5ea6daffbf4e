"""Sentences of 8-40 words and artificial paragraphs of 128-168 words (Corò 4.3.1).

A paragraph is a run of kept sentences of one document, in their order, closed as soon as it has
``least`` words; so it ends below ``least`` plus the longest sentence. What remains of a document is in no
paragraph. Each sentence belongs to at most one paragraph: split the *paragraphs* into sides and take the
sentences of each side along (``Paragraphs.sentences_of``), and no text stands on both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from unembed.corpora.corpus import Corpus
from unembed.corpora.words import words
from unembed.errors import UsageError

SHORTEST, LONGEST = 8, 40
PARAGRAPH = 128

#: Words that end in a full stop without ending a sentence.
# fmt: off
_SHORT_FORMS = frozenset({
    "mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "vs", "etc", "fig", "e.g", "i.e", "u.s",
    "dott", "sig", "avv", "art", "pag", "cfr", "ecc",
})
# fmt: on
#: So far back the word before a full stop is looked for.
_LONGEST_WORD = 50
_END = re.compile(r"[.!?…]+[\"'”’»)\]]*\s+(?=[\"'“‘«(\[]*[^\W\d_a-z]|[\"'“‘«(\[]*\d)")


@dataclass(frozen=True)
class Paragraphs:
    """Paragraphs and the sentences they are made of: one to many."""

    paragraphs: Corpus
    """One text per paragraph, with the document's column."""
    sentences: Corpus
    """The sentences, in order, with their own columns and ``paragraph``, the id of theirs."""
    rows: tuple[tuple[int, ...], ...]
    """For each paragraph, its rows of ``sentences``."""

    def sentences_of(self, paragraphs: Sequence[int] | np.ndarray[Any, Any]) -> Corpus:
        """The sentences of some paragraphs, given by row."""
        return self.sentences.select([row for p in paragraphs for row in self.rows[int(p)]])


def word_count(text: str) -> int:
    """Words of at least two characters: how the thesis measures length."""
    return sum(len(word) > 1 for word in words(text))


def split_sentences(text: str) -> list[str]:
    """Sentences by a plain rule: a full stop, question or exclamation mark, a space, and a capital or a digit.

    Short forms and single initials end no sentence. The thesis uses a trained splitter; on news and novels the
    rule differs from one mostly in enumerations and quotes.
    """
    bounds = [0, *sentence_ends(text), len(text)]
    return [sentence for start, end in pairwise(bounds) if (sentence := text[start:end].strip())]


def sentence_ends(text: str) -> list[int]:
    """Where sentences end by that rule: the first character after each, white space passed over."""
    found = [0]
    for match in _END.finditer(text):
        before = text[max(found[-1], match.start() - _LONGEST_WORD) : match.start()].rsplit(None, 1)
        last = before[-1].lower().strip("\"'“‘«([") if before else ""
        abbreviated = text[match.start()] == "." and (last in _SHORT_FORMS or (len(last) == 1 and last.isalpha()))
        if not abbreviated:
            found.append(match.end())
    return found[1:]


def cut_into_sentences(corpus: Corpus) -> Corpus:
    """One row per sentence; ids are the text's id and the sentence's number; columns are repeated."""
    parts = [(row, n, s) for row, text in enumerate(corpus.texts) for n, s in enumerate(split_sentences(text))]
    return Corpus(
        [s for _, _, s in parts],
        [f"{corpus.ids[row]}-{n}" for row, n, _ in parts],
        {name: [values[row] for row, _, _ in parts] for name, values in corpus.columns.items()},
        corpus.name,
    )


def keep_sentences(corpus: Corpus, *, shortest: int = SHORTEST, longest: int = LONGEST, lower: bool = False) -> Corpus:
    """The texts that have ``shortest`` to ``longest`` words, runs of white space made one space."""
    if not 1 <= shortest <= longest:
        raise UsageError(f"sentences of {shortest} to {longest} words: the first must be at least 1, the second larger")
    texts = [" ".join(text.lower().split() if lower else text.split()) for text in corpus.texts]
    rows = [row for row, text in enumerate(texts) if shortest <= word_count(text) <= longest]
    kept = corpus.select(rows)
    return Corpus([texts[row] for row in rows], kept.ids, kept.columns, corpus.name)


def build_paragraphs(
    corpus: Corpus,
    document: str,
    *,
    least: int = PARAGRAPH,
    shortest: int = SHORTEST,
    longest: int = LONGEST,
    lower: bool = False,
) -> Paragraphs:
    """Paragraphs from a corpus of sentences with a column that names their document.

    Sentences of other lengths are left out first, so neighbours in a paragraph are neighbours among those kept.
    Rows without a document are left out too.
    """
    if least < 1:
        raise UsageError(f"a paragraph has at least 1 word, not {least}")
    kept = keep_sentences(corpus, shortest=shortest, longest=longest, lower=lower)
    open_rows: dict[Any, list[int]] = {}
    open_words: dict[Any, int] = {}
    runs: list[list[int]] = []
    for row, (text, home) in enumerate(zip(kept.texts, kept.column(document), strict=True)):
        if home is None:
            continue
        open_rows.setdefault(home, []).append(row)
        open_words[home] = open_words.get(home, 0) + word_count(text)
        if open_words[home] >= least:
            runs.append(open_rows.pop(home))
            del open_words[home]
    ids = [f"p{number}" for number in range(len(runs))]
    sentences = kept.select([row for run in runs for row in run])
    homes = [ids[number] for number, run in enumerate(runs) for _ in run]
    ends = np.cumsum([0, *(len(run) for run in runs)])
    paragraphs = Corpus(
        [" ".join(kept.texts[row] for row in run) for run in runs],
        ids,
        {document: [kept.column(document)[run[0]] for run in runs]},
        corpus.name,
    )
    return Paragraphs(
        paragraphs,
        Corpus(sentences.texts, sentences.ids, {**sentences.columns, "paragraph": homes}, corpus.name),
        tuple(tuple(range(int(a), int(b))) for a, b in pairwise(ends)),
    )
