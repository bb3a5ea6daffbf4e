"""General statements on thirty everyday topics: the public text an outside adversary trains on."""

from __future__ import annotations

import random

from unembed import seeds
from unembed.corpora.corpus import Corpus
from unembed.corpora.generators.grammar import load_grammar
from unembed.errors import UsageError

_SECOND_SENTENCE = 0.25


def generate_public_text(n: int, *, seed: int = 0) -> Corpus:
    """``n`` invented texts of one or two sentences without any secret; column ``topic``."""
    if n < 1:
        raise UsageError(f"n must be at least 1, not {n}")
    grammar = load_grammar("public")
    rng = random.Random(seeds.seed_for(seed, "corpora", "public-text"))
    texts, topics = [], []
    for _ in range(n):
        topic = rng.choice(grammar.rules["topic"])
        text, _ = grammar.expand(topic, rng)
        if rng.random() < _SECOND_SENTENCE:
            text += " " + grammar.expand(topic, rng)[0]
        texts.append(text)
        topics.append(topic)
    return Corpus(texts, [f"p{i:06d}" for i in range(n)], {"topic": topics}, "public-text")
