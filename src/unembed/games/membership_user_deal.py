"""How the game of a user's membership is dealt in an audit: shadow models for the users of a collection.

The collection holds the texts of users that the encoder learnt from and of users that it did not; the adversary's own
texts are the pool that its shadow models are trained on, with the data of half of the users each. They and the encoder
under attack are asked for the vectors of the same words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unembed.corpora.training import TrainingSide
from unembed.errors import CannotMeasureError
from unembed.games.base import Deal, IntArray, Material
from unembed.games.in_or_out import Trials
from unembed.games.membership_user import NOTHING_ASKED, UserKnowledge, dealt
from unembed.games.membership_user_trials import UserTrials, by_user, columns_of
from unembed.games.rows import dense_rows
from unembed.seeds import generator
from unembed.shadows.base import Settings, TokenCorpus, WordTable
from unembed.shadows.compiled import Compiled
from unembed.shadows.keeping import trained
from unembed.shadows.signals import answered

if TYPE_CHECKING:
    from unembed.games.membership_user import MembershipUserGame

#: Users of either side that a figure needs at least.
FEWEST_USERS = 5
NO_TRAINING = "not applicable: it is not known which texts the model learnt from (--trained-on names them)"
#: Parameters of the game that say how the adversary trains.
TRAINING = ("architecture", "dimension", "window", "negatives", "passes", "min_count", "sample", "learning_rate")
#: Kinds of users that are told apart, by how many texts they have: up to so many.
BANDS = ((1, "1"), (10, "2 to 10"), (100, "11 to 100"))


def deal_in_audit(game: MembershipUserGame, material: Material) -> Deal[UserKnowledge, Trials]:
    """Train shadow models, and ask them and the encoder about each user."""
    if material.training is None:
        raise CannotMeasureError(NO_TRAINING)
    users, inside, notes = _users(game, material, material.training)
    own = [material.target.texts[int(row)] for rows in users for row in rows]
    corpus = TokenCorpus.of([*own, *material.known.texts])
    pool = np.arange(len(own), len(corpus))
    trials = UserTrials(
        corpus,
        np.split(np.arange(len(own)), np.cumsum([len(rows) for rows in users])[:-1]),
        pool=pool,
        shadow_pool=pool,
        size=max(len(material.training.digests), 2 * len(own)),
        shadows=game.shadows,
        models=1,
        again=True,
        seed=material.seed,
    )
    asked = trials.asked(game.min_count, game.reach)
    words = np.unique(np.concatenate([one.words for one in asked]))
    encoder = _table(material, corpus, words)
    unit = bool(np.allclose(np.linalg.norm(encoder.vectors, axis=1), 1, atol=1e-3))
    settings = Settings(**{name: getattr(game, name) for name in TRAINING})
    samples = trials.shadow_samples
    tables = trained(Compiled(settings), corpus, samples.rows, trials.seeds("shadows"), keep=material.keep)
    answers = [[answered(_at_length_one(table) if unit else table, one) for one in asked] for table in tables]
    return dealt(
        columns_of(asked),
        by_user(answers, len(asked)),
        samples.members,
        [answered(encoder, one)[None, :] for one in asked],
        inside[None, :],
        parts={"texts": [_band(len(rows)) for rows in users]},
        notes=notes,
    )


def _users(
    game: MembershipUserGame, material: Material, training: TrainingSide
) -> tuple[list[IntArray], NDArray[np.bool_], tuple[str, ...]]:
    """The rows of each user's texts, and whether the model learnt from them: as many of either side."""
    learnt = training.holds(material.target.texts)
    groups = material.groups if material.groups is not None else range(len(material.target))
    rows: dict[str, list[int]] = {}
    for row, group in enumerate(groups):
        rows.setdefault(str(group), []).append(row)
    sides: dict[bool, list[IntArray]] = {True: [], False: []}
    mixed = 0
    for own in rows.values():
        held = learnt[own]
        if held.all() or not held.any():
            sides[bool(held[0])].append(np.array(own, dtype=np.int64))
        else:
            mixed += 1
    each = min(game.users // 2, *(len(side) for side in sides.values()))
    if each < FEWEST_USERS:
        raise CannotMeasureError(
            f"{len(sides[True])} users whose texts the model learnt from and {len(sides[False])} whose it did not: "
            f"{FEWEST_USERS} of each are needed"
        )
    rng = generator(material.seed, "membership", "users")
    drawn = [side[int(k)] for side in (sides[True], sides[False]) for k in rng.permutation(len(side))[:each]]
    # As they stand in the collection: an order by side would tell who is in.
    order = sorted(range(2 * each), key=lambda number: int(drawn[number][0]))
    notes = [f"{2 * each} users, {each} of them with texts that the model learnt from"]
    if mixed:
        notes.append(f"{mixed} users with texts on both sides are not asked about")
    return [drawn[number] for number in order], np.array(order) < each, tuple(notes)


def _table(material: Material, corpus: TokenCorpus, numbers: IntArray) -> WordTable:
    """The vectors that the encoder under attack gives for single words; without those it knows nothing of."""
    if not len(numbers):
        raise CannotMeasureError(NOTHING_ASKED)
    asked = [corpus.vocabulary[int(number)] for number in numbers]
    vectors = dense_rows(material.encode(asked))
    there = np.abs(vectors).max(axis=1) > 0
    if not there.any():
        raise CannotMeasureError("the model has a vector for no word of the users' texts: nothing can be asked")
    return WordTable(numbers[there], vectors[there])


def _at_length_one(table: WordTable) -> WordTable:
    lengths = np.maximum(np.linalg.norm(table.vectors, axis=1, keepdims=True), np.float32(1e-12))
    return WordTable(table.numbers, table.vectors / lengths)


def _band(texts: int) -> str:
    """How many texts a user has, in bands."""
    return next((name for most, name in BANDS if texts <= most), "more than 100")
