"""Foreign functions as encoders: what they return is checked."""

from __future__ import annotations

import numpy as np
import pytest

from unembed.encoders.callables import CallableEncoder
from unembed.errors import DataError, UsageError


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (lambda n: np.zeros((n + 1, 2)), "vectors for"),
        (lambda n: np.zeros(n), "shape"),
        (lambda n: np.full((n, 2), np.nan), "NaN"),
        (lambda n: np.full((n, 2), 1e300), "infinity"),
        (lambda n: [["a", "b"]] * n, "real numbers"),
        (lambda n: [[1.0], [1.0, 2.0]] + [[1.0]] * (n - 2), "different lengths"),
        (lambda n: np.zeros((n, 0)), "shape"),
        (lambda n: None, "real numbers"),
        (lambda n: np.zeros((n, 2), dtype=complex), "real numbers"),
    ],
)
def test_output_that_is_no_vectors_is_an_error(output, message):
    with pytest.raises(DataError, match=message):
        CallableEncoder(lambda texts: output(len(texts))).encode(["a", "b", "c"])


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int8, np.uint16])
def test_any_real_type_becomes_float32(dtype):
    vectors = CallableEncoder(lambda texts: np.ones((len(texts), 3), dtype=dtype)).encode(["a"])
    assert vectors.dtype == np.float32


def test_objects_classes_tensors_roles_and_batches():
    torch = pytest.importorskip("torch")
    calls = []

    class Model:
        def encode(self, texts, role):
            calls.append((len(texts), role))
            return torch.ones(len(texts), 2, requires_grad=True) * 3

    encoder = CallableEncoder(Model, batch_size=2, normalise=True)
    np.testing.assert_allclose(encoder.encode(["a", "b", "c"], role="query"), np.full((3, 2), 0.5**0.5), atol=1e-6)
    assert calls == [(2, "query"), (1, "query")]
    with pytest.raises(UsageError, match="neither"):
        CallableEncoder(3).encode(["a"])


def test_the_row_of_the_first_bad_vector_counts_over_batches():
    def embed(texts):
        return [[float("nan") if t == "bad" else 0.0] for t in texts]

    with pytest.raises(DataError, match="row 3"):
        CallableEncoder(embed, batch_size=2).encode(["a", "b", "c", "bad"])
