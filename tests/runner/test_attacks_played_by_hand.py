"""Attacks on something that no audit has: named there, they are left out with a line that says how to play them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from unembed.attacks import ATTACKS
from unembed.encoders.base import EncoderCard
from unembed.errors import NothingRanError
from unembed.runner.plan import Plan, ask, make_plan
from unembed.runner.prepare import read_sides, training_side
from unembed.runner.spec import build_spec
from unembed.testing.toys import toy_corpus

BY_HAND = {
    "membership/label-queries": "labels of classifiers",
    "membership/label-shifts": "labels of classifiers",
    "membership/next-word": "next words of a language model",
}


def plan_of(place: Path, *attacks: str) -> Plan:
    """An audit of an encoder that learnt from half of the texts."""
    texts = list(dict.fromkeys(toy_corpus(400, seed=1).texts))
    (place / "texts.txt").write_text("\n".join(texts[::2]) + "\n")
    (place / "learnt.txt").write_text("\n".join(texts[1::2]) + "\n")
    spec = build_spec(
        {
            "data": {"texts": str(place / "texts.txt")},
            "training": {"texts": str(place / "learnt.txt")},
            "encoder": {"name": "hashing"},
            "games": ["membership-user"],
            "attacks": list(attacks),
            "adversaries": ["insider"],
        }
    )
    sides = read_sides(spec)
    sides = replace(sides, training=training_side(spec, sides))
    return make_plan(spec, sides, ask(spec, sides), EncoderCard("toy", "toy", "digest", 48, False), "")


def test_an_audit_leaves_them_out_with_a_line_and_plays_the_others(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, *BY_HAND, "membership/shadow-lasso")
    assert {cell.identity.attack.name for cell in plan.cells} == {"membership/shadow-lasso"}
    reasons = {left.what: left.reason for left in plan.skipped if left.what in BY_HAND}
    assert set(reasons) == set(BY_HAND)
    for attack, reads in BY_HAND.items():
        assert reads in reasons[attack]
        assert "Membership through a model" in reasons[attack]


def test_an_audit_that_names_none_does_not_play_them(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    assert plan.cells
    assert not {cell.identity.attack.name for cell in plan.cells} & set(BY_HAND)
    assert not [left for left in plan.skipped if left.what in BY_HAND]


@pytest.mark.parametrize("attack", BY_HAND)
def test_alone_they_are_one_error_before_anything_is_trained(attack: str, tmp_path: Path) -> None:
    with pytest.raises(NothingRanError, match="could not measure") as told:
        plan_of(tmp_path, attack).check()
    assert ATTACKS.get(attack).facts.by_hand in str(told.value)
    assert "\n" not in str(told.value)
