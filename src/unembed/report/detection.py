"""How small a leak would have been found, in words."""

from __future__ import annotations

from typing import Final

from unembed.report.numbers import difference
from unembed.results.schema import Finding

_KINDS: Final[dict[str, str]] = {
    "axis": "along single axes",
    "rotated": "along directions across the axes",
    "distance": "in the distance from the centre",
}


def would_have_found(finding: Finding) -> str | None:
    """What the calibration of a finding showed; None where there was none."""
    found = finding.detects
    if found is None:
        return None
    if found.size is None:
        always = "always found, however large" if found.kinds else "found, however large"
        return f"no leak that was planted into these vectors was {always}"
    size = difference(found.size, finding.metric).lstrip("+")
    planted, blind = (_listed([_KINDS.get(kind, kind) for kind in kinds]) for kinds in (found.kinds, found.blind))
    but = f"; leaks {blind} are not seen by this attack" if blind else ""
    return f"a leak of {size} above guessing, planted {planted}, was found in ten plantings out of ten{but}"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""
