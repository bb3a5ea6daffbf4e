"""How small a leak this audit would have found: leaks of known size, planted until the smallest that is found is known.

Each planting is a whole round of the game on a copy of the vectors (``games.planting``): the same number of pairs and
targets, the same groups, the same attack, the same rule for calling it a leak. A size counts as found if it is found in
ten plantings out of ten, which takes turns through the kinds of leaks. The search begins at the size that the width of
the real measurement suggests, and goes down or up from there.

Cost: ten rounds for each size that is found, one or few for a size that is not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from sklearn.base import clone

from unembed.errors import CannotMeasureError
from unembed.games.base import Deal
from unembed.games.planting import SIZES, Kind, Plantable
from unembed.games.rounds import SMALLEST_LEAK, play_round
from unembed.metrics.estimate import Estimate
from unembed.seeds import generator, seed_for

PLANTINGS = 10
#: No size above this share of what is possible is tried: a leak that hides nothing says little of smaller ones.
MOST_OF_ROOM = 0.9


@dataclass(frozen=True)
class Detection:
    """The smallest leak that was found in every planting, and what was tried.

    ``size`` is the excess over guessing that an ideal reader of the planted leak scores; None if no leak was found.
    """

    size: float | None
    kinds: tuple[Kind, ...]
    blind: tuple[Kind, ...]
    """Kinds that the attack does not see even at their largest; the size is not about them."""
    tried: dict[float, tuple[int, int]]
    """By size: how many plantings were found, of how many."""


#: The rule by which an excess is called a leak.
Rule = Callable[[Estimate], bool]


def detect(game: Plantable, attack: Any, deal: Deal[Any, Any], seen: Estimate, is_leak: Rule, seed: int) -> Detection:
    """Search for the smallest size that is always found; ``seen`` is the excess that the real vectors gave."""
    room = MOST_OF_ROOM * game.room(deal.knowledge, deal.truth)
    sizes = [size for size in SIZES if size < room] or [room]
    kinds, blind = _seen_kinds(game, attack, deal, sizes[-1], is_leak, seed)
    if not kinds:
        return Detection(None, (), blind, {sizes[-1]: (0, len(blind))})
    half = max(seen.high - seen.value, seen.value - seen.low)
    begin = next((i for i, size in enumerate(sizes) if size > SMALLEST_LEAK + 1.4 * half), len(sizes) - 1)
    tried: dict[float, tuple[int, int]] = {}

    def found(place: int) -> bool:
        tried[sizes[place]] = _found(game, attack, deal, sizes[place], kinds, is_leak, seed)
        return tried[sizes[place]] == (PLANTINGS, PLANTINGS)

    place = begin
    if found(place):
        while place > 0 and found(place - 1):
            place -= 1
        return Detection(sizes[place], kinds, blind, tried)
    while place + 1 < len(sizes):
        place += 1
        if found(place):
            return Detection(sizes[place], kinds, blind, tried)
    return Detection(None, kinds, blind, tried)


def found_at_all(game: Plantable, attack: Any, deal: Deal[Any, Any], seed: int) -> bool:
    """Whether the attack finds a leak that hides next to nothing: the least that a working attack must do."""
    size = MOST_OF_ROOM * game.room(deal.knowledge, deal.truth)

    def is_leak(excess: Estimate) -> bool:
        return bool(excess.low > SMALLEST_LEAK)

    return any(_is_found(game, attack, deal, kind, size, is_leak, seed) for kind in game.kinds(deal.knowledge))


def _seen_kinds(
    game: Plantable, attack: Any, deal: Deal[Any, Any], size: float, is_leak: Rule, seed: int
) -> tuple[tuple[Kind, ...], tuple[Kind, ...]]:
    """Kinds of leaks that the attack sees at their largest, and those it is blind to."""
    asked = game.kinds(deal.knowledge)
    seen = tuple(kind for kind in asked if _is_found(game, attack, deal, kind, size, is_leak, seed_for(seed, "kind")))
    return seen, tuple(kind for kind in asked if kind not in seen)


def _found(
    game: Plantable, attack: Any, deal: Deal[Any, Any], size: float, kinds: tuple[Kind, ...], is_leak: Rule, seed: int
) -> tuple[int, int]:
    """How many plantings were found until the first that was not."""
    for number in range(PLANTINGS):
        own = seed_for(seed, "planting", f"{size:g}", number)
        if not _is_found(game, attack, deal, kinds[number % len(kinds)], size, is_leak, own):
            return number, number + 1
    return PLANTINGS, PLANTINGS


def _is_found(
    game: Plantable, attack: Any, deal: Deal[Any, Any], kind: Kind, size: float, is_leak: Rule, seed: int
) -> bool:
    """One planting and one round; vectors that take no planting, or break the attack, hide the leak."""
    settings = {"seed": seed_for(seed, "attack")} | ({"quick": True} if "quick" in attack.get_params() else {})
    try:
        planted = game.plant(deal.knowledge, deal.vectors, deal.truth, kind, size, generator(seed, "vectors", kind))
        copy = replace(deal, knowledge=planted.knowledge, vectors=planted.vectors, door=None)
        return is_leak(play_round(game, clone(attack).set_params(**settings), copy, seed).excess)
    except CannotMeasureError:
        return False
