"""Invented corpora, each with known truth: nothing in them comes from a real person."""

from collections.abc import Callable

from unembed.corpora.corpus import Corpus
from unembed.registry import Registry

_HERE = "unembed.corpora.generators"

GENERATORS: Registry[Callable[..., Corpus]] = Registry(
    "generator",
    {
        "messages": f"{_HERE}.messages:generate_messages",
        "public-text": f"{_HERE}.public_text:generate_public_text",
        "citizen-ids": f"{_HERE}.citizen_ids:generate_citizen_ids",
        "genomes": f"{_HERE}.genomes:generate_genomes",
    },
)
"""Generators by name; each is called as ``(n, *, seed) -> Corpus``."""

__all__ = ["GENERATORS"]
