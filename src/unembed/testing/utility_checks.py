"""The checks behind ``check_utility``: on a small world in which it is known what vectors are good for."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from unembed.games.base import Scores
from unembed.testing.checks import constructor_stores_parameters, require
from unembed.testing.toys import LeakyEncoder, toy_corpus
from unembed.utility.base import UtilityMaterial, UtilityTask, check_task_class

TaskClass = type[UtilityTask]


def check_utility(task: TaskClass) -> None:
    """A task class keeps the contract, is deterministic, and tells vectors that are good for something from noise."""
    for check in utility_checks():
        check(task)


def utility_checks() -> Iterator[Callable[[TaskClass], None]]:
    """Every check of a task class, for test suites that want one test each."""
    yield from (task_contract, task_constructor_stores_parameters, task_gives_one_row_per_text, task_is_deterministic)
    yield from (task_leaves_its_material_alone, plain_vectors_score_as_stated, noise_scores_less)
    yield task_takes_odd_vectors


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
    """A score has a value, at most one row per text, and as many groups as rows."""
    material = _material()
    groups = [i // 2 for i in range(len(material.corpus))]
    scores = _score(task, UtilityMaterial(material.corpus, material.plain, material.vectors, groups, material.seed))
    rows = len(scores.parts)
    require(0 < rows <= len(material.corpus), f"{task.__name__} gives {rows} rows for {len(material.corpus)} texts")
    require(bool(np.isfinite(scores.parts).all()), f"{task.__name__} gives NaN or infinite counts")
    require(bool(np.isfinite(scores.point)), f"{task.__name__} has no value on vectors that are good for everything")
    require(scores.groups is not None and len(scores.groups) == rows, f"{task.__name__} loses the groups of its rows")


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
    odd = {
        "sparse vectors": csr_matrix(material.plain),
        "fewer dimensions": material.plain[:, :8],
        "vectors of zeros": np.zeros_like(material.plain),
    }
    for name, vectors in odd.items():
        found = _score(task, material.of(vectors)).point
        require(bool(np.isfinite(found)), f"{task.__name__} has no value on {name}")


def _material(*, noise: float = 0.0) -> UtilityMaterial:
    corpus = toy_corpus(300)
    plain = LeakyEncoder().encode(corpus.texts)
    drawn = np.random.default_rng(1).standard_normal(plain.shape).astype(np.float32)
    return UtilityMaterial(corpus, plain, plain + np.float32(noise * plain.std()) * drawn, seed=7)


def _columns(task: TaskClass) -> dict[str, Any]:
    return dict.fromkeys(task.facts.column_params, "side")


def _score(task: TaskClass, material: UtilityMaterial) -> Scores:
    return task(**_columns(task)).score(material)
