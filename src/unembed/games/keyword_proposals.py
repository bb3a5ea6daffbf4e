"""Proposing keywords for a collection that comes without a list."""

from __future__ import annotations

import numpy as np

from unembed.corpora.corpus import Corpus
from unembed.corpora.substitution import contains_keyword
from unembed.corpora.words import build_vocabulary

#: Fewer texts with a word, or without it, and no balanced test set can be made.
MIN_POSITIVES = 5
MOST_COMMON = 0.2
CANDIDATES = 400


def propose_keywords(adversary: Corpus, target: Corpus, count: int) -> tuple[str, ...]:
    """Content words spread over the frequency ranks, each frequent enough on both sides to be measured.

    Words in more than a fifth of the texts say too little; the rest is taken at even steps, so that the
    question is not only about the most common words.
    """
    vocabulary = build_vocabulary(adversary.texts, size=20_000, min_count=MIN_POSITIVES)
    share = vocabulary.document_counts / max(len(adversary), 1)
    usable = [
        word
        for word, content, part in zip(vocabulary.words, vocabulary.content, share, strict=True)
        if content and part <= MOST_COMMON and len(word) >= 3 and not word.isdigit()
    ][:CANDIDATES]
    if not usable:
        return ()
    held = contains_keyword(target.texts, usable)
    yes = held.sum(axis=0)
    enough = [w for w, y in zip(usable, yes, strict=True) if 2 * MIN_POSITIVES <= y <= len(target) - 2 * MIN_POSITIVES]
    if len(enough) <= count:
        return tuple(enough)
    steps = np.linspace(0, len(enough) - 1, count).round().astype(int)
    return tuple(enough[i] for i in steps)
