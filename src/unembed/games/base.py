"""The contract of a game: one question, asked and judged in the same way of every adversary.

A game deals knowledge and vectors, keeps the truth, judges a guess, and brings the floor that needs no
vectors. The floors with shuffled and random vectors are the same for every game and live in
``games.play``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Generic, Protocol, Self, TypeAlias, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from unembed.artifacts.keeping import Artifacts
from unembed.corpora.corpus import Corpus
from unembed.corpora.training import TrainingSide
from unembed.encoders.base import Encoder, Vectors
from unembed.games.facts import GameFacts
from unembed.games.rows import text_rows
from unembed.games.threat import Adversary, Capability
from unembed.metrics.estimate import Estimate, difference, interval, undefined
from unembed.metrics.spread import FloatArray, Spread, numbered, spread
from unembed.params import Params

K = TypeVar("K", bound="Knowledge")
T = TypeVar("T")
G = TypeVar("G", bound="Indexed")

T_in = TypeVar("T_in", contravariant=True)
T_out = TypeVar("T_out", covariant=True)
K_in = TypeVar("K_in", contravariant=True, bound="Knowledge")
G_out = TypeVar("G_out", covariant=True, bound="Indexed")
G_in = TypeVar("G_in", contravariant=True, bound="Indexed")

IntArray = NDArray[np.int64]


class Queries:
    """Query access: has the adversary's own texts encoded, and counts them, because they are part of its cost."""

    def __init__(self, encode: Callable[[Sequence[str]], Vectors]) -> None:
        self._encode = encode
        self.count = 0

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """One vector per text."""
        self.count += len(texts)
        return self._encode(texts)


@dataclass(frozen=True)
class Lineup:
    """The name of the encoder under attack, and the other encoders that might have made its vectors.

    ``others`` is what the adversary makes by running them; ``stored``, where it differs, is what a store of theirs
    would hold: with the owner's defense. ``left_out`` says of those that can't be run here why.
    """

    name: str
    others: Mapping[str, Callable[[Sequence[str]], Vectors]]
    stored: Mapping[str, Callable[[Sequence[str]], Vectors]] | None = None
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Material:
    """What the challenger holds: both sides' texts and vectors, and the encoder to answer queries.

    ``encoder`` is the encoder itself; only an adversary with the weights is given it. ``encode`` answers the
    adversary; ``encode_target`` makes further vectors to attack, with the owner's defense, where there is one.
    """

    target: Corpus
    known: Corpus
    target_vectors: Vectors
    known_vectors: Vectors
    encode: Callable[[Sequence[str]], Vectors]
    adversary: Adversary
    seed: int
    groups: Sequence[object] | None = None
    encoder: Encoder | None = None
    encode_target: Callable[[Sequence[str]], Vectors] | None = None
    lineup: Lineup | None = None
    seen: IntArray | None = None
    """Up to which character the encoder reads each target, where that is known and some are cut."""
    training: TrainingSide | None = None
    """Which texts the encoder itself learnt from, where that is known."""
    known_groups: Sequence[object] | None = None
    """Which of the adversary's own texts belong together, where that is known."""
    keep: Artifacts | None = None
    """Where models that a game trains are kept."""
    plain_target_vectors: Vectors | None = None
    """The vectors under attack before the secret map, where there is one: the challenger's truth."""
    plain_known_vectors: Vectors | None = None
    """What the adversary's own texts give before the secret map, where there is one."""

    def reading(self) -> Material:
        """The same with texts in the place of their vectors, for a yardstick: what it sees was never encoded."""
        return replace(
            self,
            target_vectors=text_rows(self.target.texts),
            known_vectors=text_rows(self.known.texts),
            encode=text_rows,
            encode_target=text_rows,
            encoder=None,
            seen=None,
        )

    def challenge(self, texts: Sequence[str]) -> Vectors:
        """Vectors of further texts as they would lie among those under attack."""
        return (self.encode_target or self.encode)(texts)


@dataclass(frozen=True)
class Deal(Generic[K, T]):
    """What is dealt: the adversary gets ``knowledge`` and ``vectors``; ``truth`` stays with the game."""

    knowledge: K
    vectors: Vectors
    truth: T
    pairs: int
    queries: int
    notes: tuple[str, ...] = ()
    rows: IntArray | None = None
    """Which targets are asked about, where not all are."""
    door: Queries | None = None
    """Where the adversary may query as it goes; what it asked there is added to ``queries``."""
    doubt: str | None = None
    """Why finding nothing would say nothing: what the adversary lacks to say what it may well see."""
    about_encoder: bool = False
    """Whether the challenger wrote the targets itself: then the answer tells of the encoder, not of the collection."""


@dataclass(frozen=True)
class SliceScore:
    """The measurement on one part: a keyword, a class, a frequency band."""

    kind: str
    name: str
    estimate: Estimate
    floor: float | None = None
    clear: bool | None = None
    """Whether it is surely above its floor, given the number of parts; None: as the interval says."""


@dataclass(frozen=True)
class Detail:
    """What stands beside the headline: further metrics, and the measurement on parts of the targets."""

    secondary: dict[str, Estimate] = field(default_factory=dict)
    slices: tuple[SliceScore, ...] = ()


@dataclass(frozen=True)
class Scores:
    """A judged guess: one row of counts per target, and the statistic that turns their sums into the metric.

    Rows are kept so that a guess and its floor can be compared on the same targets. The detail is worked out
    on first access: for most floors nobody asks.
    """

    parts: FloatArray
    statistic: Callable[[FloatArray], FloatArray]
    groups: Sequence[object] | None = None
    work_out: Callable[[], Detail] = Detail
    rate: bool = False
    """Whether the metric lies between 0 and 1, for a statistic that is not one of ``Rates``, which are known to."""

    @cached_property
    def _detail(self) -> Detail:
        return self.work_out()

    @property
    def secondary(self) -> dict[str, Estimate]:
        """Further metrics."""
        return self._detail.secondary

    @property
    def slices(self) -> tuple[SliceScore, ...]:
        """The measurement on parts: keywords, classes, frequency bands."""
        return self._detail.slices

    @property
    def point(self) -> float:
        """The metric without its interval."""
        return self.point_of(np.ones(len(self.parts), dtype=bool))

    def point_of(self, rows: NDArray[np.bool_]) -> float:
        """The metric on some of the targets."""
        return float(self.statistic(self.parts[rows].sum(axis=0)))

    @cached_property
    def _spread(self) -> Spread:
        labels = None if self.groups is None else numbered(self.groups)
        return spread(np.asarray(self.parts, dtype=np.float64), self.statistic, labels, rate=self.rate)

    def estimate(self) -> Estimate:
        """The metric with its interval."""
        return interval(self._spread, len(self.parts)) if len(self.parts) else undefined()

    def variance_against(self, other: Scores) -> float:
        """How much chance among the targets lets this guess and another one on the same targets differ."""
        return self._spread.variance_against(other._spread)

    def excess_over(self, floor: Scores) -> Estimate:
        """This guess minus another one on the same targets, with a paired interval."""
        return difference(self._spread, floor._spread, len(self.parts)) if len(self.parts) else undefined()


class Knowledge(Protocol):
    """What an adversary is dealt: vectors it knows something about, beside whatever a game adds.

    Where a defense draws noise, an adversary who knows it learns best from vectors of their own with hardly any, and
    chooses settings on the same ones as the store would hold them. Those are ``as_stored``, in knowledge that has a
    field of that name.
    """

    @property
    def vectors(self) -> Vectors:
        """One row per text that the adversary holds."""
        ...


class Indexed(Protocol):
    """A guess, whatever it is made of: answers that can be picked by the rows of their targets."""

    def __getitem__(self, rows: IntArray, /) -> Self:
        """The answers for some targets, in the order asked for."""
        ...


class Requiring(Protocol):
    """Facts of a player that a game looks at."""

    @property
    def requires(self) -> frozenset[Capability]:
        """What an adversary must hold to carry it out."""
        ...


class Player(Protocol[K_in, G_out]):
    """Who plays: learns from knowledge, answers for vectors, and has no access to the truth."""

    @property
    def facts(self) -> Requiring:
        """What it says of itself."""
        ...

    def fit(self, knowledge: K_in, /) -> Self:
        """Learn from what the adversary knows."""
        ...

    def run(self, vectors: Vectors, /) -> G_out:
        """Guess."""
        ...

    def get_params(self, deep: bool = True) -> Params:
        """Parameters as in scikit-learn."""
        ...

    def set_params(self, **params: object) -> Self:
        """Change parameters."""
        ...


@dataclass(frozen=True)
class Example:
    """One target, its truth and the guess in words; masked later unless the user asks for real samples."""

    row: int
    truth: list[str]
    recovered: list[str]


class Askable(Protocol):
    """What an audit needs of a game before it is dealt."""

    facts: ClassVar[GameFacts]

    def get_params(self, deep: bool = True) -> Params:
        """Parameters as in scikit-learn."""
        ...

    @property
    def subject(self) -> str | None:
        """What in particular is asked for: the column, the keyword set."""
        ...

    def queries(self, known: Corpus, adversary: Adversary, seed: int) -> list[str]:
        """Texts the adversary will want encoded, so that they can be encoded once, together, beforehand."""
        ...


@runtime_checkable
class Game(Askable, Protocol[K, T, G]):
    """One question. Games are parametrised like estimators; they keep no state between deals."""

    def __init__(self, **params: object) -> None: ...

    def deal(self, material: Material) -> Deal[K, T]:
        """Hand out knowledge and vectors, keep the truth."""
        ...

    def judge(self, truth: T, guess: G, seed: int) -> Scores:
        """Score a guess."""
        ...

    def prior_guess(self, knowledge: K, n: int) -> G:
        """The best guess for ``n`` targets of somebody who never sees a vector."""
        ...

    def examples(self, truth: T, guess: G, rows: Sequence[int]) -> list[Example]:
        """Some targets in words, for the report."""
        ...


#: A game for those who hand its knowledge, truth and guesses on and look into none of them.
SomeGame: TypeAlias = Game[Knowledge, object, Indexed]


@runtime_checkable
class Divisible(Protocol[K]):
    """A game whose adversary can be given fewer pairs."""

    def some_pairs(self, knowledge: K, kept: IntArray) -> K:
        """The knowledge with some of its rows of vectors, by number."""
        ...


@runtime_checkable
class Rehearsable(Protocol[K, T_out]):
    """A game that can be played in small on the adversary's own pairs."""

    def rehearsal(self, knowledge: K, seed: int) -> tuple[K, Vectors, T_out]:
        """Knowledge without some pairs, the vectors of those pairs, and their truth."""
        ...


@runtime_checkable
class OwnFloors(Protocol[T_in, G]):
    """A game that has further floors: guesses without the information, made from the attack's own guess."""

    def own_floors(self, truth: T_in, guess: G) -> dict[str, G]:
        """Floors by name, each a guess that is judged like the attack's."""
        ...


@dataclass(frozen=True)
class Said:
    """What an attack says of each vector, as people read it.

    ``answers`` has an entry per vector. ``confidences`` are the attack's own scores, the larger the surer, a column for
    each of ``classes`` where it has some; None where it gives none.
    """

    answers: Sequence[object]
    confidences: NDArray[np.float64] | None = None
    classes: tuple[str, ...] = ()


@runtime_checkable
class ByHand(Protocol[K, G_in]):
    """A game whose attacks can be used alone, on arrays: pairs become knowledge, and a guess becomes words."""

    def knowledge(self, material: Material) -> K:
        """What the adversary learns from, whichever vectors it attacks with it."""
        ...

    def said(self, knowledge: K, guess: G_in) -> Said:
        """A guess in words."""
        ...


def check_game(candidate: object) -> str | None:
    """What keeps an object from being a game class, or None."""
    if not isinstance(candidate, type):
        return "it is not a class"
    if not isinstance(getattr(candidate, "facts", None), GameFacts):
        return "it has no GameFacts named 'facts'"
    wanted = ("queries", "deal", "judge", "prior_guess", "examples")
    absent = [m for m in wanted if not callable(getattr(candidate, m, None))]
    if absent:
        return f"it lacks {', '.join(absent)}"
    if not callable(getattr(candidate, "plant", None)) and not callable(getattr(candidate, "rehearsal", None)):
        return "it has neither 'plant' nor 'rehearsal': nothing could tell a broken attack from safe vectors"
    return None
