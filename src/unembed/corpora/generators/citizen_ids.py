"""Chinese citizen identity numbers (GB 11643): residence, birth date, sequence, check character.

The pattern of Pan et al. 2020, V: an 18-character string whose birth date an attack reads off the vector.
All numbers are drawn at random, from the ready pattern ``citizen-id``.
"""

from __future__ import annotations

from datetime import date

from unembed import seeds
from unembed.corpora.corpus import Corpus
from unembed.corpora.patterns.checks import mod11_2 as check_character
from unembed.corpora.patterns.language import parse_pattern
from unembed.corpora.patterns.ready import citizen_format
from unembed.errors import UsageError

__all__ = ["check_character", "generate_citizen_ids", "is_valid"]


def is_valid(citizen_id: str) -> bool:
    """Whether the form, the birth date and the check character of a number are right, wherever it was given out."""
    if len(citizen_id) != 18 or not (citizen_id[:17].isascii() and citizen_id[:17].isdigit()):
        return False
    try:
        date(int(citizen_id[6:10]), int(citizen_id[10:12]), int(citizen_id[12:14]))
    except ValueError:
        return False
    return check_character(citizen_id[:17]) == citizen_id[17].upper()


def generate_citizen_ids(n: int, *, seed: int = 0, years: tuple[int, int] = (1910, 2019)) -> Corpus:
    """``n`` numbers with birth dates drawn evenly from the years (about 40,000 dates by default).

    Columns: ``residence``, ``year``, ``month``, ``day``, ``sequence``, ``check``.
    """
    first, last = years
    if n < 1:
        raise UsageError(f"n must be at least 1, not {n}")
    if not 1000 <= first <= last <= 9999:
        raise UsageError(f"years must be two years in order, such as (1950, 2009), not {years}")
    made = parse_pattern(citizen_format(years)).generate(n, seeds.generator(seed, "corpora", "citizen-ids"))
    births = made.values["birth"]
    return Corpus(
        made.texts,
        [f"c{i:06d}" for i in range(n)],
        {
            "residence": [text[:6] for text in made.texts],
            "year": [int(b[:4]) for b in births],
            "month": [int(b[4:6]) for b in births],
            "day": [int(b[6:]) for b in births],
            "sequence": made.values["sequence"],
            "check": made.values["check"],
        },
        "citizen-ids",
    )
