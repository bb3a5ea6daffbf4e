"""How grave a leak is, by one rule for two classes and for fifty.

Three things make a leak grave: how much of what is possible above guessing was reached, how many times as often as
guessing the adversary is right, and how many texts are laid open. Two of them alone mislead: 62 % on a coin flip is a
quarter of what is possible and little more than guessing, while one of fifty authors named with 26 % is a quarter of
what is possible and twelve times as often right as guessing.
"""

from __future__ import annotations

import math
from typing import Literal

Level = Literal["low", "moderate", "high"]

#: Share of what is possible above the floor.
HIGH_SHARE, MODERATE_SHARE = 0.5, 0.2
#: Times as often right as guessing, with at least so much above it.
HIGH_RATIO, MODERATE_RATIO = (5.0, 0.1), (2.0, 0.05)
#: Share of the texts that give back half of what is asked for.
HIGH_EXPOSED, MODERATE_EXPOSED = 0.25, 0.05


def level_of(value: float, floor: float, *, ratio: bool = True, exposed: float = 0.0) -> Level:
    """The level of a leak; ``ratio``: the metric counts hits, so that a multiple of the floor means something."""
    excess = value - floor
    share = excess / (1 - floor) if floor < 1 else 0.0
    times = value / floor if floor > 0 else math.inf
    if not ratio:
        times = 0.0
    if share >= HIGH_SHARE or (times >= HIGH_RATIO[0] and excess >= HIGH_RATIO[1]) or exposed >= HIGH_EXPOSED:
        return "high"
    if (
        share >= MODERATE_SHARE
        or (times >= MODERATE_RATIO[0] and excess >= MODERATE_RATIO[1])
        or exposed >= MODERATE_EXPOSED
    ):
        return "moderate"
    return "low"


def no_graver(level: Level, than: Level) -> Level:
    """The level, or the one that a game's leaks never go beyond."""
    order: tuple[Level, ...] = ("low", "moderate", "high")
    return min(level, than, key=order.index)
