"""The shared network parts: safe inputs, right gradients, one loop."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import random as sparse_random

from unembed.attacks.inversion.losses import set_cross_entropy
from unembed.errors import CannotMeasureError, UsageError
from unembed.nn.device import pick_device
from unembed.nn.features import InputRows, LabelRows, Standardiser
from unembed.nn.modules import ResidualPerceptron, StackedPerceptron
from unembed.nn.training import train


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.floats(-1e4, 1e4), st.floats(1e-6, 1e6))
def test_standardised_rows_have_mean_zero_and_variance_one(seed, shift, scale):
    rows = np.random.default_rng(seed).standard_normal((200, 5)) * scale + shift
    vectors = rows.astype(np.float32)
    spread = vectors.astype(np.float64).std(axis=0)
    out = Standardiser().fit(vectors).transform(vectors)
    assert np.isfinite(out).all()
    alive = spread > 1e-3 * np.abs(vectors).max()
    assert np.allclose(out[:, alive].mean(axis=0), 0, atol=0.1)
    assert np.allclose(out[:, alive].std(axis=0), 1, atol=0.15)


def test_a_dead_dimension_becomes_zero_not_infinite():
    vectors = np.random.default_rng(0).standard_normal((50, 3)).astype(np.float32)
    vectors[:, 1] = 0.125
    out = Standardiser().fit(vectors).transform(vectors)
    assert (out[:, 1] == 0).all()
    assert out[:, 0].std() > 0.9


def test_half_precision_noise_in_a_dead_dimension_stays_dead():
    vectors = np.full((100, 2), 7.5, dtype=np.float32)
    vectors[:, 0] = np.random.default_rng(0).standard_normal(100)
    vectors[::2, 1] = np.nextafter(np.float32(7.5), np.float32(8))
    assert (Standardiser().fit(vectors).transform(vectors)[:, 1] == 0).all()


def test_sparse_vectors_keep_the_columns_seen_in_training():
    matrix = sparse_random(40, 1000, density=0.01, format="csr", dtype=np.float32, random_state=0)
    scaler = Standardiser().fit(matrix)
    assert scaler.width == len(np.unique(matrix.indices))
    assert np.isfinite(scaler.transform(matrix)).all()


def test_rows_prepared_or_read_in_batches_are_the_same(monkeypatch):
    vectors = np.random.default_rng(0).standard_normal((30, 4)).astype(np.float32)
    scaler, rows = Standardiser().fit(vectors), np.arange(5, 25)
    ready = InputRows(scaler, vectors, rows, torch.device("cpu"))
    monkeypatch.setattr("unembed.nn.features.PREPARED_BYTES", 0)
    lazy = InputRows(scaler, vectors, rows, torch.device("cpu"))
    assert lazy.ready is None
    pick = np.array([3, 0, 19])
    assert torch.equal(ready[pick], lazy[pick])


def test_set_loss_and_gradient_equal_plain_cross_entropy():
    torch.manual_seed(0)
    target = (torch.rand(5, 7) < 0.3).double()
    words = torch.arange(7).repeat(5, 1)
    ours = torch.randn(5, 7, dtype=torch.double, requires_grad=True)
    plain = ours.detach().clone().requires_grad_(True)
    loss = set_cross_entropy(ours, words, target)
    reference = torch.nn.functional.binary_cross_entropy_with_logits(plain, target, reduction="sum") / 5
    loss.backward()
    reference.backward()
    assert loss.item() == pytest.approx(reference.item(), rel=1e-12)
    assert torch.allclose(ours.grad, plain.grad, atol=1e-12)


def test_batches_of_word_sets_hold_the_words_of_their_texts():
    labels = sparse_random(30, 50, density=0.1, format="csr", random_state=0)
    labels[4:7] = 0
    labels.eliminate_zeros()
    rows = np.array([29, 4, 0, 5, 29, 12])
    words, there = LabelRows(labels, torch.device("cpu"))[rows]
    for row, found, real in zip(rows, words, there, strict=True):
        assert sorted(found[real > 0].tolist()) == sorted(labels[row].indices.tolist())
    same, marks = LabelRows(labels, torch.device("cpu"))[torch.from_numpy(rows)]
    assert [set(w[m > 0].tolist()) for w, m in zip(same, marks, strict=True)] == [
        set(w[m > 0].tolist()) for w, m in zip(words, there, strict=True)
    ]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_a_recorded_step_trains_as_a_launched_one():
    rng = np.random.default_rng(0)
    inputs = torch.from_numpy(rng.standard_normal((500, 12), dtype=np.float32)).cuda()
    wanted = (inputs @ torch.ones(12, 3, device="cuda") > 0).float()

    def losses(recorded):
        torch.manual_seed(0)
        model = torch.nn.Linear(12, 3).cuda()

        def loss_of(rows):
            index = rows if isinstance(rows, torch.Tensor) else torch.from_numpy(rows).cuda()
            return torch.nn.functional.binary_cross_entropy_with_logits(model(inputs[index]), wanted[index])

        plan = {"n": 500, "epochs": 4, "batch_size": 50, "learning_rate": 0.01, "rng": np.random.default_rng(1)}
        return train(model, loss_of, recorded=recorded, **plan).losses

    assert losses(True) == pytest.approx(losses(False), rel=1e-3)


def test_set_gradient_is_the_numerical_one():
    words = torch.tensor([[1, 3], [0, 0], [0, 2]])
    there = torch.tensor([[1, 1], [0, 0], [1, 0]], dtype=torch.double)
    point = torch.randn(3, 4, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(lambda s: set_cross_entropy(s, words, there), (point,))


def test_stacked_networks_equal_single_ones():
    torch.manual_seed(1)
    stacked = StackedPerceptron(3, 4, [5], 2)
    inputs = torch.randn(6, 4)
    together = stacked(inputs)
    for k in range(3):
        single = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Sigmoid(), torch.nn.Linear(5, 2))
        with torch.no_grad():
            for layer, weight, bias in zip((single[0], single[2]), stacked.weights, stacked.biases, strict=True):
                layer.weight.copy_(weight[k].T)
                layer.bias.copy_(bias[k, 0])
        assert torch.allclose(single(inputs), together[k], atol=1e-6)


def test_without_hidden_layers_the_residual_network_is_linear():
    net = ResidualPerceptron(4, 0, 0, 3)
    left, right = torch.randn(2, 4), torch.randn(2, 4)
    bias = net(torch.zeros(2, 4))
    assert torch.allclose(net(left + right) - bias, net(left) + net(right) - 2 * bias, atol=1e-5)


def test_training_keeps_the_best_epoch():
    torch.manual_seed(0)
    model = torch.nn.Linear(1, 1)
    scores = iter([0.1, 0.9, 0.2, 0.3])
    seen = []

    def score():
        seen.append(model.weight.item())
        return next(scores)

    log = train(
        model,
        lambda rows: (model(torch.ones(len(rows), 1)) - 5).pow(2).mean(),
        n=8, epochs=4, batch_size=4, learning_rate=0.1, rng=np.random.default_rng(0), score=score,
    )  # fmt: skip
    assert log.best_epoch == 1
    assert model.weight.item() == pytest.approx(seen[1])


def test_few_rows_still_get_enough_steps():
    steps = []
    model = torch.nn.Linear(1, 1)

    def loss_of(rows):
        steps.append(len(rows))
        return model(torch.ones(len(rows), 1)).pow(2).mean()

    train(model, loss_of, n=10, epochs=2, batch_size=5, learning_rate=0.1, min_steps=40, rng=np.random.default_rng(0))
    assert len(steps) >= 40


def test_a_diverging_training_says_so():
    model = torch.nn.Linear(1, 1)
    with pytest.raises(CannotMeasureError, match="diverged"):
        train(
            model,
            lambda rows: model(torch.ones(1, 1)).sum() * float("nan"),
            n=4, epochs=1, batch_size=4, learning_rate=0.1, rng=np.random.default_rng(0),
        )  # fmt: skip


def test_unknown_device_is_a_usage_error():
    with pytest.raises(UsageError, match="unknown device"):
        pick_device("quantum")
    if not torch.cuda.is_available():
        with pytest.raises(UsageError, match="can't use device"):
            pick_device("cuda")


def test_training_leaves_the_precision_of_encoders_alone():
    before = torch.get_float32_matmul_precision()
    model, seen = torch.nn.Linear(1, 1), []

    def loss_of(rows):
        seen.append(torch.get_float32_matmul_precision())
        return model(torch.ones(len(rows), 1)).pow(2).mean()

    train(model, loss_of, n=4, epochs=1, batch_size=4, learning_rate=0.1, rng=np.random.default_rng(0))
    assert set(seen) == {"high"}
    assert torch.get_float32_matmul_precision() == before
