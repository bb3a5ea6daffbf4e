"""Soft words through a lower layer (Song eq. 6): the map, the layer, and what it is for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tiny_bert import deal_for, tiny_bert

from unembed.attacks.inversion.layer_map import LayerMap
from unembed.attacks.inversion.relaxation import Relaxation
from unembed.corpora.corpus import Corpus
from unembed.corpora.generators.public_text import generate_public_text
from unembed.encoders.minilm import MiniLmEncoder
from unembed.encoders.transformer import TransformerEncoder
from unembed.errors import CannotMeasureError, UsageError
from unembed.metrics import sets
from unembed.testing.toys import LeakyEncoder, SpoiledEncoder

pytest.importorskip("torch")


@pytest.fixture(scope="module")
def deep(tmp_path_factory):
    folder = tiny_bert(tmp_path_factory.mktemp("deep"), layers=6)
    encoder = TransformerEncoder(folder, device="cpu")
    return encoder, deal_for(encoder, known=600, targets=24)


def piece_f1(deal, guess):
    return float(sets.f1(sets.set_counts(deal.truth.pieces, guess.pieces).sum(axis=0)))


def test_the_map_gives_what_the_layer_gives(deep):
    encoder, deal = deep
    attack = LayerMap(layer=1).fit(deal.knowledge)
    texts = deal.knowledge.texts[:50]
    mapped, true = attack.map_.apply(deal.knowledge.vectors[:50]), encoder.layer_output(texts, 1)
    left = ((mapped - true) ** 2).sum() / ((true - true.mean(axis=0)) ** 2).sum()
    assert left < 0.5


@pytest.mark.slow
def test_depth_hides_words_from_the_relaxation_and_the_map_brings_them_back():
    """The shape of Song's Table 1 and Figure 2, on the default encoder."""
    made = generate_public_text(712, seed=3).texts
    inside, target = Corpus.of(made[12:], name="known"), Corpus.of(made[:12], name="target")
    first, last = (
        deal_for(MiniLmEncoder(layer=layer, normalise=False, device="cpu"), inside=inside, target=target)
        for layer in (0, 6)
    )

    def reached(attack, deal):
        return piece_f1(deal, attack.fit(deal.knowledge).run(deal.vectors))

    shallow, deep = (reached(Relaxation(steps=60, seed=1), deal) for deal in (first, last))
    through = reached(LayerMap(steps=60, seed=1), last)
    assert shallow > 2 * deep
    assert through > 1.2 * deep


def test_tuned_layer_is_one_of_the_lowest():
    deal = deal_for(LeakyEncoder())
    tuned = LayerMap(layer="tuned", steps=60).fit(deal.knowledge)
    assert tuned.layer_ in (0, 1, 2)
    assert piece_f1(deal, tuned.run(deal.vectors)) > 0.9


def test_tuning_stops_at_the_last_layer_of_a_shallow_model(tmp_path):
    encoder = TransformerEncoder(tiny_bert(tmp_path / "one", layers=1), device="cpu")
    tuned = LayerMap(layer="tuned", steps=50).fit(deal_for(encoder).knowledge)
    assert tuned.layer_ in (0, 1)


def test_spoiled_dimensions_do_no_harm():
    deal = deal_for(SpoiledEncoder())
    assert piece_f1(deal, LayerMap().fit(deal.knowledge).run(deal.vectors)) > 0.9


def test_mapped_pairs_bounds_the_texts_the_layer_is_asked_for(deep):
    encoder, deal = deep
    asked = []

    class Counting(TransformerEncoder):
        def layer_output(self, texts, layer, **options):
            asked.append(len(texts))
            return super().layer_output(texts, layer, **options)

    counting = Counting(encoder.model, device="cpu")
    LayerMap(mapped_pairs=40).fit(replace(deal.knowledge, encoder=counting))
    assert asked == [40]


def test_same_seed_same_bits(deep):
    _, deal = deep
    one, two = (LayerMap(seed=5, steps=50).fit(deal.knowledge).run(deal.vectors[:5]) for _ in range(2))
    assert np.array_equal(one.pieces.toarray(), two.pieces.toarray())
    assert np.array_equal(one.words.toarray(), two.words.toarray())


def test_mistakes_are_one_line_errors(deep):
    _, deal = deep
    with pytest.raises(CannotMeasureError, match="not applicable"):
        LayerMap().fit(deal_for(LeakyEncoder(), adversary="insider").knowledge)
    with pytest.raises(UsageError, match="'tuned'"):
        LayerMap(layer="tunde").fit(deal.knowledge)
    with pytest.raises(UsageError, match="layer 9 does not exist"):
        LayerMap(layer=9).fit(deal.knowledge)
    with pytest.raises(UsageError, match="mapped_pairs"):
        LayerMap(mapped_pairs=0).fit(deal.knowledge)
    with pytest.raises(CannotMeasureError, match="texts"):
        LayerMap().fit(replace(deal.knowledge, texts=deal.knowledge.texts[:-1]))
