"""Everything registered passes the public conformance suites."""

import pytest

from unembed.attacks import ATTACKS
from unembed.encoders import build_encoder
from unembed.games import GAMES
from unembed.testing import check_encoder
from unembed.testing.checks import attack_checks
from unembed.testing.toys import LeakyEncoder, toy_corpus


@pytest.mark.parametrize("check", list(attack_checks()), ids=lambda c: c.__name__)
@pytest.mark.parametrize("name", ATTACKS.names())
def test_attack(name, check):
    check(ATTACKS.get(name))


@pytest.mark.parametrize("name", ["tfidf", "hashing", "lsa"])
def test_fitted_encoder(name):
    texts = toy_corpus(60).texts
    options = {"components": 8} if name == "lsa" else {}
    check_encoder(build_encoder(name, options, fit_texts=texts), texts=[texts[0], texts[1], texts[0], texts[3]])


def test_leaky_encoder():
    check_encoder(LeakyEncoder())


@pytest.mark.slow
def test_default_encoder():
    check_encoder(build_encoder("minilm", {}))


@pytest.mark.parametrize("name", ATTACKS.names())
def test_attack_names_its_game_and_paper(name):
    facts = ATTACKS.get(name).facts
    assert facts.name == name
    assert facts.game in GAMES
    assert facts.paper is None or facts.section, "a paper is named with its section"
