"""Shadow models as artifacts: each is trained once, however often the work is begun again.

Models are trained side by side through joblib, so threads, processes, Ray or Dask serve by configuration; a trainer
that takes many at once gets as many as it takes of those that are missing.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np

from unembed.artifacts.base import Json
from unembed.artifacts.keeping import Artifacts
from unembed.shadows.base import IntArray, TokenCorpus, Trainer, WordTable

#: Told how many models there are of how many.
Told = Callable[[int, int], None]
_FILE = "table.safetensors"


@runtime_checkable
class TrainsMany(Protocol):
    """A trainer that takes many models at once."""

    most: int
    """So many at a time: what is finished before a kill is kept."""

    def train_many(self, corpus: TokenCorpus, samples: Sequence[IntArray], seeds: Sequence[int]) -> list[WordTable]:
        """A model of each sample of texts."""
        ...


@dataclass(frozen=True)
class ModelRecipe:
    """One model: what trains it, on which texts, with which seed. ``made`` is the model itself where it is there."""

    trainer: Trainer
    corpus: TokenCorpus
    rows: IntArray
    seed: int
    learnt: str
    made: WordTable | None = field(default=None, compare=False)

    @property
    def identity(self) -> Mapping[str, Json]:
        """The trainer, and the texts by their digest."""
        trainer: dict[str, Json] = dict(self.trainer.identity)
        rows = hashlib.sha256(np.ascontiguousarray(self.rows, dtype=np.int64).tobytes()).hexdigest()
        return {"model": trainer, "corpus": self.learnt, "rows": rows, "seed": self.seed}

    def make(self, place: Path) -> WordTable:
        """Train; nothing is kept on the way."""
        return self.made or self.trainer.train(self.corpus, self.rows, self.seed)

    def save(self, made: WordTable, place: Path) -> None:
        """The numbers of its words and their vectors."""
        from safetensors.numpy import save_file

        save_file({"numbers": made.numbers, "vectors": made.vectors}, place / _FILE)

    def load(self, place: Path) -> WordTable:
        """As it was saved."""
        from safetensors.numpy import load_file

        arrays = load_file(place / _FILE)
        return WordTable(arrays["numbers"], arrays["vectors"])


def digest_of_corpus(corpus: TokenCorpus) -> str:
    """What a corpus is known by: its words and where they stand."""
    whole = hashlib.sha256("\0".join(corpus.vocabulary).encode("utf-8", "surrogatepass"))
    for array in (corpus.tokens, corpus.starts):
        whole.update(np.ascontiguousarray(array).tobytes())
    return whole.hexdigest()


def trained(
    trainer: Trainer,
    corpus: TokenCorpus,
    samples: Sequence[IntArray],
    seeds: Sequence[int],
    *,
    keep: Artifacts | None = None,
    jobs: int | None = None,
    told: Told | None = None,
) -> Iterator[WordTable]:
    """A model of each sample, in order, one after the other as they are ready.

    With ``keep``, those that are there already are loaded, and the others are kept.
    """
    learnt = digest_of_corpus(corpus)
    recipes = [ModelRecipe(trainer, corpus, rows, seed, learnt) for rows, seed in zip(samples, seeds, strict=True)]
    made = _many_at_once(trainer, recipes, keep) if isinstance(trainer, TrainsMany) else _beside(recipes, keep, jobs)
    for done, table in enumerate(made, start=1):
        yield table
        if told:
            told(done, len(recipes))


def _many_at_once(trainer: TrainsMany, recipes: Sequence[ModelRecipe], keep: Artifacts | None) -> Iterator[WordTable]:
    for start in range(0, len(recipes), trainer.most):
        some = recipes[start : start + trainer.most]
        missing = [r for r in some if keep is None or not keep.holds(r)]
        corpus = some[0].corpus
        tables = iter(trainer.train_many(corpus, [r.rows for r in missing], [r.seed for r in missing]))
        ready = {id(r): next(tables) for r in missing}
        for r in some:
            yield _one(ModelRecipe(r.trainer, corpus, r.rows, r.seed, r.learnt, ready.pop(id(r), None)), keep)


def _beside(recipes: Sequence[ModelRecipe], keep: Artifacts | None, jobs: int | None) -> Iterator[WordTable]:
    from joblib import Parallel, delayed

    workers = Parallel(n_jobs=jobs or os.cpu_count() or 1, prefer="threads", return_as="generator")
    yield from workers(delayed(_one)(recipe, keep) for recipe in recipes)


def _one(recipe: ModelRecipe, keep: Artifacts | None) -> WordTable:
    return recipe.make(Path()) if keep is None else keep.get(recipe)
