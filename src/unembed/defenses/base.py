"""The contract of a defense on vectors: ``fit`` on what the owner holds, ``transform`` whatever is stored.

What a defense draws at random depends on its key and on a record's id, never on the order of calls: the same record
gets the same noise whether it is stored alone, in a batch, today or tomorrow. Averaging over repeated calls then gains
nothing, and a store can be filled by several machines.

Everything but the key may be known to an adversary: the kind of defense, its parameters and what it has learnt. An
adversary who knows a defense therefore holds the fitted one with a key of their own.
"""

from __future__ import annotations

import copy
import hashlib
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError
from unembed.params import Params

D = TypeVar("D", bound="Defense")


@dataclass(frozen=True)
class DefenseFacts:
    """What every defense says of itself; ``version`` goes up when its output may change.

    ``keyed``: what its key decides, if anything: the ``noise`` of each record, or one ``map`` for all of them.
    ``supervised``: it learns what to hide from what texts or columns say. An audit fits it on texts that nobody is
    asked about nor holds, because it hides more in the very texts that it learnt from. ``quick``: parameters that save
    time where a search only tells its settings apart.
    """

    name: str
    title: str
    paper: str | None = None
    section: str | None = None
    departures: str | None = None
    keyed: Literal["noise", "map"] | None = None
    supervised: bool = False
    quick: tuple[tuple[str, object], ...] = ()
    version: int = 1


@dataclass(frozen=True)
class Owned:
    """What the owner holds beside the vectors, for defenses that learn from more than them.

    One text, and one value of each column, per row of the vectors. ``encode`` makes vectors of further texts as they
    would reach this defense; None: the encoder is not at hand.
    """

    texts: Sequence[str] = ()
    columns: Mapping[str, Sequence[object]] = field(default_factory=dict)
    encode: Callable[[Sequence[str]], Vectors] | None = None

    def behind(self, transform: Callable[[Vectors, Sequence[str]], Vectors]) -> Owned:
        """The same for a defense that stands behind another one."""
        if (encode := self.encode) is None:
            return self
        made = encode
        return Owned(self.texts, self.columns, lambda texts: transform(made(texts), [digest_id(t) for t in texts]))


@runtime_checkable
class Defense(Protocol):
    """A transform of vectors. ``seed`` is its key: what it draws at random follows from it and from a record's id.

    What ``fit`` learns ends in an underscore and is plain data or arrays, so that a fitted defense can be kept without
    pickle (``defenses.saving``).
    """

    facts: ClassVar[DefenseFacts]
    seed: int

    def get_params(self, deep: bool = True) -> Params:
        """Parameters as in scikit-learn."""
        ...

    def fit(self, vectors: Vectors, owned: Owned | None = None) -> Self:
        """Learn what the transform needs (a scale, a subspace) from all vectors the owner holds."""
        ...

    def transform(self, vectors: Vectors, ids: Sequence[str]) -> Vectors:
        """Defended vectors, one per row; ``ids`` are the records' ids in the same order."""
        ...


@runtime_checkable
class Invertible(Protocol):
    """A defense that its owner can undo."""

    def inverse(self, vectors: Vectors, ids: Sequence[str]) -> Vectors:
        """The vectors as they came, or as near to them as what is stored allows."""
        ...


@runtime_checkable
class Sized(Protocol):
    """A defense whose vectors are stored in another number of bytes than float32 takes."""

    def stored_bytes(self, dimension: int) -> float:
        """Bytes of one stored vector, for vectors that come with this dimension."""
        ...

    def stored_dimension(self, dimension: int) -> int:
        """Numbers in one stored vector."""
        ...


@runtime_checkable
class Checked(Protocol):
    """A defense that can tell whether its parameters are in range before there is a vector; ``fit`` asks it too."""

    def check_parameters(self) -> None:
        """Refuse parameters out of range."""
        ...


@runtime_checkable
class CleansTexts(Protocol):
    """A defense that changes texts before they are encoded; its ``transform`` leaves vectors as they are.

    What becomes of a text follows from the parameters and from that text alone, and ``fit`` need not come first.
    """

    def clean(self, texts: Sequence[str]) -> list[str]:
        """The texts to encode, one per text."""
        ...


def noise(ids: Iterable[str], width: int, key: int) -> NDArray[np.float32]:
    """Standard normal numbers, ``width`` for each record, that follow from the key and its id alone."""
    return drawn(ids, width, key, lambda source, row: source.standard_normal(out=row, dtype=np.float32))


def laplace_noise(ids: Iterable[str], width: int, key: int) -> NDArray[np.float32]:
    """Laplace numbers of scale 1, ``width`` for each record: the difference of two exponential ones."""
    spare = np.empty(width, dtype=np.float32)

    def draw(source: np.random.Generator, row: NDArray[np.float32]) -> None:
        source.standard_exponential(out=row, dtype=np.float32)
        row -= source.standard_exponential(out=spare, dtype=np.float32)

    return drawn(ids, width, key, draw)


def drawn(
    ids: Iterable[str], width: int, key: int, draw: Callable[[np.random.Generator, NDArray[np.float32]], object]
) -> NDArray[np.float32]:
    """Random numbers for each record, which ``draw`` writes into its row.

    A counter-based generator takes a keyed hash of the record's id for its key, so that nothing but setting that key
    is added to the cost of the numbers themselves.
    """
    names = list(ids)
    numbers = np.empty((len(names), width), dtype=np.float32)
    bits = np.random.Philox(key=0)
    source = np.random.Generator(bits)
    # Setting a state of plain numbers takes half the time of setting one of arrays.
    fresh: dict[str, object] = {**bits.state, "buffer": (0,) * 4}
    keyed = hashlib.blake2b(key=hashlib.sha256(str(key).encode()).digest(), digest_size=16)
    for name, row in zip(names, numbers, strict=True):
        told = keyed.copy()
        told.update(name.encode())
        fresh["state"] = {"counter": (0,) * 4, "key": struct.unpack("<2Q", told.digest())}
        bits.state = fresh  # type: ignore[assignment]
        draw(source, row)
    return numbers


def digest_id(text: str) -> str:
    """The id of a text that has no place in the store."""
    return hashlib.sha256(text.encode()).hexdigest()


def with_key(defense: D, key: int) -> D:
    """The same fitted defense under another key."""
    other = copy.copy(defense)
    other.seed = key
    return other


def dense(vectors: Vectors, what: str) -> NDArray[np.float32]:
    """Vectors as an array; sparse ones are refused, because ``what`` would fill them."""
    if not isinstance(vectors, np.ndarray):
        raise CannotMeasureError(f"not applicable: {what} would fill sparse vectors")
    return vectors


def check_finite(rows: NDArray[np.float32], name: str) -> NDArray[np.float32]:
    """The rows of the defense ``name``, none of them with NaN or an infinite number."""
    if not np.isfinite(rows).all():
        raise CannotMeasureError(f"the defense '{name}' was given vectors that hold NaN or infinite values")
    return rows


def check_dimension(name: str, fitted: int, vectors: Vectors) -> None:
    """Refuse vectors of another dimension than those a defense was fitted on."""
    if vectors.shape[1] != fitted:
        raise CannotMeasureError(
            f"the defense '{name}' was fitted on vectors of dimension {fitted}, not {vectors.shape[1]}"
        )


def check_defense_class(candidate: object) -> str | None:
    """What keeps an object from being a defense class, or None."""
    if not isinstance(candidate, type):
        return "it is not a class"
    if not isinstance(getattr(candidate, "facts", None), DefenseFacts):
        return "it has no DefenseFacts named 'facts'"
    wanted = ("fit", "transform", "get_params", "set_params")
    absent = [m for m in wanted if not callable(getattr(candidate, m, None))]
    return f"it lacks {', '.join(absent)}" if absent else None
