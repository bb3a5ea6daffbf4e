"""Noise mechanisms: the noise has the distribution it should, the guarantee holds where it can be counted."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_matrix

from unembed.corpora.substitution import exchange_one
from unembed.corpora.words import words
from unembed.defenses.accounting import gaussian_delta, gaussian_epsilon, gaussian_sigma
from unembed.defenses.base import Owned
from unembed.defenses.chain import Chain
from unembed.defenses.gaussian import Gaussian
from unembed.defenses.laplace import Laplace, l1_distances, pairs_of
from unembed.defenses.metric_dp import MetricDp
from unembed.defenses.saving import load_chain, save_chain
from unembed.errors import CannotMeasureError, UsageError

WIDTH, MANY = 12, 4000
ZEROS = np.zeros((MANY, WIDTH), dtype=np.float32)
IDS = [f"r{i}" for i in range(MANY)]
MECHANISMS = [Laplace(epsilon=2, sensitivity=3), Gaussian(epsilon=1, clip=1), MetricDp(epsilon=5)]


def added(defense):
    """The noise that a defense puts on vectors of zeros."""
    return np.asarray(defense.fit(ZEROS).transform(ZEROS, IDS))


def test_laplace_noise_has_the_scale_and_the_tails_it_should():
    found = added(Laplace(epsilon=2, sensitivity=3)).ravel()
    assert found.var() == pytest.approx(2 * 1.5**2, rel=0.05)
    assert np.mean(np.abs(found) > 4.5) == pytest.approx(math.exp(-3), rel=0.1)
    assert stats.kstest(found, stats.laplace(scale=1.5).cdf).pvalue > 0.001


def test_laplace_keeps_its_guarantee_on_neighbouring_numbers():
    """A histogram of what becomes of 0 and of 1, whose distance is the sensitivity: no bin is e^ε times as likely."""
    epsilon, ids = 0.7, [str(i) for i in range(60_000)]
    counts = []
    for value, key in ((0.0, 1), (1.0, 2)):
        rows = np.full((len(ids), 1), value, dtype=np.float32)
        made = np.asarray(Laplace(epsilon=epsilon, sensitivity=1, seed=key).fit(rows).transform(rows, ids))
        counts.append(np.histogram(made, bins=np.linspace(-3, 4, 29))[0])
    ratios = np.abs(np.log(counts[0] / counts[1]))
    spread = np.sqrt(1 / counts[0] + 1 / counts[1])
    assert np.all(ratios < epsilon + 4 * spread)
    assert ratios.max() > 0.9 * epsilon


def test_the_sensitivity_is_the_largest_difference_that_one_word_makes():
    texts = [f"alpha {word} beta {other}" for word in ("red", "green", "blue") for other in ("cat", "dog", "cow")]
    weight = {word: float(i) for i, word in enumerate(sorted({w for t in texts for w in words(t)}))}

    def encode(given):
        return np.array([[sum(weight[w] for w in words(text)), 1.0] for text in given], dtype=np.float32)

    owned = Owned(texts, {}, encode)
    fitted = Laplace(pairs=500, epsilon=4).fit(encode(texts), owned)
    pairs = pairs_of(texts, 500)
    assert fitted.pairs_ == len(pairs) <= 500
    assert all(sum(a != b for a, b in zip(words(x), words(y), strict=True)) == 1 for x, y in pairs)
    # The words weigh 0 to 7, and exchanging the first for the last moves a vector the furthest.
    assert fitted.sensitivity_ == l1_distances(pairs, encode).max() == 7
    assert "estimate" in fitted.guarantee_
    vectors = encode(texts * 200)
    noise = np.asarray(fitted.transform(vectors, [str(i) for i in range(len(vectors))])) - vectors
    assert np.abs(noise).mean() == pytest.approx(7 / 4, rel=0.1)


def test_without_texts_or_encoder_the_sensitivity_must_be_given():
    for owned in (None, Owned(), Owned(["a text"], {}, None)):
        with pytest.raises(CannotMeasureError, match="give 'sensitivity'"):
            Laplace().fit(ZEROS, owned)
    assert Laplace(sensitivity=2.5).fit(ZEROS).sensitivity_ == 2.5


def test_an_encoder_that_sees_no_difference_gives_no_sensitivity():
    owned = Owned(["one two three"], {}, lambda texts: np.ones((len(texts), 3), dtype=np.float32))
    with pytest.raises(CannotMeasureError, match="no usable difference"):
        Laplace().fit(np.ones((1, 3), dtype=np.float32), owned)


def test_one_word_is_exchanged_and_the_rest_is_left():
    rng = np.random.default_rng(0)
    made = {exchange_one("Some old words!", ["new"], rng) for _ in range(50)}
    assert made == {"New old words!", "Some new words!", "Some old new!"}
    assert exchange_one("new", ["new"], rng) is None
    assert exchange_one("...", ["new"], rng) is None


def test_metric_noise_has_any_direction_and_the_length_it_should():
    found = added(MetricDp(epsilon=5))
    lengths = np.linalg.norm(found, axis=1)
    assert lengths.mean() == pytest.approx(WIDTH / 5, rel=0.02)
    assert stats.kstest(lengths, stats.gamma(WIDTH, scale=1 / 5).cdf).pvalue > 0.001
    directions = found / lengths[:, None]
    assert np.abs(directions.mean(axis=0)).max() < 0.03
    assert np.linalg.eigvalsh(np.cov(directions.T)) == pytest.approx(np.full(WIDTH, 1 / WIDTH), rel=0.15)


def test_metric_noise_keeps_its_guarantee_in_one_dimension():
    """In one dimension it is Laplace noise, so two numbers at distance 2 are 2ε-indistinguishable."""
    ids = [str(i) for i in range(60_000)]
    counts = []
    for value, key in ((0.0, 1), (2.0, 2)):
        rows = np.full((len(ids), 1), value, dtype=np.float32)
        made = np.asarray(MetricDp(epsilon=0.5, seed=key).fit(rows).transform(rows, ids))
        counts.append(np.histogram(made, bins=np.linspace(-3, 5, 29))[0])
    ratios = np.abs(np.log(counts[0] / counts[1]))
    assert np.all(ratios < 1 + 4 * np.sqrt(1 / counts[0] + 1 / counts[1]))
    assert ratios.max() > 0.9


@pytest.mark.parametrize(
    ("epsilon", "delta", "sigma"),
    # The first is a known value; all three are the solution of Balle and Wang's condition in 60-digit arithmetic.
    [(1.0, 1e-5, 3.730631634816464), (0.1, 1e-6, 36.3046904262), (10.0, 1e-5, 0.499888619709)],
)
def test_the_deviation_is_the_one_that_the_guarantee_needs(epsilon, delta, sigma):
    assert gaussian_sigma(epsilon, delta) == pytest.approx(sigma, rel=1e-8)
    assert gaussian_delta(epsilon, gaussian_sigma(epsilon, delta)) == pytest.approx(delta, rel=1e-6)
    assert gaussian_epsilon(gaussian_sigma(epsilon, delta), delta) == pytest.approx(epsilon, rel=1e-6)


def test_the_exact_condition_asks_for_less_noise_than_the_classical_formula():
    for epsilon in (0.2, 0.5, 0.99):
        assert gaussian_sigma(epsilon, 1e-5) < math.sqrt(2 * math.log(1.25e5)) / epsilon
    assert gaussian_sigma(1, 1e-5, 2.5) == pytest.approx(2.5 * gaussian_sigma(1, 1e-5))


def test_releases_under_other_keys_cost_as_much_as_one_with_less_noise():
    assert gaussian_epsilon(4.0, 1e-5, releases=4) == pytest.approx(gaussian_epsilon(2.0, 1e-5))
    assert gaussian_epsilon(4.0, 1e-5, releases=4) < 4 * gaussian_epsilon(4.0, 1e-5)
    assert gaussian_epsilon(1e6, 1e-3) == 0


def test_a_guarantee_shortens_vectors_and_brings_its_own_noise():
    rows = np.random.default_rng(2).standard_normal((MANY, WIDTH)).astype(np.float32) * 50
    rows[0] = 0
    fitted = Gaussian(epsilon=1, delta=1e-5, clip=1.5).fit(rows)
    assert fitted.sigma_ == pytest.approx(3 * 3.730631634816464)
    noise = added(Gaussian(epsilon=1, delta=1e-5, clip=1.5))
    assert noise.std() == pytest.approx(fitted.sigma_, rel=0.02)
    kept = np.asarray(fitted.transform(rows, IDS)) - noise
    lengths = np.linalg.norm(kept, axis=1)
    assert lengths[1:] == pytest.approx(np.full(MANY - 1, 1.5), rel=1e-3)
    assert lengths[0] < 1e-4
    assert "1e-05" in fitted.guarantee_
    assert Gaussian(scale=0.5).fit(rows).guarantee_.startswith("none")


def test_the_same_record_gets_the_same_noise_in_every_release():
    for mechanism in MECHANISMS:
        fitted = mechanism.fit(ZEROS)
        again = np.asarray(fitted.transform(ZEROS[:3], IDS[5:8]))
        np.testing.assert_array_equal(again, np.asarray(fitted.transform(ZEROS, IDS))[5:8])


@pytest.mark.parametrize(
    ("make", "wrong"),
    [
        (Laplace, {"epsilon": 0, "sensitivity": 1}),
        (Laplace, {"epsilon": math.nan, "sensitivity": 1}),
        (Laplace, {"sensitivity": -1}),
        (Laplace, {"pairs": 0}),
        (MetricDp, {"epsilon": -1}),
        (MetricDp, {"epsilon": math.inf}),
        (Gaussian, {"scale": -1}),
        (Gaussian, {"epsilon": 1}),
        (Gaussian, {"clip": 1}),
        (Gaussian, {"epsilon": 0, "clip": 1}),
        (Gaussian, {"epsilon": 1, "clip": 1, "delta": 1}),
        (Gaussian, {"epsilon": 1, "clip": 1, "scale": 1}),
    ],
)
def test_parameters_out_of_range_are_refused(make, wrong):
    with pytest.raises(UsageError, match=make.facts.name):
        make(**wrong).fit(ZEROS)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: m.facts.name)
def test_unfit_vectors_are_refused(mechanism):
    fitted = mechanism.fit(ZEROS)
    broken = ZEROS.copy()
    broken[3, 2] = np.nan
    with pytest.raises(CannotMeasureError, match="NaN"):
        fitted.transform(broken, IDS)
    with pytest.raises(CannotMeasureError, match="dimension"):
        fitted.transform(ZEROS[:, :5], IDS)
    with pytest.raises(CannotMeasureError, match="sparse"):
        type(mechanism)(**mechanism.get_params()).fit(csr_matrix(ZEROS))


def test_what_was_learnt_is_kept_and_told(tmp_path):
    chain = Chain([Laplace(epsilon=2, sensitivity=3), Gaussian(epsilon=1, clip=1)]).fit(ZEROS, 9)
    save_chain(chain, tmp_path / "kept")
    loaded = load_chain(tmp_path / "kept")
    np.testing.assert_array_equal(loaded.transform(ZEROS, IDS), chain.transform(ZEROS, IDS))
    assert [step.guarantee_ for step in loaded.steps] == [step.guarantee_ for step in chain.steps]
