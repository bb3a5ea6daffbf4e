"""Mahloujifar 2021, Tables 4 and 5: a user's membership through a language model's likeliest next word (section 5).

A language model learns from half of the users in each run. The adversary trains word vectors alone, on the texts of
other users, to choose pairs of words; both baselines of the paper ask about other pairs of the same models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from unembed.artifacts.keeping import Artifacts
from unembed.corpora.words import build_vocabulary
from unembed.encoders.cache import default_cache_folder
from unembed.errors import CannotMeasureError
from unembed.games.in_or_out import unseen_rates
from unembed.games.membership_user import MembershipUserGame
from unembed.games.membership_user_trials import UserTrials
from unembed.games.membership_user_words import WordTrials
from unembed.games.play import Play
from unembed.metrics.estimate import Estimate, estimate_of, mean, ratio
from unembed.nn.language_model import LanguageModel
from unembed.papers.base import Conditions, Measured, by_size
from unembed.papers.datasets import read
from unembed.papers.library import facts_of
from unembed.papers.mahloujifar2021_labels import NAMES
from unembed.papers.mahloujifar2021_shadows import trainer_for
from unembed.papers.mahloujifar2021_texts import Writings, invented, mails, sentences_of
from unembed.papers.tables import AttackSpec, Row, Table, played
from unembed.seeds import generator
from unembed.shadows.base import IntArray, Settings, TokenCorpus
from unembed.shadows.keeping import digest_of_corpus
from unembed.shadows.next_words import Lexicon

ATTACKS = (
    AttackSpec("our attack", "membership/next-word", {}),
    AttackSpec("baseline 1", "membership/next-word", {"pairs": "all"}),
    AttackSpec("baseline 2", "membership/next-word", {"pairs": "rare"}),
)
#: Writers of fewer mails are no users.
FEWEST_MAILS = 10
MODEL = "2-layer LSTM"


@dataclass(frozen=True)
class Scale:
    """What a size means: users of either side, sentences of each at the most, models, and how these learn.

    ``least`` is how often a word must be there for the language models to tell it from others, ``listed`` how often in
    public text to be in its dictionary.
    """

    users: int
    sentences: int
    shadows: int
    runs: int
    units: int
    epochs: int
    batch: int = 64
    rate: float = 1e-3
    least: int = 3
    listed: int = 5
    settings: Settings = field(default_factory=lambda: Settings(min_count=5))


#: At size small a narrower model learns as much in fewer, smaller steps, which suits a processor without a GPU.
SCALES = by_size(
    Scale(8, 12, 10, 2, 8, 2, least=2, listed=2, settings=Settings(dimension=10, passes=2, min_count=3)),
    Scale(100, 200, 100, 2, 128, 8, batch=16, rate=2e-3),
    Scale(100, 1000, 500, 5, 500, 20),
)


class Study:
    """The models of both tables, trained when the first row asks for them."""

    def __init__(self, conditions: Conditions) -> None:
        self.conditions = conditions
        self.scale = SCALES[conditions.size]

    @cached_property
    def trials(self) -> UserTrials:
        """Users asked about, and those whose texts the adversary's word vectors learn from beside theirs."""
        smoke = self.conditions.size == "smoke"
        mail = invented(self.conditions, 400, 20) if smoke else mails(self.conditions)
        texts, users = _users(mail, self.scale, self.conditions.seed)
        corpus = TokenCorpus.of(texts)
        return UserTrials(
            corpus,
            users[: self.scale.users],
            None,
            np.concatenate(users[self.scale.users :]),
            size=1 + sum(len(rows) for rows in users[: self.scale.users]),
            shadows=self.scale.shadows,
            models=self.scale.runs,
            again=True,
            seed=self.conditions.seed,
        )

    @cached_property
    def models(self) -> WordTrials:
        """Language models are kept beside fitted encoders, since both tables need them; word vectors with the run."""
        scale, conditions, tell = self.scale, self.conditions, self.conditions.progress
        language = LanguageModel(
            vocabulary=1,
            units=scale.units,
            embedding=scale.units,
            epochs=scale.epochs,
            batch_size=scale.batch,
            learning_rate=scale.rate,
            device=conditions.device,
        )
        public = build_vocabulary(self.public, size=len(self.public), min_count=self.scale.listed).words
        return WordTrials(
            self.trials,
            language,
            Lexicon.of(self.trials.corpus, scale.least),
            trainer_for(conditions, scale.settings),
            frozenset(public),
            min_count=scale.settings.min_count,
            keep=None if conditions.folder is None else Artifacts(conditions.folder / "models"),
            keep_language=Artifacts(default_cache_folder() / "fitted"),
            jobs=conditions.threads,
            told=None if tell is None else partial(tell, "models"),
        )

    @cached_property
    def public(self) -> list[str]:
        """Public text: its words are the dictionary of the second baseline."""
        if self.conditions.size == "smoke":
            return invented(self.conditions, 200, 10).texts
        return read(self.conditions, "wikipedia_sentences", "sentence").texts

    @property
    def identity(self) -> dict[str, Any]:
        """Texts and models."""
        return {
            "data": digest_of_corpus(self.trials.corpus),
            "scale": {**vars(self.scale), "settings": vars(self.scale.settings)},
        }

    def row(self, spec: AttackSpec) -> Row:
        """One attack on all runs."""
        return played(
            self.conditions,
            spec,
            MembershipUserGame(),
            lambda: self.models.deal(),
            spec.title,
            {**NAMES, "headline": "accuracy", "found": "recall"},
            self.identity,
            also=_precision,
        )

    def spoken(self) -> Row:
        """How well the language models speak."""

        def measure() -> list[Measured]:
            found = self.models.spoken.perplexity.T
            parts = ("train perplexity", "test perplexity")
            return [Measured.of(MODEL, part, mean(values)) for part, values in zip(parts, found, strict=True)]

        return Row(MODEL, self.identity, measure)

    @property
    def notes(self) -> list[str]:
        """How much of everything there is."""
        scale = self.scale
        sizes = [len(rows) for rows in self.trials.users]
        outside = int((~self.trials.samples.members).any(axis=0).sum())
        return [
            f"{scale.users} users asked about, with {np.mean(sizes):.0f} sentences on average and {max(sizes)} at the "
            f"most; the adversary's {scale.shadows} models draw from those of as many others",
            f"{scale.runs} runs; {MODEL} of {scale.units} units, {scale.epochs} epochs",
            *unseen_rates(outside, "users who are outside in some run"),
        ]


def _users(mail: Writings, scale: Scale, seed: int) -> tuple[list[str], list[IntArray]]:
    """Sentences of random writers, and which are whose."""
    rng = generator(seed, "mahloujifar2021", "words")
    own = [rows for rows in mail.by_writer(np.flatnonzero(~mail.spam)).values() if len(rows) >= FEWEST_MAILS]
    texts: list[str] = []
    users = []
    if len(own) < 2 * scale.users:
        raise CannotMeasureError(
            f"{len(own)} people have written {FEWEST_MAILS} mails or more, and {2 * scale.users} are needed"
        )
    for number in rng.permutation(len(own))[: 2 * scale.users]:
        found = sentences_of([mail.texts[int(row)] for row in own[int(number)]])[: scale.sentences]
        users.append(np.arange(len(texts), len(texts) + len(found)))
        texts += found
    return texts, users


def _precision(shown: Play) -> Mapping[str, Estimate]:
    """Of those said to be members, how many are; from the rows of ``games.in_or_out.counts``."""
    right, _, passed, outside = shown.scores.parts.T
    parts = np.stack([right, right + outside - passed], axis=1)
    return {"precision": estimate_of(parts, ratio, groups=shown.scores.groups)}


class Table4(Table):
    """How well the language models under attack speak."""

    facts = facts_of("mahloujifar2021/table4")
    known: ClassVar[tuple[str, ...]] = ("word2vec",)
    encoders = by_size(known, known, known)

    def rows(self, conditions: Conditions, encoders: Sequence[str]) -> tuple[list[Row], Sequence[str]]:
        """Perplexity on the data of users inside and outside."""
        study = Study(conditions)
        return [study.spoken()], study.notes[:2]


class Table5(Table):
    """The published attack beside both baselines."""

    facts = facts_of("mahloujifar2021/table5")
    known: ClassVar[tuple[str, ...]] = ("word2vec",)
    encoders = by_size(known, known, known)

    def rows(self, conditions: Conditions, encoders: Sequence[str]) -> tuple[list[Row], Sequence[str]]:
        """The same trials, asked about other pairs."""
        study = Study(conditions)
        words = f"public dictionary: the words of {len(study.public):,} public texts"
        return [study.row(spec) for spec in ATTACKS], [words, *study.notes]
