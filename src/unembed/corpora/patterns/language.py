"""The pattern language: fixed text with named fields in braces.

``"{region:digits6}{birth:date}{seq:digits3}{check:mod11}"``. A field is ``{name:kind}``; ``{name?:kind}`` marks
what the adversary is after (without a mark: every field that follows from no other). Kinds:

========================================  ==========================================================================
``digits6`` ``upper2`` ``letters3-8``     runs of characters, also of varying length; ``alnum`` and ``hex`` as well
``[ACGT]20`` ``[A-Z0-9]4``                an alphabet of one's own
``001..999`` ``1..31``                    whole numbers, with leading zeros where they are written
``date`` ``date(%d.%m.%Y, 1950..2009)``   a day; elements ``%Y %y %m %b %B %d``
``one(red|green)``                        a choice
``mod11`` ``mod97`` ``luhn``              check digits over the rest
========================================  ==========================================================================

``{{`` and ``}}`` are braces. A format that could be read in two ways is refused.
"""

from __future__ import annotations

import re
from functools import lru_cache

from unembed.corpora.patterns.checks import CHECKS, counted
from unembed.corpora.patterns.kinds import DIGITS, ELEMENTS, Check, Choice, Date, Kind, Range, Run
from unembed.corpora.patterns.pattern import Field, Pattern
from unembed.errors import UnknownNameError, UsageError

LONGEST_FORMAT, LONGEST_RUN, MOST_OPTIONS, MOST_PARTS = 10_000, 100, 500, 200
YEARS = (1910, 2019)

_LOWER = "abcdefghijklmnopqrstuvwxyz"
ALPHABETS = {
    "digits": DIGITS,
    "letters": _LOWER,
    "upper": _LOWER.upper(),
    "alnum": _LOWER.upper() + DIGITS,
    "hex": f"{DIGITS}abcdef",
}
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_LENGTH = r"([0-9]{1,9})(?:-([0-9]{1,9}))?"
_NAMED_RUN = re.compile(rf"([a-z]+){_LENGTH}")
_RUN = re.compile(rf"\[(.+)\]{_LENGTH}", re.S)
_RANGE = re.compile(r"([0-9]{1,18})\.\.([0-9]{1,18})")
_DATE = re.compile(r"date(?:\((.*)\))?", re.S)
_CHOICE = re.compile(r"one\((.*)\)", re.S)


@lru_cache(maxsize=64)
def parse_pattern(format: str) -> Pattern:
    """A pattern from its format, or from the name of a ready one; what is wrong is said in one line."""
    from unembed.corpora.patterns.ready import READY

    if format in READY:
        return Pattern(format, _pieces(READY[format].format))
    if "{" not in format:
        raise UnknownNameError("pattern", _short(format), READY, hint="or write a format such as '{year:1900..2025}'")
    return Pattern(format, _pieces(format))


def _pieces(format: str) -> tuple[str | Field, ...]:
    if len(format) > LONGEST_FORMAT:
        raise UsageError(f"the pattern has {len(format):,} characters: at most {LONGEST_FORMAT:,} are read")
    pieces: list[str | Field] = []
    fixed = ""
    at = 0
    while at < len(format):
        character = format[at]
        if format[at : at + 2] in ("{{", "}}"):
            fixed, at = fixed + character, at + 2
        elif character == "}":
            raise UsageError(
                f"the pattern has a '}}' at character {at + 1} that opens nowhere: write '}}}}' for a brace"
            )
        elif character == "{":
            end = format.find("}", at)
            if end < 0:
                raise UsageError(f"the brace at character {at + 1} of the pattern is never closed: add '}}'")
            pieces += [fixed] if fixed else []
            pieces.append(_field(format[at + 1 : end]))
            fixed, at = "", end + 1
        else:
            fixed, at = fixed + character, at + 1
    pieces += [fixed] if fixed else []
    _check_fields([p for p in pieces if isinstance(p, Field)])
    _check_endings(pieces)
    _check_cover(pieces)
    return tuple(pieces)


def _field(inside: str) -> Field:
    name, colon, kind = inside.partition(":")
    asked = name.endswith("?")
    name = name.removesuffix("?")
    if not colon:
        raise UsageError(
            f"field '{_short(inside)}' of the pattern has no kind: write {{name:kind}}, such as {{year:digits4}}"
        )
    if not _NAME.fullmatch(name):
        raise UsageError(f"'{_short(name)}' can't name a field: use small letters, digits, - and _, a letter first")
    made = _kind(kind.strip(), name)
    if asked and isinstance(made, Check):
        raise UsageError(f"field '{name}' is a check digit: it follows from the others and can't be what is asked for")
    return Field(name, made, asked)


def _kind(text: str, name: str) -> Kind:
    where = f"field '{name}' of the pattern"
    if text in CHECKS:
        return Check.of(CHECKS[text])
    if found := _RANGE.fullmatch(text):
        return _range(found[1], found[2], where)
    if found := _RUN.fullmatch(text):
        return _run(_alphabet(found[1], where), found[2], found[3], where)
    if found := _DATE.fullmatch(text):
        return _date(found[1] or "", where)
    if found := _CHOICE.fullmatch(text):
        return _choice(found[1], where)
    found = _NAMED_RUN.fullmatch(text)
    if found and found[1] in ALPHABETS:
        return _run(ALPHABETS[found[1]], found[2], found[3], where)
    if text in ALPHABETS:
        raise UsageError(f"{where} needs a length: {text}4, or {text}3-8")
    known = [*(f"{a}N" for a in ALPHABETS), "[ABC]N", "N..M", "date", "date(FORMAT, YEAR..YEAR)", "one(A|B)", *CHECKS]
    raise UnknownNameError("kind of field", _short(text), known, hint=where)


def _run(alphabet: str, least: str, most: str | None, where: str) -> Run:
    low, high = int(least), int(most or least)
    if not 1 <= low <= high <= LONGEST_RUN:
        shown = least if most is None else f"{least}-{most}"
        raise UsageError(
            f"{where} can't be {shown} characters long: lengths go from 1 to {LONGEST_RUN}, the smaller first"
        )
    return Run(alphabet, low, high)


def _alphabet(text: str, where: str) -> str:
    letters: list[str] = []
    at = 0
    while at < len(text):
        if at + 2 < len(text) and text[at + 1] == "-":
            low, high = ord(text[at]), ord(text[at + 2])
            if low > high or high - low > MOST_OPTIONS:
                raise UsageError(f"{where}: '{text[at : at + 3]}' is not a range of characters")
            letters += [chr(c) for c in range(low, high + 1)]
            at += 3
        else:
            letters.append(text[at])
            at += 1
    if any(not c.isprintable() for c in letters):
        raise UsageError(f"{where} has an alphabet with characters that can't be printed")
    if len(set(letters)) < 2:
        raise UsageError(f"{where} has an alphabet of one character: there is nothing to read; write it as fixed text")
    return "".join(dict.fromkeys(letters))


def _range(low: str, high: str, where: str) -> Range:
    if int(low) >= int(high):
        raise UsageError(f"{where} is impossible: no two numbers lie in {low}..{high}")
    if low.startswith("0") and len(low) > 1 and len(low) != len(high):
        raise UsageError(f"{where}: {low}..{high} has leading zeros, so both ends need as many digits")
    return Range(int(low), int(high), len(high) if len(low) == len(high) else 0)


def _date(text: str, where: str) -> Date:
    layout, years = "%Y%m%d", YEARS
    rest = text.strip()
    found = re.fullmatch(r"(.*?)(?:^|,)\s*([0-9]{1,9})\.\.([0-9]{1,9})", rest, re.S)
    if found:
        rest, years = found[1].strip(), (int(found[2]), int(found[3]))
    layout = rest or layout
    if not 1000 <= years[0] <= years[1] <= 9999:
        raise UsageError(
            f"{where} is impossible: years go from 1000 to 9999, the earlier first, not {years[0]}..{years[1]}"
        )
    pieces = tuple(p for p in re.split(r"(%.?)", layout, flags=re.S) if p)
    elements = [p[1:] for p in pieces if p.startswith("%")]
    for element in elements:
        if element not in ELEMENTS:
            raise UsageError(f"{where}: a date has no element '%{_short(element)}'; known: %{' %'.join(ELEMENTS)}")
    parts = [ELEMENTS[e][0] for e in elements]
    if not parts or len(set(parts)) < len(parts):
        raise UsageError(f"{where}: a date names its year, month and day once each at most, and one of them at least")
    if "y" in elements and years[1] - years[0] >= 100:
        raise UsageError(f"{where}: %y can't tell {years[0]}..{years[1]} apart: name at most 100 years, or use %Y")
    return Date(pieces, *years)


def _choice(text: str, where: str) -> Choice:
    options = tuple(option for option in text.split("|"))
    if not 2 <= len(options) <= MOST_OPTIONS:
        raise UsageError(f"{where} chooses among {len(options)}: 2 to {MOST_OPTIONS} options between '|' are possible")
    if not all(options) or len(set(options)) < len(options):
        raise UsageError(f"{where}: options are neither empty nor the same twice")
    return Choice(options)


def _check_fields(fields: list[Field]) -> None:
    if not fields:
        raise UsageError("the pattern has no field: write one as {name:kind}, such as {year:digits4}")
    names = [f.name for f in fields]
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice:
        raise UsageError(f"two fields of the pattern are named '{twice}': give each its own name")
    checks = [f.name for f in fields if f.follows]
    if len(checks) > 1:
        raise UsageError(f"the pattern has {len(checks)} check digits ({', '.join(checks)}): one is possible")
    if len(checks) == len(fields):
        raise UsageError(f"check digit '{checks[0]}' is over nothing: the pattern has no other field")
    parts = sum(len(f.kind.parts) for f in fields)
    if parts > MOST_PARTS:
        raise UsageError(f"the pattern has {parts} parts to read: at most {MOST_PARTS} are possible")


def _check_endings(pieces: list[str | Field]) -> None:
    """Every field must end where a reader can tell: otherwise one text would have two readings."""
    for piece, then in zip(pieces, [*pieces[1:], None], strict=True):
        if isinstance(piece, str) or piece.kind.tail is None:
            continue
        tail, name = piece.kind.tail, piece.name
        if then is None:
            if not all(c.isascii() and c.isalnum() for c in tail):
                raise UsageError(
                    f"the end of field '{name}' is ambiguous: it comes last and its length varies, so it may hold only "
                    "letters and digits"
                )
        elif isinstance(then, Field) or then[0] in tail:
            raise UsageError(
                f"the end of field '{name}' is ambiguous: its length varies, so it needs a fixed character behind it "
                "that it can't hold itself"
            )


def _check_cover(pieces: list[str | Field]) -> None:
    """What a check digit covers must be there, and be of its characters."""
    at = next((i for i, p in enumerate(pieces) if isinstance(p, Field) and p.follows), None)
    if at is None:
        return
    check = pieces[at]
    assert isinstance(check, Field) and isinstance(check.kind, Check)  # noqa: PT018
    rule = check.kind.rule
    covered = [*pieces[:at], *(pieces[at + 1 :] if rule.after else [])]
    if not any(isinstance(p, Field) for p in covered):
        raise UsageError(f"check digit '{check.name}' is over nothing: {rule.name} needs a field before it")
    for piece in covered:
        held = piece if isinstance(piece, str) else "".join(piece.kind.characters)
        wrong = sorted(set(counted(held)) - rule.covers)
        if wrong:
            what = "fixed text" if isinstance(piece, str) else f"field '{piece.name}'"
            raise UsageError(f"check digit '{check.name}' ({rule.name}) can't cover '{wrong[0]}' of {what}")


def _short(text: str) -> str:
    return " ".join(text.split())[:40]
