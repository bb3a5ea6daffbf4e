"""The owner's defense in an audit: fitted once on all the owner holds, whichever cell or worker asks first."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from unembed.artifacts.base import Json
from unembed.corpora.corpus import Corpus
from unembed.defenses import DEFENSES
from unembed.defenses.base import Defense, Owned
from unembed.defenses.chain import Chain, Transform, stacked, unchanged
from unembed.defenses.saved import Holding
from unembed.defenses.saving import load_chain, save_chain
from unembed.errors import fenced
from unembed.results.identity import CellIdentity, Made
from unembed.runner.encoder_recipe import artifacts_in, can_be_asked, encoder_of_run
from unembed.runner.plan import Cell, made_as_planned
from unembed.runner.prepare import INSIDE
from unembed.runner.spec import AuditSpec
from unembed.runner.workspace import load_corpus, load_vectors
from unembed.seeds import seed_for


@dataclass(frozen=True)
class DefenseRecipe:
    """A chain of defenses, fitted on both sides of the collection with the owner's key."""

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
        corpora = [load_corpus(self.work / f"{side}.parquet") for side in (INSIDE, "target")]
        own = stacked(*(load_vectors(self.work / side) for side in (INSIDE, "target")))
        ids = [record for corpus in corpora for record in corpus.ids]
        with fenced("a defense"):
            return chain.fit(own, seed_for(self.seed, "defense"), _owned(corpora, self.work), ids, done)

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


def _owned(corpora: list[Corpus], work: Path) -> Owned:
    names = [name for name in corpora[0].columns if all(name in corpus.columns for corpus in corpora)]
    return Owned(
        texts=[text for corpus in corpora for text in corpus.texts],
        columns={name: [value for corpus in corpora for value in corpus.column(name)] for name in names},
        encode=(lambda texts: encoder_of_run(work).encode(texts)) if can_be_asked(work) else None,
    )


def by_variant(cells: Sequence[Cell]) -> dict[str, CellIdentity]:
    """One cell's identity for each defense, by the name that findings use."""
    return {cell.identity.defense: cell.identity for cell in cells if cell.identity.defense}


def owners_chain(identity: CellIdentity, work: Path) -> Chain:
    """What stands between encoder and store, fitted on all that the owner holds."""
    return _fitted(identity.model_dump_json(include={"transforms", "seed"}), work)


@lru_cache(maxsize=2)
def _fitted(told: str, work: Path) -> Chain:
    told_again = json.loads(told)
    transforms = tuple(Made(**step) for step in told_again["transforms"])
    return artifacts_in(work.parent).get(DefenseRecipe(transforms, told_again["seed"], work))


def transforms_of(identity: CellIdentity, work: Path) -> tuple[Transform, Transform]:
    """What the owner does to vectors before they are stored, and what the adversary does to those it makes itself.

    Somebody who knows the defense holds all of it but the key: they put it behind the encoder with a key of their own.
    Somebody who doesn't leaves vectors as they are.
    """
    if not identity.transforms:
        return unchanged, unchanged
    chain = owners_chain(identity, work)
    if not identity.adaptive:
        return chain.transform, unchanged
    return chain.transform, chain.with_key(seed_for(identity.seed, "defense", "adversary")).transform
