"""Check digits: rules by name, each from the characters of a secret to its check characters.

``mod11`` is ISO 7064 MOD 11-2, the last character of a Chinese citizen number (GB 11643); ``luhn`` the last digit of
a payment card; ``mod97`` the two digits after the country of an IBAN (ISO 13616), which cover what follows them
first and what precedes them last. Spaces and punctuation never count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

_DIGITS = "0123456789"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_MOD11 = "10X98765432"


@dataclass(frozen=True)
class CheckRule:
    """A rule: what its characters can be, which characters it can cover, and how it is worked out.

    ``compute`` gets the characters before the check and those after it; ``after`` says whether the latter count.
    """

    name: str
    labels: tuple[str, ...]
    regex: str
    covers: frozenset[str]
    after: bool
    compute: Callable[[str, str], str]


def mod11_2(digits: str) -> str:
    """The ISO 7064 MOD 11-2 check character of some digits."""
    weights = (pow(2, i, 11) for i in range(len(digits), 0, -1))
    return _MOD11[sum(w * int(d) for w, d in zip(weights, digits, strict=True)) % 11]


def luhn(digits: str) -> str:
    """The Luhn check digit of some digits: every second one from the right is doubled."""
    doubled = (int(d) * (2 - i % 2) for i, d in enumerate(reversed(digits)))
    return str(-sum(d - 9 if d > 9 else d for d in doubled) % 10)


def mod97(before: str, after: str) -> str:
    """The two check digits of an IBAN: 98 minus the remainder of the account, the country and 00 by 97."""
    number = "".join(str(_LETTERS.index(c) + 10) if c in _LETTERS else c for c in f"{after}{before}")
    return f"{98 - int(f'{number}00') % 97:02d}"


CHECKS: dict[str, CheckRule] = {
    rule.name: rule
    for rule in (
        CheckRule("mod11", tuple(f"{_DIGITS}X"), "[0-9X]", frozenset(_DIGITS), False, lambda b, a: mod11_2(b)),
        CheckRule("luhn", tuple(_DIGITS), "[0-9]", frozenset(_DIGITS), False, lambda b, a: luhn(b)),
        CheckRule(
            "mod97",
            tuple(f"{n:02d}" for n in range(2, 99)),
            "[0-9]{2}",
            frozenset(_DIGITS + _LETTERS),
            True,
            mod97,
        ),
    )
}


def counted(text: str) -> str:
    """The characters of a secret that a check digit can cover."""
    return "".join(c for c in text if c.isalnum())
