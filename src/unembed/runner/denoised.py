"""Vectors behind noise, as those attack them who know of it and may query: noise taken out first, as far as it goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from unembed.artifacts.base import Json
from unembed.defenses.denoising import MOST, Denoiser, learn_denoiser
from unembed.games.threat import Capability
from unembed.results.identity import CellIdentity
from unembed.runner.defended import passages_of
from unembed.runner.workspace import load_corpus
from unembed.seeds import generator, seed_for

#: Goes up when noise is taken out in another way.
VERSION = 1
#: How often the adversary puts their own texts through the defense.
DRAWS = 32
_MEAN, _KEPT = "mean.npy", "kept.npy"


@dataclass(frozen=True)
class DenoiserRecipe:
    """What takes the noise out behind the defense of a cell, learnt once for all its attacks."""

    cell: CellIdentity
    work: Path

    @property
    def identity(self) -> Mapping[str, Json]:
        """The defense, the seed, how often it was released, whose texts, and the work folder."""
        steps: list[Json] = [step.model_dump(mode="json") for step in self.cell.transforms]
        return {
            "denoiser": VERSION,
            "defense": steps,
            "seed": self.cell.seed,
            "several releases": Capability.RELEASES in self.cell.capabilities,
            "known": self.cell.known,
            "texts": self.cell.known_fingerprint,
            "of": self.work.name,
        }

    def make(self, place: Path) -> Denoiser:
        """From all that is under attack, and from the adversary's own texts under several keys."""
        known, target = (load_corpus(self.work / f"{side}.parquet") for side in (self.cell.known, "target"))
        stored, held = passages_of(self.cell, self.work)
        rows = np.sort(generator(self.cell.seed, "denoiser").permutation(len(known))[:MOST])
        some = known.select(rows)
        assert held.chain is not None, "the adversary knows the defense"
        keys = [seed_for(self.cell.seed, "denoiser", number) for number in range(DRAWS)]
        again = (replace(held, chain=held.chain.with_key(key)) for key in keys)
        if held.others:
            again = (one.released_again(key) for one, key in zip(again, keys, strict=True))
        return learn_denoiser(stored.side("target", target), (one.side(self.cell.known, some, rows) for one in again))

    def save(self, made: Denoiser, place: Path) -> None:
        """The mean and the matrix."""
        np.save(place / _MEAN, made.mean, allow_pickle=False)
        np.save(place / _KEPT, made.kept, allow_pickle=False)

    def load(self, place: Path) -> Denoiser:
        """What was saved."""
        return Denoiser(*(np.load(place / name, allow_pickle=False) for name in (_MEAN, _KEPT)))
