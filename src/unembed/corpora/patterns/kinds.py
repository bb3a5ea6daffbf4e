"""Kinds of fields: what they look like in a text, how they are drawn, and the classes a sub-attack chooses among.

A field is cut into parts, each a small set of classes (divide and conquer, Pan V-B2): a date into year, month and
day, a run of characters into its positions, a large number into its digits. A choice, or a range of at most
``ONE_PART`` numbers, is one part.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from typing import Protocol

import numpy as np

from unembed.corpora.patterns.checks import CheckRule

#: Ranges of more numbers than this are cut into digits.
ONE_PART = 200
END = "(end)"
DIGITS = "0123456789"

Classes = tuple[int, ...]


class Kind(Protocol):
    """What every kind of field can do.

    ``tail`` are the characters with which the field could go on, so that no text reads in two ways; None where a reader
    can tell its end.
    """

    @property
    def regex(self) -> str:
        """How it is found."""
        ...

    @property
    def tail(self) -> frozenset[str] | None:
        """Characters with which it could go on."""
        ...

    @property
    def characters(self) -> frozenset[str]:
        """Every character it can hold."""
        ...

    @property
    def parts(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Names of its parts (empty where it has one) with their classes."""
        ...

    @property
    def size(self) -> int:
        """How many values there are."""
        ...

    def draw(self, n: int, rng: np.random.Generator) -> list[str]:
        """``n`` values at random, every possible one as likely as the others."""
        ...

    def classes(self, text: str) -> Classes | None:
        """The class of each part; None for a text that has the form and can't be (30 February)."""
        ...

    def text(self, classes: Sequence[int]) -> str | None:
        """The value with these classes; None where there is none."""
        ...


@dataclass(frozen=True)
class Run:
    """Characters of an alphabet, ``least`` to ``most`` of them."""

    alphabet: str
    least: int
    most: int

    @property
    def regex(self) -> str:
        """A class of characters with a count."""
        inside = "".join(re.escape(c) for c in self.alphabet)
        count = f"{self.least}" if self.least == self.most else f"{self.least},{self.most}"
        return f"[{inside}]{{{count}}}"

    @property
    def tail(self) -> frozenset[str] | None:
        """Its own characters, where its length varies."""
        return None if self.least == self.most else self.characters

    @property
    def characters(self) -> frozenset[str]:
        """The alphabet."""
        return frozenset(self.alphabet)

    @property
    def parts(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """One part per position; where the run may have ended, the end is a class of its own."""
        if self.most == 1:
            return (("", tuple(self.alphabet)),)
        ended = (*self.alphabet, END)
        return tuple((str(i + 1), tuple(self.alphabet) if i < self.least else ended) for i in range(self.most))

    @property
    def size(self) -> int:
        """Of all lengths."""
        return sum(len(self.alphabet) ** length for length in range(self.least, self.most + 1))

    def draw(self, n: int, rng: np.random.Generator) -> list[str]:
        """Length first, then every character."""
        letters = rng.choice(list(self.alphabet), size=(n, self.most))
        lengths = rng.integers(self.least, self.most + 1, size=n)
        return ["".join(row[:length]) for row, length in zip(letters.tolist(), lengths, strict=True)]

    def classes(self, text: str) -> Classes:
        """Position in the alphabet, or past it where the run is over."""
        found = [self.alphabet.index(c) for c in text]
        return (*found, *[len(self.alphabet)] * (self.most - len(text)))

    def text(self, classes: Sequence[int]) -> str | None:
        """No character follows the end."""
        length = next((i for i, c in enumerate(classes) if c == len(self.alphabet)), self.most)
        if any(c != len(self.alphabet) for c in classes[length:]):
            return None
        return "".join(self.alphabet[c] for c in classes[:length])


@dataclass(frozen=True)
class Range:
    """Whole numbers from ``low`` to ``high``; with a ``width`` filled up with zeros."""

    low: int
    high: int
    width: int

    @property
    def _whole(self) -> bool:
        return self.high - self.low < ONE_PART

    def _written(self, number: int) -> str:
        return f"{number:0{self.width}d}" if self.width else str(number)

    @property
    def regex(self) -> str:
        """As many digits as the smallest and the largest have."""
        return f"[0-9]{{{self.width}}}" if self.width else f"[0-9]{{{len(str(self.low))},{len(str(self.high))}}}"

    @property
    def tail(self) -> frozenset[str] | None:
        """Digits, where their number varies."""
        return None if self.width else self.characters

    @property
    def characters(self) -> frozenset[str]:
        """Digits."""
        return frozenset(DIGITS)

    @property
    def parts(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The number itself, or its digits, the missing leading ones as zeros."""
        if self._whole:
            return (("", tuple(self._written(i) for i in range(self.low, self.high + 1))),)
        return tuple((str(i + 1), tuple(DIGITS)) for i in range(len(str(self.high))))

    @property
    def size(self) -> int:
        """Numbers from the lowest to the highest."""
        return self.high - self.low + 1

    def draw(self, n: int, rng: np.random.Generator) -> list[str]:
        """Every number as likely as the others."""
        return [self._written(int(i)) for i in rng.integers(self.low, self.high + 1, size=n)]

    def classes(self, text: str) -> Classes | None:
        """None outside the range, and for zeros in front that the range does not have."""
        number = int(text)
        if not self.low <= number <= self.high or self._written(number) != text:
            return None
        return (number - self.low,) if self._whole else tuple(int(d) for d in f"{number:0{len(str(self.high))}d}")

    def text(self, classes: Sequence[int]) -> str | None:
        """None outside the range."""
        number = self.low + classes[0] if self._whole else int("".join(str(c) for c in classes))
        return self._written(number) if self.low <= number <= self.high else None


@dataclass(frozen=True)
class Choice:
    """One of some texts."""

    options: tuple[str, ...]

    @property
    def regex(self) -> str:
        """The longest first."""
        return "|".join(re.escape(o) for o in sorted(self.options, key=lambda o: (-len(o), o)))

    @property
    def tail(self) -> frozenset[str] | None:
        """Where one option begins with another: any character of theirs."""
        clear = not any(a != b and b.startswith(a) for a in self.options for b in self.options)
        return None if clear else self.characters

    @property
    def characters(self) -> frozenset[str]:
        """Those of all options."""
        return frozenset("".join(self.options))

    @property
    def parts(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """One."""
        return (("", self.options),)

    @property
    def size(self) -> int:
        """Options."""
        return len(self.options)

    def draw(self, n: int, rng: np.random.Generator) -> list[str]:
        """Every option as likely as the others."""
        return [self.options[i] for i in rng.integers(len(self.options), size=n)]

    def classes(self, text: str) -> Classes | None:
        """Its number."""
        return (self.options.index(text),) if text in self.options else None

    def text(self, classes: Sequence[int]) -> str:
        """The option."""
        return self.options[classes[0]]


# fmt: off
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)
# fmt: on
_MONTHS = {"b": tuple(name[:3] for name in MONTHS), "B": MONTHS}
#: Elements of a date format: the part each belongs to, and how it is found.
ELEMENTS = {
    "Y": ("year", "[0-9]{4}"),
    "y": ("year", "[0-9]{2}"),
    "m": ("month", "[0-9]{2}"),
    "b": ("month", "|".join(_MONTHS["b"])),
    "B": ("month", "|".join(_MONTHS["B"])),
    "d": ("day", "[0-9]{2}"),
}


@dataclass(frozen=True)
class Date:
    """A day between two years, written with ``layout``: elements such as ``%Y`` and the text between them."""

    layout: tuple[str, ...]
    first: int
    last: int

    @cached_property
    def _elements(self) -> tuple[str, ...]:
        return tuple(piece[1] for piece in self.layout if piece.startswith("%"))

    @cached_property
    def _reader(self) -> re.Pattern[str]:
        pieces = (f"({ELEMENTS[p[1]][1]})" if p.startswith("%") else re.escape(p) for p in self.layout)
        return re.compile("".join(pieces))

    @property
    def regex(self) -> str:
        """Its elements and what lies between them."""
        return "".join(f"(?:{ELEMENTS[p[1]][1]})" if p.startswith("%") else re.escape(p) for p in self.layout)

    @property
    def tail(self) -> None:
        """A date ends where its layout does."""
        return

    @property
    def characters(self) -> frozenset[str]:
        """Digits, letters of months, and what lies between."""
        held = {"b": "".join(_MONTHS["b"]), "B": "".join(_MONTHS["B"])}
        return frozenset("".join(held.get(p[1], DIGITS) if p.startswith("%") else p for p in self.layout))

    @property
    def parts(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Year, month and day, as far as the layout has them, in its order."""
        years = tuple(str(y) for y in range(self.first, self.last + 1))
        classes = {"year": years, "month": tuple(f"{m:02d}" for m in range(1, 13))}
        classes["day"] = tuple(f"{d:02d}" for d in range(1, 32))
        names = [ELEMENTS[e][0] for e in self._elements]
        return tuple((name if len(names) > 1 else "", classes[name]) for name in names)

    @cached_property
    def size(self) -> int:
        """Days of all years, those that the layout writes alike counted once."""
        start = date(self.first, 1, 1)
        days = (date(self.last, 12, 31) - start).days + 1
        return len({self._written(start + timedelta(days=offset)) for offset in range(days)})

    def draw(self, n: int, rng: np.random.Generator) -> list[str]:
        """Every day as likely as the others."""
        start = date(self.first, 1, 1)
        offsets = rng.integers((date(self.last, 12, 31) - start).days + 1, size=n)
        return [self._written(start + timedelta(days=int(offset))) for offset in offsets]

    def _written(self, day: date) -> str:
        month = {e: names[day.month - 1] for e, names in _MONTHS.items()}
        said = {"Y": f"{day.year:04d}", "y": f"{day.year % 100:02d}", "m": f"{day.month:02d}", "d": f"{day.day:02d}"}
        return "".join((said | month)[p[1]] if p.startswith("%") else p for p in self.layout)

    def classes(self, text: str) -> Classes | None:
        """None for a day that the calendar or the range of years does not have."""
        found = self._reader.fullmatch(text)
        if found is None:
            return None
        given: dict[str, int] = {}
        for element, value in zip(self._elements, found.groups(), strict=True):
            given[ELEMENTS[element][0]] = (
                _MONTHS[element].index(value) + 1
                if element in _MONTHS
                else self._century(int(value))
                if element == "y"
                else int(value)
            )
        if self._day(given) is None:
            return None
        first = {"year": self.first, "month": 1, "day": 1}
        return tuple(given[ELEMENTS[e][0]] - first[ELEMENTS[e][0]] for e in self._elements)

    def text(self, classes: Sequence[int]) -> str | None:
        """None for a day that the calendar does not have."""
        first = {"year": self.first, "month": 1, "day": 1}
        names = [ELEMENTS[e][0] for e in self._elements]
        day = self._day({name: first[name] + c for name, c in zip(names, classes, strict=True)})
        return None if day is None else self._written(day)

    def _century(self, short: int) -> int:
        """The year of the range that ends in these two digits."""
        return self.first + (short - self.first) % 100

    def _day(self, given: dict[str, int]) -> date | None:
        """The day; what the layout leaves out is the first, in a leap year."""
        year = given.get("year", 2000)
        if "year" in given and not self.first <= year <= self.last:
            return None
        try:
            return date(year, given.get("month", 1), given.get("day", 1))
        except ValueError:
            return None


@dataclass(frozen=True)
class Check(Choice):
    """Characters that follow from the others; drawn and checked by the pattern, which knows the others."""

    rule: CheckRule

    @classmethod
    def of(cls, rule: CheckRule) -> Check:
        """The field of a rule: a choice among the rule's labels."""
        return cls(rule.labels, rule)

    @property
    def regex(self) -> str:
        """That of the rule."""
        return self.rule.regex

    @property
    def size(self) -> int:
        """It adds none: it follows from the others."""
        return 1

    def draw(self, n: int, rng: np.random.Generator) -> list[str]:
        """Nothing: the pattern puts it in."""
        return [""] * n
