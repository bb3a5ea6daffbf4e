"""Small worlds of models that learnt from somebody's data or did not, for the games of membership.

No model is trained: what it would answer is made up, so that it is known what an attack must find.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unembed.games.base import Deal
from unembed.games.contexts import Contexts
from unembed.games.contexts import dealt as dealt_contexts
from unembed.games.membership_user import UserColumns, dealt
from unembed.shadows.signals import Asked

#: What members' answers look like: unlike the others', the same with constant, zero and huge numbers among them, or
#: like the others'.
World: TypeAlias = Literal["leaky", "spoiled", "blind"]
Numbers = NDArray[np.float64]


def toy_trials(game: str, world: World) -> Deal[Any, Any] | None:
    """A deal of a game of membership; None for the other games."""
    return _MAKERS[game](world) if game in _MAKERS else None


def spoiled(answers: Numbers) -> Numbers:
    """A constant, a zero and a huge number among the answers."""
    answers = answers.copy()
    answers[..., 0], answers[..., 1] = 7.5, 0.0
    answers[..., 2] *= 1e6
    return answers


def _of_users(world: World) -> Deal[Any, Any]:
    """Thirty users, forty shadow models: words of a user's data stand closer in models that learnt from them."""
    rng = np.random.default_rng(7)
    words, pairs = 12, np.stack([np.arange(11), np.arange(1, 12)], axis=1)
    asked = Asked(
        np.arange(words), np.full(words, 30.0), pairs, np.ones(11, dtype=np.int64), np.ones(11, dtype=np.int64)
    )
    users = [UserColumns(f"user {number}", asked.width, asked) for number in range(30)]
    sides = []
    for models in (40, 10):
        members = np.stack([rng.permutation(np.arange(models) % 2 == 0) for _ in users], axis=1)
        answers = 5 + rng.standard_normal((len(users), models, asked.width))
        if world != "blind":
            answers[:, :, :11] -= 1.5 * members.T[:, :, None]
        sides.append((list(spoiled(answers) if world == "spoiled" else answers), members))
    return dealt(users, *sides[0], *sides[1])


def _of_contexts(parts: int, units: str) -> Callable[[World], Deal[Any, Any]]:
    """Contexts of so many parts: those of one that was learnt from are like each other."""

    def made(world: World) -> Deal[Any, Any]:
        rng = np.random.default_rng(11)
        sides = []
        for count in (600, 300):
            inside = rng.permutation(np.arange(count) % 2 == 0)
            vectors = rng.standard_normal((count, parts, 32))
            if world != "blind":
                vectors += inside[:, None, None] * rng.standard_normal((count, 1, 32))
            vectors = spoiled(vectors) if world == "spoiled" else vectors
            contexts = Contexts(inside, np.full(count, -1), np.arange(count), np.arange(count))
            sides.append((contexts, vectors.reshape(count, -1).astype(np.float32)))
        (known, held), (asked, own) = sides
        return dealt_contexts(known, asked, held, own, parts=parts, words=None, queries=0, units=units, notes=())

    return made


_MAKERS: dict[str, Callable[[World], Deal[Any, Any]]] = {
    "membership-user": _of_users,
    "membership-window": _of_contexts(5, "windows"),
    "membership-pair": _of_contexts(6, "runs of 3 pairs"),
}
