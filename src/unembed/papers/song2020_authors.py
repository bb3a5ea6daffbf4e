"""Song and Raghunathan 2020, Figure 3: who wrote this sentence? (section 6.3)

The paper draws curves and prints no number; what it says of them is that TextCNN on the raw text is lowest
everywhere and that its dual encoders are 1.5 to 3 times better than other methods. Those two encoders, Skip-thought
and InferSent are not available and are listed as not measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError
from unembed.games.attribute import AttributeGame
from unembed.games.base import Material, Scores
from unembed.games.play import check_attack_works
from unembed.games.rounds import play_round
from unembed.games.rows import text_rows
from unembed.games.threat import ADVERSARIES
from unembed.metrics.classes import top_k_hits
from unembed.metrics.estimate import mean
from unembed.papers.author_pools import Pool, Source, author_pool
from unembed.papers.base import Conditions, Measured, by_size
from unembed.papers.encoders import RECIPES, Encoders
from unembed.papers.library import facts_of
from unembed.papers.tables import AttackSpec, Row, Table, refused
from unembed.seeds import seed_for

LINEAR = AttackSpec("linear", "attribute/linear", {})
TEXT_CNN = "TextCNN on the text"
HEADLINE = "top-5 accuracy"
#: By number of names that count as a hit: the game's name of the metric, and ours.
TOPS = {5: ("top5_accuracy", HEADLINE), 1: ("accuracy", "top-1 accuracy")}
ABSENT = {
    "LSTM dual encoder": "the paper's LSTM dual encoder was not published and none is trained here",
    "Transformer dual encoder": "the paper's Transformer dual encoder was not published and none is trained here",
    "Skip-thought": "no Skip-thought weights are available",
    "InferSent": "no InferSent weights are available",
}
Hits = NDArray[np.float64]


@dataclass(frozen=True)
class Point:
    """One place on a curve: which sentences, how many authors and labels, and which of the two varies."""

    source: Source
    authors: int
    labels: int
    sweep: str
    apart: bool = False

    @property
    def setting(self) -> str:
        """How the table names it."""
        apart = ", other book" if self.apart and self.source == "novels" else ""
        return f"{self.source}{apart} · {self.authors} authors · {self.labels} labels"

    @property
    def place(self) -> float:
        """Where it stands on the x-axis."""
        return float(self.labels if self.sweep == "labels" else self.authors)


@dataclass(frozen=True)
class Scale:
    """What a size means."""

    points: tuple[Point, ...]
    targets: int
    repetitions: int


def _labels(source: Source, authors: int, *labels: int) -> tuple[Point, ...]:
    return tuple(Point(source, authors, n, "labels", source == "blogs") for n in labels)


def _authors(source: Source, labels: int, *authors: int) -> tuple[Point, ...]:
    return tuple(Point(source, n, labels, "authors", source == "blogs") for n in authors)


#: Authors of the novels with several books: does the attack know the writer, or the book?
OTHER_BOOK = Point("novels", 30, 50, "other book", apart=True)
SCALES = by_size(
    Scale(_labels("novels", 6, 5), 5, 2),
    Scale((*_labels("novels", 100, 10, 50), OTHER_BOOK), 20, 5),
    Scale(
        (
            *_labels("novels", 100, 10, 20, 30, 40, 50),
            *_authors("novels", 50, 150),
            *_authors("blogs", 50, 100, 200, 400),
            OTHER_BOOK,
        ),
        50,
        5,
    ),
)


class Figure3(Table):
    """Top-5 accuracy by labelled sentences per author and by number of authors."""

    facts = facts_of("song2020/figure3")
    known: ClassVar[tuple[str, ...]] = (
        *("bert-mean", "bert-first", "minilm", "bge", "use-lite"),
        *("word2vec", "glove", "doc2vec", "lsa-tfidf", "tfidf"),
    )
    encoders = by_size(
        ("tfidf",),
        ("minilm", "word2vec", "tfidf"),
        ("bert-mean", "minilm", "bge", "use-lite", "word2vec", "doc2vec", "lsa-tfidf", "tfidf"),
    )

    def rows(self, conditions: Conditions, encoders: Sequence[str]) -> tuple[list[Row], Sequence[str]]:
        """Every encoder and the yardstick on the same draws."""
        scale = SCALES[conditions.size]
        most = max(p.labels for p in scale.points) + scale.targets
        rows: list[Row] = []
        notes: list[str] = []
        for source in dict.fromkeys(p.source for p in scale.points):
            pool = author_pool(conditions, source, 4 * most if source == "blogs" else 2 * most)
            study = Study(conditions, pool, scale)
            points = [p for p in scale.points if p.source == source]
            rows += [study.row(TEXT_CNN, p) for p in points]
            rows += [study.row(RECIPES[key].title, p, key) for key in encoders for p in points]
            notes += pool.notes
        if not conditions.encoders and conditions.size != "smoke":
            rows += [refused(model, reason) for model, reason in ABSENT.items()]
        return rows, (*notes, f"{scale.repetitions} repetitions with other authors")


@dataclass(frozen=True)
class Repetition:
    """One draw, played: whether the author is the first, and among the first five."""

    hits: dict[int, Hits]
    floors: dict[str, Scores]
    authors: list[object]
    seconds: float
    trusted: bool


class Study:
    """All repetitions of all points on one pool; what TextCNN says is worked out once per point."""

    def __init__(self, conditions: Conditions, pool: Pool, scale: Scale) -> None:
        self.conditions, self.pool, self.scale = conditions, pool, scale
        self.encoders = Encoders(conditions, pool.corpus)
        self._read: dict[Point, list[Repetition]] = {}

    def row(self, title: str, point: Point, key: str | None = None) -> Row:
        """The linear classifier on one encoder's vectors, or TextCNN on the sentences themselves."""
        identity: dict[str, Any] = {
            "point": vars(point),
            "targets": self.scale.targets,
            "repetitions": self.scale.repetitions,
            "data": self.pool.corpus.fingerprint,
        }
        if key is not None:
            identity |= {**self.encoders.identity(key), **LINEAR.identity()}
        return Row(f"{title} · {point.setting}", identity, partial(self._figures, title, point, key))

    def _figures(self, title: str, point: Point, key: str | None) -> list[Measured]:
        read = self._reading(point)
        vectors = None if key is None else self.encoders.vectors(key, self.pool.corpus)
        found = read if vectors is None else self._repeated(point, lambda _: LINEAR.make(self.conditions), vectors)
        figures = []
        for k, (name, metric) in TOPS.items():
            floor = max(
                float(np.mean([r.floors[kind].secondary[name].value for r in found])) for kind in found[0].floors
            )
            figures.append(self._figure(title, point, found, metric, [r.hits[k] for r in found], floor))
        if key is not None:
            apart = [mine.hits[5] - theirs.hits[5] for mine, theirs in zip(found, read, strict=True)]
            figures.append(self._figure(title, point, found, "top-5 above TextCNN", apart, None))
        return figures

    def _reading(self, point: Point) -> list[Repetition]:
        """TextCNN on the sentences: a yardstick, which is dealt texts in the place of vectors."""
        if point not in self._read:
            brief = {"epochs": 2, "min_steps": 10} if self.conditions.size == "smoke" else {}
            spec = AttackSpec(TEXT_CNN, "attribute/textcnn", brief)
            texts = text_rows(self.pool.corpus.texts)
            make = spec.make(self.conditions).set_params
            self._read[point] = self._repeated(point, lambda seed: make(seed=seed), texts)
        return self._read[point]

    def _repeated(self, point: Point, attack: Callable[[int], Any], vectors: Any) -> list[Repetition]:
        seeds = [seed_for(self.conditions.seed, "repetition", number) for number in range(self.scale.repetitions)]
        return [self._played(point, attack(seed), vectors, seed) for seed in seeds]

    def _played(self, point: Point, attack: Any, vectors: Any, seed: int) -> Repetition:
        draw = self.pool.draw(point.authors, point.labels, self.scale.targets, seed, apart=point.apart)
        game = AttributeGame(column="author", min_labels=1, labels_per_class=None, numbers="classes")
        deal = game.deal(
            Material(
                target=draw.target,
                known=draw.known,
                target_vectors=vectors[draw.target_rows],
                known_vectors=vectors[draw.known_rows],
                encode=_no_queries,
                adversary=ADVERSARIES["insider"],
                seed=seed,
            )
        )
        got = play_round(game, attack, deal, seed)
        return Repetition(
            {k: top_k_hits(got.guess, deal.truth.labels, k).astype(float) for k in TOPS},
            got.floors,
            draw.target.column("author"),
            got.fit_seconds + got.run_seconds,
            check_attack_works(game, attack, deal, got, seed).passed,
        )

    def _figure(
        self, title: str, point: Point, found: list[Repetition], metric: str, values: list[Hits], floor: float | None
    ) -> Measured:
        """The mean over all repetitions; sentences of one author are drawn together for the interval."""
        authors = [a for r in found for a in r.authors]
        swept = "" if point.sweep == "labels" else f" · {point.source}, {point.sweep}"
        return Measured.of(
            f"{title} · {point.setting}",
            metric,
            mean(np.concatenate(values), groups=authors),
            floor=floor,
            seconds=round(sum(r.seconds for r in found), 2),
            trusted=all(r.trusted for r in found),
            series=f"{title.split(',')[0]}{swept}",
            x=point.place,
        )


def _no_queries(texts: Sequence[str]) -> Vectors:
    raise CannotMeasureError("the adversary of this experiment has no texts encoded")
