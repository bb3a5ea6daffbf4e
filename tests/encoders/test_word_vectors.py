"""word2vec, fastText and Doc2Vec: what they learn, how they are kept, and what their tables allow."""

import gzip

import numpy as np
import pytest
from word_worlds import NOUNS, analogies_solved, sentences, topic_words, topics_found

from unembed.encoders import FittedEncoder, WhiteBoxEncoder, build_encoder
from unembed.encoders.doc2vec import Doc2VecEncoder
from unembed.encoders.fasttext import FastTextEncoder
from unembed.encoders.gensim_training import MAX_WORDS, pieces
from unembed.encoders.glove import GloveEncoder
from unembed.encoders.word2vec import Word2VecEncoder
from unembed.errors import DataError, UnembedWarning, UnknownNameError, UsageError
from unembed.testing import check_encoder

pytest.importorskip("gensim", reason="the extra word-vectors is not installed")

SMALL = {"dimension": 20, "epochs": 10, "sample": 0.0, "negatives": 5}
DOCUMENTS = {"dimension": 16, "epochs": 10, "sample": 0.0, "window": 5}


@pytest.fixture(scope="module")
def texts():
    return sentences()


@pytest.fixture(scope="module")
def fitted(texts):
    """One small encoder of each family that is a table of words."""
    return {
        "word2vec": Word2VecEncoder(**SMALL).fit(texts),
        "fasttext": FastTextEncoder(**SMALL, buckets=5000).fit(texts),
        "glove": GloveEncoder(dimension=20, x_max=10.0).fit(texts),
    }


@pytest.fixture(scope="module")
def doc2vec(texts):
    return Doc2VecEncoder(**DOCUMENTS).fit(texts)


@pytest.fixture(params=["word2vec", "fasttext", "glove"])
def table(request, fitted):
    return fitted[request.param]


# What is learnt


@pytest.mark.parametrize("family", ["word2vec", "fasttext"])
def test_words_of_one_topic_are_neighbours_and_gender_is_a_direction(fitted, family):
    assert topics_found(fitted[family]) > 0.9
    assert analogies_solved(fitted[family]) > 0.9


def test_cbow_learns_the_same_relations(texts):
    encoder = Word2VecEncoder(**{**SMALL, "epochs": 20}, architecture="cbow").fit(texts)
    assert topics_found(encoder) > 0.9
    assert analogies_solved(encoder) > 0.9


def test_the_same_seed_gives_the_same_table_and_another_seed_another(texts):
    few = texts[:300]
    for family in (Word2VecEncoder, FastTextEncoder, Doc2VecEncoder):
        options = {"dimension": 8, "epochs": 2, "sample": 0.0}
        if family is FastTextEncoder:
            options["buckets"] = 1000
        one, two, other = (family(**options, seed=seed).fit(few).card.digest for seed in (1, 1, 2))
        assert one == two != other


def test_rare_words_are_left_out(texts):
    encoder = Word2VecEncoder(dimension=4, epochs=1, min_count=3).fit([*texts[:300], "zebra", "zebra"])
    assert "zebra" not in encoder.vocabulary
    assert not encoder.encode(["zebra"]).any()


def test_a_text_longer_than_gensim_reads_is_handed_over_in_pieces():
    long = [str(number) for number in range(2 * MAX_WORDS + 7)]
    cut = list(pieces(long))
    assert [len(piece) for piece in cut] == [MAX_WORDS, MAX_WORDS, 7]
    assert [word for piece in cut for word in piece] == long


def test_fasttext_gives_foreign_words_the_vector_of_their_ngrams(fitted):
    encoder = fitted["fasttext"]
    foreign, known = encoder.encode(["royalplaces", "royalplace"])
    cosine = foreign @ known / np.linalg.norm(foreign) / np.linalg.norm(known)
    assert cosine > 0.8
    assert encoder.token_ids(["royalplaces"]) == [[]]
    both = encoder.encode(["royalplaces royalplace"])[0]
    np.testing.assert_allclose(both, (foreign + known) / 2, atol=1e-6)


def test_fasttext_hashes_ngrams_as_gensim_does(texts):
    from gensim.models import FastText

    encoder = FastTextEncoder(**SMALL, buckets=5000)
    kept = {}
    original = encoder._trained_model

    def keep(make, *args, **more):
        kept["model"] = original(make, *args, **more)
        return kept["model"]

    encoder._trained_model = keep
    encoder.fit(texts[:500])
    assert isinstance(kept["model"], FastText)
    # "royalplac" lies inside a known word, so all its n-grams but those of its end were trained.
    ours, theirs = encoder.encode(["royalplac"])[0], kept["model"].wv["royalplac"]
    assert ours @ theirs / np.linalg.norm(ours) / np.linalg.norm(theirs) > 0.95
    np.testing.assert_allclose(encoder.word_matrix, kept["model"].wv.vectors)


# What every table of words promises


def test_a_text_is_the_mean_of_its_known_words(table):
    rows = {word: row for row, word in enumerate(table.vocabulary)}
    expected = np.mean([table.word_matrix[rows[w]] for w in ("king", "she", "king")], axis=0)
    vectors = table.encode(["King, she; KING!", "the", ""])
    np.testing.assert_allclose(vectors[0], expected, atol=1e-6)
    assert vectors.dtype == np.float32
    assert not vectors[2].any()


def test_conforms_and_is_open_to_attacks_through_the_weights(table):
    check_encoder(table, ["king and queen", "the royallaw", "king and queen", "he"])
    assert isinstance(table, FittedEncoder)
    assert isinstance(table, WhiteBoxEncoder)
    assert table.card.open_weights
    assert table.word_matrix.shape == (len(table.vocabulary), table.card.dimension)


def test_soft_words_give_what_encode_gives_and_carry_gradients(table):
    torch = pytest.importorskip("torch")
    text = "the king was in his royalplace"
    (ids,) = table.token_ids([text])
    weights = torch.nn.functional.one_hot(torch.tensor([ids]), len(table.vocabulary)).float().requires_grad_()
    soft = table.encode_soft(weights)
    np.testing.assert_allclose(soft.detach().numpy(), table.encode([text]), atol=1e-5)
    np.testing.assert_allclose(
        table.encode_soft(weights, layer=0).detach().numpy(), table.layer_output([text], 0), atol=1e-5
    )
    kept = sorted(set(ids))
    some = table.encode_soft(weights[:, :, kept], tokens=kept)
    np.testing.assert_allclose(some.detach().numpy(), soft.detach().numpy(), atol=1e-5)
    soft.sum().backward()
    assert weights.grad.abs().sum() > 0


def test_unit_norm_is_for_encode_and_not_for_the_layer(table, tmp_path):
    table.save(tmp_path)
    scaled = type(table)(table=str(tmp_path), normalise=True)
    assert scaled.card.normalised
    np.testing.assert_allclose(np.linalg.norm(scaled.encode(["king", "she was"]), axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(scaled.layer_output(["king"], 0), table.encode(["king"]), atol=1e-6)


def test_there_is_one_layer(table):
    with pytest.raises(UsageError, match="layer 0 only"):
        table.layer_output(["king"], 1)


def test_saved_and_loaded_it_is_the_same_encoder(table, tmp_path):
    table.save(tmp_path / "kept")
    loaded = type(table).load(tmp_path / "kept")
    assert loaded.card == table.card
    assert loaded.get_params() == table.get_params()
    texts = ["king and queen", "royalplaces in the schoolyards", ""]
    np.testing.assert_array_equal(loaded.encode(texts), table.encode(texts))
    given = build_encoder(f"{table.kind}:{tmp_path / 'kept'}")
    assert given.card.cache_key("document") == table.card.cache_key("document")
    np.testing.assert_array_equal(given.encode(texts), table.encode(texts))


def test_nothing_is_pickled(table, doc2vec, tmp_path):
    for name, encoder in (("table", table), ("documents", doc2vec)):
        encoder.save(tmp_path / name)
        for path in (tmp_path / name).iterdir():
            assert path.suffix == ".json" or np.load(path, allow_pickle=False).dtype.kind in "fi"


# Tables made elsewhere


@pytest.mark.parametrize("family", ["word2vec", "fasttext", "glove"])
@pytest.mark.parametrize("header", ["", "3 2\n"])
def test_a_table_from_a_text_file_needs_no_training(tmp_path, family, header):
    (tmp_path / "t.txt").write_text(header + "red 1 0\n. . 0.5 0.5\nSea 0 1\n", encoding="utf-8")
    encoder = build_encoder(family, {"table": str(tmp_path / "t.txt")})
    assert encoder.vocabulary == ["red", ". .", "Sea"]
    np.testing.assert_allclose(encoder.encode(["red sea", "green"]), [[0.5, 0.5], [0, 0]])
    before = encoder.card
    assert encoder.fit(["some other text"]).card == before


def test_a_packed_table_reads_like_a_plain_one(tmp_path):
    (tmp_path / "t.txt.gz").write_bytes(gzip.compress(b"red 1 0\nred 7 7\nsea 0 1\n"))
    encoder = Word2VecEncoder(table=str(tmp_path / "t.txt.gz"))
    assert encoder.vocabulary == ["red", "sea"]
    np.testing.assert_allclose(encoder.encode(["red"]), [[1, 0]])


def test_the_exact_spelling_of_a_word_goes_before_another_case(tmp_path):
    (tmp_path / "t.txt").write_text("May 1 0\nmay 0 1\n", encoding="utf-8")
    np.testing.assert_allclose(Word2VecEncoder(table=str(tmp_path / "t.txt")).encode(["May"]), [[0, 1]])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("red 1 0\nsea 1\n", "line 2: expected a word and 2 numbers"),
        ("red 1 0\nsea one 0\n", "no number"),
        ("red 1 nan\n", "NaN"),
        ("", "no word vectors"),
    ],
)
def test_a_damaged_table_is_named(tmp_path, content, message):
    (tmp_path / "t.txt").write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        _ = Word2VecEncoder(table=str(tmp_path / "t.txt")).card


def test_a_saved_encoder_of_another_family_is_refused(fitted, tmp_path):
    fitted["glove"].save(tmp_path)
    with pytest.raises(DataError, match="not a saved word2vec encoder"):
        Word2VecEncoder.load(tmp_path)


# Doc2Vec


def test_doc2vec_puts_texts_of_one_topic_together(doc2vec):
    rng = np.random.default_rng(5)
    topics = list(NOUNS)
    held_out = [(topic, " ".join(rng.choice(topic_words(topic), 5))) for topic in topics for _ in range(10)]
    vectors = doc2vec.encode([text for _, text in held_out])
    vectors = vectors - vectors.mean(axis=0)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    likeness = vectors @ vectors.T
    np.fill_diagonal(likeness, -1)
    right = [held_out[i][0] == held_out[j][0] for i, j in enumerate(likeness.argmax(axis=1))]
    assert np.mean(right) > 0.9


def test_doc2vec_infers_what_gensim_infers(texts):
    encoder = Doc2VecEncoder(**DOCUMENTS)
    model = encoder._trained_model(texts)
    counts = np.array([model.wv.get_vecattr(word, "count") for word in model.wv.index_to_key])
    encoder._keep(model.wv.index_to_key, counts, model.syn1neg)
    asked = sentences(200, seed=9)
    ours = encoder.encode(asked)
    theirs = np.stack([model.infer_vector(text.split()) for text in asked])
    middle = theirs.mean(axis=0)
    a, b = ours - middle, theirs - middle

    def cosines(x, y):
        return (x * y).sum(axis=1) / np.linalg.norm(x, axis=1) / np.linalg.norm(y, axis=1)

    assert cosines(a, b).mean() > 0.8
    assert abs(cosines(a, np.roll(b, 1, axis=0)).mean()) < 0.2
    assert np.linalg.norm(ours, axis=1).mean() == pytest.approx(np.linalg.norm(theirs, axis=1).mean(), rel=0.05)


def test_doc2vec_gives_a_text_one_vector_whatever_stands_beside_it(doc2vec):
    check_encoder(doc2vec, ["king and queen", "the royallaw", "king and queen", "he"])
    many = [*sentences(300, seed=4), " ".join(sentences(200, seed=6))]
    together = doc2vec.encode(many)
    for row in (0, 17, 300):
        np.testing.assert_allclose(doc2vec.encode([many[row]])[0], together[row], atol=1e-5)
    assert not doc2vec.encode(["unheard of zebras", ""])[1].any()


def test_doc2vec_saved_and_loaded_is_the_same(doc2vec, tmp_path):
    doc2vec.save(tmp_path)
    loaded = Doc2VecEncoder.load(tmp_path)
    assert loaded.card == doc2vec.card
    np.testing.assert_array_equal(loaded.encode(["king and queen"]), doc2vec.encode(["king and queen"]))


def test_doc2vec_says_when_sub_sampling_leaves_nothing(texts):
    with pytest.warns(UnembedWarning, match="raise sample"):
        Doc2VecEncoder(dimension=4, epochs=1).fit(texts[:200])


# What a user can get wrong


@pytest.mark.parametrize("family", [Word2VecEncoder, FastTextEncoder, GloveEncoder, Doc2VecEncoder])
def test_mistakes_are_one_line_errors(family):
    with pytest.raises(UsageError, match=r"fit\(texts\) first"):
        family().encode(["a"])
    with pytest.raises(DataError, match="no texts"):
        family().fit([])
    with pytest.raises(DataError, match="lower min_count"):
        family(**({"buckets": 10} if family is FastTextEncoder else {})).fit(["one two", "three four"])
    with pytest.raises(UsageError, match="dimension must be at least 1"):
        family(dimension=0).fit(["one two"])
    with pytest.raises(UsageError, match="learning_rate must be above 0"):
        family(learning_rate=0.0).fit(["one two"])


def test_unknown_architecture_and_missing_table():
    with pytest.raises(UnknownNameError, match="skip-gram"):
        Word2VecEncoder(architecture="skipgram").fit(["one two"])
    with pytest.raises(UsageError, match="no such table"):
        Word2VecEncoder(table="nowhere.txt").encode(["a"])
    with pytest.raises(UsageError, match="shortest"):
        FastTextEncoder(shortest=5, longest=3).fit(["one two"])
