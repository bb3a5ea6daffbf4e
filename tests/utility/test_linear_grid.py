"""The grid search reads four patiences off one training, and says what scikit-learn's own search says."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV

from unembed.utility import linear_grid
from unembed.utility.linear_grid import LOSSES, PATIENCES, PENALTIES, LinearGrid, answers_by_patience, grid


def rows_of(classes, n=150, seed=0):
    rows, labels = make_classification(
        n, 12, n_informative=6, n_classes=classes, random_state=seed, flip_y=0.2, class_sep=1.5
    )
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), labels.astype(np.int64)


@pytest.fixture
def one_training_each(monkeypatch):
    """No setting may fall back to a training of its own for every patience."""

    def refuse(*given):
        raise AssertionError("the weights read off are not those that the training ends with")

    monkeypatch.setattr(linear_grid, "_one_by_one", refuse)


@pytest.mark.usefixtures("one_training_each")
def test_it_chooses_and_says_what_scikit_learn_does(monkeypatch):
    """On a part of the grid: scikit-learn takes minutes for all of it."""
    monkeypatch.setattr(linear_grid, "STRENGTHS", (1e-2, 1e-4))
    monkeypatch.setattr(linear_grid, "PENALTIES", ("l1", "elasticnet"))
    monkeypatch.setattr(linear_grid, "LOSSES", ("hinge",))
    rows, labels = rows_of(3, n=110)
    ours = LinearGrid(seed=5).fit(rows[:90], labels[:90])
    search = GridSearchCV(
        SGDClassifier(early_stopping=True, random_state=5),
        {"alpha": [1e-2, 1e-4], "loss": ["hinge"], "penalty": ["l1", "elasticnet"], "n_iter_no_change": PATIENCES},
        scoring="f1_macro",
        cv=5,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs = search.fit(rows[:90], labels[:90])
    assert list(theirs.cv_results_["params"]) == grid()
    assert np.allclose(theirs.cv_results_["mean_test_score"], ours.scores_)
    assert ours.settings_ == theirs.best_params_
    assert np.array_equal(ours.predict(rows[90:]), theirs.predict(rows[90:]))


@pytest.mark.usefixtures("one_training_each")
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_patience_answers_as_a_training_of_its_own(classes, kind, penalty, loss):
    rows, labels = rows_of(classes)
    settings = {"alpha": 1e-4, "loss": loss, "penalty": penalty}
    learnt, asked = kind(rows[:100]), kind(rows[100:])
    found = answers_by_patience(learnt, labels[:100], asked, settings, seed=1)
    for patience in PATIENCES:
        model = SGDClassifier(early_stopping=True, random_state=1, n_iter_no_change=patience, **settings)
        assert np.array_equal(found[patience], model.fit(learnt, labels[:100]).predict(asked))


def test_where_weights_can_t_be_read_off_each_patience_is_trained(monkeypatch):
    """As with a scikit-learn that keeps its weights in another way."""
    rows, labels = rows_of(2)
    settings = {"alpha": 1e-3, "loss": "hinge", "penalty": "l2"}
    right = answers_by_patience(rows[:100], labels[:100], rows[100:], settings, seed=1)
    true_weights = linear_grid._weights

    def wrong(ends, model):
        coef, intercept = true_weights(ends, model)
        return 2 * coef, intercept

    monkeypatch.setattr(linear_grid, "_weights", wrong)
    again = answers_by_patience(rows[:100], labels[:100], rows[100:], settings, seed=1)
    assert all(np.array_equal(again[patience], right[patience]) for patience in PATIENCES)


def test_the_unit_of_vectors_changes_nothing(monkeypatch):
    monkeypatch.setattr(linear_grid, "STRENGTHS", (1e-3,))
    rows, labels = rows_of(3)
    small, large = (LinearGrid(seed=0).fit(rows[:100] * unit, labels[:100]) for unit in (1.0, 256.0))
    assert small.settings_ == large.settings_
    assert np.array_equal(small.predict(rows[100:]), large.predict(256.0 * rows[100:]))
