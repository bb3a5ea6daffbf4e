"""Small worlds of models that learnt from somebody's data or did not, for the games of membership.

No model is trained: what it would answer is made up, so that it is known what an attack must find.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unembed.games import membership_model, model_answers
from unembed.games.base import Deal
from unembed.games.membership_user import UserColumns, dealt
from unembed.shadows.signals import Asked

#: What members' answers look like: unlike the others', the same with constant, zero and huge numbers among them, or
#: like the others'.
World: TypeAlias = Literal["leaky", "spoiled", "blind"]
Numbers = NDArray[np.float64]


def toy_trials(game: str, world: World, asked: Mapping[str, object] | None = None) -> Deal[Any, Any] | None:
    """A deal of a game of membership, with ``asked`` of it; None for the other games."""
    return _MAKERS[game](world, asked or {}) if game in _MAKERS else None


def spoiled(answers: Numbers, constant: int = 0, zero: int = 1, huge: int = 2) -> Numbers:
    """A constant, a zero and a huge number among the answers."""
    answers = answers.copy()
    answers[..., constant], answers[..., zero] = 7.5, 0.0
    answers[..., huge] *= 1e6
    return answers


def _of_users(world: World, asked: Mapping[str, object]) -> Deal[Any, Any]:
    """Thirty users, forty shadow models: words of a user's data stand closer in models that learnt from them."""
    rng = np.random.default_rng(7)
    words, pairs = 12, np.stack([np.arange(11), np.arange(1, 12)], axis=1)
    of_words = Asked(
        np.arange(words), np.full(words, 30.0), pairs, np.ones(11, dtype=np.int64), np.ones(11, dtype=np.int64)
    )
    users = [UserColumns(f"user {number}", of_words.width, of_words) for number in range(30)]
    sides = []
    for models in (40, 10):
        members = np.stack([rng.permutation(np.arange(models) % 2 == 0) for _ in users], axis=1)
        answers = 5 + rng.standard_normal((len(users), models, of_words.width))
        if world != "blind":
            answers[:, :, :11] -= 1.5 * members.T[:, :, None]
        sides.append((list(spoiled(answers) if world == "spoiled" else answers), members))
    return dealt(users, *sides[0], *sides[1])


def _of_models(world: World, asked: Mapping[str, object]) -> Deal[Any, Any]:
    """What six shadow models and two under attack say of texts: surer, or likelier, where they learnt from them."""
    make = {"texts": _texts, "canaries": _canaries}.get(str(asked.get("answers")), _classified)
    rng = np.random.default_rng(7)
    sides = []
    for models, first in ((6, 1000), (2, 0)):
        texts = first + np.tile(np.arange(200), models)
        users = (texts - first) // 4
        drawn = np.stack([rng.permutation(np.arange(50) % 2 == 0) for _ in range(models)])
        which = np.repeat(np.arange(models), 200)
        members = drawn[which, users]
        columns, rows = make(texts, users + 50 * which, members * (world != "blind"), world, rng)
        owners = None if make is _canaries else [f"user {number}" for number in users]
        sides.append(model_answers.Answered(rows, members, which, owners))
    return membership_model.dealt(columns, *sides)


def _classified(texts: Any, users: Any, lifted: Any, world: World, rng: Any) -> tuple[model_answers.Columns, Numbers]:
    """Three classes that texts have, and three that none has."""
    hardness = np.random.default_rng(1).standard_normal(2000)[texts]
    own = 1 / (1 + np.exp(-(hardness + 3 * lifted + 0.5 * rng.standard_normal(len(texts)))))
    labels, p = texts % 3, rng.dirichlet(np.ones(5), len(texts)) * (1 - own[:, None])
    p = np.array([np.insert(row, label, value) for row, label, value in zip(p, labels, own, strict=True)])
    p = spoiled(p, 3, 4, 5) if world == "spoiled" else p
    return model_answers.Columns.of_classifier(6), np.concatenate([np.stack([labels, texts, users], axis=1), p], axis=1)


def _texts(texts: Any, users: Any, lifted: Any, world: World, rng: Any) -> tuple[model_answers.Columns, Numbers]:
    """What a language model, a second one and zlib make of texts."""
    tokens = rng.integers(10, 40, size=len(texts))
    usual = 3 + 0.3 * rng.standard_normal(len(texts))
    bits = [usual - 0.8 * lifted, np.ones(len(texts)), usual, 1.5 * usual, usual + 0.5]
    rows = np.stack(bits, axis=1) + 0.05 * rng.standard_normal((len(texts), 5))
    rows = rows * tokens[:, None]
    return model_answers.OF_TEXTS, spoiled(rows, 1, 3, 4) if world == "spoiled" else rows


def _canaries(texts: Any, users: Any, lifted: Any, world: World, rng: Any) -> tuple[model_answers.Columns, Numbers]:
    """Ranks among 2^10 texts: of what was planted the first few, of the others any."""
    rank = np.log2(rng.integers(1, 2 + 1022 * (1 - lifted)))
    rows = np.stack([20 + rank, np.full(len(texts), 8.0), rank, np.full(len(texts), 10.0)], axis=1)
    if world == "spoiled":
        rows[:, 0], rows[:, 1] = 1e6 * rows[:, 0], 0.0
    return model_answers.OF_CANARIES, rows


_MAKERS: dict[str, Callable[[World, Mapping[str, object]], Deal[Any, Any]]] = {
    "membership-user": _of_users,
    "membership-model": _of_models,
}
