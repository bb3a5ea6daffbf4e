"""Whose vectors are these: known encoders are named, strangers are not, and a file of signatures is only data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from unembed.attacks.fingerprint import SignatureBook, identify, learn_from_encoder, learn_from_vectors
from unembed.attacks.fingerprint.classifier import EncoderClassifier
from unembed.attacks.fingerprint.directions import FOLDED, WIDEST, directions
from unembed.attacks.fingerprint.learning import KINDS, made_up_texts
from unembed.corpora.generators import GENERATORS
from unembed.encoders import build_encoder
from unembed.errors import CannotMeasureError, DataError, UsageError
from unembed.games.fingerprint import FingerprintKnowledge
from unembed.testing.toys import LeakyEncoder

DIMENSION = 64


class Cone:
    """A made-up encoder: texts lie round a direction of its own, spread along axes of its own."""

    def __init__(self, seed: int, *, width: float = 0.6) -> None:
        rng = np.random.default_rng(seed)
        self.middle = rng.standard_normal(DIMENSION)
        self.axes = rng.standard_normal((DIMENSION, DIMENSION)) * np.linspace(1.5, 0.1, DIMENSION)[:, None] * width

    def vectors(self, n: int, seed: int, *, shift: float = 0.0) -> np.ndarray[Any, Any]:
        """Vectors of ``n`` texts; ``shift`` moves them all as text of another kind does."""
        rng = np.random.default_rng([seed, 7])
        moved = rng.standard_normal(DIMENSION) * shift
        return (self.middle + moved + rng.standard_normal((n, DIMENSION)) @ self.axes / 4).astype(np.float32)


@pytest.fixture(scope="module")
def book() -> SignatureBook:
    made = SignatureBook()
    for i in range(8):
        kinds = [Cone(i).vectors(100, seed, shift=0.15) for seed in (1, 2, 3)]
        made = made.added(learn_from_vectors(f"cone {i}", kinds))
    return made


class TestIdentify:
    @pytest.mark.parametrize("n", [1, 10, 100])
    def test_every_known_encoder_ranks_first(self, book: SignatureBook, n: int) -> None:
        for i in range(8):
            found = identify(Cone(i).vectors(n, 50 + i, shift=0.15), book)
            assert found.candidates[0].name == f"cone {i}"

    @pytest.mark.parametrize("n", [10, 100])
    def test_known_ones_are_named_and_strangers_are_not(self, book: SignatureBook, n: int) -> None:
        named = [identify(Cone(i).vectors(n, 60 + i, shift=0.15), book).name for i in range(8)]
        assert sum(name == f"cone {i}" for i, name in enumerate(named)) >= 7
        strangers = [identify(Cone(i).vectors(n, i), book) for i in range(100, 130)]
        assert sum(found.name is not None for found in strangers) <= 1
        assert all("fit none of 8 known encoders" in found.reason for found in strangers if found.name is None)

    def test_more_vectors_are_more_evidence(self, book: SignatureBook) -> None:
        vectors = Cone(3).vectors(100, 99)
        second = [identify(vectors[:n], book).candidates[1].behind for n in (1, 10, 100)]
        assert second[0] < second[1] < second[2]

    @settings(max_examples=20)
    @given(st.floats(1e-3, 1e3))
    def test_scaling_hides_nobody(self, factor: float) -> None:
        vectors = Cone(1).vectors(60, 5)
        signature = learn_from_vectors("cone", [vectors])
        assert np.allclose(signature.score(vectors), signature.score(vectors * np.float32(factor)), atol=1e-4)

    def test_unit_length_and_half_precision_change_no_name(self, book: SignatureBook) -> None:
        vectors = Cone(2).vectors(50, 5)
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        found = identify(unit.astype(np.float16).astype(np.float32), book)
        assert found.name == identify(vectors, book).name == "cone 2"
        assert found.unit_length
        assert not identify(vectors, book).unit_length

    def test_the_dimension_comes_first(self, book: SignatureBook) -> None:
        found = identify(np.ones((3, 65), dtype=np.float32), book)
        assert found.name is None
        assert found.reason == "no known encoder makes 65 dimensions (known: 64)"
        assert found.candidates == ()

    def test_two_signatures_of_one_encoder_can_not_be_told_apart_by_one_vector(self, book: SignatureBook) -> None:
        twin = learn_from_vectors("twin", [Cone(0).vectors(100, seed, shift=0.15) for seed in (4, 5, 6)])
        found = identify(Cone(0).vectors(1, 7), book.added(twin))
        assert {found.candidates[0].name, found.candidates[1].name} == {"cone 0", "twin"}
        if found.name is not None:
            assert set(found.alike) == {"cone 0", "twin"} - {found.name}

    def test_zero_vectors_are_left_out_and_counted(self, book: SignatureBook) -> None:
        vectors = Cone(4).vectors(20, 1)
        vectors[:5] = 0
        found = identify(vectors, book)
        assert (found.vectors, found.zero_vectors) == (15, 5)
        with pytest.raises(CannotMeasureError, match="every vector is zero"):
            identify(np.zeros((4, DIMENSION), dtype=np.float32), book)

    def test_bad_numbers_are_refused(self, book: SignatureBook) -> None:
        with pytest.raises(CannotMeasureError, match="NaN"):
            identify(np.full((2, DIMENSION), np.nan, dtype=np.float32), book)
        with pytest.raises(UsageError, match="false-alarm"):
            identify(Cone(0).vectors(3, 0), book, false_alarm=0.7)

    def test_a_stricter_rate_needs_a_higher_score(self, book: SignatureBook) -> None:
        strict, loose = (
            max(level.bound(10, rate, 1) for level in book.signatures[0].strangers) for rate in (0.001, 0.1)
        )
        assert strict > loose


class TestLearning:
    def test_texts_are_always_the_same_and_of_three_kinds(self) -> None:
        assert made_up_texts(20) == made_up_texts(20)
        assert tuple(made_up_texts(20)) == KINDS
        assert all(text.strip() for texts in made_up_texts(50).values() for text in texts)

    def test_count_and_topic_encoders_of_one_dimension_are_told_apart(self) -> None:
        fit = [text for texts in made_up_texts(200).values() for text in texts]
        makers = {
            "tfidf": build_encoder("tfidf", {"max_features": 48}, fit_texts=fit),
            "hashing": build_encoder("hashing", {"features": 48}),
            "lsa": build_encoder("lsa", {"components": 48}, fit_texts=fit),
            "leaky": LeakyEncoder(dimension=48),
        }
        book = SignatureBook()
        for name, encoder in makers.items():
            book = book.added(learn_from_encoder(name, encoder, count=150))
        texts = GENERATORS.get("messages")(200, seed=9).texts[100:]
        for name, encoder in makers.items():
            assert identify(encoder.encode(texts), book).candidates[0].name == name

    def test_wide_sparse_vectors_are_folded(self) -> None:
        encoder = build_encoder("hashing", {})
        texts = GENERATORS.get("messages")(30, seed=1).texts
        rows = directions(encoder.encode(texts))
        assert rows.shape == (30, FOLDED)
        assert np.allclose((rows**2).mean(axis=1), 1)
        dense = np.zeros((2, WIDEST + 1), dtype=np.float32)
        dense[:, [0, 7]] = 1, -2
        assert np.allclose(directions(dense), directions(csr_matrix(dense)))

    def test_too_few_vectors_and_mixed_dimensions(self) -> None:
        with pytest.raises(CannotMeasureError, match="at least 40 vectors"):
            learn_from_vectors("few", [Cone(0).vectors(30, 0)])
        with pytest.raises(UsageError, match=r"\[64, 65\]"):
            learn_from_vectors("mixed", [Cone(0).vectors(30, 0), np.ones((30, 65), dtype=np.float32)])
        with pytest.raises(UsageError, match="printable"):
            learn_from_vectors("two\nlines", [Cone(0).vectors(60, 0)])


class TestFile:
    def test_what_is_written_is_read_again_to_the_last_bit(self, book: SignatureBook, tmp_path: Path) -> None:
        path = tmp_path / "mine.json"
        path.write_text(book.text(), encoding="utf-8")
        again = SignatureBook.read(path)
        assert again.text() == book.text()
        vectors = Cone(5).vectors(12, 3)
        assert identify(vectors, again) == identify(vectors, book)

    def test_a_taken_name_is_refused(self, book: SignatureBook) -> None:
        other = learn_from_vectors("cone 1", [Cone(77).vectors(60, 0)])
        with pytest.raises(UsageError, match="already"):
            book.added(other)
        assert len(book.added(other, replace=True).signatures) == len(book.signatures)

    @pytest.mark.parametrize(
        "text", ["", "{}", "[1]", '{"format": 1, "signatures": [{}]}', '{"format": 1, "signatures": 3}']
    )
    def test_a_damaged_file_is_one_clear_error(self, tmp_path: Path, text: str) -> None:
        path = tmp_path / "bad.json"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(DataError, match=r"bad\.json is not a file of signatures"):
            SignatureBook.read(path)

    def test_another_format_and_a_missing_file(self, tmp_path: Path) -> None:
        path = tmp_path / "new.json"
        path.write_text('{"format": 99, "signatures": []}', encoding="utf-8")
        with pytest.raises(DataError, match="format 99"):
            SignatureBook.read(path)
        with pytest.raises(UsageError, match="--learn"):
            SignatureBook.read(tmp_path / "none.json")

    def test_parts_that_do_not_fit_are_refused(self, book: SignatureBook, tmp_path: Path) -> None:
        document = json.loads(book.text())
        document["signatures"][0]["dimension"] = 63
        path = tmp_path / "cut.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        with pytest.raises(DataError, match="damaged"):
            SignatureBook.read(path)

    def test_the_package_carries_known_encoders_of_several_dimensions(self) -> None:
        shipped = SignatureBook.shipped()
        assert "all-MiniLM-L6-v2" in shipped.names()
        assert {384, 768} <= {s.dimension for s in shipped.signatures}
        assert len(set(shipped.names())) == len(shipped.names())
        for signature in shipped.signatures:
            strangers = max(level.mean for level in signature.strangers)
            assert signature.own.mean > strangers


@pytest.mark.slow
def test_the_default_encoder_is_recognised_in_text_it_was_not_learnt_from() -> None:
    texts = [
        f"{a} {b}" for a in ("The harbour", "A violin", "My sister") for b in ("is closed.", "was sold.", "sings.")
    ]
    found = identify(build_encoder("minilm", {}).encode(texts * 2))
    assert found.name == "all-MiniLM-L6-v2"


def test_the_published_classifier_tells_cones_apart() -> None:
    train = {f"cone {i}": Cone(i).vectors(100, 1) for i in range(3)}
    model = EncoderClassifier(epochs=5, min_steps=100, seed=1).fit(FingerprintKnowledge.of(train))
    for i in range(3):
        said = model.run(Cone(i).vectors(20, 2)).scores
        assert int(said.sum(axis=0).argmax()) == i
    assert model.hidden_layer(Cone(0).vectors(5, 3)).shape == (5, 200)
    with pytest.raises(UsageError):
        FingerprintKnowledge.of({"one": Cone(0).vectors(5, 0)})
