"""The checks behind ``check_utility``: on a small world in which it is known what vectors are good for."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError
from unembed.games.base import Scores
from unembed.testing.checks import constructor_stores_parameters, require
from unembed.testing.toys import LeakyEncoder, toy_corpus
from unembed.utility.base import Encode, UtilityMaterial, UtilityTask, check_task_class

TaskClass = type[UtilityTask]


def check_utility(task: TaskClass) -> None:
    """A task class keeps the contract, is deterministic, and tells vectors that are good for something from noise."""
    for check in utility_checks():
        check(task)


def utility_checks() -> Iterator[Callable[[TaskClass], None]]:
    """Every check of a task class, for test suites that want one test each."""
    yield from (task_contract, task_constructor_stores_parameters, task_gives_one_row_per_text, task_is_deterministic)
    yield from (task_leaves_its_material_alone, plain_vectors_score_as_stated, noise_scores_less)
    yield from (task_takes_odd_vectors, without_encoder_it_says_so)


def task_contract(task: TaskClass) -> None:
    """Class-level facts and methods are there, and only columns must be named."""
    problem = check_task_class(task)
    require(problem is None, f"{task}: {problem}")
    open_ = [n for n, p in inspect.signature(task).parameters.items() if p.default is p.empty]
    bare = sorted(set(open_) - set(task.facts.column_params))
    require(not bare, f"{task.__name__} has parameters without a default that name no column: {bare}")
    facts = task.facts
    require("columns" in facts.requires or not facts.column_params, f"{task.__name__} requires columns and hides it")


def task_constructor_stores_parameters(task: TaskClass) -> None:
    """The constructor stores its parameters under their own names and does nothing else."""
    constructor_stores_parameters(task, **_columns(task))


def task_gives_one_row_per_text(task: TaskClass) -> None:
    """A score has a value, at most one row per text, and as many groups as rows; texts of its own have no groups."""
    material = _material()
    own = "encoder" in task.facts.requires
    scores = _score(task, replace(material, groups=[i // 2 for i in range(len(material.corpus))]))
    rows = len(scores.parts)
    most = rows if own else len(material.corpus)
    require(0 < rows <= most, f"{task.__name__} gives {rows} rows for {len(material.corpus)} texts")
    require(bool(np.isfinite(scores.parts).all()), f"{task.__name__} gives NaN or infinite counts")
    require(bool(np.isfinite(scores.point)), f"{task.__name__} has no value on vectors that are good for everything")
    kept = own or (scores.groups is not None and len(scores.groups) == rows)
    require(kept, f"{task.__name__} loses the groups of its rows")


def task_is_deterministic(task: TaskClass) -> None:
    """The same seed gives the same score, bit for bit."""
    first, second = (_score(task, _material(noise=0.5)).parts for _ in range(2))
    require(bool(np.array_equal(first, second)), f"{task.__name__} gives different scores for one seed")


def task_leaves_its_material_alone(task: TaskClass) -> None:
    """A task leaves the vectors it is given as they are."""
    material = _material(noise=0.5)
    before = material.plain.copy(), material.vectors.copy()
    _score(task, material)
    for was, now in zip(before, (material.plain, material.vectors), strict=True):
        require(bool(np.array_equal(was, now)), f"{task.__name__} changes the vectors it is given")


def plain_vectors_score_as_stated(task: TaskClass) -> None:
    """What plain vectors score by definition, they score."""
    stated, found = task.facts.plain_score, _score(task, _material()).point
    if stated is not None:
        require(abs(found - stated) < 1e-9, f"{task.__name__}: plain vectors score {found}, its facts say {stated}")


def noise_scores_less(task: TaskClass) -> None:
    """Noise scores less than vectors, on the same texts."""
    plain, noise = _score(task, _material()), _score(task, _material(noise=1e3))
    require(len(plain.parts) == len(noise.parts), f"{task.__name__} scores other texts for other vectors")
    loss = plain.excess_over(noise)
    require(loss.low > 0.05, f"{task.__name__} does not tell vectors from noise: the loss is {loss}")


def task_takes_odd_vectors(task: TaskClass) -> None:
    """Sparse vectors, vectors of another width and vectors that are all the same are normal input."""
    material = _material()
    odd: dict[str, Callable[[Any], Vectors]] = {
        "sparse vectors": csr_matrix,
        "fewer dimensions": lambda plain: plain[:, :8],
        "vectors of zeros": np.zeros_like,
    }
    for name, change in odd.items():
        found = _score(task, material.of(change(material.plain), _encoding(change))).point
        require(bool(np.isfinite(found)), f"{task.__name__} has no value on {name}")


def without_encoder_it_says_so(task: TaskClass) -> None:
    """A task that needs the encoder says that there is none; others do without."""
    material = replace(_material(), challenge=None)
    try:
        _score(task, material)
    except CannotMeasureError:
        require("encoder" in task.facts.requires, f"{task.__name__} needs an encoder and hides it")
    else:
        require("encoder" not in task.facts.requires, f"{task.__name__} requires an encoder and asks none")


def _material(*, noise: float = 0.0) -> UtilityMaterial:
    corpus = toy_corpus(300)
    plain = LeakyEncoder().encode(corpus.texts)

    def change(vectors: Any) -> Vectors:
        drawn = np.random.default_rng(1).standard_normal(vectors.shape).astype(np.float32)
        changed: Vectors = vectors + np.float32(noise * vectors.std()) * drawn
        return changed

    return UtilityMaterial(corpus, plain, change(plain), seed=7, challenge=_encoding(change))


def _encoding(change: Callable[[Any], Vectors]) -> Encode:
    """Words and letters in threes, so that a text that is a single word can be read as well."""

    def spelt(text: str) -> str:
        return " ".join([text, *(text[i : i + 3] for i in range(len(text) - 2))])

    return lambda texts: change(LeakyEncoder().encode([spelt(text) for text in texts]))


def _columns(task: TaskClass) -> dict[str, Any]:
    return dict.fromkeys(task.facts.column_params, "side")


def _score(task: TaskClass, material: UtilityMaterial) -> Scores:
    return task(**_columns(task)).score(material)
