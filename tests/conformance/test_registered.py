"""Everything registered passes the public conformance suites."""

import pytest

from published_sets import write_published_sets
from unembed.attacks import ATTACKS
from unembed.encoders import build_encoder
from unembed.games import GAMES
from unembed.testing import check_encoder
from unembed.testing.checks import attack_checks
from unembed.testing.toys import LeakyEncoder, toy_corpus
from unembed.testing.utility_checks import utility_checks
from unembed.utility import UTILITY


@pytest.mark.parametrize("check", list(attack_checks()), ids=lambda c: c.__name__)
@pytest.mark.parametrize("name", ATTACKS.names())
def test_attack(name, check):
    check(ATTACKS.get(name))


@pytest.mark.parametrize("check", list(utility_checks()), ids=lambda c: c.__name__)
@pytest.mark.parametrize("name", UTILITY.names())
def test_utility_task(name, check, made_up_data):
    check(UTILITY.get(name))


@pytest.fixture(scope="module")
def made_up_data(tmp_path_factory):
    """Data sets of the names and columns that tasks read, where they look for them."""
    folder = tmp_path_factory.mktemp("data")
    write_published_sets(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNEMBED_DATA", str(folder))
        yield


FITTED = {
    "tfidf": {},
    "hashing": {},
    "lsa": {"components": 8},
    "doc2vec": {"dimension": 8, "epochs": 3, "sample": 0.0, "min_count": 1},
    "word2vec": {"dimension": 8, "epochs": 2, "min_count": 1},
    "fasttext": {"dimension": 8, "epochs": 2, "min_count": 1, "buckets": 500},
    "glove": {"dimension": 8, "iterations": 2, "min_count": 1},
}


@pytest.mark.parametrize("name", FITTED)
def test_fitted_encoder(name):
    texts = toy_corpus(60).texts
    made = build_encoder(name, FITTED[name], fit_texts=texts)
    check_encoder(made, texts=[texts[0], texts[1], texts[0], texts[3]])


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
