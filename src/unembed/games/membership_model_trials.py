"""The experiment of membership in a classifier (Corò 3.3) on any vectors and labels, with any trainer.

The challenger trains classifiers, each on half of the texts asked about; where it is known whose they are, on those of
half of the users. The adversary trains shadow classifiers in the same way: on halves of texts of its own, the worst
case for it, or, because it holds the texts that it asks about, on halves of these.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from unembed.artifacts.base import Json
from unembed.artifacts.keeping import Artifacts
from unembed.encoders.base import Vectors
from unembed.games.base import Deal, IntArray
from unembed.games.membership_model import ModelKnowledge, ModelTrials, dealt
from unembed.games.model_answers import Answered, Columns
from unembed.seeds import generator, seed_for
from unembed.shadows.classifiers import Answers, ClassifierTrainer

Pool: TypeAlias = Literal["own", "targets"]
Tables: TypeAlias = dict[str, NDArray[np.generic]]
_FILE = "answers.safetensors"


@dataclass(frozen=True)
class Side:
    """Texts of one side: their vectors, their classes, and whose they are where that is known."""

    vectors: Vectors
    labels: IntArray
    owners: Sequence[object] | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def units(self) -> IntArray:
        """What is learnt from as a whole: users by number, else every text."""
        if self.owners is None:
            return np.arange(len(self))
        return np.unique(np.asarray([str(owner) for owner in self.owners]), return_inverse=True)[1].astype(np.int64)


@dataclass(frozen=True)
class ClassifierTrials:
    """Who asks about which texts, how many models either side trains, and where shadow models get theirs."""

    targets: Side
    own: Side
    classes: int
    shadows: int = 16
    models: int = 4
    pool: Pool = "own"
    seed: int = 0

    def deal(
        self,
        trainer: ClassifierTrainer,
        *,
        keep: Artifacts | None = None,
        rows: IntArray | None = None,
        notes: Sequence[str] = (),
    ) -> Deal[ModelKnowledge, ModelTrials]:
        """Train both sides and ask; ``rows`` are the places of the targets in a larger collection."""
        recipe = AnswersRecipe(self, trainer)
        tables = recipe.make(Path()) if keep is None else keep.get(recipe)
        columns = Columns.of_classifier(self.classes)
        both = {
            side: Answered(
                tables[f"{side}_rows"].astype(np.float32),
                tables[f"{side}_members"].astype(bool),
                tables[f"{side}_models"].astype(np.int64),
            )
            for side in ("shadows", "targets")
        }
        asked = columns.numbers(both["targets"].rows, "text")
        owners = None if self.targets.owners is None else [self.targets.owners[int(text)] for text in asked]
        targets = Answered(both["targets"].rows, both["targets"].members, both["targets"].models, owners)
        beside = tables.get("beside")
        return dealt(
            columns,
            both["shadows"],
            targets,
            beside=None if beside is None else beside.astype(np.float32),
            notes=(*notes, self._right(columns, targets)),
            pairs=len(np.unique(columns.numbers(both["shadows"].rows, "text"))),
            rows=asked if rows is None else rows[asked],
        )

    def tables(self, trainer: ClassifierTrainer) -> Tables:
        """What all models answer, as plain arrays."""
        shadow_side, first = (self.targets, 0) if self.pool == "targets" else (self.own, len(self.targets))
        learnt = len(self.targets) / 2
        found: Tables = {}
        beside = []
        for side, texts, number, count in (
            ("shadows", shadow_side, first, self.shadows),
            ("targets", self.targets, 0, self.models),
        ):
            parts: list[tuple[NDArray[np.float32], NDArray[np.bool_]]] = []
            for model in range(count):
                asked, members = self._drawn(texts, side, model, learnt)
                inside = asked[members]
                seed = seed_for(self.seed, side, "model", model)
                answers = trainer.train(texts.vectors[inside], texts.labels[inside], self.classes, seed)
                parts.append((self._rows(answers, texts, asked, number, model), members))
                if side == "shadows" and self.pool == "own":
                    beside.append(self._rows(answers, self.targets, np.arange(len(self.targets)), 0, model))
            found[f"{side}_rows"] = np.concatenate([table for table, _ in parts])
            found[f"{side}_members"] = np.concatenate([members for _, members in parts]).astype(np.uint8)
            found[f"{side}_models"] = np.repeat(np.arange(count), [len(members) for _, members in parts])
        if beside:
            found["beside"] = np.concatenate(beside)
        return found

    def _drawn(self, texts: Side, side: str, model: int, learnt: float) -> tuple[IntArray, NDArray[np.bool_]]:
        """Which texts a model is asked about, and which half of them it learns from: no more than are under attack."""
        units = texts.units
        rng = generator(self.seed, side, "half", model)
        order = rng.permutation(int(units.max()) + 1)
        sizes = np.cumsum(np.bincount(units)[order])
        kept = order[: max(2, int(np.searchsorted(sizes, 2 * learnt, side="left")) + 1)]
        asked = np.flatnonzero(np.isin(units, kept))
        return asked, np.isin(units[asked], kept[: len(kept) // 2])

    def _rows(self, answers: Answers, texts: Side, asked: IntArray, first: int, model: int) -> NDArray[np.float32]:
        """Label, number of the text, number of user and model, and what the model answers."""
        units = texts.units
        user = units[asked] + model * (int(units.max()) + 1)
        facts = np.stack([texts.labels[asked], first + asked, user], axis=1)
        return np.concatenate([facts, answers(texts.vectors[asked])], axis=1).astype(np.float32)

    @staticmethod
    def _right(columns: Columns, targets: Answered) -> str:
        """How often the models under attack are right: what they know by heart shows in the difference."""
        right = columns.probabilities(targets.rows).argmax(axis=1) == columns.labels(targets.rows)
        inside, outside = right[targets.members].mean(), right[~targets.members].mean()
        return (
            f"the models under attack are right in {inside:.1%} of what they learnt from and {outside:.1%} of the rest"
        )


@dataclass(frozen=True)
class AnswersRecipe:
    """What all models of an experiment answer, so that several attacks on it train them once."""

    trials: ClassifierTrials
    trainer: ClassifierTrainer

    @property
    def identity(self) -> Mapping[str, Json]:
        """The trainer, the numbers of models, and both sides by their digest."""
        own, trials = dict(self.trainer.identity), self.trials
        sides = {name: _digest(side) for name, side in (("targets", trials.targets), ("own", trials.own))}
        counts = {name: getattr(trials, name) for name in ("classes", "shadows", "models", "pool", "seed")}
        return {"answers": own, **sides, **counts}

    def make(self, place: Path) -> Tables:
        """Train; nothing is kept on the way."""
        return self.trials.tables(self.trainer)

    def save(self, made: Tables, place: Path) -> None:
        """The arrays."""
        from safetensors.numpy import save_file

        save_file({name: np.ascontiguousarray(table) for name, table in made.items()}, place / _FILE)

    def load(self, place: Path) -> Tables:
        """As they were saved."""
        from safetensors.numpy import load_file

        found: Tables = load_file(place / _FILE)
        return found


def _digest(side: Side) -> str:
    """What vectors, classes and users are known by."""
    vectors: Any = side.vectors
    parts = [vectors.data, vectors.indices, vectors.indptr] if issparse(vectors) else [np.asarray(vectors)]
    whole = hashlib.sha256()
    for table in (*parts, side.labels, side.units):
        whole.update(np.ascontiguousarray(table).tobytes())
    return whole.hexdigest()
