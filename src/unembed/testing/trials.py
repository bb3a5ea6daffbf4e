"""Small worlds of models that learnt from somebody's data or did not, for the games of membership.

No model is trained: what it would answer is made up, so that it is known what an attack must find.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unembed.games import membership_model, model_answers
from unembed.games.base import Deal
from unembed.games.contexts import Contexts
from unembed.games.contexts import dealt as dealt_contexts
from unembed.games.membership_user import NextWordColumns, UserColumns, dealt
from unembed.shadows.signals import Asked

#: What members' answers look like: unlike the others', the same with constant, zero and huge numbers among them, or
#: like the others'.
World: TypeAlias = Literal["leaky", "spoiled", "blind"]
Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]


def toy_trials(
    game: str, world: World, asked: Mapping[str, object] | None = None, *, attack: str = ""
) -> Deal[Any, Any] | None:
    """A deal of a game of membership, with ``asked`` of it and as ``attack`` reads it; None for the other games."""
    if game == "membership-model":
        return _of_models(world, str((asked or {}).get("answers")))
    make = _READ_OTHERWISE.get(attack) or _MAKERS.get(game)
    return None if make is None else make(world)


def spoiled(answers: Numbers, constant: int = 0, zero: int = 1, huge: int = 2) -> Numbers:
    """A constant, a zero and a huge number among the answers."""
    answers = answers.copy()
    answers[..., constant], answers[..., zero] = 7.5, 0.0
    answers[..., huge] *= 1e6
    return answers


def _of_users(world: World) -> Deal[Any, Any]:
    """Thirty users, forty shadow models: words of a user's data stand closer in models that learnt from them."""
    rng = np.random.default_rng(7)
    asked = _side_by_side()
    users = [UserColumns(f"user {number}", asked.width, asked) for number in range(30)]

    def distances(members: Flags) -> Numbers:
        answers = 5 + rng.standard_normal((*members.T.shape, asked.width))
        if world != "blind":
            answers[:, :, :11] -= 1.5 * members.T[:, :, None]
        return answers

    return _both_sides(users, world, rng, distances, distances)


def _of_labels(world: World) -> Deal[Any, Any]:
    """Twelve users, forty shadow classifiers: labels of some queries differ where a user's data were used."""
    rng = np.random.default_rng(7)
    users = [UserColumns(f"user {number}", 24) for number in range(12)]

    def answers(members: Flags) -> Numbers:
        share = np.full((*members.T.shape, 24), 0.5)
        if world != "blind":
            share[:, :, :12] += 0.3 * (2.0 * members.T[:, :, None] - 1)
        return np.where(rng.random(share.shape) < share, 1.0, -1.0)

    return _both_sides(users, world, rng, answers, answers)


def _of_next_words(world: World) -> Deal[Any, Any]:
    """Thirty users: shadow models put some pairs of members closer, and a language model says those for members.

    One pair every model says: who asks about all pairs takes everybody for a member.
    """
    rng = np.random.default_rng(7)
    asked = _side_by_side()
    users = [NextWordColumns(f"user {number}", 11, asked, np.arange(11) < 6) for number in range(30)]
    told = np.zeros(11) if world == "blind" else (np.arange(11) < 4).astype(np.float64)

    def distances(members: Flags) -> Numbers:
        return 5 + rng.standard_normal((*members.T.shape, 11)) - 3 * told * members.T[:, :, None]

    def hits(members: Flags) -> Numbers:
        said = rng.random((*members.T.shape, 11)) < 0.5 * told * members.T[:, :, None] + 0.01
        said[:, :, 10] = True
        return np.where(said, 1.0, -1.0)

    return _both_sides(users, world, rng, distances, hits)


def _side_by_side() -> Asked:
    """Twelve words in a row."""
    pairs = np.stack([np.arange(11), np.arange(1, 12)], axis=1)
    once = np.ones(11, dtype=np.int64)
    return Asked(np.arange(12), np.full(12, 30.0), pairs, once, once)


def _both_sides(
    users: Sequence[UserColumns],
    world: World,
    rng: np.random.Generator,
    known: Callable[[Flags], Numbers],
    asked: Callable[[Flags], Numbers],
) -> Deal[Any, Any]:
    """Forty models of the adversary and ten under attack, each with half of the users."""
    sides: list[tuple[list[Numbers], Flags]] = []
    for models, answers in ((40, known), (10, asked)):
        members = np.stack([rng.permutation(np.arange(models) % 2 == 0) for _ in users], axis=1)
        made = answers(members)
        sides.append((list(spoiled(made) if world == "spoiled" else made), members))
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


def _of_models(world: World, answers: str) -> Deal[Any, Any]:
    """What six shadow models and two under attack say of texts: surer, or likelier, where they learnt from them."""
    make = {"texts": _texts, "canaries": _canaries}.get(answers, _classified)
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


_MAKERS: dict[str, Callable[[World], Deal[Any, Any]]] = {
    "membership-user": _of_users,
    "membership-window": _of_contexts(5, "windows"),
    "membership-pair": _of_contexts(6, "runs of 3 pairs"),
}
#: By attack: those that read other answers than the others of their game.
_READ_OTHERWISE: dict[str, Callable[[World], Deal[Any, Any]]] = {
    "membership/label-queries": _of_labels,
    "membership/label-shifts": _of_labels,
    "membership/next-word": _of_next_words,
}
