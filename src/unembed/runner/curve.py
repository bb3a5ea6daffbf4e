"""The points of the curve over pairs: shares, numbers, or evenly spaced on a logarithmic scale (Corò 5.2.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from unembed.errors import UsageError

#: With fewer pairs no attack learns anything, so no such point is played.
SMALLEST_CURVE = 50
LOG_POINTS = 6

#: Shares of the pairs (between 0 and 1) and numbers of pairs (whole, from 50), or "log".
Curve = list[int | float] | Literal["log"]


def log_spaced(n: int, points: int = LOG_POINTS, *, least: int = SMALLEST_CURVE) -> list[int]:
    """At most ``points`` growing whole numbers from ``least`` to ``n``, evenly spaced on a logarithmic scale."""
    if n < 1 or points < 1 or least < 1:
        raise UsageError(f"log-spaced points need positive numbers, not {points} points from {least} to {n}")
    if least >= n or points == 1:
        return [n]
    spaced = np.rint(np.geomspace(least, n, points)).astype(int)
    return sorted(set(spaced.tolist()))


def check_curve(curve: Curve) -> None:
    """A ValueError for a point that is neither a share nor a number of pairs."""
    for point in () if curve == "log" else curve:
        if not (isinstance(point, int) and point >= SMALLEST_CURVE) and not 0 < point < 1:
            raise ValueError(
                f"a point of the curve is a share between 0 and 1 or a whole number of pairs from {SMALLEST_CURVE}, "
                f"not {point!r}"
            )


def curve_sizes(curve: Curve, size: int) -> list[int]:
    """How many of ``size`` pairs each point of the curve has, in growing order, without the whole."""
    wanted: Sequence[int] = (
        log_spaced(size) if curve == "log" else [p if isinstance(p, int) else int(size * p) for p in curve]
    )
    return sorted({n for n in wanted if SMALLEST_CURVE <= n < size})
