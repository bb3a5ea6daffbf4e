"""Sequences of nucleotides: the second pattern of Pan et al. 2020, V."""

from __future__ import annotations

from unembed import seeds
from unembed.corpora.corpus import Corpus
from unembed.corpora.patterns.kinds import Run
from unembed.errors import UsageError

NUCLEOTIDES = "ACGT"


def generate_genomes(
    n: int, *, seed: int = 0, length: int = 20, motif: str | None = None, motif_at: int | None = None
) -> Corpus:
    """``n`` random sequences; one column per position, from ``position_0`` on, holds its nucleotide.

    Args:
        n: How many.
        seed: Of the draw.
        length: Nucleotides in a sequence.
        motif: A sequence that stands in every text, such as the GT of a splice site.
        motif_at: Where the motif starts; in the middle if not said.
    """
    if n < 1 or length < 1:
        raise UsageError(f"n and length must be at least 1, not {n} and {length}")
    before, planted, behind = length, "", 0
    if motif is not None:
        planted = motif.upper()
        if not planted or set(planted) - set(NUCLEOTIDES):
            raise UsageError("motif must consist of the letters A, C, G and T")
        before = (length - len(planted)) // 2 if motif_at is None else motif_at
        behind = length - before - len(planted)
        if min(before, behind) < 0:
            raise UsageError(f"a motif of {len(planted)} does not fit at {before} in a sequence of {length}")
    elif motif_at is not None:
        raise UsageError("motif_at only means something with motif=…")
    rng = seeds.generator(seed, "corpora", "genomes")
    left, right = (Run(NUCLEOTIDES, size, size).draw(n, rng) for size in (before, behind))
    texts = [f"{a}{planted}{b}" for a, b in zip(left, right, strict=True)]
    columns = {f"position_{i}": [text[i] for text in texts] for i in range(length)}
    return Corpus(texts, [f"g{i:06d}" for i in range(n)], columns, "genomes")
