"""Sentences as characters, for the small language models of experiments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from unembed.corpora.corpus import Corpus
from unembed.corpora.patterns import Pattern
from unembed.corpora.patterns.kinds import Run
from unembed.errors import UsageError
from unembed.metrics.spread import FloatArray
from unembed.nn.language_model import LanguageModel
from unembed.papers.base import Conditions
from unembed.papers.datasets import read
from unembed.papers.texts import sample
from unembed.seeds import generator

#: Characters that a model knows; others count as one.
CHARACTERS = 100
#: Sentences of so many characters.
SHORTEST, LONGEST = 40, 160


class Characters:
    """The characters of texts as numbers; those that are rare are one."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = Counter("".join(texts))
        kept = sorted(counts, key=lambda c: (-counts[c], c))[:CHARACTERS]
        self.number_of = {character: number for number, character in enumerate(kept)}

    def __len__(self) -> int:
        return len(self.number_of) + 1

    def of(self, text: str) -> list[int]:
        """A text as numbers."""
        return [self.number_of.get(character, len(self.number_of)) for character in text]

    def text(self, tokens: Sequence[int]) -> str:
        """Numbers as a text; a rare character is a mark that stands in no text."""
        known = [*self.number_of, "\N{REPLACEMENT CHARACTER}"]
        return "".join(known[token] for token in tokens)

    def choices(self, pattern: Pattern) -> list[list[int]]:
        """For each place of a canary's text the characters that may stand there."""
        places: list[list[int]] = []
        for piece in pattern.pieces:
            if isinstance(piece, str):
                places += [[number] for number in self.of(piece)]
            elif isinstance(piece.kind, Run):
                places += [self.of(piece.kind.alphabet)] * piece.kind.most
            else:
                raise UsageError("the fields of these canaries are runs of characters")
        return places


def log_perplexity_of(model: LanguageModel, characters: Characters, texts: Sequence[str]) -> FloatArray:
    """What a model makes of texts, in bits."""
    return model.log_perplexity([characters.of(text) for text in texts])


def sentences(conditions: Conditions, count: int) -> Corpus:
    """Sentences of a handful to a score of words, drawn at random."""
    if conditions.size == "smoke":
        from unembed.corpora.generators.public_text import generate_public_text

        return sample(generate_public_text(400, seed=conditions.seed), count, conditions.seed, "sentences")
    wiki = read(conditions, "wikipedia_sentences", "sentence")
    fit = [row for row, text in enumerate(wiki.texts) if SHORTEST <= len(text) <= LONGEST]
    found = sample(wiki.select(fit), count, conditions.seed, "sentences")
    return found.select(generator(conditions.seed, "order").permutation(len(found)))
