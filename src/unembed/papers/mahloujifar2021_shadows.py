"""Mahloujifar et al. 2021, Figures 3 to 5: whose mails were word vectors learnt from? (section 3)

One set of models serves all users: each user's mails are in half of them, whatever the other users' are. Shadow models
and models under attack draw their other mails from different halves of the corpus, as in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from unembed.artifacts.keeping import Artifacts
from unembed.corpora.corpus import Corpus
from unembed.games.base import Deal
from unembed.games.in_or_out import Trials
from unembed.games.membership_user import MembershipUserGame, UserKnowledge, some_models
from unembed.games.membership_user_trials import Answers, UserTrials
from unembed.metrics.estimate import mean
from unembed.papers.base import Conditions, Measured, by_size
from unembed.papers.datasets import read
from unembed.papers.library import facts_of
from unembed.papers.tables import HEADLINE, AttackSpec, Names, Row, Table, played, setting
from unembed.seeds import generator, seed_for
from unembed.shadows.base import Settings, TokenCorpus, Trainer

LASSO = AttackSpec("LASSO", "membership/shadow-lasso", {})
OURS = AttackSpec("ours", "membership/shadow-likelihood", {})
NAMES: Names = {
    HEADLINE: "accuracy",
    "advantage": "advantage",
    "auc": "AUC",
    "found_at_1_percent_false_alarms": "TPR at 1 % FPR",
    "found_at_0.1_percent_false_alarms": "TPR at 0.1 % FPR",
}
#: Shorter mails are no users: they hold no pair of words that could be asked for.
FEWEST_WORDS = 5
#: How far apart words may stand that are asked for, and for how many pairs per user.
REACH = 5


@dataclass(frozen=True)
class Scale:
    """What a size means: mails of a user and how many such users, mails per model, models of either side."""

    users: Mapping[int, int]
    mails: int
    shadows: tuple[int, ...]
    models: int
    min_count: int = 20
    dimension: int = 80
    passes: int = 20
    shares: tuple[float, ...] = (0.25, 0.5, 0.75)

    def settings(self) -> Settings:
        """Of the training."""
        return Settings("skip-gram", self.dimension, passes=self.passes, min_count=self.min_count)


SCALES = by_size(
    Scale({1: 12, 5: 6}, 150, (12, 24), 6, min_count=5, dimension=16, passes=3, shares=(0.5,)),
    Scale({1: 40, 10: 20}, 3_000, (25, 50, 100), 20, shares=(0.5,)),
    Scale({1: 40, 10: 20, 50: 10, 100: 10}, 10_000, (25, 50, 100, 200, 400), 50),
)


class Study:
    """The models of one figure, trained when the first row asks for them, and what they answer about every user."""

    def __init__(self, conditions: Conditions, scale: Scale, mails: Corpus, proxy: Corpus | None, share: float) -> None:
        self.conditions, self.scale, self.mails, self.proxy, self.share = conditions, scale, mails, proxy, share
        self.tokens = TokenCorpus.of([*mails.texts, *([] if proxy is None else proxy.texts)])
        self.sizes = [size for size, users in scale.users.items() for _ in range(users)]

    @cached_property
    def trials(self) -> UserTrials:
        """Users are random mails; the rest of the mails is halved."""
        own = len(self.mails)
        rng = generator(self.conditions.seed, "users")
        long = np.flatnonzero(np.diff(self.tokens.starts)[:own] >= FEWEST_WORDS)
        order = rng.permutation(long)
        cuts = np.cumsum([0, *self.sizes])
        users = [np.sort(order[first:last]) for first, last in pairwise(cuts)]
        rest = rng.permutation(np.setdiff1d(np.arange(own), order[: cuts[-1]]))
        half = len(rest) // 2
        others = rest[half:] if self.proxy is None else np.arange(own, len(self.tokens))
        return UserTrials(
            self.tokens,
            users,
            rest[:half],
            others,
            size=self.scale.mails,
            shadows=max(self.scale.shadows),
            models=self.scale.models,
            share=self.share,
            seed=seed_for(self.conditions.seed, "trials"),
        )

    @cached_property
    def answers(self) -> Answers:
        """What all models answer about every user."""
        folder, tell = self.conditions.folder, self.conditions.progress
        return self.trials.answers(
            trainer_for(self.conditions, self.scale.settings()),
            min_count=self.scale.min_count,
            reach=REACH,
            keep=None if folder is None else Artifacts(folder / "models"),
            jobs=self.conditions.threads,
            told=None if tell is None else lambda done, total: tell("models", done, total),
        )

    def deal(self, size: int, shadows: int) -> Deal[UserKnowledge, Trials]:
        """The users of one size, with some of the shadow models."""
        deal = self.trials.deal(self.answers, [number for number, own in enumerate(self.sizes) if own == size])
        return replace(deal, knowledge=some_models(deal.knowledge, np.arange(shadows)))

    @property
    def identity(self) -> dict[str, Any]:
        """Texts, users and training."""
        return {
            "mails": self.mails.fingerprint,
            "proxy": None if self.proxy is None else self.proxy.fingerprint,
            "scale": vars(self.scale),
            "share": self.share,
            "reach": REACH,
        }

    def row(self, spec: AttackSpec, size: int, shadows: int, *, over_share: bool = False) -> Row:
        """One attack on the users of one size: a point of a curve over the shadow models, or over what is used."""
        who, part = mails_of(size), [f"{self.share:.0%} of them used"] if over_share else []
        return played(
            self.conditions,
            spec,
            MembershipUserGame(),
            lambda: self.deal(size, shadows),
            setting(spec.title, who, *part, f"{shadows} shadow models"),
            NAMES,
            {**self.identity, "mails per user": size, "shadows": shadows},
            seeds=(spec.name, size, shadows),
            series=setting(spec.title, who),
            x=self.share if over_share else float(shadows),
        )

    def texts_alone(self) -> Row:
        """Somebody who reads the mails and knows whose the shadow models hold, but asks no model: at chance."""
        return Row("the mails alone, no model", self.identity, self._texts_alone)

    def _texts_alone(self) -> list[Measured]:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression

        texts = [" ".join(self.mails.texts[int(row)] for row in user) for user in self.trials.users]
        seen = TfidfVectorizer(min_df=2).fit_transform(texts)
        of_shadows, of_models = self.trials.shadow_samples.members, self.trials.samples.members
        rows = np.tile(np.arange(len(texts)), len(of_shadows))
        said = LogisticRegression().fit(seen[rows], of_shadows.ravel()).predict(seen)
        users = np.tile(np.arange(len(texts)), len(of_models)).tolist()
        right = mean((of_models == said).ravel(), groups=users)
        return [Measured.of("the mails alone, no model", "accuracy", right, floor=0.5)]

    def notes(self) -> tuple[str, ...]:
        """Who is asked about, and what models learn from."""
        users = ", ".join(f"{count} with {mails_of(size)}" for size, count in self.scale.users.items())
        beside = self.mails.name if self.proxy is None else self.proxy.name
        return (
            f"users: {users}; every user is in half of the models",
            f"{self.scale.mails:,} mails per model; {self.scale.models} models under attack draw theirs from one half "
            f"of {len(self.mails):,} of {self.mails.name}, shadow models from "
            + ("the other half" if self.proxy is None else f"{len(self.proxy):,} of {beside}"),
        )


class Figure3(Table):
    """Accuracy over the number of shadow models, by how many mails a user has."""

    facts = facts_of("mahloujifar2021/figure3")
    known: ClassVar[tuple[str, ...]] = ("word2vec",)
    encoders = by_size(known, known, known)

    def rows(self, conditions: Conditions, encoders: Sequence[str]) -> tuple[list[Row], Sequence[str]]:
        """Both attacks on the same models."""
        study = Study(conditions, SCALES[conditions.size], enron(conditions), None, 1.0)
        return [*_over_shadows(study), study.texts_alone()], study.notes()


class Figure4(Table):
    """The same with shadow models of another corpus."""

    facts = facts_of("mahloujifar2021/figure4")
    known: ClassVar[tuple[str, ...]] = ("word2vec",)
    encoders = by_size(known, known, known)

    def rows(self, conditions: Conditions, encoders: Sequence[str]) -> tuple[list[Row], Sequence[str]]:
        """Both attacks on the models of Figure 3."""
        study = Study(conditions, SCALES[conditions.size], enron(conditions), clinton(conditions), 1.0)
        return _over_shadows(study), study.notes()


class Figure5(Table):
    """The same where only a part of a user's mails is trained on, and the adversary knows that."""

    facts = facts_of("mahloujifar2021/figure5")
    known: ClassVar[tuple[str, ...]] = ("word2vec",)
    encoders = by_size(known, known, known)

    def rows(self, conditions: Conditions, encoders: Sequence[str]) -> tuple[list[Row], Sequence[str]]:
        """Both attacks, half as many shadow models as in Figure 3; a user of one mail has no part."""
        scale = SCALES[conditions.size]
        users = {size: count for size, count in scale.users.items() if size > 1}
        fewer = replace(scale, users=users, shadows=(scale.shadows[-2],), models=max(6, scale.models // 2))
        mails = enron(conditions)
        rows: list[Row] = []
        for share in scale.shares:
            study = Study(conditions, fewer, mails, None, share)
            for spec in (LASSO, OURS):
                rows += [study.row(spec, size, fewer.shadows[0], over_share=True) for size in users]
        return rows, study.notes()


def _over_shadows(study: Study) -> list[Row]:
    return [
        study.row(spec, size, shadows)
        for size in study.scale.users
        for spec in (LASSO, OURS)
        for shadows in study.scale.shadows
    ]


def mails_of(size: int) -> str:
    """How many mails, in words."""
    return "1 mail" if size == 1 else f"{size} mails"


def trainer_for(conditions: Conditions, settings: Settings) -> Trainer:
    """Many at once where there is a GPU, else the compiled one."""
    from unembed.nn.device import pick_device
    from unembed.shadows.batched import Batched
    from unembed.shadows.compiled import Compiled

    if pick_device(conditions.device).type == "cuda":
        return Batched(settings, device=conditions.device)
    return Compiled(settings)


def enron(conditions: Conditions) -> Corpus:
    """The mails under attack, and those of the same kind."""
    return _invented(conditions, 0) if conditions.size == "smoke" else read(conditions, "enron_emails", "text")


def clinton(conditions: Conditions) -> Corpus:
    """Mails of other people, in the place of Avocado's."""
    return _invented(conditions, 1) if conditions.size == "smoke" else read(conditions, "clinton_emails", "text")


def _invented(conditions: Conditions, other: int) -> Corpus:
    from unembed.corpora.generators.messages import generate_messages

    return generate_messages(500, seed=conditions.seed + other)
