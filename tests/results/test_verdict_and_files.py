"""The verdict in words, and result files that can be read back."""

import json

import pytest

from unembed.errors import DataError, UsageError
from unembed.metrics.estimate import Estimate, undefined
from unembed.results.io import read_run, write_atomically
from unembed.results.schema import Cost, Finding, Floor, Trust, json_schema, without_times
from unembed.results.verdict import verdict

ORDER = ["outsider", "insider"]


def finding(adversary="insider", game="keyword", value=0.9, floor=0.5, status="leak", level="high", **more):
    def estimate(v):
        return Estimate(v, v - 0.02, v + 0.02, 100)

    facts = {
        "id": f"{game}-{adversary}",
        "cell": "c",
        "game": game,
        "attack": f"{game}/x",
        "adversary": adversary,
        "encoder": "e",
        "metric": "m",
        "estimate": estimate(value),
        "floors": [Floor(kind="prior", estimate=estimate(floor))],
        "floor": estimate(floor),
        "excess": estimate(value - floor),
        "headroom": (value - floor) / (1 - floor),
        "status": status,
        "level": level,
        "trust": Trust(trusted=True, reason="ok"),
        "cost": Cost(capabilities=[], pairs=1, queries=0, targets=1, fit_seconds=1, run_seconds=1),
        "seed": 0,
    }
    return Finding(**{**facts, **more})


def test_the_weakest_adversary_that_succeeds_is_named():
    found = verdict([finding("insider"), finding("outsider", value=0.7, level="moderate")], ORDER)
    assert found.adversary == "outsider"
    assert found.level == "high"
    assert "public text" in found.sentence
    assert "part of the collection" in found.sentence, "a graver leak to a stronger adversary is told too"


def test_no_leak_is_not_called_safe():
    found = verdict([finding(status="no-leak-found", level="none", value=0.5)], ORDER)
    assert found.level == "none"
    assert "no proof of safety" in found.sentence


def test_nothing_measured_is_not_called_safe():
    found = verdict([finding(status="could-not-measure", level="unknown")], ORDER)
    assert found.level == "unknown"
    assert "could be measured" in found.sentence
    assert verdict([], ORDER).level == "unknown"


def test_imprecise_is_said():
    found = verdict([finding(status="inconclusive", level="unknown", value=0.53)], ORDER)
    assert "too imprecise" in found.sentence


def test_a_defended_finding_does_not_speak_for_the_plain_vectors():
    found = verdict([finding(defense="noise", adaptive=True)], ORDER)
    assert found.level == "unknown"


def test_a_point_of_a_curve_does_not_speak_for_the_whole():
    assert verdict([finding(curve=True)], ORDER).level == "unknown"


def test_a_value_that_could_not_be_measured_survives_the_file():
    made = finding(estimate=undefined(), headroom=float("nan"))
    back = Finding.model_validate_json(made.model_dump_json())
    assert back.estimate.value != back.estimate.value
    assert back.headroom != back.headroom


def test_times_are_left_out_of_comparisons():
    data = {"a": {"fit_seconds": 1, "created_at": "x", "value": 3}, "b": [{"seconds": 2}]}
    assert without_times(data) == {"a": {"value": 3}, "b": [{}]}


def test_schema_is_printable_and_names_the_version():
    schema = json.loads(json.dumps(json_schema()))
    assert schema["properties"]["schema_version"]["default"] == 1


def test_bad_result_files(tmp_path):
    with pytest.raises(UsageError, match="no result file"):
        read_run(tmp_path / "absent")
    (tmp_path / "run.json").write_text('{"title": 3}')
    with pytest.raises(DataError, match="not a result file"):
        read_run(tmp_path)
    (tmp_path / "run.json").write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match="can't be read"):
        read_run(tmp_path)


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    write_atomically(tmp_path / "a" / "x.json", "{}")
    assert (tmp_path / "a" / "x.json").read_text() == "{}"
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="can't write"):
        write_atomically(tmp_path / "file" / "x.json", "{}")
    assert [p.name for p in (tmp_path / "a").iterdir()] == ["x.json"]
