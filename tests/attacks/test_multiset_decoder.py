"""The set decoder: gradients by hand are the right ones, candidates estimate all words, a row optimiser is Adam."""

import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix
from scipy.sparse import random as sparse_random

from unembed.attacks.inversion.multiset import decoder as set_decoder
from unembed.attacks.inversion.multiset.decoder import Candidates, SetDecoder, Wanted, product_type
from unembed.attacks.inversion.multiset.first_input import first_input
from unembed.attacks.inversion.multiset.row_adam import RowAdam
from unembed.attacks.inversion.multiset.training import SetPlan, WordSets, train_sets
from unembed.nn.training import whole_batches


def plain_loss(decoder, first, wanted, candidates=None):
    """Eq. 4.4 text by text and word by word, for autograd."""
    table = decoder.table if candidates is None else candidates.table
    batch, end_row = len(first), len(table) - 1
    hidden, cell, current = decoder.first_hidden.expand(batch, -1), decoder.first_cell.expand(batch, -1), first
    left, running, loss, named = wanted.weights.clone(), torch.ones(batch), 0.0, []
    for _ in range(decoder.steps):
        gates = torch.cat([current, hidden], 1) @ decoder.weight.T + decoder.bias
        enter, forget, new, leave = gates.chunk(4, 1)
        cell = forget.sigmoid() * cell + enter.sigmoid() * new.tanh()
        hidden = leave.sigmoid() * cell.tanh()
        logits = hidden @ table.T
        if named and not decoder.repeats:
            logits = logits.scatter(1, torch.stack(named, 1), -torch.inf)
        said = logits.argmax(1)
        named.append(said)
        if candidates is not None:
            correction = candidates.rarity.repeat(batch, 1)
            for text in range(batch):
                correction[text, wanted.words[text][wanted.weights[text] > 0]] = 0
            logits = logits + correction
        logs = logits.log_softmax(1)
        for text in range(batch):
            pairs = list(zip(wanted.words[text].tolist(), left[text].tolist(), strict=True))
            items = [(word, weight) for word, weight in pairs if weight > 0]
            if decoder.end == "always" or (decoder.end == "end" and not items):
                items.append((end_row, 1.0))
            if items and running[text]:
                loss = loss - sum(weight * logs[text, word] for word, weight in items) / len(items) / batch
        left = left * (wanted.words != said[:, None])
        if decoder.end != "never":
            running = running * (said != end_row)
        current = table[said]
    return loss


@pytest.mark.parametrize("end", ["never", "end", "always"])
@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("repeats", [False, True])
@pytest.mark.parametrize("in_blocks", [False, True])
def test_gradients_equal_autograd(end, sampled, repeats, in_blocks, monkeypatch):
    if in_blocks:  # as half precision is, which is too coarse for this comparison
        monkeypatch.setattr(set_decoder, "blocks_of", lambda matrix: torch.nn.functional.pad(matrix, (0, 3, 0, 5)))
    torch.manual_seed(0)
    decoder = SetDecoder(7, 5, steps=4, end=end, repeats=repeats, compute=torch.float64).double()
    decoder.table.data *= 3
    decoder.weight.data *= 2
    first = torch.randn(6, 5, dtype=torch.float64, requires_grad=True)
    words = torch.stack([torch.randperm(5)[:3] for _ in range(6)])
    weights = torch.rand(6, 3, dtype=torch.float64) + 0.2
    words[0, 2], weights[0, 2] = 0, 0
    words[1], weights[1] = 0, 0
    wanted, candidates, table = Wanted(words, weights), None, decoder.table
    if sampled:
        rows = torch.tensor([0, 1, 2, 3, 4, 6 if end == "never" else 7])
        table = decoder.table[rows].detach().requires_grad_()
        candidates = Candidates(table, torch.rand(6, dtype=torch.float64))
    loss = plain_loss(decoder, first, wanted, candidates)
    loss.backward()
    found = decoder.gradients(first.detach(), wanted, candidates)
    assert torch.allclose(found.loss, loss)
    for mine, right in (
        (found.weight, decoder.weight.grad),
        (found.bias, decoder.bias.grad),
        (found.hidden, decoder.first_hidden.grad),
        (found.cell, decoder.first_cell.grad),
        (found.table, table.grad),
        (found.first, first.grad),
    ):
        assert right.abs().max() > 0
        assert torch.allclose(mine, right, atol=1e-12)


def test_dropout_is_for_training_alone():
    torch.manual_seed(0)
    decoder = SetDecoder(9, 8, steps=3, dropout=0.5)
    first, wanted = torch.randn(4, 8), Wanted(torch.arange(4)[:, None], torch.ones(4, 1))
    decoder.train()
    assert decoder.gradients(first, wanted).loss != decoder.gradients(first, wanted).loss
    decoder.eval()
    assert decoder.gradients(first, wanted).loss == decoder.gradients(first, wanted).loss
    assert torch.equal(decoder.predict(first)[1], decoder.predict(first)[1])


def test_all_words_as_candidates_are_the_full_loss():
    torch.manual_seed(0)
    decoder = SetDecoder(20, 8, steps=3).eval()
    first, wanted = torch.randn(4, 8), Wanted(torch.arange(8).view(4, 2), torch.ones(4, 2))
    full = decoder.gradients(first, wanted)
    same = decoder.gradients(first, wanted, Candidates(decoder.table.detach(), torch.zeros(20)))
    assert torch.allclose(full.loss, same.loss)
    assert torch.allclose(full.table, same.table)


def test_bfloat16_products_stay_close():
    torch.manual_seed(0)
    decoder = SetDecoder(50, 32, steps=1).eval()
    first, wanted = torch.randn(16, 32), Wanted(torch.arange(16)[:, None], torch.ones(16, 1))
    exact = decoder.gradients(first, wanted)
    decoder.compute = torch.bfloat16
    rough = decoder.gradients(first, wanted)
    assert torch.allclose(exact.loss, rough.loss, rtol=0.02)
    assert (exact.table - rough.table).norm() < 0.05 * exact.table.norm()
    assert product_type("bfloat16", torch.device("cpu")) is torch.bfloat16


def test_half_precision_is_filled_up_to_whole_blocks():
    odd = torch.ones(21, 13, dtype=torch.bfloat16)
    assert set_decoder.blocks_of(odd).shape == (24, 16)
    assert set_decoder.blocks_of(odd).sum() == odd.sum()
    assert set_decoder.blocks_of(odd.float()).shape == odd.shape


def test_a_row_never_left_out_moves_as_under_adam():
    torch.manual_seed(0)
    table = torch.randn(6, 3)
    usual = torch.nn.Parameter(table.clone())
    adam = torch.optim.Adam([usual], lr=0.01, weight_decay=0.1)
    mine = table.clone()
    rows = RowAdam(mine, learning_rate=0.01, weight_decay=0.1)
    for _ in range(5):
        gradient = torch.randn(6, 3)
        usual.grad = gradient.clone()
        adam.step()
        rows.step(torch.tensor([4, 1]), gradient[[4, 1]])
    assert torch.allclose(mine[[1, 4]], usual.detach()[[1, 4]], atol=1e-6)
    assert torch.equal(mine[[0, 2, 3, 5]], table[[0, 2, 3, 5]])


def test_sparse_vectors_become_the_product_they_stand_for():
    torch.manual_seed(0)
    vectors = sparse_random(12, 2**18, density=4e-5, format="csr", dtype=np.float32, random_state=0)
    first = first_input(vectors, "none", 6, torch.device("cpu"))
    right = vectors[:, first.columns] @ first.table.detach().numpy() + first.bias.detach().numpy()
    assert np.allclose(first.project(vectors).numpy(), right, atol=1e-5)
    first.prepare(vectors, np.arange(12))
    assert np.allclose(first.batch(np.array([3, 1])).numpy(), right[[3, 1]], atol=1e-5)
    assert torch.equal(first.project(csr_matrix((2, 2**18), dtype=np.float32)), first.bias.detach().expand(2, -1))


def test_sparse_rows_learn_from_the_texts_that_hold_them():
    torch.manual_seed(0)
    vectors = csr_matrix(np.array([[1, 0, 2], [0, 0, 3]], dtype=np.float32))
    first = first_input(vectors, "none", 2, torch.device("cpu"))
    first.prepare(vectors, np.arange(2))
    first.start(learning_rate=0.1, weight_decay=0.0)
    before = first.table.detach().clone()
    first.batch(np.array([1]))
    first.learn(torch.tensor([[1.0, -1.0]]))
    assert torch.equal(first.table[0], before[0])
    assert torch.allclose(first.table[1] - before[1], torch.tensor([-0.1, 0.1]), atol=1e-4)


def test_every_pair_is_in_every_epoch():
    rows = whole_batches(10, 4, np.random.default_rng(0))
    assert rows.shape == (3, 4)
    assert set(rows.ravel()) == set(range(10))
    assert whole_batches(3, 64, np.random.default_rng(0)).shape == (1, 3)


@pytest.mark.parametrize("negatives", [0, 8])
def test_training_finds_the_sets(negatives):
    rng = np.random.default_rng(0)
    member = np.zeros((300, 40), dtype=np.uint8)
    for row in member:
        row[rng.choice(40, 3, replace=False)] = 1
    vectors = (member @ rng.standard_normal((40, 40))).astype(np.float32)
    torch.manual_seed(0)
    decoder = SetDecoder(40, 48, steps=3)
    first = first_input(vectors, "each", 48, torch.device("cpu"))
    first.prepare(vectors, np.arange(250))
    sets = WordSets(csr_matrix(member[:250]), np.ones(40, dtype=np.float32))
    plan = SetPlan(50, 32, 5e-3, negatives=negatives)
    log = train_sets(decoder, first, sets, plan, rng=np.random.default_rng(1))
    named, sure = decoder.predict(first.project(vectors[250:]))
    hit = np.take_along_axis(member[250:], named.numpy(), axis=1).mean()
    assert hit > 0.8
    assert bool((sure > 0).all())
    assert log.losses[-1] < log.losses[0]


def test_a_word_can_be_named_once_only():
    torch.manual_seed(0)
    decoder = SetDecoder(5, 8, steps=5).eval()
    named, _ = decoder.predict(torch.randn(3, 8))
    assert all(sorted(row) == [0, 1, 2, 3, 4] for row in named.tolist())
