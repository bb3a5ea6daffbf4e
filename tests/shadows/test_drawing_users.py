"""Samples whose other texts are those of whole users, drawn at random."""

from __future__ import annotations

import numpy as np
import pytest

from unembed.errors import UsageError
from unembed.shadows.sampling import draw_samples

USERS = [np.array([0, 1]), np.array([2])]
POOL = [np.arange(10 + 5 * number, 15 + 5 * number) for number in range(8)]


def whole_and_parts(rows: np.ndarray) -> list[int]:
    """How many texts of each user of the pool are there, where any are."""
    return [len(held) for part in POOL if len(held := np.intersect1d(part, rows))]


def test_all_users_but_the_last_are_whole() -> None:
    drawn = draw_samples(POOL, USERS, size=18, models=20, seed=1)
    for rows, members in zip(drawn.rows, drawn.members, strict=True):
        assert len(rows) == len(set(rows.tolist())) == 18
        own = sum(len(user) for user, inside in zip(USERS, members, strict=True) if inside)
        found = sorted(whole_and_parts(rows), reverse=True)
        assert found[:-1] == [5] * (len(found) - 1)
        assert sum(found) == 18 - own
        for user, inside in zip(USERS, members, strict=True):
            assert bool(np.isin(user, rows).all()) == bool(np.isin(user, rows).any()) == bool(inside)


def test_models_differ_in_whose_texts_they_have() -> None:
    drawn = draw_samples(POOL, USERS, size=18, models=20, seed=1)
    seen = {tuple(len(np.intersect1d(part, rows)) for part in POOL) for rows in drawn.rows}
    assert len(seen) > 10


def test_with_replacement_a_small_pool_fills_any_size() -> None:
    drawn = draw_samples(POOL, USERS, size=90, models=4, seed=1, again=True)
    assert all(len(rows) == 90 for rows in drawn.rows)
    with pytest.raises(UsageError, match="no more than the 40 to draw from"):
        draw_samples(POOL, USERS, size=90, models=4, seed=1)
