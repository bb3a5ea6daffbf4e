"""A finding on a scale: what the same attack reads from other encoders' vectors of the same texts."""

from __future__ import annotations

import math
from typing import Final

from unembed.report.findings import measured
from unembed.report.numbers import count, number
from unembed.results.schema import Finding

OWN: Final = "this encoder"
GUESSING: Final = "guessing"
_NAMES: Final[dict[str, str]] = {"bag-of-words": "bag of words", "lsa": "LSA", "random": "random vectors"}


def scale_line(finding: Finding) -> str | None:
    """The scale in one line of words, the most telling first; None where there are no references."""
    if not finding.references:
        return None
    found = [(_NAMES.get(r.encoder, r.encoder), r.estimate.value) for r in finding.references]
    found.append((GUESSING, finding.floor.value))
    if measured(finding):
        found.append((OWN, finding.estimate.value))
    placed = sorted((mark for mark in found if math.isfinite(mark[1])), key=lambda mark: -mark[1])
    told = ", ".join(f"{name} {number(value, finding.metric)}" for name, value in placed)
    fewer = [r.pairs for r in finding.references if r.pairs != finding.cost.pairs]
    held = f" (references from {count(min(fewer))} pairs)" if fewer else ""
    own = "" if measured(finding) else f"; {OWN} could not be measured"
    return f"{told}{held}{own}"
