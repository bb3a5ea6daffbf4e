"""Vectors behind a defense, as those attack them who know of it: brought back first, as far as that goes.

An outsider who knows that one map stands before all stored vectors does not learn from vectors of their own behind
another such map, which would show nothing. They bring the stored vectors back without a pair and attack what they get.
Who is inside has pairs to find the map by; without bringing vectors back, what they learn from those and what they have
encoded would lie behind two different maps (``defenses.alignment``).

Noise is taken out of the stored vectors and of those that the adversary makes behind the same defense, so that what is
learnt from the one holds for the other (``defenses.denoising``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from unembed.artifacts.base import Json
from unembed.defenses.alignment import Alignment, match_unpaired, procrustes
from unembed.results.identity import CellIdentity
from unembed.runner.defended import Passage, passages_of
from unembed.runner.denoised import DenoiserRecipe
from unembed.runner.encoder_recipe import artifacts_in
from unembed.runner.workspace import load_corpus
from unembed.seeds import seed_for

#: Draws of the noise whose mean stands for a text of the adversary's own.
OWN_DRAWS = 16
#: Goes up when the way back is looked for in another way.
VERSION = 1
#: Ways back from two halves of the public vectors that agree less may both be wrong.
SURE = 0.2
LOST = (
    "the way back through the secret map was not surely found; more vectors, or public text nearer in kind, may find it"
)
_ROTATION, _FIGURES = "rotation.npy", "alignment.json"


@dataclass(frozen=True)
class Ways:
    """What the owner does to vectors, what the adversary does to their own, and what is to be said about it.

    ``pairs``: what lies before the vectors of the texts that the adversary holds. ``single``: what lies before the same
    vectors as the store would hold them, where the adversary learns from others. ``plain``: what stands before the
    owner's secret map, where there is one. ``doubt``: why finding nothing would say nothing: the way back was not
    found, and somebody with more vectors may find it.
    """

    stored: Passage
    held: Passage
    pairs: Passage
    plain: Passage | None = None
    notes: tuple[str, ...] = ()
    doubt: str | None = None
    single: Passage | None = None


def ways_of(identity: CellIdentity, work: Path, *, inside: bool, bring_back: bool) -> Ways:
    """The passages of a cell; ``bring_back``: the adversary undoes what the defense did, as far as it can.

    Only somebody who knows the defense can: to others the vectors are just vectors.
    """
    stored, held = passages_of(identity, work)
    pairs = stored if inside and identity.adaptive else held
    if not identity.adaptive or stored.chain is None:
        return Ways(stored, held, pairs)
    if not stored.chain.hides_map:
        calm = bring_back and stored.chain.draws_noise
        return _calmed(identity, work, stored, held) if calm else Ways(stored, held, pairs)
    plain = replace(stored, chain=stored.chain.before_map())
    if not bring_back:
        return Ways(stored, held, pairs, plain)
    found = artifacts_in(work.parent).get(AlignmentRecipe(identity, work, inside))
    own = _before_map(held)
    note = (
        "vectors mapped back without a pair; from either half of the adversary's texts they come out alike with a mean "
        f"cosine of {found.confidence:.2f}"
    )
    if found.pairs:
        note = f"vectors mapped back by {found.pairs:,} pairs"
    doubt = None if found.confidence >= SURE else LOST
    stored = replace(stored, after=lambda vectors, ids: found.back(vectors))
    return Ways(stored, own, stored if inside else own, plain, (note,), doubt)


def _calmed(identity: CellIdentity, work: Path, stored: Passage, held: Passage) -> Ways:
    """Both passages with the noise taken out; the adversary's own texts are put through the defense several times.

    What is learnt from the mean of many draws has to do with little noise; what is chosen must hold for vectors like
    those of the store, each with its one draw.
    """
    denoiser = artifacts_in(work.parent).get(DenoiserRecipe(identity, work))
    many = held.released_again(seed_for(identity.seed, "draws"), OWN_DRAWS * (1 + len(held.others)))
    stored, single, own = (
        replace(way, after=lambda vectors, ids: denoiser.calm(vectors)) for way in (stored, held, many)
    )
    note = f"noise taken out as far as it goes: {denoiser.share:.0%} of what the vectors vary by was kept"
    return Ways(stored, own, pairs=own, notes=(note,), single=single)


def _before_map(held: Passage) -> Passage:
    """What an adversary can do to their own vectors of all that the owner does before the secret map."""
    return replace(held, chain=None if held.chain is None else held.chain.before_map())


@dataclass(frozen=True)
class AlignmentRecipe:
    """The way back through the secret map in the defense of a cell, found once for all its attacks."""

    cell: CellIdentity
    work: Path
    inside: bool

    @property
    def identity(self) -> Mapping[str, Json]:
        """The defense, the seed, whose texts, and the work folder, named after all that is encoded."""
        steps: list[Json] = [step.model_dump(mode="json") for step in self.cell.transforms]
        return {
            "alignment": VERSION,
            "defense": steps,
            "seed": self.cell.seed,
            "inside": self.inside,
            "known": self.cell.known,
            "texts": self.cell.known_fingerprint,
            "of": self.work.name,
        }

    def make(self, place: Path) -> Alignment:
        """From pairs, where there are as many as dimensions, else from the shape of all that is under attack."""
        known, target = (load_corpus(self.work / f"{side}.parquet") for side in (self.cell.known, "target"))
        stored, held = passages_of(self.cell, self.work)
        own = _before_map(held).side(self.cell.known, known)
        if self.inside and len(known) >= own.shape[1]:
            rotation = procrustes(stored.side(self.cell.known, known), own)
            return Alignment(rotation, 1.0, confidence=1.0, mutual=1.0, pairs=len(known))
        return match_unpaired(own, stored.side("target", target), seed=seed_for(self.cell.seed, "alignment"))

    def save(self, made: Alignment, place: Path) -> None:
        """The matrix, and the figures beside it."""
        np.save(place / _ROTATION, made.rotation, allow_pickle=False)
        figures = {"scale": made.scale, "confidence": made.confidence, "mutual": made.mutual, "pairs": made.pairs}
        (place / _FIGURES).write_text(json.dumps(figures), encoding="utf-8")

    def load(self, place: Path) -> Alignment:
        """What was saved."""
        figures = json.loads((place / _FIGURES).read_text(encoding="utf-8"))
        return Alignment(np.load(place / _ROTATION, allow_pickle=False), **figures)
