"""The stacked domain-adversarial networks do what one network after another, written plainly, would do."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from unembed.attacks.keyword.domain_adversarial import DomainAdversarialStack
from unembed.attacks.keyword.linear import fit_linear


class _Reversed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, values, strength):
        ctx.strength = strength
        return values.clone()

    @staticmethod
    def backward(ctx, gradient):
        return -ctx.strength * gradient, None


def plain_loss(model, number, rows, held, private, strength):
    """One network, with autograd's own operations."""
    encoder, encoder_bias, head, head_bias, domain, domain_bias = model.parts
    lines = slice(number * model.units, (number + 1) * model.units)
    weight, bias = encoder[lines].t(), encoder_bias[lines]
    hidden = torch.sigmoid(rows @ weight + bias)
    shared = torch.cat([rows[: len(rows) - len(private)], private])
    domains = (torch.arange(len(shared)) >= len(rows) - len(private)).long()
    keyword = functional.cross_entropy(hidden @ head[number] + head_bias[number], held)
    seen = _Reversed.apply(torch.sigmoid(shared @ weight + bias), strength)
    return keyword + functional.cross_entropy(seen @ domain[number] + domain_bias[number], domains)


@pytest.mark.parametrize(("strength", "theirs"), [(0.0, 2), (1.0, 3), (0.3, 5), (1.0, 0)])
def test_loss_and_gradients_are_those_of_single_networks(strength, theirs):
    generators = [torch.Generator().manual_seed(i) for i in range(3)]
    model = DomainAdversarialStack(7, 4, generators).double()
    rng = torch.Generator().manual_seed(9)
    rows = torch.randn(3, 5, 7, generator=rng, dtype=torch.float64)
    private = torch.randn(theirs, 7, generator=rng, dtype=torch.float64)
    held = torch.randint(0, 2, (3, 5), generator=rng)
    loss = model.loss(rows, held, private, strength)
    loss.backward()
    found = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    wanted = sum(plain_loss(model, i, rows[i], held[i], private, strength) for i in range(3))
    wanted.backward()
    assert float(loss.detach()) == pytest.approx(float(wanted.detach()))
    for gradient, parameter in zip(found, model.parameters(), strict=True):
        assert torch.allclose(gradient, parameter.grad, atol=1e-10)


def test_linear_questions_are_the_ones_scikit_learn_answers():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    rows = rng.standard_normal((120, 5))
    wanted = (rows[:, :2] + rng.standard_normal((120, 2))) > 0
    tensors = torch.from_numpy(rows), torch.from_numpy(wanted).double()
    weights = torch.full((120, 2), 1 / 120, dtype=torch.float64)
    matrix, bias = fit_linear(*tensors, weights, 2, penalty=0.05, loss="each")
    for column in range(2):
        known = LogisticRegression(C=1 / (0.05 * 120), tol=1e-10, max_iter=1000).fit(rows, wanted[:, column])
        assert np.allclose(matrix[:, column], known.coef_[0], atol=1e-3)
        assert float(bias[column]) == pytest.approx(float(known.intercept_[0]), abs=1e-3)
    answer = torch.from_numpy(np.where(wanted[:, 0], 0, np.where(wanted[:, 1], 1, 2)))
    matrix, bias = fit_linear(tensors[0], answer, weights[:, 0], 3, penalty=0.05, loss="one")
    known = LogisticRegression(C=1 / (0.05 * 120), tol=1e-10, max_iter=1000).fit(rows, answer.numpy())
    ours = torch.softmax(tensors[0] @ matrix + bias, dim=1).numpy()
    assert np.allclose(ours, known.predict_proba(rows), atol=1e-3)
