"""The contract of a utility task: how much of what vectors are good for is left after a defense.

A task scores vectors; what a defense costs is the score of the plain vectors minus that of the defended ones, on the
same texts. Both are ``Scores`` of a game, so the difference has a paired interval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal, Protocol, runtime_checkable

from unembed.corpora.corpus import Corpus
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError
from unembed.games.base import Scores
from unembed.nn.features import check_vectors

#: What a task looks at beside the vectors it scores; one that needs the encoder brings texts of its own.
Need = Literal["texts", "columns", "plain vectors", "encoder"]

#: Texts in, one vector per text out.
Encode = Callable[[Sequence[str]], Vectors]


@dataclass(frozen=True)
class TaskFacts:
    """What every task says of itself; ``version`` goes up when its scores may change.

    ``column_params``: parameters that name a column of the user's, which is read then. They alone may lack a default.
    ``plain_score``: what plain vectors score by definition, where the task compares with them; None: it is measured.
    """

    name: str
    title: str
    metric: str
    metric_meaning: str
    requires: frozenset[Need] = frozenset()
    column_params: tuple[str, ...] = ()
    plain_score: float | None = None
    paper: str | None = None
    section: str | None = None
    departures: str | None = None
    version: int = 1


@dataclass(frozen=True)
class UtilityMaterial:
    """What a task is given: one row of ``plain`` and of ``vectors`` per text of the corpus.

    ``plain`` are the vectors as the encoder made them, ``vectors`` those to be scored: a variant of them, or the same.
    ``groups`` are texts that belong together. ``challenge`` makes vectors of further texts as the variant under test
    would hold them, with the encoder and then the owner's defense; None where only stored vectors are there.
    """

    corpus: Corpus
    plain: Vectors
    vectors: Vectors
    groups: Sequence[object] | None = None
    seed: int = 0
    challenge: Encode | None = None

    def __post_init__(self) -> None:
        for rows in (self.plain, self.vectors):
            check_vectors(rows)
            if rows.shape[0] != len(self.corpus):
                raise CannotMeasureError(f"there are {rows.shape[0]} vectors for {len(self.corpus)} texts")

    def of(self, vectors: Vectors, challenge: Encode | None = None) -> UtilityMaterial:
        """The same for another variant of the vectors, and how further texts become such vectors."""
        return replace(self, vectors=vectors, challenge=challenge)


@runtime_checkable
class UtilityTask(Protocol):
    """One use of vectors. Tasks are parametrised like estimators and keep no state between scores.

    Every random choice follows from the material's seed, so that variants are scored on the same texts.
    """

    facts: ClassVar[TaskFacts]

    def score(self, material: UtilityMaterial) -> Scores:
        """One row of counts per text that is scored, the same texts whatever the vectors; more is better."""
        ...


@runtime_checkable
class ReadsFiles(Protocol):
    """A task with data sets of its own: scores are worked out again when one of the files changes."""

    def files(self) -> Sequence[Path]:
        """The files it reads, whether they are there or not."""
        ...


def check_task_class(candidate: object) -> str | None:
    """What keeps an object from being a task class, or None."""
    if not isinstance(candidate, type):
        return "it is not a class"
    if not isinstance(getattr(candidate, "facts", None), TaskFacts):
        return "it has no TaskFacts named 'facts'"
    absent = [m for m in ("score", "get_params", "set_params") if not callable(getattr(candidate, m, None))]
    return f"it lacks {', '.join(absent)}" if absent else None
