"""The game of a user's membership: were this person's texts among those that a model was trained on?

The security experiments of Mahloujifar (Figures 1 and 2) in one: the challenger trains models, each with the data of
half of the users; the adversary is given a user's data, asks a model, and says whether it was trained on them. Whoever
can train models of the same kind prepares on those shadow models, where they know the answer. A trial is one user and
one model, and a row holds what the model answered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError
from unembed.games.asking import PlainGame
from unembed.games.base import Deal, Example, IntArray, Material, Scores
from unembed.games.claims import Figures
from unembed.games.facts import GameFacts
from unembed.games.in_or_out import InOrOutGuess, Trials, judged, unseen_rates
from unembed.metrics.spread import FloatArray
from unembed.seeds import generator
from unembed.shadows.base import Architecture
from unembed.shadows.sampling import FEWEST_MODELS
from unembed.shadows.signals import Asked

#: Answers of models that show labels alone: 1, -1, or 0 where they were not asked.
Labels = NDArray[np.int8]
NOTHING_ASKED = "nothing can be asked: the shadow models know no two words of any user's texts, or all answer alike"


@dataclass(frozen=True)
class UserColumns:
    """How many answers a user's rows hold, and for distances of words, the pairs and words that were asked for."""

    name: str
    width: int
    asked: Asked | None = None


@dataclass(frozen=True)
class NextWordColumns(UserColumns):
    """Pairs of neighbouring words of a user, which a language model is asked about instead of one of word vectors.

    In trials an answer is 1 where it says the second word after the first in some sentence of theirs, -1 where in none,
    0 where it was not asked; in the knowledge it is the distance in a shadow model of word vectors. ``rare`` marks
    pairs with a word that a public dictionary does not have.
    """

    rare: NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class UserKnowledge:
    """What the adversary's own models answer about each user: of those it knows whose data they were trained on.

    A row of ``vectors`` begins with the user's number; then come the answers, 0 where a model does not know a word, and
    zeros up to the longest row. ``models`` says which model a row is of.
    """

    vectors: Vectors
    members: NDArray[np.bool_]
    models: IntArray
    users: tuple[UserColumns, ...]

    def of(self, user: int) -> tuple[FloatArray, NDArray[np.bool_]]:
        """The answers about one user, and which of the models were trained on their data."""
        rows = np.flatnonzero(users_of(self.vectors, len(self.users)) == user)
        return answers_in(self.vectors, rows, self.users[user]), self.members[rows]


def users_of(vectors: Vectors, users: int) -> IntArray:
    """Whose each row is; a row that is no answer of any model counts as somebody's all the same."""
    return np.asarray(np.clip(np.rint(np.asarray(vectors)[:, 0]), 0, users - 1), dtype=np.int64)


def answers_in(vectors: Vectors, rows: IntArray, user: UserColumns) -> FloatArray:
    """The answers of some rows, without the user's number and the zeros behind."""
    return np.asarray(np.asarray(vectors)[rows, 1 : 1 + user.width], dtype=np.float64)


def tabled(answers: Sequence[FloatArray | Labels]) -> NDArray[np.float32]:
    """The answers about every user (a row per model each) one below the other, as ``UserKnowledge.vectors``."""
    width = max((a.shape[1] for a in answers), default=0)
    table = np.zeros((sum(len(a) for a in answers), 1 + width), dtype=np.float32)
    start = 0
    for user, own in enumerate(answers):
        table[start : start + len(own), 0] = user
        table[start : start + len(own), 1 : 1 + own.shape[1]] = np.nan_to_num(own, nan=0.0)
        start += len(own)
    return table


def dealt(
    users: Sequence[UserColumns],
    shadow_answers: Sequence[FloatArray | Labels],
    shadow_members: NDArray[np.bool_],
    answers: Sequence[FloatArray | Labels],
    members: NDArray[np.bool_],
    *,
    parts: Mapping[str, Sequence[str]] | None = None,
    notes: tuple[str, ...] = (),
) -> Deal[UserKnowledge, Trials]:
    """A deal from what models answered: per user a row per model; ``members`` has a row per model, a column per user.

    Answers are numbers of any kind, NaN where a model has none. ``parts`` are kinds of users, told apart beside the
    headline: for each kind the part that each user belongs to.
    """
    if len(shadow_members) < FEWEST_MODELS:
        raise CannotMeasureError(
            f"{len(shadow_members)} shadow models can't show how members and others differ: at least {FEWEST_MODELS}"
        )
    kept = [number for number, user in enumerate(users) if user.width]
    if not kept:
        raise CannotMeasureError(NOTHING_ASKED)
    if len(kept) < len(users):
        left = len(users) - len(kept)
        notes = (*notes, f"{left} of {len(users)} users are not asked about: nothing can be asked of their texts")
    knowledge = UserKnowledge(
        tabled([shadow_answers[number] for number in kept]),
        shadow_members[:, kept].T.ravel(),
        np.tile(np.arange(len(shadow_members)), len(kept)),
        tuple(users[number] for number in kept),
    )
    vectors = tabled([answers[number] for number in kept])
    told = (vectors[:, 1:] != 0).any(axis=1)
    if not told.any():
        raise CannotMeasureError("no model under attack answers anything that was asked: nothing can be told")
    if not told.all():
        notes = (*notes, f"{int((~told).sum())} trials are left out: the model answers nothing that was asked")
    of_trial = np.repeat(kept, len(members))[told]
    names = {kind: [values[number] for number in of_trial] for kind, values in (parts or {}).items()}
    whose = [users[number].name for number in of_trial]
    truth = Trials(members[:, kept].T.ravel()[told], whose, names, repeated=True)
    negatives = int((~truth.inside).sum())
    if negatives in (0, len(truth.inside)):
        side = "none" if negatives else "all"
        raise CannotMeasureError(
            f"of the {len(truth.inside)} trials in which something can be asked the data were used in {side}: members "
            "and others can't be compared"
        )
    return Deal(
        knowledge,
        vectors[told],
        truth,
        pairs=len(shadow_members),
        queries=max(len(user.asked.words) if user.asked else user.width for user in users),
        notes=(
            f"{len(shadow_members)} shadow models, {len(members)} models attacked",
            *notes,
            *unseen_rates(negatives, "trials with data that were not used"),
        ),
    )


def some_models(knowledge: UserKnowledge, kept: IntArray) -> UserKnowledge:
    """The same adversary with some of its shadow models."""
    return some_trials(knowledge, np.flatnonzero(np.isin(knowledge.models, kept)))


def some_trials(knowledge: UserKnowledge, rows: IntArray) -> UserKnowledge:
    """The same adversary with some of its rows."""
    return replace(
        knowledge,
        vectors=knowledge.vectors[rows],
        members=knowledge.members[rows],
        models=knowledge.models[rows],
    )


class MembershipUserGame(PlainGame):
    """Trains shadow models with and without each user's data, and deals what they and the model under attack answer."""

    facts: ClassVar[GameFacts] = GameFacts(
        name="membership-user",
        question="Were this person's texts used to train the model?",
        metric="balanced_accuracy",
        metric_meaning="share of the users in the training data who are recognised and share of the others who are not "
        "taken for it, averaged over both (a coin gives 50 %)",
        consequence="Whoever has a person's texts and may ask the model for the vectors of some words can tell whether "
        "that person's data were used to train it.",
        tags=("OWASP LLM02:2025", "MITRE ATLAS AML.T0024.000"),
        needs_training=True,
        evidence=("auc",),
        counts_hits=False,
        gravest="moderate",
        section="training",
        default=False,
        learns_from="shadow models",
    )

    shadows: int = 100
    reach: int = 5
    users: int = 40
    architecture: Architecture = "skip-gram"
    dimension: int = 100
    window: int = 5
    negatives: int = 25
    passes: int = 5
    min_count: int = 5
    sample: float = 1e-3
    learning_rate: float = 0.05

    @staticmethod
    def claim(found: Figures) -> str:
        """What the adversary can do, in words."""
        told, alarms = found.secondary.get("found"), found.secondary.get("false_alarms")
        if told is None or alarms is None:
            return f"can tell whether a person's texts were used for training ({found.estimate.value:.0%} right)"
        return (
            f"can recognise {told.value:.0%} of the people whose texts were used for training, taking "
            f"{alarms.value:.1%} of the others for one of them"
        )

    def judge(self, truth: Trials, guess: InOrOutGuess, seed: int) -> Scores:
        """Balanced accuracy; advantage, curves and kinds of users beside it."""
        return judged(truth, guess, seed)

    def prior_guess(self, knowledge: UserKnowledge, n: int) -> InOrOutGuess:
        """Nobody is in."""
        return InOrOutGuess.nobody(n)

    def some_pairs(self, knowledge: UserKnowledge, kept: IntArray) -> UserKnowledge:
        """The same adversary with some of its rows."""
        return some_trials(knowledge, kept)

    def rehearsal(self, knowledge: UserKnowledge, seed: int) -> tuple[UserKnowledge, Vectors, Trials]:
        """A third of the shadow models is attacked with the rest."""
        models = np.unique(knowledge.models)
        order = generator(seed, "held back").permutation(models)
        held, rest = order[: len(order) // 3], order[len(order) // 3 :]
        if len(rest) < FEWEST_MODELS:
            raise CannotMeasureError(f"{len(models)} shadow models are too few to rehearse with")
        asked = np.flatnonzero(np.isin(knowledge.models, held))
        whose = users_of(knowledge.vectors[asked], len(knowledge.users))
        names = [knowledge.users[int(user)].name for user in whose]
        truth = Trials(knowledge.members[asked], names, repeated=True)
        return some_models(knowledge, rest), knowledge.vectors[asked], truth

    def examples(self, truth: Trials, guess: InOrOutGuess, rows: Sequence[int]) -> list[Example]:
        """Used for training or not, and what was said."""
        names = ("not used", "used")
        return [Example(int(r), [names[int(truth.inside[r])]], [names[int(guess.said[r] >= 0.5)]]) for r in rows]

    def deal(self, material: Material) -> Deal[UserKnowledge, Trials]:
        """Train shadow models, and ask them and the model itself about each user."""
        from unembed.games.membership_user_deal import deal_in_audit

        return deal_in_audit(self, material)
