"""The game of a user's membership through a language model of which only the likeliest next word is seen.

The challenger trains language models, each on the data of half of the users (Mahloujifar 5.1). The adversary trains no
language model: distances in its models of word vectors say which pairs of words tell whose data were used, and the
language model is asked about pairs (Algorithm 5). So what is known are distances, and what is answered are hits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unembed.artifacts.keeping import Artifacts
from unembed.artifacts.language_models import LanguageModelRecipe
from unembed.games.base import Deal, IntArray
from unembed.games.in_or_out import Trials
from unembed.games.membership_user import NextWordColumns, UserKnowledge, dealt
from unembed.games.membership_user_trials import UserTrials, by_user
from unembed.metrics.spread import FloatArray
from unembed.nn.language_model import LanguageModel
from unembed.shadows.base import Trainer
from unembed.shadows.keeping import Told, trained
from unembed.shadows.next_words import Lexicon, Places, places_of, rare_pairs, that_stand
from unembed.shadows.signals import Asked, answered


@dataclass(frozen=True)
class Spoken:
    """What language models say: for each user the hits, a row per model; and the perplexity of each model.

    ``perplexity`` is that on the data of the users it learnt from, and on those of the others.
    """

    hits: list[FloatArray]
    perplexity: FloatArray


@dataclass(frozen=True)
class WordTrials:
    """Language models under attack, models of word vectors for the adversary, and what both answer about each user.

    ``model`` has the parameters of the language models; ``dictionary`` is what the second baseline leaves out. Models
    of word vectors are kept with ``keep``, language models with ``keep_language``.
    """

    trials: UserTrials
    model: LanguageModel
    lexicon: Lexicon
    trainer: Trainer
    dictionary: frozenset[str] = frozenset()
    min_count: int = 20
    keep: Artifacts | None = None
    keep_language: Artifacts | None = None
    jobs: int | None = None
    told: Told | None = field(default=None, compare=False)

    @cached_property
    def _placed(self) -> list[tuple[Asked, Places]]:
        """The pairs that stand side by side in a sentence of a user, and where."""
        placed = []
        corpus = self.trials.corpus
        for rows, asked in zip(self.trials.users, self.trials.asked(self.min_count, 1), strict=True):
            standing = that_stand(asked, places_of(corpus, rows, asked))
            placed.append((standing, places_of(corpus, rows, standing)))
        return placed

    @cached_property
    def columns(self) -> list[NextWordColumns]:
        """What is asked about each user."""
        return [
            NextWordColumns(
                f"user {number}", len(asked.pairs), asked, rare_pairs(self.trials.corpus, asked, self.dictionary)
            )
            for number, (asked, _) in enumerate(self._placed)
        ]

    @cached_property
    def distances(self) -> list[FloatArray]:
        """How far apart the adversary's models put the words of each pair."""
        tables = trained(
            self.trainer,
            self.trials.corpus,
            self.trials.shadow_samples.rows,
            self.trials.seeds("shadows"),
            keep=self.keep,
            jobs=self.jobs,
            told=self.told,
        )
        asked = [one for one, _ in self._placed]
        return by_user([[answered(table, one)[: len(one.pairs)] for one in asked] for table in tables], len(asked))

    @cached_property
    def spoken(self) -> Spoken:
        """What the language models say after each word of each user's sentences, and how well they speak."""
        corpus, lexicon, samples = self.trials.corpus, self.lexicon, self.trials.samples
        texts = [lexicon.sequences(corpus, rows) for rows in self.trials.users]
        hits, perplexity = [], []
        for rows, members, seed in zip(samples.rows, samples.members, self.trials.seeds("targets"), strict=True):
            model = self._trained(lexicon.sequences(corpus, rows), seed)
            hits.append([self._hits(model, user, own) for user, own in enumerate(texts)])
            sides = ([s for user in np.flatnonzero(side) for s in texts[user]] for side in (members, ~members))
            perplexity.append([model.perplexity(side) for side in sides])
        return Spoken(by_user(hits, len(texts)), np.array(perplexity))

    def deal(self) -> Deal[UserKnowledge, Trials]:
        """Distances in the adversary's models, and hits in those under attack; a query for each place of a pair."""
        trials = self.trials
        made = dealt(
            self.columns, self.distances, trials.shadow_samples.members, self.spoken.hits, trials.samples.members
        )
        return replace(made, queries=max(len(places.pair) for _, places in self._placed))

    def _trained(self, sequences: Sequence[IntArray], seed: int) -> LanguageModel:
        model = type(self.model)(**{**self.model.get_params(), "vocabulary": len(self.lexicon), "seed": seed})
        recipe = LanguageModelRecipe(model, sequences)
        return recipe.make(Path()) if self.keep_language is None else self.keep_language.get(recipe)

    def _hits(self, model: LanguageModel, user: int, texts: list[IntArray]) -> NDArray[np.float64]:
        asked, places = self._placed[user]
        return places.hits(model.next_words(texts), texts, self.lexicon.others, len(asked.pairs))
