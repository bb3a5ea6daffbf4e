"""Sentences that hold a secret: of our own grammar, the user's, or texts of the adversary with their secret taken out.

A template is a text cut where the secret goes; ``fill`` puts one in.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from unembed.corpora.generators.grammar import load_grammar
from unembed.corpora.patterns.pattern import Pattern
from unembed.errors import UsageError

SLOT = "{secret}"
#: Stands for the secret while a sentence is made: a character that no grammar and no noun holds.
_MARK = "\ue010"

Template = tuple[str, ...]
ALONE: Template = ("", "")


def fill(template: Template, secret: str) -> str:
    """The text with a secret in its place, or places."""
    return secret.join(template)


def own_sentences(n: int, noun: str, rng: np.random.Generator) -> list[Template]:
    """``n`` templates such as "my account number is …" from our own grammar."""
    grammar = load_grammar("carriers")
    dice = random.Random(int(rng.integers(2**62)))
    values = {"NOUN": noun, "SECRET": _MARK}
    made = (grammar.expand("carrier", dice, fill=lambda symbol: (symbol.lower(), values[symbol]))[0] for _ in range(n))
    return [tuple(text.split(_MARK)) for text in made]


def templates_from(sentences: Sequence[str], pattern: Pattern, rng: np.random.Generator) -> list[Template]:
    """Templates from sentences of the user, each with ``{secret}`` where the secret goes."""
    secret = pattern.generate(1, rng).texts[0]
    found = []
    for number, sentence in enumerate(sentences, start=1):
        template = tuple(sentence.split(SLOT))
        if len(template) < 2:
            raise UsageError(f"sentence {number} has no place for the secret: write {SLOT} where it goes")
        if secret not in [o.text for o in pattern.find(fill(template, secret)) if o.problem is None]:
            raise UsageError(f"sentence {number} glues the secret to other characters: put spaces round {SLOT}")
        found.append(template)
    return found


def templates_in(texts: Sequence[str], pattern: Pattern) -> list[Template]:
    """Texts that hold a valid secret, cut where it stands."""
    found = []
    for text in texts:
        secret = next((o.text for o in pattern.find(text) if o.problem is None), None)
        if secret is not None:
            found.append(tuple(text.split(secret)))
    return found
