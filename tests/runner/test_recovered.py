"""A secret rotation in an audit: it is asked whether it comes undone, and an outsider's attacks work through it."""

from pathlib import Path
from typing import Any

import pytest
from planning import planned

from unembed.encoders.base import EncoderCard
from unembed.results.schema import Run
from unembed.runner.execute import audit
from unembed.runner.plan import Plan
from unembed.runner.spec import AuditSpec, build_spec
from unembed.testing.toys import TOY_WORDS, toy_corpus


def texts(place: Path, name: str, count: int, seed: int) -> str:
    (place / name).write_text("\n".join(dict.fromkeys(toy_corpus(count, seed=seed).texts)) + "\n")
    return str(place / name)


def spec_for(place: Path, **changes: Any) -> AuditSpec:
    (place / "leaky.py").write_text(
        "from unembed.testing.toys import LeakyEncoder\n\n\n"
        "def encode(texts):\n    return LeakyEncoder().encode(list(texts))\n"
    )
    given = {
        "data": {"texts": texts(place, "stored.txt", 2400, 1)},
        "share": 0.3,
        "external": {"texts": texts(place, "public.txt", 2400, 2), "rows": 2400},
        "encoder": {"name": f"callable:{place / 'leaky.py'}:encode", "version": "1"},
        "games": ["recovery", "keyword"],
        "attacks": ["recovery/procrustes", "recovery/unpaired", "keyword/svm"],
        "keyword": {"words": [TOY_WORDS[0]]},
        "adversaries": ["outsider", "insider"],
        "defenses": [{"name": "rotation"}],
        "calibrate": False,
        "repeats": 0,
        "references": [],
        "utility": [],
        "threads": 1,
        "run": {"no_cache": True, "folder": str(place / "run")},
    }
    return build_spec({**given, **changes})


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return audit(spec_for(tmp_path_factory.mktemp("rotated")))[0]


def plan_of(place: Path, **changes: Any) -> Plan:
    return planned(spec_for(place, **changes), EncoderCard("toy", "toy", "digest", 48, False), "v")


def test_the_rotation_comes_undone_with_pairs_and_without(run: Run) -> None:
    asked = {(f.attack, f.adversary): f for f in run.findings if f.game == "recovery"}
    assert set(asked) == {
        ("recovery/procrustes", "insider"),
        ("recovery/unpaired", "insider"),
        ("recovery/unpaired", "outsider"),
    }
    assert all(finding.adaptive and finding.defense == "rotation" for finding in asked.values())
    assert {finding.status for finding in asked.values()} == {"leak"}


def test_an_outsider_reads_through_the_rotation_who_knows_of_it(run: Run) -> None:
    found = {
        f.adaptive: f for f in run.findings if (f.game, f.adversary, f.defense) == ("keyword", "outsider", "rotation")
    }
    plain = next(f for f in run.findings if (f.game, f.adversary, f.defense) == ("keyword", "outsider", None))
    assert found[True].status == "leak"
    assert found[True].estimate.value == pytest.approx(plain.estimate.value, abs=0.1)
    assert found[False].status != "leak"
    assert any(note.startswith("vectors mapped back without a pair") for note in found[True].notes)
    assert not [note for note in (*found[False].notes, *plain.notes) if "mapped back" in note]


def test_who_is_inside_brings_them_back_by_pairs_and_loses_nothing(run: Run) -> None:
    found = {
        f.adaptive: f for f in run.findings if (f.game, f.adversary, f.defense) == ("keyword", "insider", "rotation")
    }
    plain = next(f for f in run.findings if (f.game, f.adversary, f.defense) == ("keyword", "insider", None))
    assert any(note.startswith("vectors mapped back by") for note in found[True].notes)
    assert found[True].estimate.value == pytest.approx(plain.estimate.value, abs=0.05)
    assert found[False].status != "leak"


def test_finding_nothing_is_no_proof_where_the_way_back_was_not_found(tmp_path: Path) -> None:
    few = {"texts": texts(tmp_path, "few.txt", 240, 3), "rows": 240}
    small = spec_for(
        tmp_path,
        data={"texts": few["texts"]},
        external=few | {"texts": texts(tmp_path, "public.txt", 240, 4)},
        games=["keyword"],
        attacks=["keyword/svm"],
        adversaries=["outsider"],
        calibrate=True,
    )
    (found,) = [f for f in audit(small)[0].findings if f.adaptive]
    assert found.status == "inconclusive"
    assert found.doubt is not None
    assert found.doubt.startswith("the way back through the secret map was not surely found")


def test_without_a_secret_map_it_is_not_asked(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, defenses=[{"name": "rounding"}])
    assert not [cell for cell in plan.cells if cell.identity.game.name == "recovery"]
    assert [s.reason for s in plan.skipped if s.what == "recovery"] == [
        "not applicable: it is asked where a defense is one secret map, and none is here"
    ]


def test_it_is_asked_of_fewer_pairs_too(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, curve=[50, 200], attacks=["recovery/procrustes"], games=["recovery"])
    assert [cell.identity.pairs for cell in plan.cells] == [50, 200, None]
    assert all(cell.identity.adaptive and cell.identity.transforms for cell in plan.cells)
