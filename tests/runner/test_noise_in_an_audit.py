"""Who attacks noise in an audit, with one release and with several; and whose texts a defense learns from."""

from pathlib import Path
from typing import Any

import pytest
from planning import planned

from unembed.encoders.base import EncoderCard
from unembed.results.schema import Finding, Run
from unembed.runner.execute import audit
from unembed.runner.plan import Plan
from unembed.runner.prepare import INSIDE, OWNER, read_sides
from unembed.runner.spec import AuditSpec, build_spec
from unembed.testing.toys import TOY_WORDS, toy_corpus

COLLECTOR = {
    "name": "collector",
    "capabilities": ["vectors", "shadow corpus", "pairs", "query access", "several releases"],
}
SECRETIVE = {"name": "backup", "capabilities": ["vectors", "shadow corpus", "pairs"]}


def spec_for(place: Path, **changes: Any) -> AuditSpec:
    (place / "leaky.py").write_text(
        "from unembed.testing.toys import LeakyEncoder\n\n\n"
        "def encode(texts):\n    return LeakyEncoder().encode(list(texts))\n"
    )
    (place / "stored.txt").write_text("\n".join(dict.fromkeys(toy_corpus(1600, seed=1).texts)) + "\n")
    given = {
        "data": {"texts": str(place / "stored.txt")},
        "encoder": {"name": f"callable:{place / 'leaky.py'}:encode", "version": "1"},
        "games": ["keyword"],
        "attacks": ["keyword/svm"],
        "keyword": {"words": [TOY_WORDS[0]]},
        "adversary": [COLLECTOR, SECRETIVE],
        "adversaries": ["insider", "collector", "backup"],
        "defenses": [{"name": "gaussian", "scale": 3.0}],
        "calibrate": False,
        "repeats": 0,
        "references": [],
        "utility": [],
        "threads": 1,
        "run": {"no_cache": True, "folder": str(place / "run")},
    }
    return build_spec({**given, **changes})


def plan_of(place: Path, **changes: Any) -> Plan:
    return planned(spec_for(place, **changes), EncoderCard("toy", "toy", "digest", 48, False), "v")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return audit(spec_for(tmp_path_factory.mktemp("noise")))[0]


def of(run: Run, adversary: str, *, adaptive: bool | None) -> Finding:
    (found,) = [f for f in run.findings if f.adversary == adversary and f.adaptive is adaptive]
    return found


def said_to_take_noise_out(finding: Finding) -> bool:
    return any(note.startswith("noise taken out") for note in finding.notes)


def test_who_knows_the_noise_and_may_query_takes_it_out(run: Run) -> None:
    assert said_to_take_noise_out(of(run, "insider", adaptive=True))
    assert not said_to_take_noise_out(of(run, "insider", adaptive=False))
    assert not said_to_take_noise_out(of(run, "insider", adaptive=None))
    assert not said_to_take_noise_out(of(run, "backup", adaptive=True))


def test_several_releases_under_other_keys_give_more_away_than_one(run: Run) -> None:
    several, one = of(run, "collector", adaptive=True), of(run, "insider", adaptive=True)
    plain = of(run, "insider", adaptive=None)
    assert several.estimate.low > one.estimate.value + 0.05
    assert several.estimate.value < plain.estimate.value + 0.05
    assert not [f for f in run.findings if f.adversary == "collector" and f.defense is None]


def test_several_releases_are_nothing_new_where_nothing_is_drawn(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, defenses=[{"name": "rounding"}], adversaries=["insider", "collector"])
    assert {cell.identity.adversary for cell in plan.cells} == {"insider"}
    assert [s.reason for s in plan.skipped if s.adversary == "collector"] == [
        "not applicable: several releases tell more where a defense draws noise, and none here does"
    ]


def test_a_defense_that_learns_what_to_hide_learns_it_from_texts_of_nobody_else(tmp_path: Path) -> None:
    told = [{"name": "subspace", "keywords": [TOY_WORDS[0]], "beta": 0.1}]
    sides = read_sides(spec_for(tmp_path, defenses=told))
    own, held, asked = (set(c.texts) for c in (sides.known[OWNER], sides.known[INSIDE], sides.target))
    assert all((own, held, asked))
    assert own.isdisjoint(held | asked)
    card = next(card for card in sides.cards if card.role == "owner")
    assert card.rows == len(own)
    assert OWNER not in read_sides(spec_for(tmp_path)).known
    assert OWNER not in read_sides(spec_for(tmp_path, defenses=told, owners_part=False)).known
    assert read_sides(spec_for(tmp_path, owners_part=True)).known[INSIDE].texts == sides.known[INSIDE].texts
    result = audit(spec_for(tmp_path, defenses=told, adversaries=["insider"]))[0]
    asked_of = {f.defense.partition("(")[0] for f in result.findings if f.defense and f.adaptive}
    assert asked_of == {"subspace"}
