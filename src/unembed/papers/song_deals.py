"""Deals of the experiments of Song 2020: whole words, or the word pieces of the encoder in their place.

The paper's vocabulary is the encoder's own. For BERT that means word pieces, of which there are more in a sentence than
words, and the pieces of rare words are easier to find than the words; so both are measured.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unembed.corpora.words import Vocabulary
from unembed.encoders.base import WhiteBoxEncoder
from unembed.errors import CannotMeasureError
from unembed.games.base import Deal, Material, Queries
from unembed.games.inversion import InversionGame, InversionKnowledge, InversionTruth, piece_sets
from unembed.games.threat import ADVERSARIES
from unembed.papers.lab import Lab
from unembed.papers.stand_ins import Sides
from unembed.seeds import seed_for

#: What ends the title of an attack on word pieces.
PIECES = ", word pieces"


class SongDeals:
    """Deals for an adversary with texts of one domain and the weights; words of texts are counted once."""

    def __init__(self, lab: Lab, sides: Sides) -> None:
        self.lab, self.sides = lab, sides
        self._words: dict[tuple[object, ...], Deal[InversionKnowledge, InversionTruth]] = {}

    def deal(
        self, key: str, domain: str, game: InversionGame, layer: int | None = None
    ) -> Deal[InversionKnowledge, InversionTruth]:
        """The game's deal; vocabulary and word sets, which no encoder changes, come from the first one."""
        encoder = self.lab.encoder(key, layer)
        known, target = self.sides.known[domain], self.sides.target
        known_vectors, target_vectors = (self.lab.vectors(key, texts, layer) for texts in (known, target))
        place = (domain, game.vocabulary_size, game.max_targets)
        if place not in self._words:
            material = Material(
                target=target,
                known=known,
                target_vectors=target_vectors,
                known_vectors=known_vectors,
                encode=encoder.encode,
                adversary=ADVERSARIES["weights"],
                seed=seed_for(self.lab.conditions.seed, "deal"),
                groups=target.column(self.sides.group),
            )
            self._words[place] = game.deal(material)
        base = self._words[place]
        rows = base.rows if base.rows is not None else np.arange(len(target))
        door = Queries(encoder.encode)
        white_box = encoder if isinstance(encoder, WhiteBoxEncoder) else None
        pieces = None if white_box is None else piece_sets([target.texts[i] for i in rows], white_box)
        return replace(
            base,
            knowledge=replace(base.knowledge, vectors=known_vectors, query=door, encoder=white_box),
            truth=replace(base.truth, pieces=pieces),
            vectors=target_vectors[rows],
            door=door,
        )

    def piece_deal(self, key: str, domain: str, game: InversionGame) -> Deal[InversionKnowledge, InversionTruth]:
        """The same over the encoder's word pieces that occur twice and more in the adversary's texts."""
        encoder = self.lab.encoder(key)
        if not isinstance(encoder, WhiteBoxEncoder):
            raise CannotMeasureError(f"encoder '{key}' has no word pieces")
        known, target = self.sides.known[domain], self.sides.target
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
            target.column(self.sides.group),
        )
        knowledge = InversionKnowledge(self.lab.vectors(key, known), labels[:, kept].tocsr(), vocabulary, known.texts)
        return Deal(knowledge, self.lab.vectors(key, target), truth, pairs=len(known), queries=0)
