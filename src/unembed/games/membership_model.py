"""The game of membership in a model: was this text among those that the model was trained on? (Corò 3.1 to 3.3)

A trial is one text and one model, and its row is what the model says of the text: a classifier the probabilities of
all classes, a language model how likely it finds it. The adversary trains models of the same kind on texts of its own,
knows which of them each has learnt from, and asks them the same. So every attack sees what a model answers, no more.

In an audit the model is a classifier that the challenger trains on half of the stored vectors and a column of the
collection (``games.membership_model_deal``): would it give away whose texts it learnt from?
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError
from unembed.games.asking import Audited, PlainGame, Question, Refused
from unembed.games.base import Deal, Detail, Example, IntArray, Material, Scores
from unembed.games.claims import Figures
from unembed.games.facts import GameFacts
from unembed.games.in_or_out import InOrOutGuess, Trials, counts, figures, halves, judged, unseen_rates
from unembed.games.model_answers import RANK, TEXT, Answered, Columns
from unembed.games.rows import hold_back
from unembed.metrics.estimate import Estimate, Measure, estimates_of
from unembed.metrics.spread import FloatArray
from unembed.seeds import generator
from unembed.shadows.classifiers import Kind

#: Trials of either kind that a figure needs at least.
FEWEST_TRIALS = 10
#: So many shadow models can be held back as a whole.
FEWEST_SHADOWS = 3


@dataclass(frozen=True)
class ModelKnowledge:
    """What the adversary's own models answer, and of which texts it knows that they learnt from them.

    ``beside`` is what they answer about texts under attack, from none of which they learnt.
    """

    vectors: Vectors
    members: NDArray[np.bool_]
    models: IntArray
    columns: Columns
    beside: Vectors | None = None


@dataclass(frozen=True)
class ModelTrials(Trials):
    """Trials, and for each the user and model it belongs to, where a user's texts are all in or all out."""

    units: Sequence[object] | None = field(default=None)


def dealt(
    columns: Columns,
    shadows: Answered | None,
    targets: Answered,
    *,
    beside: NDArray[np.floating] | None = None,
    parts: Mapping[str, Sequence[str]] | None = None,
    notes: Sequence[str] = (),
    pairs: int | None = None,
    rows: IntArray | None = None,
) -> Deal[ModelKnowledge, ModelTrials]:
    """A deal from what models answered, whatever they are and whoever trained them.

    Only about canaries nothing has to be learnt from shadow models. Each kind in ``parts`` names for every trial the
    part it is counted in, beside the headline; ``pairs`` is how many texts the adversary trains with, ``rows`` are the
    places of the trials' texts in a collection.
    """
    inside, outside = (int(side.sum()) for side in (targets.members, ~targets.members))
    if min(inside, outside) < FEWEST_TRIALS:
        raise CannotMeasureError(
            f"{inside} trials with texts that the model learnt from and {outside} with others: {FEWEST_TRIALS} of each "
            "are needed"
        )
    shadows = shadows or Answered(targets.rows[:0], targets.members[:0], targets.models[:0])
    if not columns.has(RANK) and (shadows.members.all() or not shadows.members.any()):
        raise CannotMeasureError("the shadow models answer about members alone, or about none: nothing can be learnt")
    tables = [np.asarray(table, dtype=np.float32) for table in (shadows.rows, targets.rows)]
    if not all(np.isfinite(table).all() and table.shape[1] == len(columns.names) for table in tables):
        raise CannotMeasureError(f"answers are rows of {len(columns.names)} finite numbers")
    knowledge = ModelKnowledge(
        tables[0],
        shadows.members,
        shadows.models,
        columns,
        None if beside is None else np.asarray(beside, dtype=np.float32),
    )
    groups, units = _belonging(columns, targets)
    distinct = {
        str(g) for g, member in zip(groups or range(outside + inside), targets.members, strict=True) if not member
    }
    return Deal(
        knowledge,
        tables[1],
        ModelTrials(targets.members, groups, parts or {}, units=units),
        pairs=len(shadows.members) if pairs is None else pairs,
        queries=0,
        notes=(
            f"{len(np.unique(shadows.models))} shadow models, {len(np.unique(targets.models))} models attacked",
            *notes,
            *unseen_rates(len(distinct), "texts or users that a model did not learn from"),
        ),
        rows=rows,
    )


def _belonging(columns: Columns, targets: Answered) -> tuple[list[object] | None, list[object] | None]:
    """What each trial is drawn together with, and whose texts in which model it is one of."""
    if targets.owners is None:
        return (columns.numbers(targets.rows, TEXT).tolist() if columns.has(TEXT) else None), None
    units: list[object] = list(zip(map(str, targets.owners), targets.models.tolist(), strict=True))
    sides: dict[object, set[bool]] = {}
    for unit, member in zip(units, targets.members.tolist(), strict=True):
        sides.setdefault(unit, set()).add(member)
    whole = all(len(found) == 1 for found in sides.values())
    return list(targets.owners), units if whole else None


def some_trials(knowledge: ModelKnowledge, rows: IntArray) -> ModelKnowledge:
    """The same adversary with some of its rows."""
    return replace(
        knowledge, vectors=knowledge.vectors[rows], members=knowledge.members[rows], models=knowledge.models[rows]
    )


class MembershipModelGame(PlainGame):
    """Trains classifiers on half of the texts, and asks who can tell which half it was."""

    facts: ClassVar[GameFacts] = GameFacts(
        name="membership-model",
        question="Was this text among those that the model was trained on?",
        metric="balanced_accuracy",
        metric_meaning="share of the texts in the training data that are recognised and share of the others that are "
        "not taken for one, averaged over both (a coin gives 50 %)",
        consequence="Whoever has a text and may ask the model about it can tell whether the model learnt from it: that "
        "somebody's text lies in a training set can itself be a secret.",
        tags=("OWASP LLM02:2025", "MITRE ATLAS AML.T0024.000"),
        evidence=("auc",),
        counts_hits=False,
        gravest="moderate",
        section="training",
        of_columns=True,
        set_by=(("column", "--attribute"),),
        default=False,
    )

    column: str = ""
    answers: Literal["classifier", "texts", "canaries"] = "classifier"
    classifier: Kind = "perceptron"
    pool: Literal["own", "targets"] = "own"
    shadows: int = 16
    models: int = 4
    hidden: int = 200
    epochs: int = 30

    @classmethod
    def for_audit(cls, audited: Audited) -> Iterator[Question | Refused]:
        """One question per column that a classifier could be trained for."""
        if not audited.columns:
            yield Refused("membership-model", "no column to train a classifier for was named (--attribute COLUMN)")
        for column in audited.columns:
            yield Question(cls(column=column, **audited.given("membership-model")))

    @staticmethod
    def claim(found: Figures) -> str:
        """What the adversary can do, in words."""
        told, alarms = found.secondary.get("found"), found.secondary.get("false_alarms")
        learnt = f"a classifier of '{found.subject}'" if found.subject else "the model"
        if told is None or alarms is None:
            return f"can tell whether {learnt} learnt from a text ({found.estimate.value:.0%} right)"
        return (
            f"can recognise {told.value:.0%} of the texts that {learnt} learnt from, taking {alarms.value:.1%} of the "
            "others for one of them"
        )

    @property
    def subject(self) -> str | None:
        """The column."""
        return self.column or None

    def deal(self, material: Material) -> Deal[ModelKnowledge, ModelTrials]:
        """Train classifiers on halves of either side's texts, and ask them."""
        from unembed.games.membership_model_deal import deal_in_audit

        return deal_in_audit(self, material)

    def judge(self, truth: ModelTrials, guess: InOrOutGuess, seed: int) -> Scores:
        """Balanced accuracy; advantage, curves and whole users beside it."""
        scores = judged(truth, guess, seed)
        if truth.units is None:
            return scores
        units = truth.units

        def work_out() -> Detail:
            return Detail(scores.secondary | _of_users(units, truth, guess, seed), scores.slices)

        return replace(scores, work_out=work_out)

    def prior_guess(self, knowledge: ModelKnowledge, n: int) -> InOrOutGuess:
        """Nothing is in."""
        return InOrOutGuess.nobody(n)

    def some_pairs(self, knowledge: ModelKnowledge, kept: IntArray) -> ModelKnowledge:
        """The same adversary with some of its rows."""
        return some_trials(knowledge, kept)

    def rehearsal(self, knowledge: ModelKnowledge, seed: int) -> tuple[ModelKnowledge, Vectors, ModelTrials]:
        """A third of the shadow models is attacked with the rest; of one or two models, a third of their answers."""
        models = np.unique(knowledge.models)
        if len(knowledge.models) < 3 * FEWEST_TRIALS:
            raise CannotMeasureError(f"{len(knowledge.models)} answers of shadow models are too few to rehearse with")
        if len(models) >= FEWEST_SHADOWS:
            held = generator(seed, "held back").permutation(models)[: len(models) // 3]
            asked = np.isin(knowledge.models, held)
        else:
            asked = np.isin(np.arange(len(knowledge.models)), hold_back(len(knowledge.models), seed)[0])
        truth = ModelTrials(knowledge.members[asked])
        return some_trials(knowledge, np.flatnonzero(~asked)), knowledge.vectors[np.flatnonzero(asked)], truth

    def examples(self, truth: ModelTrials, guess: InOrOutGuess, rows: Sequence[int]) -> list[Example]:
        """Learnt from or not, and what was said."""
        names = ("not learnt from", "learnt from")
        return [Example(int(r), [names[int(truth.inside[r])]], [names[int(guess.said[r] >= 0.5)]]) for r in rows]


def _of_users(units: Sequence[object], truth: ModelTrials, guess: InOrOutGuess, seed: int) -> dict[str, Estimate]:
    """Whole users: in where most of their texts are said to be (Corò 3.3); curves by the mean of the scores."""
    names = list(dict.fromkeys(units))
    place = {unit: number for number, unit in enumerate(names)}
    labels = np.array([place[unit] for unit in units], dtype=np.int64)
    texts = np.bincount(labels, minlength=len(names))

    def share(values: NDArray[np.generic]) -> FloatArray:
        return np.asarray(
            np.bincount(labels, weights=np.asarray(values, dtype=np.float64), minlength=len(names)) / texts
        )

    inside = share(truth.inside) > 0.5
    vote = InOrOutGuess(share(guess.scores), (share(guess.said) > 0.5).astype(np.float64))
    owners = [unit[0] if isinstance(unit, tuple) else unit for unit in names]
    found = estimates_of({"balanced_accuracy": Measure(counts(vote.said, inside), halves)}, groups=owners)
    found |= figures(vote, inside, owners, generator(seed, "membership", "users"))
    return {f"users_{name}": estimate for name, estimate in found.items()}
