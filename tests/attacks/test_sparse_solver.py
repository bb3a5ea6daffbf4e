"""Sparse coding finds the optimum, proves it, and takes any word matrix."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Lasso

from unembed.attacks.inversion.sparse.columns_ahead import Looker
from unembed.attacks.inversion.sparse.nonnegative import SmallProblems
from unembed.attacks.inversion.sparse.projected_adam import projected_adam
from unembed.attacks.inversion.sparse.solver import SparseCoder
from unembed.errors import UsageError


def reference(words, target, penalty):
    """scikit-learn minimises ‖y − Xw‖² / (2n) + α‖w‖₁, so α = λ / (2n)."""
    model = Lasso(alpha=penalty / 2 / words.shape[1], positive=True, fit_intercept=False, max_iter=100_000, tol=1e-10)
    return model.fit(words.T.astype(np.float64), target.astype(np.float64)).coef_


def objective(words, targets, codes, penalty):
    z = codes.astype(np.float64)
    return ((z @ words.astype(np.float64) - targets) ** 2).sum(axis=1) + penalty * z.sum(axis=1)


def problem(seed, words=40, dimension=24, targets=5, dtype=np.float32):
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((words, dimension)) * rng.uniform(0.3, 2.0, (words, 1)) + rng.standard_normal(dimension)
    shares = rng.random((targets, words)) * (rng.random((targets, words)) < 6 / words)
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-9)
    noise = 0.1 * rng.standard_normal((targets, dimension))
    return table.astype(dtype), (shares @ table + noise).astype(dtype)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), words=st.integers(2, 60), dimension=st.integers(2, 60), penalty=st.floats(0.05, 5))
def test_equals_scikit_learns_positive_lasso(seed, words, dimension, penalty):
    table, targets = problem(seed, words, dimension, dtype=np.float64)
    found = SparseCoder(table, device="cpu").solve(targets, penalty, tolerance=1e-10)
    assert found.converged.all()
    expected = np.stack([reference(table, target, penalty) for target in targets])
    best = objective(table, targets, expected, penalty)
    scale = (targets**2).sum(axis=1)
    assert (np.abs(found.objective - best) <= 1e-6 * scale).all()
    if words <= dimension:  # then the coefficients are determined, not the objective alone
        np.testing.assert_allclose(found.codes.toarray(), expected, atol=1e-4)


def test_equals_scikit_learns_positive_lasso_in_single_precision():
    rng = np.random.default_rng(3)
    table = rng.standard_normal((400, 64)).astype(np.float32) / 8
    targets = np.stack([table[rng.choice(400, 12)].mean(axis=0) for _ in range(8)])
    targets += 0.01 * rng.standard_normal(targets.shape).astype(np.float32)
    for penalty in (0.1, 0.02):
        found = SparseCoder(table, device="cpu").solve(targets, penalty)
        expected = np.stack([reference(table, target, penalty) for target in targets])
        np.testing.assert_allclose(found.codes.toarray(), expected, atol=1e-4)
        assert found.converged.all()


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), tolerance=st.sampled_from([1e-1, 1e-3, 1e-5]), penalty=st.floats(0.05, 5))
def test_the_gap_bounds_how_far_the_optimum_can_be(seed, tolerance, penalty):
    table, targets = problem(seed, words=200, dimension=32)
    found = SparseCoder(table, device="cpu").solve(targets, penalty, tolerance=tolerance)
    best = [objective(table, t[None], reference(table, t, penalty)[None], penalty)[0] for t in targets]
    assert (objective(table, targets, found.codes.toarray(), penalty) - best <= found.gap).all()
    square = (targets.astype(np.float64) ** 2).sum(axis=1)
    assert found.converged.all()
    assert (found.gap <= tolerance * found.objective + 1e-4 * square).all()


def test_a_gap_is_honest_about_a_solver_that_stopped_early(monkeypatch):
    monkeypatch.setattr("unembed.attacks.inversion.sparse.working_sets.MAX_ROUNDS", 1)
    table, targets = problem(1, words=2000, dimension=64, targets=6)
    found = SparseCoder(table, device="cpu").solve(targets, 0.3)
    monkeypatch.undo()
    best = SparseCoder(table, device="cpu").solve(targets, 0.3)
    assert not found.converged.any()
    assert best.converged.all()
    assert (found.objective - best.objective <= found.gap).all()
    assert (found.objective > best.objective).all()


def test_optimality_conditions_hold_over_all_words():
    table, targets = problem(2, words=3000, dimension=96, targets=20)
    found = SparseCoder(table, device="cpu").solve(targets, 0.5)
    z = found.codes.toarray().astype(np.float64)
    slope = 2 * (targets - z @ table) @ table.T.astype(np.float64) - 0.5
    assert slope.max() < 5e-3 * 0.5
    assert np.abs(slope[z > 0]).max() < 5e-3 * 0.5
    assert found.kkt.max() < 5e-3
    assert (z >= 0).all()


def test_a_zero_target_and_a_high_penalty_have_an_empty_code():
    table, targets = problem(4)
    targets[0] = 0
    coder = SparseCoder(table, device="cpu")
    assert coder.solve(targets[:1], 0.1).codes.nnz == 0
    limit = coder.largest_penalty(targets[1:2])[0]
    above, below = (coder.solve(targets[1:2], share * limit) for share in (1.001, 0.95))
    assert above.codes.nnz == 0
    assert below.codes.nnz == 1
    assert above.converged.all()


def test_equal_rows_and_dead_rows_do_no_harm():
    table, targets = problem(5, words=60, dimension=32)
    doubled = np.concatenate([table, table, np.zeros((5, 32), dtype=np.float32)])
    alone = SparseCoder(table, device="cpu").solve(targets, 0.2)
    twice = SparseCoder(doubled, device="cpu").solve(targets, 0.2)
    assert twice.converged.all()
    np.testing.assert_allclose(twice.objective, alone.objective, rtol=1e-5)
    codes = twice.codes.toarray()
    assert not codes[:, 120:].any()
    np.testing.assert_allclose(codes[:, :60] + codes[:, 60:120], alone.codes.toarray(), atol=1e-3)


def test_words_of_very_different_length():
    rng = np.random.default_rng(0)
    table = (rng.standard_normal((500, 64)) * 10 ** rng.uniform(-1, 1, (500, 1))).astype(np.float32)
    targets = np.stack([table[rng.integers(0, 500, 6)].mean(axis=0) for _ in range(10)])
    found = SparseCoder(table, device="cpu").solve(targets, 1.0)
    assert found.converged.all()
    assert np.isfinite(found.objective).all()


def test_recovers_the_words_of_a_mean():
    rng = np.random.default_rng(1)
    table = rng.standard_normal((5000, 128)).astype(np.float32)
    drawn = [rng.choice(5000, size=10, replace=False) for _ in range(30)]
    targets = np.stack([table[row].mean(axis=0) for row in drawn])
    found = SparseCoder(table, device="cpu").solve(targets, 0.1).codes
    for row, words in enumerate(drawn):
        assert set(found[row].indices[found[row].data > 0.05]) == set(words)


def test_batches_and_starting_points_change_nothing(monkeypatch):
    table, targets = problem(6, words=1000, dimension=64, targets=40, dtype=np.float64)
    coder = SparseCoder(table, device="cpu")
    whole = coder.solve(targets, 0.3, tolerance=1e-10)
    warm = coder.solve(targets, 0.3, tolerance=1e-10, start=coder.solve(targets, 1.0).codes)
    monkeypatch.setattr("unembed.attacks.inversion.sparse.working_sets.TILE_BYTES", {"cpu": 50_000})
    monkeypatch.setattr("unembed.attacks.inversion.sparse.solver.CHUNK", 7)
    parts = SparseCoder(table, device="cpu").solve(targets, 0.3, tolerance=1e-10)
    for other in (warm, parts):
        np.testing.assert_allclose(other.codes.toarray(), whole.codes.toarray(), atol=1e-5)
        np.testing.assert_allclose(other.objective, whole.objective, rtol=1e-8)


def test_half_precision_looks_keep_the_certificate(monkeypatch):
    table, targets = problem(7, words=1500, dimension=64, targets=20)
    results = []
    for kind in (torch.float32, torch.bfloat16):
        monkeypatch.setattr("unembed.attacks.inversion.sparse.columns_ahead.look_type", lambda words, kind=kind: kind)
        results.append(SparseCoder(table, device="cpu").solve(targets, 0.3))
    full, half = results
    assert half.converged.all()
    np.testing.assert_allclose(half.objective, full.objective, rtol=1e-5)
    assert half.kkt.max() < 1e-3


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
def test_a_look_never_underrates_the_best_word(monkeypatch, kind):
    monkeypatch.setattr("unembed.attacks.inversion.sparse.columns_ahead.look_type", lambda words: kind)
    rng = np.random.default_rng(2)
    words = torch.from_numpy(rng.standard_normal((640, 48)).astype(np.float32))
    words[-1] = 0
    residuals = torch.from_numpy(rng.standard_normal((200, 48)).astype(np.float32))
    looker = Looker(words)
    held = torch.from_numpy(rng.integers(0, 600, (200, 5)))
    best, place = (residuals @ words.T).scatter_(1, held, -torch.inf).max(dim=1)
    for limit in (0.0, float(best.median()), 100.0):
        seen = looker.look(residuals, held, 4, limit)
        assert (seen.highest >= best - 1e-4).all()
        assert not ((seen.highest > limit) & (best < limit - 1e-4)).any(), (
            "a limit that is kept must be seen to be kept"
        )
        broken = best > limit + 1e-4
        assert (seen.index[broken] == place[broken, None]).any(dim=1).all() or kind is not torch.float32
        assert not (seen.index[:, :, None] == held[:, None, :]).any()


def test_small_problems_reach_the_optimum_from_any_start():
    table, targets = problem(8, words=30, dimension=48, targets=12, dtype=np.float64)
    words, rows = torch.from_numpy(table), torch.from_numpy(targets)
    index = torch.arange(30).repeat(12, 1)
    small = SmallProblems.of(words, words.norm(dim=1), index, rows, 0.4)
    cold = small.solve(torch.zeros(12, 30, dtype=torch.float64))
    hot = small.solve(torch.full((12, 30), 5.0, dtype=torch.float64))
    expected = np.stack([reference(table, target, 0.4) for target in targets])
    np.testing.assert_allclose(cold.numpy(), expected, atol=1e-6)
    np.testing.assert_allclose(hot.numpy(), expected, atol=1e-6)


def test_problems_that_single_precision_does_not_settle_are_settled_in_double():
    table, targets = problem(8, words=30, dimension=48, targets=12, dtype=np.float64)
    words, rows = torch.from_numpy(table).float(), torch.from_numpy(targets).float()
    inverse = (1 / words.norm(dim=1)).repeat(12, 1)
    never_settled = SmallProblems(words.mul(inverse[0][:, None]).repeat(12, 1, 1), inverse, rows, 0.4, close=-1.0)
    found = never_settled.solve(torch.zeros(12, 30))
    expected = np.stack([reference(table, target, 0.4) for target in targets])
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-5)


def test_targets_that_are_no_sum_of_words_end_and_say_how_far_they_came(monkeypatch):
    monkeypatch.setattr("unembed.attacks.inversion.sparse.nonnegative.SINGLY", 0)
    rng = np.random.default_rng(3)
    table = (rng.standard_normal((300, 40)) + 4 * rng.standard_normal(40)).astype(np.float32)
    targets = (10 * rng.standard_normal((8, 40))).astype(np.float32)
    solved = SparseCoder(table).solve(targets, 0.02, tolerance=1e-4)
    expected = np.stack([reference(table, target, 0.02) for target in targets])
    best = objective(table, targets, expected, 0.02)
    above = objective(table, targets, solved.codes.toarray(), 0.02) - best
    assert (above <= solved.gap + 1e-4 * best).all()
    assert (above <= 1e-3 * best).all()


def test_the_papers_procedure_comes_to_the_same_optimum():
    table, targets = problem(9, words=100, dimension=48, targets=4)
    targets *= 0.05
    ours = SparseCoder(table, device="cpu").solve(targets, 0.05)
    paper = projected_adam(table, targets, 0.05, max_steps=4000, change=1e-7, device="cpu")
    np.testing.assert_allclose(paper.objective, ours.objective, rtol=2e-3)
    assert (paper.objective >= ours.objective - ours.gap).all()
    assert (paper.codes.data >= 0).all()
    reached = projected_adam(table, targets, 0.05, goal=ours.objective * 1.1, max_steps=4000, device="cpu")
    assert reached.steps < paper.steps
    assert reached.objective.mean() <= ours.objective.mean() * 1.1


def test_nothing_in_nothing_out():
    found = SparseCoder(problem(0)[0], device="cpu").solve(np.zeros((0, 24), dtype=np.float32), 0.1)
    assert found.codes.shape == (0, 40)
    assert found.objective.shape == (0,)


@pytest.mark.parametrize(
    ("targets", "penalty", "message"),
    [
        (np.zeros((2, 5)), 0.1, "24 dimensions"),
        (np.full((2, 24), np.nan), 0.1, "NaN"),
        (np.zeros((2, 24)), 0.0, "above 0"),
    ],
)
def test_bad_input_is_named(targets, penalty, message):
    with pytest.raises(UsageError, match=message):
        SparseCoder(problem(0)[0], device="cpu").solve(targets, penalty)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_the_same_on_a_gpu():
    table, targets = problem(10, words=2000, dimension=64, targets=50)
    there, here = (SparseCoder(table, device=d).solve(targets, 0.3) for d in ("cuda", "cpu"))
    assert there.converged.all()
    np.testing.assert_allclose(there.codes.toarray(), here.codes.toarray(), atol=1e-4)
