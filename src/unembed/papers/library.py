"""The papers whose experiments are in scope."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """One publication and the part of it that can be reproduced here."""

    name: str
    title: str
    authors: str
    year: int
    venue: str
    scope: str


PAPERS: dict[str, Paper] = {
    p.name: p
    for p in (
        Paper(
            "pan2020",
            "Privacy Risks of General-Purpose Language Models",
            "Pan, Zhang, Ji, Yang",
            2020,
            "IEEE Symposium on Security and Privacy",
            "pattern recovery (citizen ids, genomes), keyword inference with and without a shadow corpus, "
            "fingerprinting, and four defenses on vectors",
        ),
        Paper(
            "song2020",
            "Information Leakage in Embedding Models",
            "Song, Raghunathan",
            2020,
            "ACM Conference on Computer and Communications Security",
            "word inversion with and without the weights, authorship, membership of sentences and words, "
            "adversarial training",
        ),
        Paper(
            "mahloujifar2021",
            "Membership Inference on Word Embedding and Beyond",
            "Mahloujifar, Inan, Chase, Ghosh, Hasegawa",
            2021,
            "arXiv",
            "membership of a user's data through word vectors, a classifier's labels and a language model's words",
        ),
        Paper(
            "coro2022",
            "Privacy Leakage Analysis of Text Representations for Natural Language Processing",
            "Corò",
            2022,
            "Master thesis, University of Padova",
            "inversion of six text representations, longer texts, people's names, the number of pairs, "
            "and what the representations are good for",
        ),
    )
}
