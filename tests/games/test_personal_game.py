"""Which vectors belong to texts that hold personal data?"""

from dataclasses import replace

import numpy as np
import pytest

from unembed.attacks.keyword.aligned import Aligned
from unembed.attacks.keyword.portfolio import KeywordPortfolio
from unembed.corpora.corpus import Corpus
from unembed.corpora.personal import ACCOUNT, E_MAIL, PHONE
from unembed.errors import CannotMeasureError
from unembed.games.asking import Audited, Question, Refused
from unembed.games.personal import FEWEST, PersonalGame, PersonalOptions
from unembed.games.play import play, status_of
from unembed.games.threat import ADVERSARIES
from unembed.testing.toys import toy_material

OWN = ("fruit=apple|orange", "water=harbor|island|urchin")


def _audited(texts, **options):
    corpus = Corpus.of(texts, name="letters")
    return Audited(corpus, corpus, (), ("personal",), {"personal": PersonalOptions(**options)}, {}, can_encode=True)


def _letters(mails, calls, n=100):
    addresses = [f"Write to box{i}@mail.example, please." for i in range(mails)]
    numbers = [f"The line is +00 555 01{i:05d}." for i in range(calls)]
    return [*addresses, *numbers, *(f"Parcel {i} is on its way." for i in range(n - mails - calls))]


def test_what_enough_texts_hold_is_asked_about_without_being_named():
    (question,) = PersonalGame.for_audit(_audited(_letters(30, FEWEST - 1)))
    assert isinstance(question, Question)
    assert question.game.keywords == (E_MAIL,)
    assert question.game.subject == E_MAIL
    (question,) = PersonalGame.for_audit(_audited(_letters(30, FEWEST)))
    assert question.game.keywords == (E_MAIL, PHONE)


def test_counts_are_told_where_there_is_too_little():
    (refused,) = PersonalGame.for_audit(_audited(_letters(3, 5)))
    assert isinstance(refused, Refused)
    assert f"{E_MAIL} 3" in refused.reason
    assert f"{ACCOUNT} 0" in refused.reason
    assert "@" not in refused.reason


def test_it_can_be_turned_off():
    (refused,) = PersonalGame.for_audit(_audited(_letters(50, 0), find=False))
    assert "turned off" in refused.reason


def test_an_adversary_without_such_texts_does_not_play():
    game, outsider = PersonalGame(keywords=(E_MAIL,)), ADVERSARIES["outsider"]
    assert isinstance(game.seat(outsider, Corpus.of(_letters(2, 0), name="public"), ()), str)
    assert game.seat(outsider, Corpus.of(_letters(40, 0), name="public"), ()) is outsider


@pytest.mark.parametrize("attack", [KeywordPortfolio, Aligned])
def test_leaky_vectors_tell_which_texts_hold_it(attack):
    game = PersonalGame(keywords=OWN)
    deal = game.deal(toy_material())
    assert deal.queries == 0
    assert deal.truth.keywords == ("fruit", "water")
    played = play(game, attack(seed=1), deal, 1, calibrate=False)
    assert played.excess.low > 0.2
    assert status_of(played)[:2] == ("leak", "moderate"), "where it stands is not what it says"
    assert any("target texts hold fruit, found by its form" in note for note in deal.notes)


def test_noise_tells_nothing():
    rng = np.random.default_rng(0)
    material = toy_material()
    known, target = (rng.standard_normal((n, 48)).astype(np.float32) for n in (600, 200))
    blind = replace(material, known_vectors=known, target_vectors=target)
    game = PersonalGame(keywords=OWN)
    played = play(game, KeywordPortfolio(seed=1), game.deal(blind), 1, calibrate=False)
    assert played.excess.low < 0.05


def test_too_few_targets_are_said_with_their_number():
    material = replace(toy_material(), target=Corpus.of(["nothing here"] * 200, name="t"))
    with pytest.raises(CannotMeasureError, match="0 of 200 target texts hold x"):
        PersonalGame(keywords=("x=apple",)).deal(material)
