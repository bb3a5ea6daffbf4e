"""Ready patterns: secrets that stand in many collections, each with a sentence on where its form comes from.

The citizen number and the genome are Pan et al. 2020, V; what Pan asks of the first is the birth date (eq. 1).
"""

from __future__ import annotations

from dataclasses import dataclass

#: Province codes of GB/T 2260, with which citizen numbers begin.
PROVINCES = (
    *range(11, 16), *range(21, 24), *range(31, 38), *range(41, 47), *range(50, 55), *range(61, 66),
)  # fmt: skip


@dataclass(frozen=True)
class ReadyPattern:
    """A named format; ``noun`` is what a carrier sentence calls the secret."""

    format: str
    meaning: str
    noun: str


def citizen_format(years: tuple[int, int] = (1910, 2019)) -> str:
    """Chinese citizen numbers of people born in some years."""
    provinces = "|".join(str(p) for p in PROVINCES)
    residence = f"{{province:one({provinces})}}{{city:01..23}}{{district:01..29}}"
    return f"{residence}{{birth?:date({years[0]}..{years[1]})}}{{sequence:001..999}}{{check:mod11}}"


READY: dict[str, ReadyPattern] = {
    "citizen-id": ReadyPattern(
        citizen_format(), "Chinese citizen number (GB 11643); asked: the birth date, as in Pan 2020", "ID number"
    ),
    "genome": ReadyPattern("{sequence:[ACGT]20}", "20 nucleotides, as in Pan 2020", "sequence"),
    "phone": ReadyPattern(
        "+{country:one(1|33|34|39|44|49|81|86|91)} {area:digits3} {number:digits7}",
        "international phone number",
        "phone number",
    ),
    "iban": ReadyPattern(
        "DE{check:mod97}{bank:digits8}{account:digits10}", "German IBAN without spaces", "account number"
    ),
    "card": ReadyPattern(
        "{issuer:4000..5599} {second:digits4} {third:digits4} {last:digits3}{check:luhn}",
        "payment card of 16 digits in groups of four",
        "card number",
    ),
    "date": ReadyPattern("{date:date(%Y-%m-%d)}", "a day as year, month and day", "date"),
    "e-mail": ReadyPattern(
        "{user:letters3-8}@{host:letters3-8}.{top:one(com|org|net|de|it|fr|co.uk)}", "short e-mail address", "address"
    ),
    "passport": ReadyPattern("{series:upper2}{number:digits7}", "two letters and seven digits", "passport number"),
    "licence-plate": ReadyPattern(
        "{town:one(B|HH|M|K|F|S|D|L|DD|HB|N|DU|BO|W|BI|BN)}-{letters:upper2} {number:1..9999}",
        "German licence plate of a large town",
        "licence plate",
    ),
}
