"""Retrieval kept: exact, the same for dense and sparse vectors, fair to ties."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.stats import spearmanr

from unembed.corpora.corpus import Corpus
from unembed.corpora.generators import GENERATORS
from unembed.encoders import build_encoder
from unembed.errors import CannotMeasureError, UsageError
from unembed.utility import retrieval
from unembed.utility.base import UtilityMaterial
from unembed.utility.retrieval import Retrieval


def material(plain, variant, groups=None):
    return UtilityMaterial(Corpus.of(["text"] * plain.shape[0]), plain, variant, groups, seed=3)


def random(n, d, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d)).astype(np.float32)


def by_hand(plain, variant, k):
    """Recall of every text as a query, one similarity after the other."""
    shares = []
    for i in range(len(plain)):
        nearest = []
        for vectors in (plain, variant):
            unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
            others = sorted((j for j in range(len(plain)) if j != i), key=lambda j: -float(unit[i] @ unit[j]))
            nearest.append(set(others[:k]))
        shares.append(len(nearest[0] & nearest[1]) / k)
    return np.array(shares)


def test_it_is_what_a_loop_over_all_pairs_gives():
    plain = random(60, 12)
    variant = plain + random(60, 12, seed=1)
    found = Retrieval(k=5).score(material(plain, variant))
    assert np.allclose(found.parts[:, 0], by_hand(plain, variant, 5))
    assert found.estimate().value == pytest.approx(by_hand(plain, variant, 5).mean())


def test_blocks_change_nothing(monkeypatch):
    plain = random(60, 12)
    whole = Retrieval(k=5).score(material(plain, plain.round(0))).parts
    monkeypatch.setattr(retrieval, "AT_ONCE", 130)
    assert np.allclose(whole, Retrieval(k=5).score(material(plain, plain.round(0))).parts)


def test_plain_vectors_keep_all_neighbours_even_where_texts_repeat():
    plain = np.repeat(random(15, 6), 4, axis=0)
    found = Retrieval(k=5).score(material(plain, plain))
    assert found.point == 1
    assert found.secondary["ndcg_at_k"].value == pytest.approx(1)


def test_length_and_rotation_cost_nothing_and_noise_costs_all():
    plain = random(200, 16)
    turned = plain @ np.linalg.qr(random(16, 16, seed=2))[0] * np.linspace(1, 9, 200, dtype=np.float32)[:, None]
    assert Retrieval().score(material(plain, turned)).point > 0.999
    blind = Retrieval().score(material(plain, random(200, 16, seed=5)))
    chance = blind.secondary["recall_of_random_neighbours"].value
    assert chance == pytest.approx(10 / 199)
    assert blind.estimate().low < chance < blind.estimate().high


def test_vectors_that_are_all_alike_score_as_random_neighbours_do_in_any_order():
    """A collection sorted by topic must not make constant vectors look useful."""
    topics = np.sort(random(300, 8), axis=0)
    same = Retrieval().score(material(topics, np.ones_like(topics)))
    assert same.point == pytest.approx(same.secondary["recall_of_random_neighbours"].value)
    assert same.point < 0.04


def test_sparse_vectors_score_like_the_same_vectors_as_dense_ones():
    corpus = GENERATORS.get("messages")(300)
    plain = build_encoder("hashing", {"features": 512}).encode(corpus.texts)
    variant = plain.copy()
    variant.data = np.sign(variant.data).astype(np.float32)
    sparse = Retrieval(k=5).score(material(plain, variant))
    dense = Retrieval(k=5).score(material(plain.toarray(), variant.toarray()))
    assert np.allclose(sparse.parts, dense.parts)
    assert 0.1 < sparse.point < 1


def test_queries_are_a_sample_that_does_not_depend_on_the_variant():
    plain = random(80, 8)
    groups = [f"g{i}" for i in range(80)]
    first, second = (Retrieval(queries=20).score(material(plain, v, groups)) for v in (plain, plain.round(1)))
    assert len(first.parts) == 20
    assert first.groups == second.groups


@pytest.mark.parametrize(
    ("params", "error"),
    [({"k": 0}, UsageError), ({"queries": 0}, UsageError), ({"k": 59}, CannotMeasureError)],
)
def test_numbers_that_make_no_sense_are_refused(params, error):
    with pytest.raises(error, match=r"k|queries"):
        Retrieval(**params).score(material(random(60, 4), random(60, 4)))


def test_plain_vectors_that_tell_no_text_apart_can_t_be_a_measure():
    with pytest.raises(CannotMeasureError, match="do not tell texts apart"):
        Retrieval().score(material(np.ones((50, 4), np.float32), random(50, 4)))


@pytest.mark.parametrize("variant", [random(59, 4), np.full((60, 4), np.nan, np.float32)])
def test_vectors_that_are_missing_or_broken_are_no_score(variant):
    with pytest.raises(CannotMeasureError, match=r"59 vectors for 60|NaN"):
        Retrieval().score(material(random(60, 4), variant))


def test_a_sparse_row_without_entries_is_a_text_like_no_other():
    plain = csr_matrix(np.where(np.arange(40)[:, None] % 8 == 0, 0, random(40, 6)))
    assert Retrieval(k=3).score(material(plain, plain)).point == 1


def test_queries_that_are_not_defended_are_looked_for_as_well():
    """A rotation keeps neighbours among defended vectors, and a plain query finds none of them."""
    plain = random(300, 16)
    turned = plain @ np.linalg.qr(random(16, 16, seed=2))[0]
    found = Retrieval().score(material(plain, turned)).secondary
    assert found["rank_correlation"].value > 0.999
    assert found["recall_of_clean_queries"].value < 0.2
    assert abs(found["rank_correlation_of_clean_queries"].value) < 0.3
    little = Retrieval().score(material(plain, plain + 0.1 * random(300, 16, seed=3))).secondary
    assert little["recall_of_clean_queries"].low > 0.7
    assert little["ndcg_of_clean_queries"].low > 0.7
    assert little["rank_correlation_of_clean_queries"].low > 0.9


def test_a_clean_query_is_looked_for_by_hand():
    plain, variant = random(50, 8), random(50, 8) + random(50, 8, seed=1)
    unit = [v / np.linalg.norm(v, axis=1, keepdims=True) for v in (plain, variant)]
    true, mixed = unit[0] @ unit[0].T, unit[0] @ unit[1].T
    nearest = [[set(np.argsort(-np.where(np.arange(50) == i, -9, s[i]))[:5]) for i in range(50)] for s in (true, mixed)]
    recall = np.mean([len(a & b) / 5 for a, b in zip(*nearest, strict=True)])
    ranks = [spearmanr(np.delete(true[i], i), np.delete(mixed[i], i)).statistic for i in range(50)]
    found = Retrieval(k=5).score(material(plain, variant)).secondary
    assert found["recall_of_clean_queries"].value == pytest.approx(recall)
    assert found["rank_correlation_of_clean_queries"].value == pytest.approx(np.mean(ranks))


def test_plain_queries_of_another_dimension_are_not_applicable():
    found = Retrieval().score(material(random(60, 12), random(60, 4))).secondary
    for name in ("recall_of_clean_queries", "ndcg_of_clean_queries", "rank_correlation_of_clean_queries"):
        assert np.isnan(found[name].value)
        assert found[name].method == "not applicable"


def test_similarities_that_are_all_alike_have_no_order():
    found = Retrieval().score(material(random(60, 12), np.ones((60, 12), np.float32))).secondary
    assert found["rank_correlation"].value == 0
