"""A finding on a scale: what the same attack reads from other encoders' vectors of the same texts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from unembed.report import charts
from unembed.report.numbers import count, number
from unembed.report.view import measured
from unembed.results.schema import Finding

OWN: Final = "this encoder"
GUESSING: Final = "guessing"
_NAMES: Final[dict[str, str]] = {"bag-of-words": "bag of words", "lsa": "LSA", "random": "random vectors"}


@dataclass(frozen=True)
class Mark:
    """One name on the scale."""

    name: str
    value: float
    own: bool = False
    floor: bool = False


def marks(finding: Finding) -> list[Mark]:
    """All that has a place on the scale, the most telling first; nothing where there are no references."""
    if not finding.references:
        return []
    found = [Mark(_NAMES.get(r.encoder, r.encoder), r.estimate.value) for r in finding.references]
    found.append(Mark(GUESSING, finding.floor.value, floor=True))
    if measured(finding):
        found.append(Mark(OWN, finding.estimate.value, own=True))
    return sorted((m for m in found if math.isfinite(m.value)), key=lambda m: -m.value)


def scale_line(finding: Finding) -> str | None:
    """The scale in one line of words; None where there are no references."""
    placed = marks(finding)
    if not placed:
        return None
    told = ", ".join(f"{m.name} {number(m.value, finding.metric)}" for m in placed)
    fewer = [r.pairs for r in finding.references if r.pairs != finding.cost.pairs]
    held = f" (references from {count(min(fewer))} pairs)" if fewer else ""
    own = "" if measured(finding) else f"; {OWN} could not be measured"
    return f"{told}{held}{own}"


def scale_chart(finding: Finding) -> Markup:
    """The scale as a line with a dot per encoder; its words stand beside it."""
    placed = marks(finding)
    axis = charts.Axis.holding([m.value for m in placed])
    parts = [
        Markup('<svg class="plot" width="100%" height="16" aria-hidden="true" focusable="false">'),
        Markup('<line class="floor dashed" x1="0" x2="100%" y1="8" y2="8"/>'),
    ]
    for mark in placed:
        if mark.floor:
            drawn = Markup('<line class="floor" x1="{0}%" x2="{0}%" y1="1" y2="15"><title>{1}</title></line>')
        elif mark.own:
            drawn = Markup('<circle class="dot" cx="{0}%" cy="8" r="6"><title>{1}</title></circle>')
        else:
            drawn = Markup('<circle class="reference" cx="{0}%" cy="8" r="4"><title>{1}</title></circle>')
        parts.append(drawn.format(axis.at(mark.value), f"{mark.name} {number(mark.value, finding.metric)}"))
    parts.append(Markup("</svg>"))
    return Markup("").join(parts)
