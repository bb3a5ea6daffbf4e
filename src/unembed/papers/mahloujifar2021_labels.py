"""Mahloujifar 2021, Tables 1 to 3: a user's membership through the labels of a spam classifier (section 4).

Word vectors are trained with and without the data of the users asked about, a linear support vector machine is trained
on top to tell spam, and the adversary sees its labels alone. In Table 1 the word vectors learn from other data than the
classifier, in Table 2 from the same; Table 3 says how well the classifiers under attack tell spam.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unembed.artifacts.keeping import Artifacts
from unembed.attacks.membership.preparation import chosen_pairs
from unembed.games.in_or_out import RATES, unseen_rates
from unembed.games.membership_user import MembershipUserGame
from unembed.games.membership_user_labels import Labelled, LabelTrials
from unembed.games.membership_user_trials import UserTrials
from unembed.metrics.estimate import mean
from unembed.papers.base import Conditions, Measured, by_size
from unembed.papers.library import facts_of
from unembed.papers.mahloujifar2021_shadows import trainer_for
from unembed.papers.mahloujifar2021_texts import Asked, Writings, invented, mails, posts
from unembed.papers.tables import HEADLINE, AttackSpec, Row, Table, played, setting
from unembed.seeds import generator
from unembed.shadows.base import IntArray, Settings, TokenCorpus
from unembed.shadows.keeping import digest_of_corpus

#: λ of the preparation (4.2).
PENALTY = 0.1
#: Documents that words are appended to (Algorithm 3, step 4).
DOCUMENTS = 100
LABELS = AttackSpec("labels of the classifier", "membership/label-queries", {})
OURS = AttackSpec("ours", "membership/label-shifts", {})
VECTORS = AttackSpec("word vectors themselves", "membership/shadow-lasso", {})
NAMES = {HEADLINE: "attack accuracy", "advantage": "advantage", "auc": "AUC"} | {
    name: f"TPR at {100 * rate:g} % FPR" for rate, name in RATES.items()
}
#: Whether word vectors learn from the same data, and how Table 3 calls the setting.
CLASSIFIERS = ((True, "SVM · Enron"), (False, "SVM · Avocado"))


@dataclass(frozen=True)
class Scale:
    """What a size means: target data sets by their number of sentences, models of either side, texts of each."""

    users: dict[int, int]
    shadows: int
    models: int
    texts: int
    labelled: int
    settings: Settings


_USERS = {10: 100, 100: 30, 1000: 10}
_USUAL = Settings(min_count=5)
SCALES = by_size(
    Scale({5: 3, 20: 3}, 10, 2, 160, 100, Settings(dimension=10, passes=2, min_count=3)),
    Scale(_USERS, 200, 10, 1_800, 10_000, _USUAL),
    Scale(_USERS, 500, 20, 1_800, 10_000, _USUAL),
)


@dataclass(frozen=True)
class World:
    """The texts of one setting, and whose data are asked about: users by their number of sentences."""

    trials: UserTrials
    labelled: Labelled
    users: dict[int, list[int]]


def other_data(people: Writings, mail: Writings, scale: Scale, seed: int) -> World:
    """Word vectors learn from as many posts as 30 people wrote, classifiers from public mails (Tables 1 and 3).

    Of the people who are not asked about a half write what models under attack learn from, a half what the adversary's
    do. A third of the mails tests classifiers.
    """
    rng = generator(seed, "mahloujifar2021", "other data")
    asked = Asked(people, scale.users, rng)
    half = len(asked.others) // 2
    pool, shadow_pool = (
        [asked.add_of(people, rows) for rows in side] for side in (asked.others[:half], asked.others[half:])
    )
    held_out, public = np.split(asked.add_of(mail, rng.permutation(len(mail.texts))), [len(mail.texts) // 3])
    return _world(asked, pool, shadow_pool, scale, seed, held_out, public, public)


def same_data(mail: Writings, scale: Scale, seed: int) -> World:
    """Word vectors and classifiers learn from the same mails, as many of spam as of others (Tables 2 and 3)."""
    rng = generator(seed, "mahloujifar2021", "same data")
    asked = Asked(mail, scale.users, rng)
    ham, spam = np.concatenate(asked.others), rng.permutation(np.flatnonzero(mail.spam))
    count = min(len(ham), len(spam))
    thirds = zip(*(np.array_split(kind[:count], 3) for kind in (ham, spam)), strict=True)
    pool, shadow_pool, held_out = (asked.add_of(mail, np.concatenate(third)) for third in thirds)
    return _world(asked, pool, shadow_pool, scale, seed, held_out, shadow_pool, None)


def _world(
    asked: Asked,
    pool: IntArray | list[IntArray],
    shadow_pool: IntArray | list[IntArray],
    scale: Scale,
    seed: int,
    held_out: IntArray,
    documents: IntArray,
    public: IntArray | None,
) -> World:
    labels = np.array(asked.labels)
    trials = UserTrials(
        TokenCorpus.of(asked.texts),
        asked.rows,
        pool,
        shadow_pool,
        size=scale.texts,
        shadows=scale.shadows,
        models=scale.models,
        seed=seed,
    )
    chosen = generator(seed, "documents").permutation(documents)[:DOCUMENTS]
    labelled = Labelled(labels, chosen, balanced(held_out, labels), public, scale.labelled)
    return World(trials, labelled, asked.users)


def balanced(rows: IntArray, labels: NDArray[np.bool_]) -> IntArray:
    """As many rows of one label as of the other."""
    kinds = [rows[labels[rows] == kind] for kind in (False, True)]
    count = min(len(kind) for kind in kinds)
    return np.concatenate([kind[:count] for kind in kinds])


class Study:
    """All models of one setting, trained when the first row asks for them."""

    def __init__(self, conditions: Conditions, same: bool) -> None:
        self.conditions, self.same = conditions, same
        self.scale = SCALES[conditions.size]
        smoke = conditions.size == "smoke"
        self.mail = invented(conditions, 600, 40) if smoke else mails(conditions)
        self.people = self.mail if smoke or same else posts(conditions)

    @cached_property
    def world(self) -> World:
        """Texts drawn by the seed."""
        seed = self.conditions.seed
        if self.same:
            return same_data(self.mail, self.scale, seed)
        return other_data(self.people, self.mail, self.scale, seed)

    @cached_property
    def models(self) -> LabelTrials:
        """Both sides' models, kept in the folder of the run."""
        folder, tell = self.conditions.folder, self.conditions.progress
        return LabelTrials(
            self.world.trials,
            self.world.labelled,
            trainer_for(self.conditions, self.scale.settings),
            partial(chosen_pairs, penalty=PENALTY),
            min_count=self.scale.settings.min_count,
            keep=None if folder is None else Artifacts(folder / "models"),
            jobs=self.conditions.threads,
            told=None if tell is None else partial(tell, "models"),
        )

    @property
    def identity(self) -> dict[str, Any]:
        """Texts, models and classifiers."""
        trials, labelled = self.world.trials, self.world.labelled
        return {
            "data": digest_of_corpus(trials.corpus),
            "models": [trials.shadows, trials.models, trials.size],
            "labelled": [len(labelled.documents), len(labelled.held_out), labelled.each],
            "training": vars(self.scale.settings),
        }

    def rows(self) -> list[Row]:
        """For each number of sentences: through labels, twice, and, to compare with, through the word vectors."""
        found = []
        for sentences, users in self.world.users.items():
            for spec, deal in (
                (LABELS, self.models.deal),
                (OURS, self.models.shifts),
                (VECTORS, self.models.distances),
            ):
                found.append(
                    played(
                        self.conditions,
                        spec,
                        MembershipUserGame(),
                        partial(deal, users),
                        setting(f"{sentences} sentences", *([] if spec is LABELS else [spec.title])),
                        NAMES,
                        {**self.identity, "users": len(users), "penalty": PENALTY},
                        series=spec.title,
                        x=float(sentences),
                    )
                )
        return found

    def classified(self, title: str) -> Row:
        """How many mails the classifiers under attack tell right: of those they learnt from, and of held-out ones."""

        def measure() -> list[Measured]:
            right = self.models.targets.right
            parts = ("accuracy (train)", "accuracy (test)")
            return [Measured.of(title, part, mean(values)) for part, values in zip(parts, right.T, strict=True)]

        return Row(title, self.identity, measure)

    @property
    def notes(self) -> list[str]:
        """How much of everything there is, and which false alarms so few users can't show."""
        trials = self.world.trials
        told = [
            f"{trials.shadows} shadow models and {trials.models} under attack, {trials.size:,} texts each; data sets: "
            + ", ".join(f"{len(users)} of {sentences} sentences" for sentences, users in self.world.users.items())
        ]
        for sentences, users in self.world.users.items():
            told += [f"{sentences} sentences: {note}" for note in unseen_rates(len(users), "users")]
        return told


class Table1(Table):
    """By the number of sentences; word vectors and classifier learn from different data."""

    facts = facts_of("mahloujifar2021/table1")
    same: ClassVar[bool] = False
    known: ClassVar[tuple[str, ...]] = ("word2vec",)
    encoders = by_size(known, known, known)

    def rows(self, conditions: Conditions, encoders: Sequence[str]) -> tuple[list[Row], Sequence[str]]:
        """Labels beside word vectors, for each number of sentences."""
        study = Study(conditions, self.same)
        return study.rows(), study.notes


class Table2(Table1):
    """By the number of sentences; word vectors and classifier learn from the same data."""

    facts = facts_of("mahloujifar2021/table2")
    same = True


class Table3(Table):
    """How well the classifiers under attack tell spam."""

    facts = facts_of("mahloujifar2021/table3")
    known: ClassVar[tuple[str, ...]] = ("word2vec",)
    encoders = by_size(known, known, known)

    def rows(self, conditions: Conditions, encoders: Sequence[str]) -> tuple[list[Row], Sequence[str]]:
        """The classifiers of Table 2, then those of Table 1."""
        studies = [(Study(conditions, same), title) for same, title in CLASSIFIERS]
        return [study.classified(title) for study, title in studies], ()
