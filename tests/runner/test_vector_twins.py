"""Vectors that are nearly a target's leave the adversary's side; usual neighbours, sparse and constant ones stay."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from altered_copies import invented_texts
from unembed.runner.execute import audit
from unembed.runner.spec import AuditSpec
from unembed.runner.twins import FACT, vector_twins


def cloud(rows, seed, dimension=24):
    return np.random.default_rng(seed).standard_normal((rows, dimension)).astype(np.float32)


def with_copies(noise, copies=40):
    target, adversary = cloud(200, 1), cloud(900, 2)
    adversary[:copies] = target[:copies] + noise * cloud(copies, 3)
    return adversary, target


def test_copies_are_found_and_hardly_anything_else():
    adversary, target = with_copies(0.1)
    found = vector_twins(adversary, target)
    assert found[:40].all()
    assert found[40:].sum() <= 2  # chance gives one target in a hundred such a neighbour


@settings(max_examples=15, deadline=None)
@given(st.floats(1e-3, 1e3), st.floats(-50, 50), st.integers(0, 5))
def test_turning_moving_and_scaling_change_nothing(scale, shift, seed):
    adversary, target = with_copies(0.1)
    turn = np.linalg.qr(cloud(24, seed))[0]
    moved = [((v @ turn + shift) * scale).astype(np.float32) for v in (adversary, target)]
    assert (vector_twins(*moved) == vector_twins(adversary, target)).all()


def test_sparse_vectors_are_searched_as_well():
    adversary, target = (np.maximum(v - 0.8, 0) for v in with_copies(0.02))
    assert (vector_twins(csr_matrix(adversary), csr_matrix(target)) == vector_twins(adversary, target)).all()
    assert vector_twins(csr_matrix(adversary), csr_matrix(target))[:40].mean() > 0.9


def test_a_collection_of_families_keeps_them():
    """Each text has close relatives on both sides: that is how this collection is, not a copy."""
    rng = np.random.default_rng(0)
    families = np.repeat(cloud(150, 4), 8, axis=0) + 0.1 * cloud(1200, 5)
    mine = rng.permutation(1200)
    assert vector_twins(families[mine[:800]], families[mine[800:]]).mean() < 0.01


@pytest.mark.parametrize(
    "make",
    [
        lambda n: np.ones((n, 8), dtype=np.float32),
        lambda n: np.zeros((n, 8), dtype=np.float32),
        lambda n: csr_matrix((n, 8), dtype=np.float32),
        lambda n: np.eye(8, dtype=np.float32)[np.arange(n) % 8],
        lambda n: np.full((n, 8), 0.1, dtype=np.float32) * (1 + 1e-6 * cloud(n, 0, 8)),
    ],
    ids=["ones", "zeros", "sparse zeros", "eight vectors", "rounding"],
)
def test_vectors_that_say_nothing_are_kept(make):
    assert not vector_twins(make(300), make(100)).any()


def test_too_few_vectors_are_kept():
    assert not vector_twins(np.eye(12, dtype=np.float32), np.eye(12, dtype=np.float32)).any()
    assert not vector_twins(cloud(100, 0), cloud(0, 0)).any()


def test_an_audit_removes_vector_twins_and_says_so(tmp_path):
    """The texts have nothing in common, the vectors of some are nearly the same: only vectors can show it."""
    texts = invented_texts(400, seed=7)
    vectors = cloud(400, 8)
    vectors[200:] = vectors[:200] + 0.05 * cloud(200, 9)
    (tmp_path / "texts.txt").write_text("\n".join(texts), encoding="utf-8")
    np.save(tmp_path / "vectors.npy", vectors)
    spec = AuditSpec.model_validate(
        {
            "data": {"texts": str(tmp_path / "texts.txt"), "vectors": str(tmp_path / "vectors.npy")},
            "games": ["keyword"],
            "attacks": ["keyword/svm"],
            "run": {"folder": str(tmp_path / "run"), "jobs": 1},
        }
    )
    run, folder = audit(spec)
    card = next(c for c in run.data if c.role == "adversary")
    removed = card.facts[FACT]
    assert 60 < removed < 140
    assert card.rows == 200 - removed
    assert all(c.identity.known_fingerprint == card.fingerprint for c in run.cells)
    again, _ = audit(spec)
    assert again.data == run.data
    assert [c.key for c in again.cells] == [c.key for c in run.cells]
    events = [json.loads(line)["event"] for line in (folder / "events.jsonl").read_text().splitlines()]
    assert events.count("encoded") == 1
