"""Chinese citizen identity numbers (GB 11643): residence, birth date, sequence, check character.

The pattern of Pan et al. 2020, V: an 18-character string whose birth date an attack reads off the vector.
All numbers are drawn at random.
"""

from __future__ import annotations

from datetime import date, timedelta

from unembed import seeds
from unembed.corpora.corpus import Corpus
from unembed.errors import UsageError

PROVINCES = (
    11,
    12,
    13,
    14,
    15,
    21,
    22,
    23,
    31,
    32,
    33,
    34,
    35,
    36,
    37,
    41,
    42,
    43,
    44,
    45,
    46,
    50,
    51,
    52,
    53,
    54,
    61,
    62,
    63,
    64,
    65,
)
_WEIGHTS = tuple(2**i % 11 for i in range(17, 0, -1))
_CHECKS = "10X98765432"


def check_character(first17: str) -> str:
    """The ISO 7064 MOD 11-2 check character of the first 17 digits."""
    return _CHECKS[sum(w * int(d) for w, d in zip(_WEIGHTS, first17, strict=True)) % 11]


def is_valid(citizen_id: str) -> bool:
    """Whether the form, the birth date and the check character of a number are right."""
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
    rng = seeds.generator(seed, "corpora", "citizen-ids")
    start = date(first, 1, 1)
    offsets = rng.integers((date(last, 12, 31) - start).days + 1, size=n)
    days = [start + timedelta(days=int(offset)) for offset in offsets]
    provinces = rng.choice(PROVINCES, size=n)
    cities, districts = rng.integers(1, 24, size=n), rng.integers(1, 30, size=n)
    residences = [f"{p}{c:02d}{d:02d}" for p, c, d in zip(provinces, cities, districts, strict=True)]
    sequences = [f"{s:03d}" for s in rng.integers(1, 1000, size=n)]
    stems = [f"{r}{d:%Y%m%d}{s}" for r, d, s in zip(residences, days, sequences, strict=True)]
    checks = [check_character(stem) for stem in stems]
    return Corpus(
        [stem + check for stem, check in zip(stems, checks, strict=True)],
        [f"c{i:06d}" for i in range(n)],
        {
            "residence": residences,
            "year": [d.year for d in days],
            "month": [d.month for d in days],
            "day": [d.day for d in days],
            "sequence": sequences,
            "check": checks,
        },
        "citizen-ids",
    )
