"""The game of a user's membership through a classifier: models of word vectors are trained, and only labels are seen.

On top of every model stands a classifier of texts (Mahloujifar 4.1, step 7), trained on texts of its own or on those
that the word vectors learnt from (4.2). The adversary does the same with its models, sees which pairs of words tell
whose data they learnt from (Algorithm 1), and asks all classifiers for the labels of documents with these words
appended (Algorithm 3). What comes out are deals of the game, one for every choice of users.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unembed.artifacts.keeping import Artifacts
from unembed.errors import CannotMeasureError
from unembed.games.base import Deal, IntArray
from unembed.games.in_or_out import Trials
from unembed.games.membership_user import UserColumns, UserKnowledge, dealt
from unembed.games.membership_user_trials import Answers, UserTrials, by_user, columns_of
from unembed.metrics.spread import FloatArray
from unembed.seeds import generator, seed_for
from unembed.shadows.base import Trainer, WordTable
from unembed.shadows.keeping import Told, trained
from unembed.shadows.label_queries import APPENDED, LabelClassifier, ReadTexts, taught, word_counts
from unembed.shadows.signals import Asked, answered

#: Which of the asked pairs tell most: of the distances in the adversary's models, and which of them are members.
Choose: TypeAlias = Callable[[UserColumns, FloatArray, NDArray[np.bool_]], IntArray]
Side: TypeAlias = Literal["shadows", "targets"]


@dataclass(frozen=True)
class Labelled:
    """What classifiers learn from: labelled texts, and the label of every text of the corpus.

    ``rows`` are public: those under attack and the adversary's each learn from ``each`` of them, half of either label.
    Without ``rows`` a classifier learns from all texts that its word vectors learnt from. ``documents`` are those that
    words are appended to; from ``held_out`` nothing learns.
    """

    labels: NDArray[np.bool_]
    documents: IntArray
    held_out: IntArray
    rows: IntArray | None = None
    each: int = 5_000

    def drawn(self, own: IntArray, seed: int) -> IntArray:
        """What one classifier learns from; ``own`` are the texts of its word vectors."""
        if self.rows is None:
            return own
        kinds = (self.rows[self.labels[self.rows] == kind] for kind in (False, True))
        halves = [generator(seed, number).permutation(half) for number, half in enumerate(kinds)]
        count = min(self.each // 2, *(len(half) for half in halves))
        return np.concatenate([half[:count] for half in halves])


@dataclass(frozen=True)
class Asking:
    """What a side's models have to say: distances of words for the adversary, and the classifiers on top of them.

    ``documents`` are those that words are appended to, as each classifier reads them; ``right`` is its share of right
    labels on the texts that it learnt from, and on held-out ones.
    """

    distances: list[FloatArray]
    classifiers: list[LabelClassifier]
    right: FloatArray
    documents: list[ReadTexts]

    @property
    def readers(self) -> list[tuple[LabelClassifier, ReadTexts]]:
        """Each classifier with the documents as it reads them."""
        return list(zip(self.classifiers, self.documents, strict=True))


@dataclass(frozen=True)
class LabelTrials:
    """Models of both sides with classifiers on top, and what these answer about each user."""

    trials: UserTrials
    labelled: Labelled
    trainer: Trainer
    choose: Choose
    min_count: int = 20
    appended: int = APPENDED
    keep: Artifacts | None = None
    jobs: int | None = None
    told: Told | None = field(default=None, compare=False)

    @cached_property
    def asked(self) -> list[Asked]:
        """The pairs of words whose distances tell the adversary which words to append."""
        return self.trials.asked(self.min_count, 1)

    @cached_property
    def columns(self) -> list[UserColumns]:
        """Pairs of words that stand side by side in each user's data."""
        return columns_of(self.asked)

    @cached_property
    def shadows(self) -> Asking:
        """What the adversary's own models answer."""
        return self._asking("shadows")

    @cached_property
    def targets(self) -> Asking:
        """What the models under attack would answer if they could be asked."""
        return self._asking("targets")

    @cached_property
    def words(self) -> list[IntArray]:
        """The words that are appended, for each user: those of the chosen pairs (W of Algorithm 1)."""
        members = self.trials.shadow_samples.members
        return [
            np.unique(asked.words[asked.pairs[self.choose(column, self.shadows.distances[user], members[:, user])]])
            for user, (asked, column) in enumerate(zip(self.asked, self.columns, strict=True))
        ]

    def deal(self, users: Sequence[int] | None = None) -> Deal[UserKnowledge, Trials]:
        """What classifiers answer about some users; queries that all of the adversary's answer alike are not made."""
        chosen = list(range(len(self.trials.users)) if users is None else users)
        both: dict[Side, list[NDArray[np.int8]]] = {"shadows": [], "targets": []}
        columns = []
        for user in chosen:
            known, asked = (self._answers(side, user) for side in (self.shadows, self.targets))
            told = (known != known[0]).any(axis=0)
            both["shadows"].append(known[:, told])
            both["targets"].append(asked[:, told])
            columns.append(UserColumns(self.columns[user].name, int(told.sum())))
        inside = [side.members[:, chosen] for side in (self.trials.shadow_samples, self.trials.samples)]
        return dealt(columns, both["shadows"], inside[0], both["targets"], inside[1])

    def shifts(self, users: Sequence[int]) -> Deal[UserKnowledge, Trials]:
        """How far every word of some users, not the chosen ones alone, moves the labels of the documents."""
        words = [self.asked[user].words for user in users]
        both = [
            [np.stack([reader.shifts(read, own, self.appended) for reader, read in side.readers]) for own in words]
            for side in (self.shadows, self.targets)
        ]
        columns = [UserColumns(self.columns[user].name, len(own)) for user, own in zip(users, words, strict=True)]
        inside = [side.members[:, list(users)] for side in (self.trials.shadow_samples, self.trials.samples)]
        made = dealt(columns, both[0], inside[0], both[1], inside[1])
        queries = len(self.labelled.documents) * (1 + self.appended * max(len(own) for own in words))
        return replace(made, queries=queries)

    def distances(self, users: Sequence[int]) -> Deal[UserKnowledge, Trials]:
        """The same models asked for their word vectors, which this adversary can't see: to compare with."""
        return self.trials.deal(Answers(self.asked, self.shadows.distances, self.targets.distances), users)

    def _answers(self, side: Asking, user: int) -> NDArray[np.int8]:
        return np.stack([own.answers(read, self.words[user], self.appended) for own, read in side.readers])

    def _asking(self, side: Side) -> Asking:
        from joblib import Parallel, delayed

        trials, labelled = self.trials, self.labelled
        samples = trials.shadow_samples if side == "shadows" else trials.samples
        tables = list(
            trained(
                self.trainer,
                trials.corpus,
                samples.rows,
                trials.seeds(side),
                keep=self.keep,
                jobs=self.jobs,
                told=self.told,
            )
        )
        if not tables:
            raise CannotMeasureError("no model was trained: there is no classifier to ask")
        unseen, documents = (word_counts(trials.corpus, rows) for rows in (labelled.held_out, labelled.documents))

        def build(number: int, table: WordTable) -> tuple[list[FloatArray], LabelClassifier, list[float], ReadTexts]:
            seed = seed_for(trials.seed, side, "classifier", number)
            rows = labelled.drawn(samples.rows[number], seed)
            counts = word_counts(trials.corpus, rows)
            classifier = taught(table, counts, labelled.labels[rows], seed)
            right = [
                float(np.mean(classifier.labels(classifier.read(own)) == labelled.labels[which]))
                for own, which in ((counts, rows), (unseen, labelled.held_out))
            ]
            return [answered(table, one) for one in self.asked], classifier, right, classifier.read(documents)

        # Threads serve: the machine that learns lets others run beside it.
        built = Parallel(n_jobs=self.jobs, prefer="threads")(delayed(build)(*one) for one in enumerate(tables))
        distances, classifiers, right, read = zip(*built, strict=True)
        return Asking(by_user(distances, len(self.asked)), list(classifiers), np.array(right), list(read))
