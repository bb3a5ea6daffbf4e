"""Formats of vector stores: what comes back is what the format can hold, and what it can't hold is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_matrix

from unembed.defenses import DEFENSES
from unembed.defenses.base import Sized
from unembed.defenses.binary import Binary
from unembed.defenses.chain import Chain
from unembed.defenses.float16 import Float16
from unembed.defenses.int8 import Int8
from unembed.defenses.product_quantization import ProductQuantization
from unembed.defenses.rotation import Rotation
from unembed.defenses.rounding import Rounding
from unembed.defenses.truncation import Truncation
from unembed.errors import CannotMeasureError, UsageError

VECTORS = np.random.default_rng(0).standard_normal((700, 24)).astype(np.float32)
IDS = [str(row) for row in range(len(VECTORS))]
FORMATS = ("float16", "int8", "binary", "product-quantization")
ALL = (*FORMATS, "truncation", "rotation")
#: 254 steps of the smallest normal float32, about 3e-36.
INT8_SMALLEST_SPREAD = 254 * 2.0**-126


def behind(defense, vectors=VECTORS):
    return np.asarray(defense.fit(vectors).transform(vectors, [str(row) for row in range(len(vectors))]))


def spoiled():
    """A dead, a constant and a huge dimension beside usual ones."""
    vectors = VECTORS.copy()
    vectors[:, 0], vectors[:, 1] = 0, 7.25
    vectors[:, 2] *= 1e4
    return vectors


@settings(max_examples=60, deadline=None)
@given(arrays(np.float32, (5, 7), elements=st.floats(-65500, 65500, width=32)))
def test_float16_is_the_nearest_half(vectors):
    np.testing.assert_array_equal(behind(Float16(), vectors), vectors.astype(np.float16).astype(np.float32))


@pytest.mark.parametrize("power", range(-30, 16))
def test_float16_rounds_like_the_standard_at_every_size(power):
    vectors = (VECTORS * np.float32(2.0**power)).clip(-65519, 65519)
    np.testing.assert_array_equal(behind(Float16(), vectors), vectors.astype(np.float16).astype(np.float32))


@pytest.mark.parametrize("number", [65520.0, -1e6, 1e12])
def test_float16_refuses_what_would_become_infinite(number):
    vectors = VECTORS.copy()
    vectors[650, 3] = number
    with pytest.raises(CannotMeasureError, match="half precision ends at 65504"):
        Float16().fit(vectors)
    with pytest.raises(CannotMeasureError, match="half precision ends at 65504"):
        Float16().fit(VECTORS).transform(vectors, IDS)


@settings(max_examples=60, deadline=None)
@given(
    arrays(np.float32, (20, 4), elements=st.floats(-1e4, 1e4, width=32)),
    st.sampled_from(["dimension", "one"]),
    st.sampled_from([0.0, 50.0, 3e5, -1e9]),
)
def test_int8_is_off_by_half_a_step_at_most(vectors, scales, far):
    vectors = vectors + np.float32(far)
    made = Int8(scales=scales).fit(vectors)
    spread = np.ptp(vectors.astype(np.float64), axis=0 if scales == "dimension" else None)
    lost = np.abs(np.asarray(made.transform(vectors, list("abcdefghijklmnopqrst"))).astype(np.float64) - vectors)
    # A range so small that float32 can't divide by its steps is stored as its lowest number.
    most = np.where(spread > INT8_SMALLEST_SPREAD, 0.505 * spread / 254, spread)
    # Half a step, and what float32 itself loses of numbers of this size.
    assert (lost <= most + 4e-7 * np.abs(vectors).max()).all()


@pytest.mark.parametrize("scales", ["dimension", "one"])
@pytest.mark.parametrize(("share", "told_apart"), [(1.01, True), (0.99, False)])
def test_int8_takes_for_constant_only_what_float32_cannot_divide_by(scales, share, told_apart):
    vectors = (np.linspace(0, share, 20, dtype=np.float32) * np.float32(INT8_SMALLEST_SPREAD))[:, None]
    out = np.asarray(Int8(scales=scales).fit(vectors).transform(vectors, IDS[:20]))
    assert len(np.unique(out)) == (20 if told_apart else 1)
    assert np.abs(out - vectors).max() <= vectors.max() * (0.505 / 254 if told_apart else 1)


def test_int8_keeps_256_different_numbers_at_most_and_one_scale_costs_more_where_dimensions_differ():
    uneven = VECTORS * np.geomspace(0.01, 10, VECTORS.shape[1]).astype(np.float32)
    each, one = behind(Int8(), uneven), behind(Int8(scales="one"), uneven)
    assert max(len(np.unique(column)) for column in each.T) <= 256
    assert len(np.unique(one)) <= 256
    assert np.square(one - uneven)[:, 0].mean() > 100 * np.square(each - uneven)[:, 0].mean()


def test_int8_clips_what_lies_outside_the_quantile():
    made = Int8(quantile=0.9).fit(VECTORS)
    out = np.asarray(made.transform(VECTORS * 5, IDS))
    low, high = np.quantile(VECTORS, (0.05, 0.95), axis=0)
    step = (high - low) / 254
    assert (out <= high + 2 * step).all()
    assert (out >= low - 2 * step).all()
    inside = (low < VECTORS) & (high > VECTORS)
    assert inside.mean() == pytest.approx(0.9, abs=0.01)
    close = np.abs(np.asarray(made.transform(VECTORS, IDS)) - VECTORS) <= 0.51 * step
    assert close[inside].all()


@pytest.mark.filterwarnings("error")
def test_int8_clips_what_lies_far_outside_a_tiny_range():
    made = Int8().fit(VECTORS * np.float32(1e-30))
    out = np.asarray(made.transform(VECTORS * np.float32(1e12), IDS))
    assert np.abs(out).max() < 1e-28
    np.testing.assert_array_equal(np.sign(out), np.sign(VECTORS))


def test_binary_is_the_sign_of_the_difference_to_the_mean():
    shifted = VECTORS + np.linspace(-3, 3, VECTORS.shape[1], dtype=np.float32)
    np.testing.assert_array_equal(behind(Binary(), shifted), np.where(shifted >= shifted.mean(axis=0), 1, -1))
    np.testing.assert_array_equal(behind(Binary(centre=False), shifted), np.where(shifted >= 0, 1, -1))
    signed = np.array([[-0.0, 0.0]], dtype=np.float32)
    np.testing.assert_array_equal(behind(Binary(centre=False), signed), [[1, 1]])


def test_the_error_of_product_quantization_falls_with_bytes_and_with_bits():
    errors = [np.square(behind(ProductQuantization(bytes=size)) - VECTORS).mean() for size in (1, 2, 4, 8, 24)]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.01 * errors[0]
    fewer = np.square(behind(ProductQuantization(bytes=4, bits=4)) - VECTORS).mean()
    assert fewer < np.square(behind(ProductQuantization(bytes=4, bits=2)) - VECTORS).mean() * 1.5
    assert len(np.unique(behind(ProductQuantization(bytes=1, bits=4))[:, :12], axis=0)) <= 16


def test_product_quantization_takes_the_nearest_entry_of_each_codebook():
    uneven = VECTORS[:, :23] + np.float32(40)
    made = ProductQuantization(bytes=5, bits=5).fit(uneven)
    out = np.asarray(made.transform(uneven, IDS))
    assert made.codebooks_.shape == (32, 23)
    start = 0
    for width in (3, 3, 3, 3, 3, 3, 3, 2):
        part = slice(start, start + width)
        apart = np.square(uneven[:, None, part].astype(np.float64) - made.codebooks_[None, :, part]).sum(axis=2)
        chosen = np.square(uneven[:, part].astype(np.float64) - out[:, part]).sum(axis=1)
        np.testing.assert_allclose(chosen, apart.min(axis=1), atol=1e-3)
        start += width
    assert start == 23


def test_product_quantization_needs_as_many_vectors_as_entries():
    with pytest.raises(CannotMeasureError, match="needs as many vectors as a codebook has entries, 256, not 200"):
        ProductQuantization().fit(VECTORS[:200])


@pytest.mark.parametrize("name", ALL)
def test_dead_constant_and_huge_dimensions_are_usual_input(name):
    vectors = spoiled()
    made = DEFENSES.get(name)().fit(vectors)
    out = np.asarray(made.transform(vectors, IDS))
    assert np.isfinite(out).all()
    back = np.asarray(made.inverse(out, IDS))
    # What keeps the dimensions keeps the dead and the constant one.
    np.testing.assert_allclose(back[:, :2], vectors[:, :2], atol=1e-2)


@pytest.mark.parametrize("name", [*ALL, "rounding"])
@pytest.mark.parametrize("number", [np.nan, np.inf, 1e20])
def test_numbers_that_are_none_are_refused_with_their_row(name, number):
    vectors = VECTORS.copy()
    vectors[401, 3] = number
    wanted = "row 401|half precision" if name == "float16" else "row 401"
    with pytest.raises(CannotMeasureError, match=wanted):
        DEFENSES.get(name)().fit(VECTORS).transform(vectors, IDS)
    if name != "rounding":
        with pytest.raises(CannotMeasureError, match=wanted):
            DEFENSES.get(name)().fit(vectors)


@pytest.mark.parametrize("name", ALL)
def test_other_dimensions_sparse_and_no_vectors_are_refused(name):
    made = DEFENSES.get(name)().fit(VECTORS)
    with pytest.raises(CannotMeasureError, match="fitted on vectors of dimension 24, not 23"):
        made.transform(VECTORS[:, :23], IDS)
    with pytest.raises(CannotMeasureError, match="sparse"):
        DEFENSES.get(name)().fit(csr_matrix(VECTORS))
    with pytest.raises(CannotMeasureError, match="learns from at least"):
        DEFENSES.get(name)().fit(VECTORS[:0])
    assert np.asarray(made.transform(VECTORS[:0], [])).shape[0] == 0


@pytest.mark.parametrize(
    ("defense", "said"),
    [
        (Int8(quantile=0), "above 0 and is at most 1"),
        (Int8(quantile=float("nan")), "above 0 and is at most 1"),
        (Int8(scales="each"), "'dimension' or 'one'"),
        (ProductQuantization(bits=9), "between 1 and 8"),
        (ProductQuantization(bytes=0), "whole codes"),
        (ProductQuantization(bytes=4, bits=5), "whole codes of 5 bits"),
        (ProductQuantization(bytes=25), "more than the dimension 24"),
        (Truncation(components=0), "between 1 and the dimension 24"),
        (Truncation(components=25), "between 1 and the dimension 24"),
        (Truncation(kind="last"), "'first' or 'principal'"),
        (Rounding(decimals=16), "from -15 to 15"),
        (Rounding(decimals=0.5), "whole number"),
    ],
    ids=repr,
)
def test_parameters_out_of_range_are_refused(defense, said):
    with pytest.raises(UsageError, match=said):
        defense.fit(VECTORS)


@pytest.mark.parametrize("decimals", [-15, 0, 7, 15])
def test_rounding_stays_finite_within_its_range(decimals):
    vectors = VECTORS * np.float32(1e13)
    out = behind(Rounding(decimals=decimals), vectors)
    np.testing.assert_allclose(out, vectors, rtol=1e-6, atol=0.51 * 10.0**-decimals)


@pytest.mark.parametrize(
    ("steps", "size"),
    [
        ([Rounding()], 96),
        ([Rotation()], 96),
        ([Float16()], 48),
        ([Int8()], 24),
        ([Binary()], 3),
        ([ProductQuantization()], 3),
        ([ProductQuantization(bytes=6, bits=4)], 6),
        ([Truncation(components=10)], 40),
        ([Rotation(), Truncation(components=10), Int8()], 10),
    ],
    ids=str,
)
def test_a_chain_says_how_many_bytes_a_vector_takes(steps, size):
    assert Chain(steps).stored_bytes(24) == size


def test_what_takes_no_fewer_bytes_does_not_say_so():
    assert not isinstance(Rounding(), Sized)
    assert not isinstance(Rotation(), Sized)
