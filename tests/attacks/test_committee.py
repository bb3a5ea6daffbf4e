"""Our strongest inversion: it makes further pairs where it may query, and does without where it may not."""

from dataclasses import replace

import pytest

from unembed.attacks.inversion.committee import Committee
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.inversion import InversionGame
from unembed.games.threat import ADVERSARIES, Adversary, Capability
from unembed.testing.toys import toy_material


def _deal(adversary=None, **sizes):
    return InversionGame().deal(toy_material(adversary=adversary, **sizes))


def _score(deal, attack):
    scores = InversionGame().judge(deal.truth, attack.run(deal.vectors), 0)
    return float(scores.statistic(scores.parts.sum(axis=0)))


def test_every_query_is_counted():
    deal = _deal(known=200, targets=40)
    attack = Committee(recombined=2.0, candidates=0, epochs=2, min_steps=0, device="cpu").fit(deal.knowledge)
    training = 150  # 50 of the 200 pairs choose epoch and thresholds
    assert deal.door.count == 2 * training
    attack.run(deal.vectors)
    assert deal.door.count == 2 * training


def test_rescoring_asks_for_each_likely_word_and_reads_more():
    deal = _deal(known=120, targets=200)
    settings = {"recombined": 0.0, "epochs": 4, "min_steps": 40, "device": "cpu"}
    plain = Committee(candidates=0, **settings).fit(deal.knowledge)
    assert deal.door.count == 0
    asking = Committee(candidates=8, **settings).fit(deal.knowledge)
    assert asking.rescorer_ is not None
    before = deal.door.count
    assert _score(deal, asking) > _score(deal, plain)
    assert 200 < deal.door.count - before <= 200 * 9


def test_without_query_access_nothing_is_asked():
    held = ADVERSARIES["insider"].capabilities - {Capability.QUERIES}
    deal = _deal(Adversary("quiet", "", "", held), known=300, targets=80)
    assert deal.knowledge.query is None
    assert _score(deal, Committee(device="cpu").fit(deal.knowledge)) > 0.8


def test_recombined_texts_help_where_pairs_are_few():
    deal = _deal(known=60, targets=200)
    alone = _score(deal, Committee(recombined=0.0, device="cpu").fit(deal.knowledge))
    assert _score(deal, Committee(recombined=10.0, device="cpu").fit(deal.knowledge)) > alone


def test_what_can_not_be_trained_is_an_error():
    deal = _deal(known=100, targets=20)
    few = replace(deal.knowledge, vectors=deal.knowledge.vectors[:5], labels=deal.knowledge.labels[:5], texts=())
    with pytest.raises(CannotMeasureError, match="too few"):
        Committee(device="cpu").fit(few)
    with pytest.raises(UsageError, match="member"):
        Committee(members=0, device="cpu").fit(deal.knowledge)
