"""Linear maps and classifiers: ridge beside its products, attribute inference beside scikit-learn's own search."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from measure import Case, Yardstick

from unembed.attacks.attribute.linear import AttributeLinear
from unembed.attacks.learners.choice import FOLDS
from unembed.games.attribute import AttributeKnowledge
from unembed.nn.ridge import RidgeMap
from unembed.runner.twins import vector_twins

DIMENSION = 384


def ridge(folder: Path) -> Case:
    """A linear map learnt from pairs, its strength chosen on held-back ones."""
    rng = np.random.default_rng(0)
    inputs = rng.standard_normal((20_000, DIMENSION), dtype=np.float32)
    outputs = inputs @ rng.standard_normal((DIMENSION, DIMENSION), dtype=np.float32)
    left, right = torch.from_numpy(inputs).double(), torch.from_numpy(outputs).double()

    def products() -> None:
        left.T @ left
        left.T @ right

    limit = Yardstick("its matrix products, float64", "FLOPs", products)
    return Case("pairs/s", len(inputs), lambda: RidgeMap(device="cpu").fit(inputs, outputs), (limit,))


def attribute(folder: Path) -> Case:
    """Softmax regression with strength and units chosen on held-back labels."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 1_500)
    vectors = (rng.standard_normal((1_500, DIMENSION)) + rng.standard_normal((4, DIMENSION))[labels] / 4).astype("f4")
    knowledge = AttributeKnowledge(vectors, labels, ("a", "b", "c", "d"))

    def search() -> None:
        model = LogisticRegression(class_weight="balanced", max_iter=300)
        grid = [
            {"standardscaler__with_std": [True], "logisticregression__C": [0.001, 0.01, 0.1, 1.0]},
            {"standardscaler__with_std": [False], "logisticregression__C": [0.01, 0.1, 1.0, 10.0]},
        ]
        pipeline = make_pipeline(StandardScaler(), model)
        GridSearchCV(pipeline, grid, cv=FOLDS, scoring="balanced_accuracy").fit(vectors, labels)

    theirs = Yardstick("scikit-learn's grid search, LogisticRegression", "reference", search)
    return Case("labels/s", len(labels), lambda: AttributeLinear().fit(knowledge), (theirs,))


def twins(folder: Path) -> Case:
    """Vectors of the adversary that are nearly a target's: all pairs are compared."""
    rng = np.random.default_rng(0)
    adversary, target = (rng.standard_normal((4_000, DIMENSION), dtype=np.float32) for _ in range(2))
    buffer = np.empty((2_000, len(adversary)), dtype=np.float32)

    def products() -> None:
        # 4,000 targets, and the 2,000 vectors of the adversary that show what is usual, against all of the adversary's
        for rows in (target[:2_000], target[2_000:], adversary[:2_000]):
            np.matmul(rows, adversary.T, out=buffer)

    limit = Yardstick("its matrix products", "FLOPs", products)
    return Case("targets/s", len(target), lambda: vector_twins(adversary, target), (limit,))


CASES = {"fit, ridge": ridge, "train, attribute/linear": attribute, "find vector twins": twins}
