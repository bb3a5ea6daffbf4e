"""Successive halving over settings (Jamieson and Talwalkar 2016) with two objectives.

All settings are measured on a small sample; the better third goes on to a sample three times as large, until few are
left for the whole. Better means: in an earlier Pareto layer, and within a layer nearer to the target where there is
one, else farther from its neighbours, so that the whole front goes on and not one end of it. A target is moved to what
it means on the sample (``Target.on_a_sample``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from unembed.frontier.points import Point
from unembed.frontier.target import Target, layers

#: How much larger each sample is than the one before, and what share of the settings goes on.
FACTOR = 3
#: Fewer texts than this tell settings apart by luck.
LEAST_TEXTS = 900
#: So many settings reach the whole at least.
LEAST_KEPT = 6


def sizes(texts: int, settings: int) -> list[int]:
    """Texts of each round, the whole last; one round only where there are few settings or few texts."""
    found = [texts]
    while found[0] // FACTOR >= LEAST_TEXTS and settings > LEAST_KEPT * FACTOR ** (len(found) - 1):
        found.insert(0, found[0] // FACTOR)
    return found


def kept(settings: int, rounds_left: int) -> int:
    """How many settings go on to the next round."""
    return max(math.ceil(settings / FACTOR), min(settings, LEAST_KEPT)) if rounds_left else settings


def best(points: Sequence[Point], count: int, targets: Sequence[Target] = ()) -> list[Point]:
    """The ``count`` points that go on."""
    chosen: list[Point] = []
    for layer in layers(points, targets):
        room = count - len(chosen)
        if room <= 0:
            break
        chosen += layer if len(layer) <= room else _spread(layer, room, targets)
    return chosen


def _spread(layer: Sequence[Point], room: int, targets: Sequence[Target]) -> list[Point]:
    """Half of the places go to the points nearest to the targets; the rest to those with most room around them."""
    near: list[Point] = []
    if targets:
        near = sorted(layer, key=lambda p: max(abs(t.figure(p).value - t.most) for t in targets))[: (room + 1) // 2]
    rest = [p for p in layer if p not in near]
    return near + sorted(rest, key=_crowding(rest), reverse=True)[: room - len(near)]


def _crowding(points: Sequence[Point]) -> Callable[[Point], float]:
    """How far the neighbours of a point lie apart along the front; its ends have all the room there is."""
    along = sorted(points, key=lambda p: p.loss.value)
    around: dict[int, float] = {}
    for place, point in enumerate(along):
        if place in (0, len(along) - 1):
            around[id(point)] = math.inf
            continue
        before, after = along[place - 1], along[place + 1]
        around[id(point)] = abs(after.loss.value - before.loss.value) + abs(after.leak.value - before.leak.value)
    return lambda point: around[id(point)]
