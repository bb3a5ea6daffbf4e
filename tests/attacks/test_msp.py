"""Multi-set prediction as a user meets it: both forms, [EOS], weights, word matrices, sparse vectors, bad input."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from unembed.attacks.inversion.msp import InversionMSP, named_sets
from unembed.attacks.inversion.word_start import cooccurrence_vectors, fit_width, start_vectors
from unembed.encoders import build_encoder
from unembed.errors import CannotMeasureError, DataError, UsageError
from unembed.games.inversion import InversionGame
from unembed.games.threat import ADVERSARIES
from unembed.metrics import sets
from unembed.testing.toys import toy_material

SMALL = {
    "hidden": 48,
    "learning_rate": 5e-3,
    "batch_size": 64,
    "min_steps": 1,
    "device": "cpu",
    "precision": "float32",
}


@pytest.fixture(scope="module")
def deal():
    return InversionGame().deal(toy_material())


@pytest.fixture(scope="module")
def blurred():
    """The same vectors with noise, so that no word is certain."""
    material = toy_material()
    rng = np.random.default_rng(0)
    changed = {
        name: getattr(material, name) + rng.normal(0, 0.35, getattr(material, name).shape).astype(np.float32)
        for name in ("known_vectors", "target_vectors")
    }
    return InversionGame().deal(type(material)(**{**vars(material), **changed}))


def counts(deal, **parameters):
    attack = InversionMSP(**{**SMALL, **parameters}).fit(deal.knowledge)
    return sets.set_counts(deal.truth.labels, attack.run(deal.vectors)).sum(axis=0)


@pytest.mark.parametrize(("form", "loss"), [("coro", "fused"), ("song", "fused"), ("coro", "sampled")])
def test_reads_the_words(deal, form, loss):
    assert sets.f1(counts(deal, form=form, loss=loss, negatives=10)) > 0.8


def test_end_in_every_set_stops_early_and_is_more_precise(blurred):
    without = counts(blurred, patience=0, epochs=15, eos="never")
    within = counts(blurred, patience=0, epochs=15, eos="always")
    assert sets.recall(within) < sets.recall(without) - 0.05
    assert sets.precision(within) > sets.precision(without)


def test_end_after_the_last_word_names_no_more(deal):
    beyond = counts(deal, steps=8)
    assert sets.precision(beyond) > 0.85
    assert sets.recall(beyond) > 0.85


def test_without_an_end_every_step_names_a_new_word(deal):
    guess = InversionMSP(**SMALL, epochs=1, steps=6, eos="never").fit(deal.knowledge).run(deal.vectors)
    assert (guess.getnnz(axis=1) == 6).all()


@pytest.mark.parametrize("spread", ["dense", "sparse"])
def test_a_length_read_from_the_vector_names_more_words_of_longer_texts(deal, spread):
    rng = np.random.default_rng(0)
    count = deal.knowledge.labels.shape[1]
    sizes = rng.integers(1, 9, 300)
    held = np.stack([np.isin(np.arange(count), rng.permutation(count)[:size]) for size in sizes]).astype(np.float32)
    vectors = csr_matrix(held) if spread == "sparse" else held @ rng.standard_normal((count, 64)).astype(np.float32)
    knowledge = replace(deal.knowledge, vectors=vectors[:250], labels=csr_matrix(held[:250]), texts=())
    attack = InversionMSP(**SMALL, epochs=1, steps=9, eos="never", length="predicted", content_only=False)
    named = attack.fit(knowledge).run(vectors[250:]).getnnz(axis=1)
    assert np.corrcoef(named, sizes[250:])[0, 1] > 0.8


def test_weights_prefer_rare_words(deal):
    attack = InversionMSP(weighted=True)
    weights = attack._weights(deal.knowledge.labels)
    count = np.asarray(deal.knowledge.labels.sum(axis=0)).ravel()
    assert weights[count.argmin()] == weights.max()
    assert (weights * count).sum() / count.sum() == pytest.approx(1)
    assert sets.f1(counts(deal, weighted=True)) > 0.8


def test_content_words_alone_in_the_coro_form():
    material = toy_material()
    texts = [f"the {text} of" for text in material.known.texts]
    known = type(material.known).of(texts, name="toy")
    deal = InversionGame().deal(type(material)(**{**vars(material), "known": known}))
    content = deal.knowledge.vocabulary.content
    assert not content.all()
    coro = InversionMSP(**SMALL, epochs=1).fit(deal.knowledge).run(deal.vectors)
    song = InversionMSP(**SMALL, epochs=1, form="song").fit(deal.knowledge).run(deal.vectors)
    assert coro[:, ~content].nnz == 0
    assert song[:, ~content].nnz > 0


def test_sparse_vectors_are_read_without_being_spread_out():
    material = toy_material()
    encoder = build_encoder("hashing", {})
    changed = {"known_vectors": encoder.encode(material.known.texts)}
    changed["target_vectors"] = encoder.encode(material.target.texts)
    deal = InversionGame().deal(type(material)(**{**vars(material), **changed}))
    assert deal.knowledge.vectors.shape[1] == 2**18
    assert sets.f1(counts(deal)) > 0.9


def test_the_same_seed_gives_the_same_guess(deal):
    quick = {**SMALL, "epochs": 2, "dropout": 0.2, "seed": 4, "loss": "sampled", "negatives": 8}
    first, second = (InversionMSP(**quick).fit(deal.knowledge).run(deal.vectors) for _ in range(2))
    assert (first != second).nnz == 0


def test_confidences_are_probabilities_of_words_named(deal):
    guess = InversionMSP(**SMALL, epochs=2).fit(deal.knowledge).run(deal.vectors)
    assert guess.nnz > 0
    assert (guess.data > 0).all()
    assert (guess.data <= 1).all()


def test_a_repeated_word_counts_once():
    guess = named_sets(np.array([[3, 1, 3], [-1, -1, -1]]), np.array([[0.5, 0.0, 0.2]] * 2, dtype=np.float32), (2, 5))
    assert guess[0, 3] == pytest.approx(0.5)
    assert 0 < guess[0, 1] < 1e-5
    assert guess.nnz == 2


def test_word_matrices_from_labels_and_files(deal, tmp_path):
    assert sets.f1(counts(deal, word_matrix="labels")) > 0.8
    names = deal.knowledge.vocabulary.words
    table = tmp_path / "words.txt"
    table.write_text("5 3\nunknown 1 2 3\n" + "".join(f"{word} {i} 0.5 -1\n" for i, word in enumerate(names[:4])))
    rows, vectors = start_vectors(
        str(table), deal.knowledge, np.arange(len(names)), deal.knowledge.labels, hidden=8, seed=0
    )
    assert rows.tolist() == [0, 1, 2, 3]
    assert vectors.shape == (4, 8)
    assert np.allclose(np.diff(vectors[:, 0]), vectors[1, 0] - vectors[0, 0])
    assert np.linalg.norm(vectors, axis=1).mean() == pytest.approx(1, abs=0.5)


def test_a_word_matrix_from_the_weights():
    material = toy_material(adversary=ADVERSARIES["weights"])
    deal = InversionGame().deal(material)
    assert deal.knowledge.encoder is not None
    columns = np.arange(len(deal.knowledge.vocabulary.words))
    rows, vectors = start_vectors("encoder", deal.knowledge, columns, deal.knowledge.labels, hidden=48, seed=0)
    assert len(rows) == len(columns)
    own = deal.knowledge.encoder.encode([deal.knowledge.vocabulary.words[0]])[0]
    assert np.corrcoef(own, vectors[0])[0, 1] > 0.99


def test_words_that_share_texts_get_near_vectors():
    rng = np.random.default_rng(0)
    member = np.zeros((400, 12), dtype=np.uint8)
    for row in member:
        side = rng.integers(2) * 6
        row[side + rng.choice(6, 3, replace=False)] = 1
    vectors = cooccurrence_vectors(csr_matrix(member), 4, seed=0)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    near = unit @ unit.T
    assert near[:6, :6].mean() > near[:6, 6:].mean() + 0.3
    assert fit_width(vectors, 2, 0).shape == (12, 2)
    assert fit_width(vectors, 9, 0).shape == (12, 9)


def test_bad_input_is_named(deal, tmp_path):
    knowledge = deal.knowledge
    with pytest.raises(UsageError, match="form"):
        InversionMSP(form="other").fit(knowledge)
    with pytest.raises(UsageError, match="weights"):
        InversionMSP(**SMALL, word_matrix="encoder").fit(knowledge)
    with pytest.raises(UsageError, match="no table of word vectors"):
        InversionMSP(**SMALL, word_matrix=str(tmp_path / "absent.txt")).fit(knowledge)
    broken = tmp_path / "broken.txt"
    broken.write_text(f"{knowledge.vocabulary.words[0]} one two\n")
    with pytest.raises(DataError, match="not a number"):
        InversionMSP(**SMALL, word_matrix=str(broken)).fit(knowledge)
    attack = InversionMSP(**SMALL, epochs=1).fit(knowledge)
    with pytest.raises(CannotMeasureError, match="dimensions"):
        attack.run(deal.vectors[:, :5])
    assert attack.run(deal.vectors[:0]).shape == (0, len(knowledge.vocabulary.words))
