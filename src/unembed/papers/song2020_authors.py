"""Song and Raghunathan 2020, Figure 3: who wrote this sentence? (section 6.3)

The paper draws curves and prints no number; what it says of them is that TextCNN on the raw text is lowest
everywhere and that its dual encoders are 1.5 to 3 times better than other methods. Those two encoders, Skip-thought
and InferSent are not to be had and are listed as not measured.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError
from unembed.games.attribute import AttributeGame, AttributeGuess
from unembed.games.base import Material
from unembed.games.calibration import found_at_all
from unembed.games.text_baseline import TextReader
from unembed.games.threat import ADVERSARIES
from unembed.metrics.classes import top_k_hits
from unembed.metrics.estimate import mean
from unembed.papers.author_pools import Draw, Pool, Source, author_pool
from unembed.papers.base import Conditions, ExperimentFacts, Measured, Reproduction, Size
from unembed.papers.cells import Cell, run_cells
from unembed.papers.lab import RECIPES, Lab, pick_encoders
from unembed.papers.scoring import AttackSpec
from unembed.seeds import generator, seed_for

LINEAR = AttackSpec("linear", "attribute/linear", {})
TEXT_CNN = "TextCNN on the text"
HEADLINE = "top-5 accuracy"
ABSENT = {
    "LSTM": "the paper's LSTM dual encoder was not published and none is trained here",
    "Transformer": "the paper's Transformer dual encoder was not published and none is trained here",
    "Skip-thought": "no Skip-thought weights are at hand",
    "InferSent": "no InferSent weights are at hand",
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
SCALES: dict[Size, Scale] = {
    "smoke": Scale(_labels("novels", 6, 5), 5, 2),
    "small": Scale((*_labels("novels", 100, 10, 50), OTHER_BOOK), 20, 5),
    "full": Scale(
        (
            *_labels("novels", 100, 10, 20, 30, 40, 50),
            *_authors("novels", 50, 150),
            *_authors("blogs", 50, 100, 200, 400),
            OTHER_BOOK,
        ),
        50,
        5,
    ),
}


class Figure3:
    """Top-5 accuracy over labelled sentences an author and over the number of authors."""

    facts: ClassVar[ExperimentFacts] = ExperimentFacts(
        name="song2020/figure3",
        paper="song2020",
        title="Authorship from a handful of labelled sentences",
        section="Figure 3, section 6.3",
        published=(),
        departures="The figure prints no numbers. Novels of 156 authors stand in for BookCorpus, so 200 to 800 authors "
        "can't be drawn from them: blogs of 400 people, with whole posts on one side, stand beside. Fewer targets an "
        "author than the paper's 250. One row asks for the author of another book than the labelled one, which the "
        "paper does not. TextCNN learns word vectors of 128 dimensions from the labels; its filters are 3 to 5 words "
        "wide.",
        headline=HEADLINE,
        axis="labelled sentences an author, or authors",
    )
    known: ClassVar[tuple[str, ...]] = (
        *("bert-mean", "bert-first", "minilm", "bge", "use-lite"),
        *("word2vec", "glove", "doc2vec", "lsa-tfidf", "tfidf"),
    )
    encoders: ClassVar[dict[Size, tuple[str, ...]]] = {
        "smoke": ("tfidf",),
        "small": ("minilm", "word2vec", "tfidf"),
        "full": ("bert-mean", "minilm", "bge", "use-lite", "word2vec", "doc2vec", "lsa-tfidf", "tfidf"),
    }

    def run(self, conditions: Conditions) -> Reproduction:
        """Every encoder and the yardstick on the same draws."""
        chosen = pick_encoders(conditions.encoders, self.encoders[conditions.size], self.known)
        scale = SCALES[conditions.size]
        sources = list(dict.fromkeys(p.source for p in scale.points))
        most = max(p.labels for p in scale.points) + scale.targets
        pools = {s: author_pool(conditions, s, 4 * most if s == "blogs" else 2 * most) for s in sources}
        cells: list[Cell] = []
        for source, pool in pools.items():
            study = Study(conditions, pool, scale)
            points = [p for p in scale.points if p.source == source]
            cells += [self._text_cell(study, p) for p in points]
            cells += [self._cell(study, key, p) for key in chosen for p in points]
        if not conditions.encoders and conditions.size != "smoke":
            cells += [self._absent(model, reason) for model, reason in ABSENT.items()]
        notes = [n for pool in pools.values() for n in pool.notes]
        return run_cells(self.facts, cells, conditions, (*notes, f"{scale.repetitions} repetitions with other authors"))

    def _cell(self, study: Study, key: str, point: Point) -> Cell:
        identity = {**study.lab.identity(key), **LINEAR.identity(), **study.identity(point)}
        title = RECIPES[key].title
        return Cell(f"{title} · {point.setting}", identity, lambda: study.encoder_rows(key, title, point))

    def _text_cell(self, study: Study, point: Point) -> Cell:
        return Cell(f"{TEXT_CNN} · {point.setting}", study.identity(point), lambda: study.text_rows(point))

    def _absent(self, model: str, reason: str) -> Cell:
        def measure() -> list[Measured]:
            raise CannotMeasureError(reason)

        return Cell(f"{model} dual encoder" if model in ("LSTM", "Transformer") else model, {}, measure)


@dataclass(frozen=True)
class Answer:
    """What was said of the targets of one draw, and what somebody without them would have said."""

    guess: AttributeGuess
    floor: AttributeGuess
    seconds: float
    trusted: bool = True


@dataclass(frozen=True)
class Repetition:
    """One draw, answered: whether the author is the first, and among the first five."""

    hits: dict[int, Hits]
    floor: dict[int, Hits]
    authors: list[object]
    seconds: float
    trusted: bool


class Study:
    """All repetitions of all points on one pool; what TextCNN says is worked out once a point."""

    def __init__(self, conditions: Conditions, pool: Pool, scale: Scale) -> None:
        self.conditions, self.pool, self.scale = conditions, pool, scale
        self.lab = Lab(conditions, pool.corpus)
        self._read: dict[Point, list[Repetition]] = {}

    def identity(self, point: Point) -> dict[str, object]:
        """What changes the figures of a point."""
        return {
            "point": vars(point),
            "targets": self.scale.targets,
            "repetitions": self.scale.repetitions,
            "data": self.pool.corpus.fingerprint,
        }

    def encoder_rows(self, key: str, title: str, point: Point) -> list[Measured]:
        """The linear classifier on one encoder's vectors, and by how much it is above TextCNN."""
        vectors = self.lab.vectors(key, self.pool.corpus)
        found = self._repeat(point, lambda draw, seed: self._attack(draw, vectors, seed))
        return [*self._rows(title, point, found), self._gain(title, point, found)]

    def text_rows(self, point: Point) -> list[Measured]:
        """TextCNN on the sentences themselves."""
        return self._rows(TEXT_CNN, point, self._reading(point))

    def _reading(self, point: Point) -> list[Repetition]:
        if point not in self._read:
            self._read[point] = self._repeat(point, self._read_texts)
        return self._read[point]

    def _repeat(self, point: Point, answer: Callable[[Draw, int], Answer]) -> list[Repetition]:
        repetitions = []
        for number in range(self.scale.repetitions):
            seed = seed_for(self.conditions.seed, "repetition", number)
            draw = self.pool.draw(point.authors, point.labels, self.scale.targets, seed, apart=point.apart)
            said = answer(draw, seed)
            _, truth, _ = _numbered(draw)
            hits, floor = (
                {k: top_k_hits(guess, truth, k).astype(float) for k in (1, 5)} for guess in (said.guess, said.floor)
            )
            repetitions.append(Repetition(hits, floor, draw.target.column("author"), said.seconds, said.trusted))
        return repetitions

    def _attack(self, draw: Draw, vectors: Vectors, seed: int) -> Answer:
        game = AttributeGame(column="author", min_labels=1, labels_per_class=None, numbers="classes")
        deal = game.deal(
            Material(
                target=draw.target,
                known=draw.known,
                target_vectors=vectors[draw.target_rows],
                known_vectors=vectors[draw.known_rows],
                encode=_nobody,
                adversary=ADVERSARIES["insider"],
                seed=seed,
            )
        )
        attack = LINEAR.make(self.conditions)
        started = time.perf_counter()
        guess = attack.fit(deal.knowledge).run(deal.vectors)
        seconds = time.perf_counter() - started
        floor = guess[generator(seed, "shuffled").permutation(len(guess))]
        return Answer(guess, floor, seconds, found_at_all(game, attack, deal, seed))

    def _read_texts(self, draw: Draw, seed: int) -> Answer:
        labels, _, classes = _numbered(draw)
        brief = {"epochs": 2, "min_steps": 10} if self.conditions.size == "smoke" else {}
        started = time.perf_counter()
        reader = TextReader(seed=seed, device=self.conditions.device).set_params(**brief)
        guess = reader.learn(draw.known.texts, labels, classes).read(draw.target.texts)
        floor = guess[generator(seed, "shuffled").permutation(len(guess))]
        return Answer(guess, floor, time.perf_counter() - started)

    def _rows(self, title: str, point: Point, found: list[Repetition]) -> list[Measured]:
        return [
            self._row(title, point, found, name, [r.hits[k] for r in found], [r.floor[k] for r in found])
            for k, name in ((5, HEADLINE), (1, "top-1 accuracy"))
        ]

    def _gain(self, title: str, point: Point, found: list[Repetition]) -> Measured:
        """Top-5 minus that of TextCNN on the same sentences."""
        read = self._reading(point)
        apart = [mine.hits[5] - theirs.hits[5] for mine, theirs in zip(found, read, strict=True)]
        return self._row(title, point, found, "top-5 above TextCNN", apart, None)

    def _row(
        self,
        title: str,
        point: Point,
        found: list[Repetition],
        metric: str,
        values: list[Hits],
        floors: list[Hits] | None,
    ) -> Measured:
        """The mean over all repetitions; sentences of one author are drawn together for the interval."""
        authors = [a for r in found for a in r.authors]
        rng = generator(self.conditions.seed, "interval", title, point.setting, metric)
        estimate = mean(np.concatenate(values), rng=rng, groups=authors)
        swept = "" if point.sweep == "labels" else f" · {point.source}, {point.sweep}"
        return Measured(
            f"{title} · {point.setting}",
            metric,
            estimate.value,
            estimate.low,
            estimate.high,
            estimate.n,
            floor=None if floors is None else float(np.concatenate(floors).mean()),
            seconds=round(sum(r.seconds for r in found), 2),
            trusted=all(r.trusted for r in found),
            series=f"{title.split(',')[0]}{swept}",
            x=point.place,
        )


def _nobody(texts: Sequence[str]) -> Vectors:
    raise CannotMeasureError("the adversary of this experiment has no texts encoded")


def _numbered(draw: Draw) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Authors of labelled sentences and of targets as the game numbers them, and how many there are."""
    number = {name: i for i, name in enumerate(sorted({str(a) for a in draw.known.column("author")}))}
    known, target = (
        np.array([number[str(a)] for a in side.column("author")], dtype=np.int64) for side in (draw.known, draw.target)
    )
    return known, target, len(number)
