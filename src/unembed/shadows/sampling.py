"""Which texts each model reads, and whose data are among them: the security experiments of Mahloujifar, section 2.

Against one user (Figure 1): random texts of a pool, and with probability 1/2 the user's data in the place of others.
One set of models serves many users, each in half of them whatever the others are, and so trains once what the
experiment would train for each. Against a population (Figure 2): the data of a random half of the users, nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unembed.errors import UsageError
from unembed.seeds import generator
from unembed.shadows.base import IntArray

#: Fewer models say nothing of how members and others differ.
FEWEST_MODELS = 10


@dataclass(frozen=True)
class Samples:
    """The texts of each model, in the order in which it reads them, and whose data are among them."""

    rows: tuple[IntArray, ...]
    members: NDArray[np.bool_]
    """One row per model, one column per user."""


def draw_samples(
    pool: IntArray | Sequence[IntArray],
    users: Sequence[IntArray],
    *,
    size: int,
    models: int,
    seed: int,
    share: float = 1.0,
    again: bool = False,
) -> Samples:
    """Samples of ``size`` texts. Of a user's data a random ``share`` is used where they are in (Mahloujifar 3.3).

    A ``pool`` of several parts holds the texts of one further user each, and whole users are drawn, up to the last one
    that there is room for a part of. ``again`` draws with replacement: samples of a small pool then differ as samples
    of the whole distribution would, where without they would nearly be the same.
    """
    _check_share(share)
    largest = sum(len(user) for user in users)
    there = len(pool) if isinstance(pool, np.ndarray) else sum(len(part) for part in pool)
    if size <= largest or (not again and size > there):
        raise UsageError(
            f"{size} texts per model: more than the {largest} of all users asked about are needed, and no more than "
            f"the {there} to draw from"
        )
    halves = np.arange(models) % 2 == 0
    members = np.stack(
        [generator(seed, "membership", number).permutation(halves) for number in range(len(users))], axis=1
    )
    rows = []
    for model in range(models):
        rng = generator(seed, "sample", model)
        inside = [_part(users[int(number)], share, rng) for number in np.flatnonzero(members[model])]
        own = np.concatenate([np.zeros(0, dtype=np.int64), *inside])
        others = _filled(pool, size - len(own), again, rng)
        rows.append(rng.permutation(np.concatenate([own, others])).astype(np.int64))
    return Samples(tuple(rows), members)


def draw_halves(users: Sequence[IntArray], *, models: int, seed: int, share: float = 1.0) -> Samples:
    """Samples that hold the data of half of the users each, and no other texts (Mahloujifar, Figure 2)."""
    if len(users) < 2:
        raise UsageError(f"{len(users)} user(s) have no two halves")
    _check_share(share)
    halves = np.arange(len(users)) < len(users) // 2
    members = np.stack([generator(seed, "half", model).permutation(halves) for model in range(models)])
    rows = []
    for model in range(models):
        rng = generator(seed, "sample", model)
        inside = [_part(users[int(number)], share, rng) for number in np.flatnonzero(members[model])]
        rows.append(rng.permutation(np.concatenate(inside)).astype(np.int64))
    return Samples(tuple(rows), members)


def _filled(pool: IntArray | Sequence[IntArray], count: int, again: bool, rng: np.random.Generator) -> IntArray:
    """So many texts of the pool: texts at random, or one random user after the other."""
    if isinstance(pool, np.ndarray):
        return np.asarray(rng.choice(pool, size=count, replace=again))
    order = rng.integers(len(pool), size=count) if again else rng.permutation(len(pool))
    return np.concatenate([pool[int(number)] for number in order])[:count]


def _check_share(share: float) -> None:
    if not 0 < share <= 1:
        raise UsageError(f"the share of a user's data that is used lies above 0 and up to 1, not {share}")


def _part(user: IntArray, share: float, rng: np.random.Generator) -> IntArray:
    count = max(1, round(share * len(user)))
    return user if count == len(user) else rng.permutation(user)[:count]
