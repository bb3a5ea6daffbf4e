"""Which encoder: one answer for everything is worth nothing, evidence adds up, and one candidate is no test."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, issparse

from unembed.attacks import ATTACKS
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.base import Lineup
from unembed.games.fingerprint import FingerprintGame, FingerprintGuess, FingerprintTruth
from unembed.games.play import play
from unembed.testing.toys import LeakyEncoder, toy_material

NAMES = ("a", "b", "c")


def truth(each: int = 200, own: int | None = 1) -> FingerprintTruth:
    return FingerprintTruth(np.repeat(np.arange(3), each), NAMES, own, list(range(each)) * 3)


def score(guess: FingerprintGuess, asked: FingerprintTruth) -> float:
    return FingerprintGame().judge(asked, guess, seed=0).estimate().value


class TestJudging:
    @given(st.integers(0, 2), st.integers(0, 2))
    def test_one_name_for_everything_is_guessing(self, named: int, own: int) -> None:
        scores = np.zeros((600, 3))
        scores[:, named] = 1
        assert score(FingerprintGuess(scores), truth(own=own)) == pytest.approx(0.5)

    def test_so_is_no_preference_and_the_truth_is_one(self) -> None:
        asked = truth()
        assert score(FingerprintGame().prior_guess(knowledge(), 600), asked) == pytest.approx(0.5)
        perfect = FingerprintGuess(np.eye(3)[asked.labels])
        judged = FingerprintGame().judge(asked, perfect, seed=0)
        found = judged.estimate()
        assert found.value == 1
        assert found.low < 1, "two hundred texts leave room for an error"
        assert judged.slices[0].name == "b", "the encoder under attack stands first"

    def test_telling_the_others_apart_is_no_success(self) -> None:
        asked = truth()
        scores = np.eye(3)[asked.labels]
        scores[asked.labels == 1] = [1, 0, 0]
        assert score(FingerprintGuess(scores), asked) == pytest.approx(0.5)

    def test_weak_evidence_adds_up_over_sets(self) -> None:
        asked = truth(each=1000)
        scores = np.random.default_rng(0).standard_normal((3000, 3)) + 0.5 * np.eye(3)[asked.labels]
        found = FingerprintGame().judge(asked, FingerprintGuess(scores), seed=0).secondary
        first = [found[f"ranked_first_of_{n}"] for n in (1, 10, 100)]
        assert first[0].high < first[1].value < first[2].value
        assert [e.n for e in first] == [1000, 100, 10]

    def test_sets_larger_than_the_targets_are_not_asked_about(self) -> None:
        asked = truth(each=50)
        found = FingerprintGame().judge(asked, FingerprintGuess(np.eye(3)[asked.labels]), seed=0).secondary
        assert "ranked_first_of_10" in found
        assert "ranked_first_of_100" not in found

    def test_an_unknown_encoder_is_named_only_by_who_reaches_what_is_needed(self) -> None:
        asked = truth()
        scores = np.eye(3)[asked.labels]
        judge = FingerprintGame().judge
        always = judge(asked, FingerprintGuess(scores), seed=0).secondary
        assert always["named_though_unknown_of_1"].value == 1
        assert "named_rightly_of_1" not in always
        strict = judge(asked, FingerprintGuess(scores, np.full((3, 3), 0.5)), seed=0).secondary
        assert strict["named_though_unknown_of_1"].value == 0
        assert strict["named_rightly_of_1"].value == 1


def knowledge():  # type: ignore[no-untyped-def]
    return FingerprintGame().deal(toy_material()).knowledge


class TestDealing:
    def test_every_candidate_has_as_many_vectors_on_both_sides(self) -> None:
        deal = FingerprintGame(samples=50, targets=40).deal(toy_material())
        assert deal.truth.encoders == ("leaky", "leaky pepper", "leaky sugar")
        assert np.bincount(deal.knowledge.labels).tolist() == [50] * 3
        assert np.bincount(deal.truth.labels).tolist() == [40] * 3
        assert deal.vectors.shape == (120, 48)
        assert deal.rows is not None
        assert ((deal.rows >= 0) == (deal.truth.labels == deal.truth.own)).all()

    def test_another_dimension_is_no_candidate(self) -> None:
        stuff = toy_material()
        others = {"wide": LeakyEncoder(dimension=60).encode, "other": LeakyEncoder(salt="x").encode}
        deal = FingerprintGame().deal(replace(stuff, lineup=Lineup("leaky", others)))
        assert deal.truth.encoders == ("leaky", "other")
        assert any("wide (60 dimensions)" in note for note in deal.notes)

    def test_one_candidate_is_named_by_its_dimension_alone(self) -> None:
        alone = replace(toy_material(), lineup=Lineup("leaky", {"wide": LeakyEncoder(dimension=60).encode}))
        with pytest.raises(CannotMeasureError, match="the dimension alone"):
            FingerprintGame().deal(alone)

    def test_without_an_encoder_it_is_not_applicable(self) -> None:
        with pytest.raises(CannotMeasureError, match="not applicable"):
            FingerprintGame().deal(replace(toy_material(), lineup=None))
        with pytest.raises(UsageError, match="at least 20"):
            FingerprintGame(samples=3).deal(toy_material())

    def test_sparse_vectors_stay_sparse_among_their_like(self) -> None:
        stuff = toy_material()

        def sparse(texts):  # type: ignore[no-untyped-def]
            return csr_matrix(LeakyEncoder(salt="x").encode(texts))

        mixed = replace(stuff, lineup=Lineup("leaky", {"x": sparse}))
        assert not issparse(FingerprintGame().deal(mixed).vectors)
        both = replace(
            mixed, target_vectors=csr_matrix(stuff.target_vectors), known_vectors=csr_matrix(stuff.known_vectors)
        )
        assert issparse(FingerprintGame().deal(both).vectors)


@pytest.mark.parametrize("name", ["fingerprint/classifier", "fingerprint/signatures"])
class TestAttacks:
    def test_a_secret_order_of_columns_hides_the_encoder(self, name: str) -> None:
        stuff = toy_material()
        order = np.random.default_rng(0).permutation(48)
        hidden = replace(stuff, target_vectors=stuff.target_vectors[:, order])
        game = FingerprintGame()
        plain, turned = (play(game, ATTACKS.get(name)(seed=0), game.deal(s), seed=0) for s in (stuff, hidden))
        assert plain.estimate.low > 0.9
        assert turned.estimate.high < plain.estimate.low - 0.2

    def test_vectors_of_zeros_speak_for_nobody(self, name: str) -> None:
        game = FingerprintGame()
        deal = game.deal(toy_material())
        attack = ATTACKS.get(name)(seed=0).fit(deal.knowledge)
        said = attack.run(np.zeros((5, 48), dtype=np.float32)).scores
        assert said.shape == (5, 3)
        assert np.isfinite(said).all()
        with pytest.raises(CannotMeasureError, match="dimensions"):
            attack.run(np.zeros((5, 47), dtype=np.float32))
