"""The owner's defense in an audit: fitted once on all the owner holds, whichever cell or worker asks first."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unembed.artifacts.base import Json
from unembed.corpora.corpus import Corpus
from unembed.defenses import DEFENSES
from unembed.defenses.base import CleansTexts, Defense, Owned, digest_id
from unembed.defenses.chain import Chain, Transform, stacked, unchanged
from unembed.defenses.saved import Holding
from unembed.defenses.saving import load_chain, save_chain
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, fenced
from unembed.games.threat import Capability
from unembed.results.identity import CellIdentity, Made
from unembed.runner.encoder_recipe import artifacts_in, can_be_asked, encoder_of_run
from unembed.runner.plan import Cell, made_as_planned
from unembed.runner.prepare import INSIDE, OWNER
from unembed.runner.spec import AuditSpec
from unembed.runner.workspace import load_corpus, load_vectors, save_vectors
from unembed.seeds import seed_for

#: How often the records were released to somebody who holds several releases.
RELEASES = 10

Encode = Callable[[Sequence[str]], Vectors]


@dataclass(frozen=True)
class DefenseRecipe:
    """A chain of defenses, fitted with the owner's key on both sides of the collection.

    One that learns what to hide is fitted on a part of the collection that nobody holds nor is asked about, where such
    a part was kept.
    """

    transforms: tuple[Made, ...]
    seed: int
    work: Path

    @property
    def identity(self) -> Mapping[str, Json]:
        """The transforms, the seed that the key follows from, and the work folder, named after all that is encoded."""
        steps: list[Json] = [step.model_dump(mode="json") for step in self.transforms]
        return {"defense": steps, "seed": self.seed, "of": self.work.name}

    def make(self, place: Path) -> Chain:
        """Fit; nothing is kept on the way."""
        chain = Chain([self._step(told) for told in self.transforms], [told.name for told in self.transforms])
        done = {place for place, told in enumerate(self.transforms) if told.fitted}
        learning = (step for place, step in enumerate(chain.steps) if place not in done)
        apart = any(step.facts.supervised for step in learning) and (self.work / f"{OWNER}.parquet").exists()
        sides = (OWNER,) if apart else (INSIDE, "target")
        corpora = [load_corpus(self.work / f"{side}.parquet") for side in sides]
        own = reduce(stacked, (side_vectors(self.transforms, side, self.work) for side in sides))
        ids = [record for corpus in corpora for record in corpus.ids]
        with fenced("a defense"):
            return chain.fit(own, seed_for(self.seed, "defense"), _owned(corpora, self.work, chain), ids, done)

    def _step(self, told: Made) -> Defense:
        if told.fitted is None:
            return made_as_planned(DEFENSES, told)
        digest, _, place = told.fitted.partition("/")
        return load_chain(self.work / f"defense-{digest}").steps[int(place)]

    def save(self, made: Chain, place: Path) -> None:
        """As chains are kept everywhere."""
        save_chain(made, place)

    def load(self, place: Path) -> Chain:
        """As chains are kept everywhere; a plug-in's code was named by the user."""
        return load_chain(place, own_code=True)


def hand_over_saved(spec: AuditSpec, work: Path) -> None:
    """Defenses that were saved before, for the cells: in the work folder, whatever becomes of their own."""
    for step in (step for steps in spec.chains for step in steps):
        made = DEFENSES.get(step.name)(**step.params)
        if isinstance(made, Holding):
            chain, digest = made.held()
            save_chain(chain, work / f"defense-{digest}")


def _unfitted(transforms: Sequence[Made]) -> Chain:
    steps = [made_as_planned(DEFENSES, step) for step in transforms]
    return Chain(steps, [step.name for step in transforms])


def _owned(corpora: list[Corpus], work: Path, chain: Chain) -> Owned:
    """What the owner holds, its texts as they are encoded."""
    names = [name for name in corpora[0].columns if all(name in corpus.columns for corpus in corpora)]
    texts = [text for corpus in corpora for text in corpus.texts]
    return Owned(
        texts=chain.clean(texts) if chain.cleaners() else texts,
        columns={name: [value for corpus in corpora for value in corpus.column(name)] for name in names},
        encode=(lambda texts: encoder_of_run(work).encode(chain.clean(texts))) if can_be_asked(work) else None,
    )


def by_variant(cells: Sequence[Cell]) -> dict[str, CellIdentity]:
    """One cell's identity for each defense, by the name that findings use."""
    return {cell.identity.defense: cell.identity for cell in cells if cell.identity.defense}


@dataclass(frozen=True)
class CleanedRecipe:
    """The vectors of a side whose texts were cleaned before they were encoded."""

    transforms: tuple[Made, ...]
    side: str
    work: Path

    @property
    def identity(self) -> Mapping[str, Json]:
        """The defenses, the side, and the work folder, named after all that is encoded."""
        steps: list[Json] = [step.model_dump(mode="json") for step in self.transforms]
        return {"cleaned by": steps, "side": self.side, "of": self.work.name}

    def make(self, place: Path) -> Vectors:
        """Texts that were changed are encoded again; the others keep their vectors."""
        if not can_be_asked(self.work):
            raise CannotMeasureError(
                "not applicable: a defense that changes texts needs the encoder, and only stored vectors are there"
            )
        texts = load_corpus(self.work / f"{self.side}.parquet").texts
        with fenced("a defense"):
            cleaned = _unfitted(self.transforms).clean(texts)
        vectors = load_vectors(self.work / self.side)
        changed = np.array([a != b for a, b in zip(texts, cleaned, strict=True)], dtype=bool)
        if not changed.any():
            return vectors
        again = encoder_of_run(self.work).encode([cleaned[row] for row in np.flatnonzero(changed)])
        rows = np.where(changed, len(texts) + np.cumsum(changed) - 1, np.arange(len(texts)))
        return stacked(vectors, again)[rows]

    def save(self, made: Vectors, place: Path) -> None:
        """As vectors lie in the work folder."""
        save_vectors(made, place / "vectors")

    def load(self, place: Path) -> Vectors:
        """As vectors lie in the work folder."""
        return load_vectors(place / "vectors")


def side_vectors(transforms: Sequence[Made], side: str, work: Path) -> Vectors:
    """The vectors of a side before any transform, of cleaned texts where a defense among these cleans them."""
    cleaning = tuple(step for step in transforms if issubclass(DEFENSES.get(step.name), CleansTexts))
    if not cleaning:
        return load_vectors(work / side)
    return artifacts_in(work.parent).get(CleanedRecipe(cleaning, side, work))


def owners_chain(identity: CellIdentity, work: Path) -> Chain:
    """What stands between encoder and store, fitted on all that the owner holds."""
    return _fitted(identity.model_dump_json(include={"transforms", "seed"}), work)


@lru_cache(maxsize=2)
def _fitted(told: str, work: Path) -> Chain:
    told_again = json.loads(told)
    transforms = tuple(Made(**step) for step in told_again["transforms"])
    return artifacts_in(work.parent).get(DefenseRecipe(transforms, told_again["seed"], work))


@dataclass(frozen=True)
class Passage:
    """What is done on the way from texts to vectors that lie somewhere: to texts, and to vectors behind the encoder.

    ``after`` is what an adversary does to them in turn. ``others`` are the chain under further keys, where the same
    records were released under each of them and the adversary takes the mean.
    """

    work: Path
    transforms: tuple[Made, ...] = ()
    chain: Chain | None = None
    after: Transform = unchanged
    others: tuple[Chain, ...] = ()

    def side(self, name: str, corpus: Corpus, rows: NDArray[np.int64] | None = None) -> Vectors:
        """The vectors of a side, or of some of its rows, which are the texts of ``corpus``."""
        vectors = side_vectors(self.transforms, name, self.work)
        vectors = vectors if rows is None else vectors[rows]
        return vectors if self.chain is None else self._through(self.chain, vectors, corpus.ids)

    def behind(self, encode: Encode) -> Encode:
        """The way of further texts; they have no place in the store, so their own digest stands for their id."""
        if (chain := self.chain) is None:
            return encode
        return lambda texts: self._through(chain, encode(chain.clean(texts)), [digest_id(text) for text in texts])

    def _through(self, chain: Chain, vectors: Vectors, ids: Sequence[str]) -> Vectors:
        released = chain.transform(vectors, ids)
        if self.others:
            rest = (np.asarray(other.transform(vectors, ids), dtype=np.float32) for other in self.others)
            released = sum(rest, np.asarray(released, dtype=np.float32)) / np.float32(1 + len(self.others))
        return self.after(released, ids)

    def released_again(self, seed: int, times: int = RELEASES) -> Passage:
        """The mean of many releases, where each record's noise was drawn anew for each of them."""
        if self.chain is None or not self.chain.draws_noise:
            return self
        keys = (seed_for(seed, "release", number) for number in range(1, times))
        return replace(self, others=tuple(self.chain.with_key(key) for key in keys))


def passages_of(identity: CellIdentity, work: Path) -> tuple[Passage, Passage]:
    """The owner's way from texts to the store, and the adversary's to the vectors it makes itself.

    Somebody who knows the defense holds all of it but the key: they clean texts like the owner and put the rest behind
    the encoder with a key of their own. Somebody who doesn't leaves texts and vectors as they are.
    """
    if not identity.transforms:
        return Passage(work), Passage(work)
    stored = owners_passage(identity, work)
    several = Capability.RELEASES in identity.capabilities
    if several:
        stored = stored.released_again(seed_for(identity.seed, "defense"))
    if not identity.adaptive or stored.chain is None:
        return stored, Passage(work)
    key = seed_for(identity.seed, "defense", "adversary")
    held = Passage(work, identity.transforms, stored.chain.with_key(key))
    return stored, held.released_again(key) if several else held


def owners_passage(identity: CellIdentity, work: Path) -> Passage:
    """What the owner does, fitted on all that they hold."""
    return Passage(work, identity.transforms, owners_chain(identity, work))
