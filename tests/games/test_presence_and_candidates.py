"""Is this text in the index, and which of these texts made this vector?"""

import math
from dataclasses import replace

import numpy as np
import pytest

from unembed.attacks.candidates.mapped import CandidateMap
from unembed.attacks.candidates.similarity import CandidateSimilarity
from unembed.attacks.presence.nearest import PresenceNearest
from unembed.corpora.corpus import Corpus
from unembed.defenses.rounding import Rounding
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.asking import Audited, Question, Refused
from unembed.games.candidates import CandidatesGame, CandidatesTruth
from unembed.games.in_or_out import InOrOutGuess
from unembed.games.play import play, status_of
from unembed.games.presence import PresenceGame, PresenceTruth
from unembed.games.threat import ADVERSARIES, Capability
from unembed.testing.toys import toy_material

UNABLE = replace(ADVERSARIES["insider"], capabilities=ADVERSARIES["insider"].capabilities - {Capability.QUERIES})


def _played(game, attack, material, **options):
    return play(game, attack, game.deal(material), 1, calibrate=False, **options)


def test_half_of_the_texts_asked_about_are_in_the_index():
    deal = PresenceGame().deal(toy_material(targets=300))
    exact = np.array([kind == "exact" for kind in deal.truth.kinds])
    inside = deal.truth.inside[exact]
    assert deal.knowledge.index.shape[0] == 150
    assert inside.sum() == 150
    assert 100 < (~inside).sum() <= 150
    assert set(deal.truth.kinds) == {"exact", "near", "reworded"}


def test_a_text_outside_is_no_copy_of_one_inside():
    material = toy_material(targets=200)
    copies = (*material.target.texts[:100], *material.target.texts[:100])
    target = Corpus.of(copies, name="copies")
    vectors = np.concatenate([material.target_vectors[:100]] * 2)
    deal = PresenceGame(kinds=("exact",)).deal(replace(material, target=target, target_vectors=vectors))
    inside = {copies[row] for row, held in zip(deal.truth.texts, deal.truth.inside, strict=True) if held}
    outside = {copies[row] for row, held in zip(deal.truth.texts, deal.truth.inside, strict=True) if not held}
    assert not inside & outside


def test_a_text_is_recognised_and_the_false_alarms_are_as_stated():
    played = _played(PresenceGame(), PresenceNearest(false_alarm=0.05), toy_material(targets=600))
    slices = {s.name: s.estimate for s in played.scores.slices if s.kind == "text"}
    assert slices["exact"].value > 0.97
    assert slices["exact"].value >= slices["near"].value
    assert played.scores.secondary["false_alarms"].value < 0.1
    assert played.floor.value == pytest.approx(0.5, abs=0.05)
    assert status_of(played)[:2] == ("leak", "moderate"), "recognising what one has is not reading it"


def test_outsiders_of_another_kind_do_not_make_everything_look_stored():
    """Public text lies far from the index; texts of the collection that are not stored lie near and are let pass."""
    material = toy_material(targets=1200)
    public = Corpus.of([f"word{i} other{i} thing{i % 7}" for i in range(600)], name="public")
    far = replace(material, known=public, known_vectors=material.encode(public.texts))
    deal = PresenceGame(kinds=("exact",)).deal(far)
    guess = PresenceNearest().fit(deal.knowledge).run(deal.vectors)
    assert guess.said[~deal.truth.inside].mean() < 0.1
    assert guess.said[deal.truth.inside].all()


def test_a_rate_that_cannot_be_seen_is_not_given():
    deal = PresenceGame().deal(toy_material(targets=300))
    scores = PresenceGame().judge(deal.truth, PresenceNearest().fit(deal.knowledge).run(deal.vectors), 0)
    assert math.isnan(scores.secondary["found_at_0.1_percent_false_alarms"].value)
    assert not math.isnan(scores.secondary["found_at_1_percent_false_alarms"].value)
    assert any("0.1 % false alarms can't be seen" in note for note in deal.notes)


@pytest.mark.parametrize("aware", [True, False])
def test_rounded_vectors_are_recognised_too(aware):
    material = toy_material(targets=300)
    rounding = Rounding(decimals=1).fit(material.target_vectors)

    def stored(vectors):
        return rounding.transform(vectors, [str(i) for i in range(len(vectors))])

    def held(texts):
        return stored(material.encode(texts)) if aware else material.encode(texts)

    rounded = replace(material, target_vectors=stored(material.target_vectors), encode=held)
    if aware:
        rounded = replace(rounded, known_vectors=stored(material.known_vectors))
    played = _played(PresenceGame(kinds=("exact",)), PresenceNearest(), rounded)
    assert played.excess.low > 0.2


def test_whole_documents_are_judged_too():
    material = replace(toy_material(targets=300), groups=[i // 5 for i in range(300)])
    deal = PresenceGame().deal(material)
    members = {}
    for row, held in zip(deal.truth.texts, deal.truth.inside, strict=True):
        members.setdefault(row // 5, set()).add(bool(held))
    assert all(len(held) == 1 for held in members.values()), "a document is inside or outside as a whole"
    played = _played(PresenceGame(), PresenceNearest(), material)
    one, several = (played.scores.secondary[f"{what}auc"] for what in ("", "documents_by_mean_"))
    assert several.value >= one.value


def test_without_queries_nobody_can_look_for_a_text():
    with pytest.raises(CannotMeasureError, match="not applicable"):
        PresenceGame().deal(toy_material(adversary=UNABLE))
    nothing = Corpus.of(["a", "b"], name="x")
    audited = Audited(nothing, nothing, (), ("presence",), {}, {}, can_encode=False)
    assert [type(found) for found in PresenceGame.for_audit(audited)] == [Refused]
    assert [type(found) for found in PresenceGame.for_audit(replace(audited, can_encode=True))] == [Question]


def test_judged_by_hand():
    truth = PresenceTruth(np.array([True, True, False, False]), ("exact",) * 4, np.arange(4))
    guess = InOrOutGuess(np.array([0.9, 0.2, 0.3, 0.1]), np.array([1.0, 0.0, 0.0, 0.0]))
    scores = PresenceGame().judge(truth, guess, 0)
    assert scores.point == 0.75
    assert scores.secondary["advantage"].value == pytest.approx(0.5)
    assert scores.secondary["auc"].value == 0.75


def test_kinds_that_do_not_exist_are_refused():
    with pytest.raises(UsageError, match="kinds of the game 'presence'"):
        PresenceGame(kinds=("translated",)).deal(toy_material())


def test_guessing_is_right_once_in_the_length_of_the_list():
    game = CandidatesGame(size=50, variants=5)
    deal = game.deal(toy_material(targets=200))
    prior = game.judge(deal.truth, game.prior_guess(deal.knowledge, deal.vectors.shape[0]), 0)
    assert prior.secondary["first_of_random_lists"].value == pytest.approx(1 / 50)
    assert prior.secondary["among_first_five_of_random_lists"].value == pytest.approx(5 / 50)
    assert prior.secondary["first_of_hard_lists"].value == pytest.approx(1 / 5)
    assert prior.point == pytest.approx((1 / 50 + 1 / 5) / 2)


def test_every_list_holds_the_text_once():
    deal = CandidatesGame().deal(toy_material(targets=200))
    for listed, made_by in zip(deal.truth.lists, deal.truth.made_by, strict=True):
        assert (listed == made_by).sum() == 1
        assert len(set(listed.tolist())) == len(listed)


def test_the_stored_one_of_a_hard_list_is_drawn_and_not_the_original():
    material = toy_material(targets=200)
    deal = CandidatesGame().deal(material)
    hard = [i for i, kind in enumerate(deal.truth.kinds) if kind != "random"]
    originals = set(material.target.texts)
    kept = np.mean([deal.truth.candidates[deal.truth.made_by[i]] in originals for i in hard])
    assert 0.02 < kept < 0.3, "one of ten"


def test_similarity_ranks_the_right_text_first():
    played = _played(CandidatesGame(), CandidateSimilarity(), toy_material(targets=200))
    assert played.scores.secondary["first_of_random_lists"].value > 0.95
    assert played.scores.secondary["reciprocal_rank_of_hard_lists"].value > 0.9
    assert status_of(played)[:2] == ("leak", "moderate")


def test_without_the_encoder_a_map_from_known_pairs_ranks_them():
    game = CandidatesGame(hard=0)
    material = toy_material(adversary=UNABLE, targets=200)
    deal = game.deal(material)
    assert deal.knowledge.encoded is None
    assert deal.queries == 0
    with pytest.raises(CannotMeasureError, match="not applicable"):
        CandidateSimilarity().fit(deal.knowledge)
    played = play(game, CandidateMap(), deal, 1, calibrate=False)
    assert played.scores.secondary["first_of_random_lists"].value > 0.5


def test_ranks_by_hand_share_what_is_equal():
    truth = CandidatesTruth((np.arange(3),) * 3, np.array([0, 0, 0]), ("random",) * 3, ("a", "b", "c"))
    guess = np.array([[3, 2, 1], [1, 1, 0], [0, 1, 2]], dtype=np.float32)
    scores = CandidatesGame().judge(truth, guess, 0)
    assert scores.point == pytest.approx((1 + 0.5 + 0) / 3)
    assert scores.secondary["reciprocal_rank_of_random_lists"].value == pytest.approx((1 + 0.75 + 1 / 3) / 3)


def test_stored_vectors_are_asked_with_random_lists_alone():
    nothing = Corpus.of(["a", "b"], name="x")
    audited = Audited(nothing, nothing, (), ("candidates",), {}, {}, can_encode=False)
    (question,) = CandidatesGame.for_audit(audited)
    assert question.game.hard == 0
