"""Secrets of a known form: a small language for formats, their generator, their matcher, sentences to hold them."""

from unembed.corpora.patterns.carriers import fill, own_sentences, templates_from, templates_in
from unembed.corpora.patterns.language import parse_pattern
from unembed.corpora.patterns.pattern import Field, Occurrence, Part, Pattern, Secrets
from unembed.corpora.patterns.ready import READY

__all__ = [
    "READY",
    "Field",
    "Occurrence",
    "Part",
    "Pattern",
    "Secrets",
    "fill",
    "own_sentences",
    "parse_pattern",
    "templates_from",
    "templates_in",
]
