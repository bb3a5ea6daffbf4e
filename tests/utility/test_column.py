"""A labelled column: told from vectors of texts that were not learnt from."""

import numpy as np
import pytest

from unembed.corpora.corpus import Corpus
from unembed.errors import CannotMeasureError, UnknownNameError, UsageError
from unembed.testing.toys import LeakyEncoder, toy_corpus
from unembed.utility.base import UtilityMaterial
from unembed.utility.column import Column


def material(corpus, vectors, groups=None):
    return UtilityMaterial(corpus, vectors, vectors, groups)


def test_what_the_words_tell_is_told_and_noise_tells_nothing():
    corpus = toy_corpus(300)
    plain = LeakyEncoder().encode(corpus.texts)
    noise = np.random.default_rng(0).standard_normal(plain.shape).astype(np.float32)
    good, blind = (Column(column="side").score(material(corpus, v)) for v in (plain, noise))
    assert good.estimate().low > 0.9
    assert abs(blind.point - 0.5) < 0.15, "three standard deviations"
    assert good.excess_over(blind).low > 0.3


def test_vectors_that_are_all_alike_score_one_of_all_values_right():
    corpus = toy_corpus(120)
    found = Column(column="side").score(material(corpus, np.zeros((120, 4), np.float32)))
    assert found.point == pytest.approx(0.5)


def test_a_group_is_never_learnt_from_and_asked_about():
    """Vectors that name the group alone say nothing of texts of other groups."""
    rng = np.random.default_rng(0)
    authors = np.repeat(np.arange(40), 5)
    corpus = Corpus.of([f"text {i}" for i in range(200)], mood=rng.integers(0, 2, 40)[authors].astype(str))
    vectors = np.eye(40, dtype=np.float32)[authors]
    assert Column(column="mood").score(material(corpus, vectors)).point > 0.9
    assert Column(column="mood").score(material(corpus, vectors, authors.tolist())).estimate().low < 0.5


def test_texts_without_a_value_and_rare_values_are_not_scored():
    corpus = Corpus.of(["t"] * 64, kind=["a"] * 30 + ["b"] * 30 + ["rare"] + ["", None, float("nan")])
    vectors = np.random.default_rng(0).standard_normal((64, 4)).astype(np.float32)
    assert len(Column(column="kind").score(material(corpus, vectors)).parts) == 60


@pytest.mark.parametrize(
    ("params", "error", "says"),
    [
        ({"column": "absent"}, UnknownNameError, "unknown column 'absent'"),
        ({"column": "weight"}, CannotMeasureError, "quantities"),
        ({"column": "alone"}, CannotMeasureError, "1 value"),
        ({"column": "side", "folds": 1}, UsageError, "folds"),
    ],
)
def test_a_column_that_can_t_be_told_is_refused(params, error, says):
    toy = toy_corpus(100)
    corpus = Corpus.of(toy.texts, **toy.columns, alone=["one"] * 100)
    with pytest.raises(error, match=says):
        Column(**params).score(material(corpus, LeakyEncoder().encode(toy.texts)))
