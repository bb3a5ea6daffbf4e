"""The security experiments of Mahloujifar (Figures 1 and 2) with any trainer, on any texts, for any adversary.

The challenger trains models on samples of its pool, each with the data of half of the users asked about; the adversary
trains its own on samples of another pool, of the same kind or of another (3.3), and knows whose data it put into them.
Both are asked the same of every user. What comes out is a deal of the game of a user's membership, which any of its
attacks can play.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unembed.artifacts.keeping import Artifacts
from unembed.games.base import Deal, IntArray
from unembed.games.in_or_out import Trials
from unembed.games.membership_user import UserColumns, UserKnowledge, dealt
from unembed.metrics.spread import FloatArray
from unembed.seeds import seed_for
from unembed.shadows.base import TokenCorpus, Trainer
from unembed.shadows.keeping import Told, trained
from unembed.shadows.sampling import Samples, draw_halves, draw_samples
from unembed.shadows.signals import Asked, Frequencies, answered, asked_of


@dataclass(frozen=True)
class UserTrials:
    """Whose data are asked about, beside which other texts, and how many models either side trains.

    ``users`` are rows of the corpus for each user; ``pool`` holds the other texts of the models under attack,
    ``shadow_pool`` those of the adversary's, either all in one or by user, to be drawn as a whole. Without a ``pool``
    models learn from half of the users and nothing else (Figure 2). ``share`` of a user's data is used where they are
    in; the adversary does the same. ``again`` draws the adversary's texts with replacement, where they are few.
    """

    corpus: TokenCorpus
    users: Sequence[IntArray]
    pool: IntArray | Sequence[IntArray] | None
    shadow_pool: IntArray | Sequence[IntArray]
    size: int
    shadows: int
    models: int
    share: float = 1.0
    again: bool = False
    seed: int = 0

    @cached_property
    def shadow_samples(self) -> Samples:
        """What the adversary's models learn from."""
        return draw_samples(
            self.shadow_pool,
            self.users,
            size=self.size,
            models=self.shadows,
            seed=seed_for(self.seed, "shadows"),
            share=self.share,
            again=self.again,
        )

    @cached_property
    def samples(self) -> Samples:
        """What the models under attack learn from."""
        own = seed_for(self.seed, "targets")
        if self.pool is None:
            return draw_halves(self.users, models=self.models, seed=own, share=self.share)
        return draw_samples(self.pool, self.users, size=self.size, models=self.models, seed=own, share=self.share)

    def seeds(self, side: str) -> list[int]:
        """What the models of a side are trained with."""
        count = self.shadows if side == "shadows" else self.models
        return [seed_for(self.seed, side, "model", number) for number in range(count)]

    def asked(self, min_count: int, reach: int) -> list[Asked]:
        """What is asked about each user: pairs of words that nearly all of the adversary's models know."""
        frequencies = Frequencies.of(self.corpus, self.shadow_samples.rows, min_count)
        return [asked_of(self.corpus, rows, frequencies, reach) for rows in self.users]

    def answers(
        self,
        trainer: Trainer,
        shadow_trainer: Trainer | None = None,
        *,
        min_count: int = 20,
        reach: int = 1,
        keep: Artifacts | None = None,
        jobs: int | None = None,
        told: Told | None = None,
    ) -> Answers:
        """Train both sides and ask every model about every user."""
        asked = self.asked(min_count, reach)
        both = []
        for side, teacher, samples in (
            ("shadows", shadow_trainer or trainer, self.shadow_samples),
            ("targets", trainer, self.samples),
        ):
            tables = trained(teacher, self.corpus, samples.rows, self.seeds(side), keep=keep, jobs=jobs, told=told)
            both.append(by_user([[answered(table, one) for one in asked] for table in tables], len(asked)))
        return Answers(asked, *both)

    def deal(
        self, answers: Answers, users: Sequence[int] | None = None, parts: Mapping[str, Sequence[str]] | None = None
    ) -> Deal[UserKnowledge, Trials]:
        """The game about all users or some; of whom nothing can be asked is said in the notes, not scored as out."""
        chosen = list(range(len(self.users)) if users is None else users)
        return dealt(
            columns_of([answers.asked[user] for user in chosen], chosen),
            [answers.shadows[user] for user in chosen],
            self.shadow_samples.members[:, chosen],
            [answers.models[user] for user in chosen],
            self.samples.members[:, chosen],
            parts=parts,
        )


@dataclass(frozen=True)
class Answers:
    """What is asked about each user, and what the adversary's models and those under attack answer: a row per model."""

    asked: Sequence[Asked]
    shadows: Sequence[FloatArray]
    models: Sequence[FloatArray]


def columns_of(asked: Sequence[Asked], numbers: Sequence[int] | None = None) -> list[UserColumns]:
    """What is asked about each user, and the user's number as a name."""
    known = range(len(asked)) if numbers is None else numbers
    return [UserColumns(f"user {number}", one.width, one) for number, one in zip(known, asked, strict=True)]


def by_user(answers: Sequence[Sequence[FloatArray]], users: int) -> list[FloatArray]:
    """What every model answers about every user, as a row per model for each user."""
    return [np.stack([of_model[user] for of_model in answers]) for user in range(users)]
