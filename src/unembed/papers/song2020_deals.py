"""Deals of the experiments of Song 2020: whole words, or the word pieces of the encoder in their place.

The paper's vocabulary is the encoder's own. For BERT that means word pieces, of which there are more in a sentence than
words, and the pieces of rare words are easier to find than the words; so both are measured.
"""

from __future__ import annotations

import numpy as np

from unembed.corpora.words import Vocabulary
from unembed.encoders.base import WhiteBoxEncoder
from unembed.errors import CannotMeasureError
from unembed.games.base import Deal
from unembed.games.inversion import InversionGame, InversionKnowledge, InversionTruth, piece_sets
from unembed.papers.data import Texts
from unembed.papers.encoders import Encoders
from unembed.seeds import seed_for

InversionDeal = Deal[InversionKnowledge, InversionTruth]


def word_deal(
    encoders: Encoders, texts: Texts, key: str, domain: str, game: InversionGame, layer: int | None = None
) -> InversionDeal:
    """The game's own deal for an adversary with texts of one domain and the weights."""
    seed, groups = seed_for(encoders.conditions.seed, "deal"), texts.target.column(texts.group)
    known = texts.known[domain]
    return game.deal(encoders.material(key, texts.target, known, "weights", seed, groups=groups, layer=layer))


def piece_deal(encoders: Encoders, texts: Texts, key: str, domain: str, game: InversionGame) -> InversionDeal:
    """The same over the encoder's word pieces that occur twice and more in the adversary's texts."""
    encoder = encoders.encoder(key)
    if not isinstance(encoder, WhiteBoxEncoder):
        raise CannotMeasureError(f"encoder '{key}' has no word pieces")
    known, target = texts.known[domain], texts.target
    labels, asked = piece_sets(known.texts, encoder), piece_sets(target.texts, encoder)
    counts = np.asarray(labels.sum(axis=0), dtype=np.int64).ravel()
    ranked = np.argsort(-counts, kind="stable")
    kept = ranked[counts[ranked] >= game.min_count][: game.vocabulary_size]
    pieces = tuple(encoder.vocabulary[i] for i in kept)
    vocabulary = Vocabulary(pieces, counts[kept], counts[kept], len(known))
    outside = np.asarray(asked.sum(axis=1) - asked[:, kept].sum(axis=1), dtype=np.float64).reshape(-1)
    truth = InversionTruth(
        asked[:, kept].tocsr(),
        np.stack([outside, np.zeros_like(outside)], axis=1),
        vocabulary,
        target.column(texts.group),
    )
    knowledge = InversionKnowledge(encoders.vectors(key, known), labels[:, kept].tocsr(), vocabulary, known.texts)
    return Deal(knowledge, encoders.vectors(key, target), truth, pairs=len(known), queries=0)
