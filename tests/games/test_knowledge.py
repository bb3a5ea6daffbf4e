"""What an adversary is dealt follows from what it may hold, never from the truth about the targets."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import issparse

from unembed.corpora.corpus import Corpus
from unembed.games import GAMES
from unembed.games.threat import ADVERSARIES
from unembed.testing.toys import TOY_WORDS, behind_a_map, toy_game, toy_material

NAMED = {
    "names": {"names": ("apple", "forest", "violin"), "swap_in": ("copper",)},
    "personal": {"keywords": ("fruit=apple|orange", "water=harbor|island")},
}


def _game(name):
    return GAMES.get(name)(**NAMED[name]) if name in NAMED else toy_game(name)


def _plain(value):
    """Anything a game deals, in a form that can be compared."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if issparse(value):
        return value.toarray().tolist()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if callable(value):
        return "callable"
    return value


#: Games that hand out the texts themselves as a list: what must not show is which of them made which vector.
LISTED = {"candidates"}


def _told_otherwise(material, seed, *, listed=False):
    """The same vectors with other texts and other column values behind them: same adversary, another truth.

    ``listed``: the other texts are those of the other vectors.
    """
    rng = np.random.default_rng(seed)
    n = len(material.target)
    texts = [" ".join(rng.choice(TOY_WORDS, size=4, replace=False)) for _ in range(n)]
    order = rng.permutation(n)
    texts = [material.target.texts[i] for i in order] if listed else texts
    columns = {name: [values[i] for i in order] for name, values in material.target.columns.items()}
    other = Corpus(tuple(texts), material.target.ids, columns, material.target.name)
    before = material.plain_target_vectors
    moved = None if before is None else before[order]
    return dataclasses.replace(material, target=other, encode_target=material.encode, plain_target_vectors=moved)


#: Games whose adversaries hold the texts asked about: their truth is what a model learnt from, not what the texts are.
ABOUT_TRAINING = {name for name in GAMES if GAMES.get(name).facts.section == "training"}


@pytest.mark.parametrize("name", sorted(set(GAMES) - ABOUT_TRAINING))
@pytest.mark.parametrize("who", ["insider", "outsider"])
@given(seed=st.integers(0, 10_000))
@settings(max_examples=2, deadline=None)
def test_another_truth_deals_the_same_knowledge(name, who, seed):
    material = toy_material(adversary=ADVERSARIES[who], known=120, targets=120)
    game = _game(name)
    material = behind_a_map(material) if game.facts.needs_map else material
    dealt = game.deal(material).knowledge
    again = game.deal(_told_otherwise(material, seed, listed=name in LISTED)).knowledge
    assert _plain(dealt) == _plain(again), f"{name} tells the {who} something about the targets"


def test_a_value_that_few_targets_have_is_known_all_the_same():
    """Which values the adversary tells apart follows from its labels, not from how many targets have them."""
    material = toy_material(known=120, targets=120)
    known, target = (Corpus(c.texts, c.ids, {"side": [*"abc"] * 40}, c.name) for c in (material.known, material.target))
    rare = Corpus(target.texts, target.ids, {"side": ["a", "b"] * 59 + ["c", "c"]}, target.name)
    game = toy_game("attribute")
    dealt = [game.deal(dataclasses.replace(material, known=known, target=t)) for t in (target, rare)]
    assert dealt[0].knowledge.classes == dealt[1].knowledge.classes == ("a", "b", "c")
    assert set(dealt[1].truth.labels) == {0, 1}, "two targets are too few to judge a value by"


@pytest.mark.parametrize("name", sorted(GAMES))
def test_the_same_queries_whatever_the_truth(name):
    """Queries are announced from the adversary's texts alone: a game has no other argument to make them of."""
    material = toy_material(known=120, targets=120)
    game = _game(name)
    asked = game.queries(material.known, material.adversary, 3)
    assert asked == game.queries(material.known, material.adversary, 3)
