"""GloVe: counts of neighbours, and vectors that fit them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from word_worlds import analogies_solved, sentences, topics_found

from unembed.encoders.glove import GloveEncoder, _Batch, _parts, _State, count_pairs, number_words
from unembed.errors import DataError, UsageError

pytest.importorskip("torch", reason="the extra neural is not installed")


def counted(texts, window, min_count=1):
    names, occurrences, numbers = number_words(texts, min_count=min_count)
    return names, count_pairs(occurrences, numbers, size=len(names), window=window)


def test_pairs_count_one_over_their_distance_within_a_text():
    names, pairs = counted(["a b c", "c a"], window=5)
    at = {name: i for i, name in enumerate(names)}
    found = pairs.toarray()
    assert found[at["a"], at["b"]] == found[at["b"], at["a"]] == 1.0
    assert found[at["a"], at["c"]] == pytest.approx(0.5 + 1.0)
    assert found[at["b"], at["c"]] == 1.0


def test_rare_words_close_up():
    names, pairs = counted(["a rare b", "a b"], window=1, min_count=2)
    assert sorted(names) == ["a", "b"]
    assert pairs.toarray()[0, 1] == 2.0


@given(
    st.lists(st.lists(st.sampled_from("abcde"), max_size=12).map(" ".join), min_size=1, max_size=8), st.integers(1, 6)
)
@settings(max_examples=60, deadline=None)
def test_counts_agree_with_a_plain_loop(texts, window):
    if not any(texts):
        return
    names, pairs = counted(texts, window)
    at = {name: i for i, name in enumerate(names)}
    expected = np.zeros((len(names), len(names)))
    for cut in (text.split() for text in texts):
        for i, left in enumerate(cut):
            for k in range(1, min(window, len(cut) - 1 - i) + 1):
                expected[at[left], at[cut[i + k]]] += 1 / k
                expected[at[cut[i + k]], at[left]] += 1 / k
    np.testing.assert_allclose(pairs.toarray(), expected, rtol=1e-5)


def test_words_of_one_topic_are_neighbours_and_gender_is_a_direction():
    encoder = GloveEncoder(dimension=100).fit(sentences())
    assert topics_found(encoder) > 0.9
    assert analogies_solved(encoder) > 0.9


def test_a_step_is_adagrad_on_the_published_objective():
    import torch

    rng = np.random.default_rng(0)
    counts = rng.integers(0, 30, size=(9, 9)) * (rng.random((9, 9)) < 0.6)
    batch = _Batch.of(csr_matrix(counts.astype(np.float32)), 10.0, 0.75, torch.device("cpu"))
    state = _State.new(9, 4, rng, torch.device("cpu"))
    held = torch.from_numpy(counts > 0)
    x = torch.from_numpy(counts).double()
    parts = [
        state.word[:, :4].double().requires_grad_(),
        state.context[:, :4].double().requires_grad_(),
        state.word[:, 4].double().requires_grad_(),
        state.context[:, 5].double().requires_grad_(),
    ]
    fitted = parts[0] @ parts[1].T + parts[2][:, None] + parts[3]
    weight = torch.clamp((x / 10.0) ** 0.75, max=1.0)
    (0.5 * (weight * (fitted - torch.log(x.clamp(min=1e-9))) ** 2)[held].sum()).backward()
    expected = [p.detach() - 0.05 * p.grad / (1 + p.grad**2).sqrt() for p in parts]
    state.step(batch, 0.05)
    reached = [state.word[:, :4], state.context[:, :4], state.word[:, 4], state.context[:, 5]]
    for found, wanted in zip(reached, expected, strict=True):
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-4, atol=1e-6)
    assert (state.word[:, 5] == 1).all()
    assert (state.context[:, 4] == 1).all()


def test_every_entry_is_dealt_to_one_batch():
    _, pairs = counted(sentences(200), window=4)
    parts = _parts(pairs, np.random.default_rng(0))
    assert sum(part.nnz for part in parts) == pairs.nnz
    assert abs(sum(parts) - pairs).nnz == 0


def test_the_same_seed_gives_the_same_bits_with_any_number_of_threads():
    import torch

    texts = sentences(400)
    before = torch.get_num_threads()
    tables = []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            tables.append(GloveEncoder(dimension=12, iterations=3).fit(texts).word_matrix)
    finally:
        torch.set_num_threads(before)
    np.testing.assert_array_equal(*tables)
    assert not np.array_equal(tables[0], GloveEncoder(dimension=12, iterations=3, seed=1).fit(texts).word_matrix)


def test_mistakes_are_one_line_errors():
    with pytest.raises(DataError, match="no two words"):
        GloveEncoder(min_count=1).fit(["one", "two"])
    with pytest.raises(UsageError, match="x_max"):
        GloveEncoder(x_max=0.0).fit(["one two"])
