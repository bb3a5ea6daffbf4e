"""tf-idf, hashing and LSA as Corò 4.1.2 describes them."""

from __future__ import annotations

import numpy as np
import pytest

from unembed.encoders import build_encoder
from unembed.encoders.bag_of_words import HashingEncoder, TfidfEncoder
from unembed.encoders.lsa import LsaEncoder
from unembed.errors import DataError, UnembedWarning, UsageError

TEXTS = [
    "the patient has a broken arm",
    "the patient sees a doctor x",
    "a doctor mends the broken bone",
    "patient waits in room seven",
]


def norms(matrix):
    return np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1))).ravel()


def test_tfidf_drops_stop_words_short_words_and_words_of_most_texts():
    encoder = TfidfEncoder().fit(TEXTS)
    assert "the" not in encoder.vocabulary
    assert "x" not in encoder.vocabulary
    assert "patient" not in encoder.vocabulary, "it stands in three of four texts"
    assert "broken" in encoder.vocabulary
    rows = encoder.encode(TEXTS)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(norms(rows), 1, atol=1e-6)
    assert encoder.encode(["zzz unknown"]).nnz == 0
    assert encoder.card.sparse
    assert encoder.card.dimension == len(encoder.vocabulary)


def test_hashing_is_stateless_signed_and_of_unit_norm():
    rows = HashingEncoder().encode(TEXTS)
    assert rows.shape == (4, 2**18)
    assert (rows.data < 0).any()
    assert (rows.data > 0).any()
    np.testing.assert_allclose(norms(rows), 1, atol=1e-6)
    assert (rows != HashingEncoder().encode(TEXTS)).nnz == 0
    assert HashingEncoder(language=None).encode(["the"]).nnz == 1
    assert HashingEncoder(language="en").encode(["the"]).nnz == 0


@pytest.mark.parametrize("make", [TfidfEncoder, lambda: LsaEncoder(components=2)])
def test_a_saved_encoder_gives_the_same_bits(make, tmp_path):
    encoder = make().fit(TEXTS)
    encoder.save(tmp_path / "saved")
    again = type(encoder).load(tmp_path / "saved")
    first, second = encoder.encode(TEXTS), again.encode(TEXTS)
    first, second = (m.toarray() if hasattr(m, "toarray") else m for m in (first, second))
    assert first.tobytes() == second.tobytes()
    assert encoder.card == again.card
    assert not list((tmp_path / "saved").rglob("*.pkl"))


def test_a_damaged_saved_encoder_is_an_error(tmp_path):
    TfidfEncoder().fit(TEXTS).save(tmp_path)
    (tmp_path / "idf.npy").write_bytes(b"\x93NUMPY")
    with pytest.raises(DataError, match="damaged"):
        TfidfEncoder.load(tmp_path)
    with pytest.raises(UsageError, match="no saved encoder"):
        TfidfEncoder.load(tmp_path / "nowhere")


@pytest.mark.parametrize("base", ["tfidf", "hashing"])
def test_lsa_says_when_the_texts_carry_fewer_components(base):
    with pytest.warns(UnembedWarning, match="instead of 1000"):
        encoder = LsaEncoder(base=base).fit(TEXTS)
    assert encoder.card.dimension == 4
    assert dict(encoder.card.options)["components asked for"] == "1000"
    vectors = encoder.encode([*TEXTS, "zzz"])
    np.testing.assert_allclose(np.linalg.norm(vectors[:4], axis=1), 1, atol=1e-5)
    assert not vectors[4].any()


def test_lsa_keeps_the_similarities_of_its_base():
    encoder = LsaEncoder(components=4).fit(TEXTS)
    words = encoder.words_.encode(TEXTS).toarray()
    vectors = encoder.encode(TEXTS)
    np.testing.assert_allclose(vectors @ vectors.T, words @ words.T, atol=1e-4)


def test_digest_follows_what_was_learnt():
    assert TfidfEncoder().fit(TEXTS).card.digest == TfidfEncoder().fit(TEXTS).card.digest
    assert TfidfEncoder().fit(TEXTS).card.digest != TfidfEncoder().fit(TEXTS[:3]).card.digest


def test_unfitted_and_wordless_are_errors():
    with pytest.raises(UsageError, match="fit"):
        TfidfEncoder().encode(TEXTS)
    with pytest.raises(DataError, match="max_df"):
        TfidfEncoder().fit(["the the", "a an"])
    with pytest.raises(DataError, match="no texts"):
        TfidfEncoder().fit([])
    with pytest.raises(UsageError, match="fit_texts"):
        build_encoder("tfidf")


def test_built_by_name_it_is_fitted():
    assert build_encoder("tfidf", {"max_df": "1.0"}, fit_texts=TEXTS).encode(["patient"]).nnz == 1
    assert build_encoder("lsa", {"components": "2"}, fit_texts=TEXTS).encode(TEXTS).shape == (4, 2)
