"""Corò 2022, section 3.3: what classifiers give away of whose texts they learnt from, by text and by user.

The thesis describes the attacks and quotes others' results. Here they are measured: classifiers of sentence vectors,
half of the users in, against shadow classifiers of other users' texts, and of the same texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from unembed.corpora.corpus import Corpus
from unembed.corpora.duplicates import drop_duplicates, remove_leaks
from unembed.errors import CannotMeasureError
from unembed.games.base import Deal
from unembed.games.in_or_out import InOrOutGuess
from unembed.games.membership_model import MembershipModelGame, ModelKnowledge, ModelTrials
from unembed.games.membership_model_trials import ClassifierTrials, Pool, Side
from unembed.metrics.estimate import mean
from unembed.papers.base import Conditions, Measured, by_size
from unembed.papers.coro2022_language import FIGURES
from unembed.papers.datasets import read
from unembed.papers.encoders import RECIPES, Encoders
from unembed.papers.library import facts_of
from unembed.papers.tables import HEADLINE, AttackSpec, Names, Row, Table, played, setting
from unembed.seeds import generator, seed_for
from unembed.shadows.classifiers import ClassifierTrainer, classifier_trainer

FEATURES = {"confidence": "confidence", "rank": "rank", "entropy": "modified entropy"}
THRESHOLDS = tuple(
    AttackSpec(f"threshold per class, {title}", "membership/class-thresholds", {"feature": feature})
    for feature, title in FEATURES.items()
)
CLASSIFIER = AttackSpec("attack model per class", "membership/shadow-classifier", {})
RATIO = AttackSpec("likelihood ratio", "membership/likelihood-ratio", {})
AGGREGATES = AttackSpec("aggregates of users", "membership/user-aggregates", {})
USERS: Names = {
    "users_balanced_accuracy": "balanced accuracy, users",
    **{f"users_{ours}": f"{printed}, users" for ours, printed in FIGURES.items() if ours != HEADLINE},
}
DISJOINT, SAME = "shadow models of other users", "shadow models of the same texts"
POOLS: dict[str, Pool] = {DISJOINT: "own", SAME: "targets"}
#: Of a perceptron that need only show that it runs.
BRIEF = {"epochs": 10, "min_steps": 60}
TEXTS_ALONE = "a classifier that reads the texts alone"


@dataclass(frozen=True)
class Source:
    """Texts with a class and a writer: which file, which columns."""

    title: str
    file: str
    label: str
    writer: str


SOURCES = (
    Source("newsgroups", "news_20newsgroups", "group", "author"),
    Source("blogs", "blog_posts_by_user", "industry", "user_id"),
)


@dataclass(frozen=True)
class Scale:
    """Texts of a writer that are taken, and how many models either side trains."""

    fewest: int
    most: int
    shadows: int
    models: int


SCALES = by_size(Scale(4, 8, 4, 2), Scale(8, 10, 16, 4), Scale(8, 60, 64, 8))


class Section33(Table):
    """Every attack of the section on two collections, and one of ours."""

    facts = facts_of("coro2022/section3.3")
    known: ClassVar[tuple[str, ...]] = ("minilm", "bge", "bert-mean", "tfidf")
    encoders = by_size(("tfidf",), ("minilm",), ("minilm", "bge"))

    def rows(self, conditions: Conditions, encoders: Sequence[str]) -> tuple[list[Row], Sequence[str]]:
        """All attacks on all collections."""
        rows: list[Row] = []
        notes: list[str] = []
        for source in SOURCES[: 1 if conditions.size == "smoke" else None]:
            corpus = _collected(conditions, source)
            for key in encoders:
                study = Study(conditions, source, corpus, key)
                rows += study.rows()
                notes += study.notes
        return rows, notes


class Study:
    """One collection behind one encoder: half of its writers are asked about, the others are the adversary's."""

    def __init__(self, conditions: Conditions, source: Source, corpus: Corpus, key: str) -> None:
        self.conditions, self.source, self.key = conditions, source, key
        self.scale = SCALES[conditions.size]
        writers = list(dict.fromkeys(corpus.column("writer")))
        order = generator(conditions.seed, "writers", source.title).permutation(len(writers))
        asked = {writers[int(i)] for i in order[: len(writers) // 2]}
        inside = [writer in asked for writer in corpus.column("writer")]
        self.target = corpus.select(np.flatnonzero(inside))
        self.known, leaks = remove_leaks(corpus.select(np.flatnonzero(np.logical_not(inside))), self.target)
        self.classes = sorted(set(corpus.column("label")))
        self.encoders = Encoders(conditions, self.known)
        self.notes = [
            f"{source.title}: {len(self.target):,} texts of {len(asked):,} writers are asked about, the adversary has "
            f"{len(self.known):,} of {len(writers) - len(asked):,} others ({leaks.removed} near-duplicates removed), "
            f"{len(self.classes)} classes"
        ]
        self._deals: dict[tuple[str, str], Deal[ModelKnowledge, ModelTrials]] = {}

    def rows(self) -> list[Row]:
        """The attacks of the thesis and ours; fewer against a linear classifier and with overlapping shadow texts."""
        every = (*THRESHOLDS, CLASSIFIER, RATIO)
        some = (THRESHOLDS[0], CLASSIFIER, RATIO)
        rows = [self._row(spec, DISJOINT, "perceptron") for spec in every]
        rows.append(self._row(AGGREGATES, DISJOINT, "perceptron", users_only=True))
        rows += [self._row(spec, SAME, "perceptron") for spec in some]
        rows += [self._row(spec, DISJOINT, "linear") for spec in some]
        return [*(self._itself(classifier) for classifier in ("perceptron", "linear")), *rows, self._texts_alone()]

    def _row(self, spec: AttackSpec, pool: str, classifier: str, *, users_only: bool = False) -> Row:
        name = setting(spec.title, f"{classifier} on {RECIPES[self.key].title}", self.source.title, pool)
        names = USERS if users_only else {**FIGURES, **USERS}
        identity = self._identity(pool, classifier)
        game = MembershipModelGame()
        seeds = (self.source.title, self.key, pool, classifier)
        return played(
            self.conditions, spec, game, lambda: self._deal(pool, classifier), name, names, identity, seeds=seeds
        )

    def _identity(self, pool: str, classifier: str) -> dict[str, Any]:
        return {
            **self.encoders.identity(self.key),
            "classifier": self._trainer(classifier).identity,
            "pool": pool,
            "scale": vars(self.scale),
            "data": f"{self.target.fingerprint[:12]}-{self.known.fingerprint[:12]}",
        }

    def _deal(self, pool: str, classifier: str) -> Deal[ModelKnowledge, ModelTrials]:
        """What the models answer; trained once for all attacks."""
        if (pool, classifier) not in self._deals:
            self._deals[pool, classifier] = ClassifierTrials(
                self._sides[0],
                self._sides[1],
                len(self.classes),
                self.scale.shadows,
                self.scale.models,
                POOLS[pool],
                seed_for(self.conditions.seed, self.source.title),
            ).deal(self._trainer(classifier))
        return self._deals[pool, classifier]

    def _trainer(self, classifier: str) -> ClassifierTrainer:
        brief = self.conditions.size == "smoke" and classifier == "perceptron"
        return classifier_trainer(classifier, **(BRIEF if brief else {}))

    @cached_property
    def _sides(self) -> tuple[Side, Side]:
        index = {label: number for number, label in enumerate(self.classes)}
        sides = []
        for corpus in (self.target, self.known):
            labels = np.array([index[label] for label in corpus.column("label")], dtype=np.int64)
            sides.append(Side(self.encoders.vectors(self.key, corpus), labels, corpus.column("writer")))
        return sides[0], sides[1]

    def _itself(self, classifier: str) -> Row:
        """How often the classifiers under attack are right: what they know by heart shows in the difference."""
        name = setting("the classifier itself", f"{classifier} on {RECIPES[self.key].title}", self.source.title)

        def measure() -> list[Measured]:
            deal = self._deal(DISJOINT, classifier)
            columns, inside = deal.knowledge.columns, deal.truth.inside
            right = columns.probabilities(deal.vectors).argmax(axis=1) == columns.labels(deal.vectors)
            writers = np.asarray(deal.truth.groups)
            return [
                Measured.of(name, metric, mean(right[side], groups=writers[side].tolist()))
                for metric, side in (("right in what it learnt from", inside), ("right in the rest", ~inside))
            ]

        return Row(name, self._identity(DISJOINT, classifier), measure)

    def _texts_alone(self) -> Row:
        """The floor of texts: who never asks the model, but is told of half of the users whether they were in."""
        name = setting(TEXTS_ALONE, RECIPES[self.key].title, self.source.title)

        def measure() -> list[Measured]:
            deal = self._deal(DISJOINT, "perceptron")
            guess = _read_texts(self._sides[0], deal, seed_for(self.conditions.seed, "texts alone"))
            scores = MembershipModelGame().judge(deal.truth, guess, seed_for(self.conditions.seed, name))
            found = {HEADLINE: scores.estimate(), **scores.secondary}
            printed = {**FIGURES, **USERS}
            return [Measured.of(name, printed[ours], found[ours]) for ours in printed if ours in found]

        return Row(name, {**self._identity(DISJOINT, "perceptron"), "parts": "as many members in either"}, measure)


def _read_texts(asked: Side, deal: Deal[ModelKnowledge, ModelTrials], seed: int) -> InOrOutGuess:
    """For each model, users in two parts: who was in is learnt from the texts of one part, and said of the other."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    columns = deal.knowledge.columns
    texts, units = columns.numbers(deal.vectors, "text"), columns.numbers(deal.vectors, "user")
    if deal.truth.units is None:
        raise CannotMeasureError("a user's texts lie on both sides")
    models = units // (int(asked.units.max()) + 1)
    labels = np.eye(columns.classes)[columns.labels(deal.vectors)]
    vectors = asked.vectors[texts]
    rows = np.concatenate([np.asarray(vectors.todense() if hasattr(vectors, "todense") else vectors), labels], axis=1)
    scores = np.zeros(len(texts))
    for model in np.unique(models):
        own = models == model
        rng = generator(seed, "part", int(model))
        # As many members in either part: else more of them in one would mean fewer in the other, and be learnt.
        sides = [rng.permutation(np.unique(units[own & side])) for side in (deal.truth.inside, ~deal.truth.inside)]
        part = np.isin(units, np.concatenate([users[: len(users) // 2] for users in sides]))
        for learnt, said in ((own & part, own & ~part), (own & ~part, own & part)):
            reader = make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=500))
            reader.fit(rows[learnt], deal.truth.inside[learnt])
            scores[said] = reader.decision_function(rows[said])
    return InOrOutGuess(scores, (scores > 0).astype(np.float64))


def _collected(conditions: Conditions, source: Source) -> Corpus:
    """Texts with ``label`` and ``writer``: of every writer with enough of them the first so many."""
    scale = SCALES[conditions.size]
    if conditions.size == "smoke":
        from unembed.corpora.generators.messages import generate_messages

        made = generate_messages(400, authors=60, seed=conditions.seed)
        corpus = Corpus(
            made.texts, made.ids, {"label": made.column("topic"), "writer": made.column("author")}, "invented"
        )
    else:
        found = read(conditions, source.file, "text", [source.label, source.writer])
        columns = {"label": found.column(source.label), "writer": found.column(source.writer)}
        corpus = Corpus(found.texts, found.ids, columns, source.title)
    corpus, _ = drop_duplicates(corpus)
    often = Counter(corpus.column("writer"))
    taken: Counter[object] = Counter()
    kept = []
    for row, writer in enumerate(corpus.column("writer")):
        if writer is not None and often[writer] >= scale.fewest and taken[writer] < scale.most:
            taken[writer] += 1
            kept.append(row)
    return corpus.select(np.array(kept, dtype=np.int64))
