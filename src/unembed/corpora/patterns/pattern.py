"""A pattern: fixed text and named fields, from which generator, matcher and sub-attacks follow."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unembed.corpora.patterns.checks import counted
from unembed.corpora.patterns.kinds import Check, Kind
from unembed.errors import UnknownNameError, UsageError

IntArray = NDArray[np.int64]
Problem = Literal["impossible value", "wrong check digit"]

# A secret stands alone: it is not part of a longer word, number or address.
_BEFORE, _AFTER = r"(?<!\w)(?<!\w[.@+-])", r"(?!\w)(?![.@-]\w)"


@dataclass(frozen=True)
class Field:
    """A named field; ``asked`` where the format marks it as what the adversary is after."""

    name: str
    kind: Kind
    asked: bool = False

    @property
    def follows(self) -> bool:
        """Whether it follows from the other fields."""
        return isinstance(self.kind, Check)


@dataclass(frozen=True)
class Part:
    """One sub-attack: part of a field, with the classes it chooses among."""

    name: str
    field: str
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Secrets:
    """Generated secrets: the texts, and the value of every field."""

    texts: list[str]
    values: dict[str, list[str]]


@dataclass(frozen=True)
class Occurrence:
    """A place in a text that has the form; ``problem`` says why it can't be a secret all the same."""

    start: int
    end: int
    text: str
    values: dict[str, str]
    problem: Problem | None


@dataclass(frozen=True)
class Pattern:
    """Fixed texts and fields, in order. ``parse_pattern`` makes one from a format."""

    format: str
    pieces: tuple[str | Field, ...]

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The fields in order."""
        return tuple(p for p in self.pieces if isinstance(p, Field))

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The parts of all fields in order, those of check digits among them."""
        return tuple(
            Part(".".join(p for p in (field.name, name) if p), field.name, labels)
            for field in self.fields
            for name, labels in field.kind.parts
        )

    def asked_fields(self, names: Sequence[str] = ()) -> tuple[str, ...]:
        """The fields an adversary is after: those named, else those marked, else all that follow from no other."""
        known = {f.name: f for f in self.fields}
        for name in names:
            if name not in known:
                raise UnknownNameError("field of the pattern", name, known)
            if known[name].follows:
                raise UsageError(f"field '{name}' is a check digit: it follows from the others, ask for those")
        free = [f for f in self.fields if not f.follows]
        return tuple(names) or tuple(f.name for f in free if f.asked) or tuple(f.name for f in free)

    def parts_of(self, fields: Sequence[str]) -> IntArray:
        """Which parts belong to some fields."""
        return np.array([i for i, part in enumerate(self.parts) if part.field in fields], dtype=np.int64)

    def generate(self, n: int, rng: np.random.Generator) -> Secrets:
        """``n`` secrets at random; check digits are right."""
        if n < 1:
            raise UsageError(f"n must be at least 1, not {n}")
        values = {field.name: field.kind.draw(n, rng) for field in self.fields}
        check = next((f for f in self.fields if f.follows), None)
        if check is not None:
            values[check.name] = [self._check({k: v[i] for k, v in values.items()}) for i in range(n)]
        pieces = [[p] * n if isinstance(p, str) else values[p.name] for p in self.pieces]
        return Secrets(["".join(row) for row in zip(*pieces, strict=True)], values)

    @property
    def size(self) -> int:
        """How many secrets there are: every value of every field, check digits following."""
        return math.prod(field.kind.size for field in self.fields)

    def every(self) -> Iterator[str]:
        """Every secret, in order."""
        free = [field for field in self.fields if not field.follows]
        for values in product(*([*_values_of(field.kind)] for field in free)):
            yield self.text(dict(zip((field.name for field in free), values, strict=True)))

    def text(self, values: Mapping[str, str]) -> str:
        """The secret with these values; a check digit that is not given is worked out."""
        known = dict(values)
        for field in self.fields:
            if field.follows and not known.get(field.name):
                known[field.name] = self._check(known)
        return "".join(p if isinstance(p, str) else known[p.name] for p in self.pieces)

    def _check(self, values: Mapping[str, str]) -> str:
        """The check characters that belong to the other fields."""
        at = next(i for i, p in enumerate(self.pieces) if isinstance(p, Field) and p.follows)
        before, after = (
            counted("".join(p if isinstance(p, str) else values[p.name] for p in part))
            for part in (self.pieces[:at], self.pieces[at + 1 :])
        )
        kind = next(f.kind for f in self.fields if f.follows)
        assert isinstance(kind, Check)
        return kind.rule.compute(before, after)

    @cached_property
    def _reader(self) -> re.Pattern[str]:
        inside = "".join(re.escape(p) if isinstance(p, str) else f"({p.kind.regex})" for p in self.pieces)
        return re.compile(f"{_BEFORE}{inside}{_AFTER}")

    def find(self, text: str) -> list[Occurrence]:
        """Every place that has the form, from left to right, also those that can't be."""
        return [self._occurrence(found.start(), found.group(), found.groups()) for found in self._reader.finditer(text)]

    def _occurrence(self, start: int, text: str, groups: Sequence[str]) -> Occurrence:
        values = {field.name: value for field, value in zip(self.fields, groups, strict=True)}
        problem: Problem | None = None
        if any(f.kind.classes(values[f.name]) is None for f in self.fields if not f.follows):
            problem = "impossible value"
        elif any(f.follows and self._check(values) != values[f.name] for f in self.fields):
            problem = "wrong check digit"
        return Occurrence(start, start + len(text), text, values, problem)

    def labels(self, values: Mapping[str, Sequence[str]]) -> IntArray:
        """The class of every part, ``[n, parts]``, of valid values."""
        columns = []
        for field in self.fields:
            known: dict[str, tuple[int, ...]] = {}
            for value in set(values[field.name]):
                classes = field.kind.classes(value)
                if classes is None:
                    raise UsageError(f"field '{field.name}' of the pattern has an impossible value")
                known[value] = classes
            rows = [known[value] for value in values[field.name]]
            columns.append(np.array(rows, dtype=np.int64).reshape(len(rows), -1))
        return np.concatenate(columns, axis=1)

    def values(self, classes: Sequence[int], parts: Sequence[int]) -> dict[str, str] | None:
        """The fields that some parts with these classes make; None where a field has no such value.

        Fields that lack a part are left out.
        """
        given = {int(p): int(c) for p, c in zip(parts, classes, strict=True)}
        found = {}
        for field in self.fields:
            own = self.parts_of([field.name])
            if all(int(p) in given for p in own):
                text = field.kind.text([given[int(p)] for p in own])
                if text is None:
                    return None
                found[field.name] = text
        return found

    def implied_check(self, values: Mapping[str, str]) -> tuple[int, int] | None:
        """Part and class of the check digit of these values; None without one, or if a field is missing."""
        check = next((f for f in self.fields if f.follows), None)
        if check is None or any(f.name not in values for f in self.fields if not f.follows):
            return None
        classes = check.kind.classes(self._check(values))
        assert classes is not None
        return int(self.parts_of([check.name])[0]), classes[0]


def _values_of(kind: Kind) -> Iterator[str]:
    """Every value of a field."""
    for classes in product(*(range(len(labels)) for _, labels in kind.parts)):
        text = kind.text(classes)
        if text is not None and kind.classes(text) == classes:
            yield text
