"""How small a leak this audit would have found: leaks of known size, planted until the smallest that is found is known.

Each planting is a whole round of the game on a copy of the vectors (``games.planting``): the same number of pairs and
targets, the same groups, the same attack, the same rule for calling it a leak. A size counts as found if it is found in
ten plantings out of ten, which takes turns through the kinds of leaks. The search begins at the size that the width of
the real measurement suggests, and goes down or up from there.

Cost: ten rounds for each size that is found, one or few for a size that is not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic, Protocol

from unembed.errors import CannotMeasureError
from unembed.games.base import Deal, G, Game, K, Player, T
from unembed.games.planting import SIZES, Kind, Plantable
from unembed.games.repeats import luck_of_pairs, widened
from unembed.games.rounds import SMALLEST_LEAK, play_round
from unembed.metrics.estimate import Estimate
from unembed.seeds import generator, seed_for

PLANTINGS = 10


class PlantableGame(Game[K, T, G], Plantable[K, T], Protocol[K, T, G]):
    """A game into whose vectors leaks can be planted."""


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


def detect(
    game: PlantableGame[K, T, G], attack: Player[K, G], deal: Deal[K, T], seen: Estimate, repeats: int, seed: int
) -> Detection:
    """Search for the smallest size that is always found; ``seen`` is the excess that the real vectors gave.

    ``repeats`` as in the measurement itself: the luck of the pairs widens the intervals of planted leaks too.
    """
    room = MOST_OF_ROOM * game.room(deal.knowledge, deal.truth)
    sizes = [size for size in SIZES if size < room] or [room]
    asked = game.kinds(deal.knowledge)
    search = _Search(game, attack, deal, repeats, seed)
    kinds = tuple(kind for kind in asked if search.is_found(kind, sizes[-1], "kind"))
    blind = tuple(kind for kind in asked if kind not in kinds)
    if not kinds:
        return Detection(None, (), blind, {sizes[-1]: (0, len(blind))})
    half = max(seen.high - seen.value, seen.value - seen.low)
    place = next((i for i, size in enumerate(sizes) if size > SMALLEST_LEAK + 1.4 * half), len(sizes) - 1)
    search.measure_luck(kinds, sizes[place])
    tried: dict[float, tuple[int, int]] = {}

    def found(place: int) -> bool:
        tried[sizes[place]] = search.plantings_found(kinds, sizes[place])
        return tried[sizes[place]] == (PLANTINGS, PLANTINGS)

    if found(place):
        while place > 0 and found(place - 1):
            place -= 1
        return Detection(sizes[place], kinds, blind, tried)
    while place + 1 < len(sizes):
        place += 1
        if found(place):
            return Detection(sizes[place], kinds, blind, tried)
    return Detection(None, kinds, blind, tried)


def found_at_all(game: PlantableGame[K, T, G], attack: Player[K, G], deal: Deal[K, T], seed: int) -> bool:
    """Whether the attack finds a leak that hides next to nothing: the least that a working attack must do."""
    search = _Search(game, attack, deal, 0, seed)
    size = MOST_OF_ROOM * game.room(deal.knowledge, deal.truth)
    return any(search.is_found(kind, size, "at all") for kind in game.kinds(deal.knowledge))


class _Search(Generic[K, T, G]):
    """Plants leaks into copies of one deal and looks whether one attack finds them."""

    def __init__(
        self, game: PlantableGame[K, T, G], attack: Player[K, G], deal: Deal[K, T], repeats: int, seed: int
    ) -> None:
        self.game, self.attack, self.deal, self.repeats, self.seed = game, attack, deal, repeats, seed
        self.quick = {"quick": True} if "quick" in attack.get_params() else {}
        self.luck: float | None = None

    def plantings_found(self, kinds: tuple[Kind, ...], size: float) -> tuple[int, int]:
        """How many plantings were found until the first that was not, and how many were tried."""
        for number in range(PLANTINGS):
            if not self.is_found(kinds[number % len(kinds)], size, str(number)):
                return number, number + 1
        return PLANTINGS, PLANTINGS

    def is_found(self, kind: Kind, size: float, name: str) -> bool:
        """One planting and one round; an attack that breaks on planted vectors does not find the leak."""
        own = seed_for(self.seed, "planting", kind, f"{size:g}", name)
        planted = self._planted(kind, size, own)
        try:
            excess = play_round(self.game, self._copy(own), planted, own).excess
        except CannotMeasureError:
            return False
        return bool(widened(excess, self.luck, self.repeats).low > SMALLEST_LEAK)

    def measure_luck(self, kinds: tuple[Kind, ...], size: float) -> None:
        """What other pairs would change about a leak of this size, taken from the kind where it is most."""
        if not self.repeats:
            return
        own = seed_for(self.seed, "luck")
        planted = [self._planted(kind, size, own) for kind in kinds]
        lucks = [luck_of_pairs(self.game, self._copy(own), copy, self.repeats, own) for copy in planted]
        self.luck = max((luck for luck in lucks if luck is not None), default=None)

    def _copy(self, seed: int) -> Player[K, G]:
        from sklearn.base import clone

        copy: Player[K, G] = clone(self.attack)
        return copy.set_params(seed=seed_for(seed, "attack"), **self.quick)

    def _planted(self, kind: Kind, size: float, seed: int) -> Deal[K, T]:
        rng = generator(seed, "vectors")
        planted = self.game.plant(self.deal.knowledge, self.deal.vectors, self.deal.truth, kind, size, rng)
        return replace(self.deal, knowledge=planted.knowledge, vectors=planted.vectors, door=None)
