"""Texts with columns: readers, splits, near-duplicates, chunks, generators, paragraphs, names, word substitution.

Names are imported on first use, so that importing this package costs nothing. The word tokeniser is
``unembed.corpora.words.words``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unembed.corpora.chunks import chunk_corpus, split_text
    from unembed.corpora.corpus import Corpus
    from unembed.corpora.duplicates import (
        DuplicateReport,
        LeakReport,
        drop_duplicates,
        near_duplicates,
        remove_leaks,
    )
    from unembed.corpora.generators import GENERATORS
    from unembed.corpora.names import find_names, read_names
    from unembed.corpora.paragraphs import Paragraphs, build_paragraphs, cut_into_sentences, keep_sentences
    from unembed.corpora.patterns import Pattern, parse_pattern
    from unembed.corpora.readers import ReadReport, iter_rows, read_corpus, read_corpus_with_report
    from unembed.corpora.splits import Split, SplitReport, split_corpus
    from unembed.corpora.substitution import Substituted, contains_keyword, substitute
    from unembed.corpora.swapping import remove_name, swap_name
    from unembed.corpora.words import (
        STOP_WORDS,
        Vocabulary,
        build_vocabulary,
        content_words,
        stop_words,
        word_sets,
        word_spans,
    )

_HOMES = {
    "chunks": ("chunk_corpus", "split_text"),
    "corpus": ("Corpus",),
    "duplicates": ("DuplicateReport", "LeakReport", "drop_duplicates", "near_duplicates", "remove_leaks"),
    "generators": ("GENERATORS",),
    "names": ("find_names", "read_names"),
    "paragraphs": ("Paragraphs", "build_paragraphs", "cut_into_sentences", "keep_sentences"),
    "patterns": ("Pattern", "parse_pattern"),
    "readers": ("ReadReport", "iter_rows", "read_corpus", "read_corpus_with_report"),
    "splits": ("Split", "SplitReport", "split_corpus"),
    "substitution": ("Substituted", "contains_keyword", "substitute"),
    "swapping": ("remove_name", "swap_name"),
    "words": (
        "STOP_WORDS",
        "Vocabulary",
        "build_vocabulary",
        "content_words",
        "stop_words",
        "word_sets",
        "word_spans",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "GENERATORS",
    "STOP_WORDS",
    "Corpus",
    "DuplicateReport",
    "LeakReport",
    "Paragraphs",
    "Pattern",
    "ReadReport",
    "Split",
    "SplitReport",
    "Substituted",
    "Vocabulary",
    "build_paragraphs",
    "build_vocabulary",
    "chunk_corpus",
    "contains_keyword",
    "content_words",
    "cut_into_sentences",
    "drop_duplicates",
    "find_names",
    "iter_rows",
    "keep_sentences",
    "near_duplicates",
    "parse_pattern",
    "read_corpus",
    "read_corpus_with_report",
    "read_names",
    "remove_leaks",
    "remove_name",
    "split_corpus",
    "split_text",
    "stop_words",
    "substitute",
    "swap_name",
    "word_sets",
    "word_spans",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(importlib.import_module(f"{__name__}.{_HOME_OF[name]}"), name)
