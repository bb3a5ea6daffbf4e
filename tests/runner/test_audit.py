"""An audit from the spec to the result: plan, isolation of failures, seeds, masking, the policy."""

import json

import pytest

from unembed.errors import CannotMeasureError, NothingRanError, UnknownNameError, UsageError
from unembed.results.io import read_run
from unembed.results.schema import without_times
from unembed.runner.execute import audit
from unembed.runner.masking import mask
from unembed.runner.spec import AuditSpec, build_spec, merge
from unembed.testing.toys import toy_corpus

ENCODER = """
from unembed.testing.toys import LeakyEncoder
encode = LeakyEncoder().encode
"""
BROKEN = """
from unembed.attacks.attribute.linear import AttributeLinear
class Broken(AttributeLinear):
    def run(self, vectors):
        raise KeyError("a " + "pri" + "vate text")
"""


@pytest.fixture
def place(tmp_path):
    corpus = toy_corpus(500, seed=4)
    lines = [f"{t},{s}" for t, s in zip(corpus.texts, corpus.column("side"), strict=True)]
    (tmp_path / "toy.csv").write_text("text,side\n" + "\n".join(lines) + "\n")
    (tmp_path / "leaky.py").write_text(ENCODER)
    (tmp_path / "broken.py").write_text(BROKEN)
    return tmp_path


def spec_for(place, **changes) -> AuditSpec:
    attributes = ["side"] if "attribute" in changes.get("games", ["attribute"]) else []
    base = {
        "data": {"texts": str(place / "toy.csv"), "column": "text", "attributes": attributes},
        "encoder": {"name": f"callable:{place / 'leaky.py'}:encode", "version": "1"},
        "adversaries": ["insider"],
        "games": ["attribute"],
        "keyword": {"propose": 3, "samples": 40},
        "curve": [],
        "run": {"folder": str(place / "run"), "no_cache": True},
    }
    return build_spec(merge(base, changes))


def test_a_leak_is_found_and_the_result_file_holds_it(place):
    run, folder = audit(spec_for(place))
    assert run.status == "complete"
    assert run.findings[0].status == "leak"
    assert run.verdict.adversary == "insider"
    assert "side" in run.verdict.sentence
    assert read_run(folder) == run
    assert not (folder / "work").exists(), "texts don't stay in the run folder"


def test_a_failed_cell_is_recorded_and_the_others_go_on(place):
    run, folder = audit(spec_for(place, attacks=["attribute/linear", f"{place / 'broken.py'}:Broken"]))
    assert [c.status for c in run.cells] == ["done", "failed"]
    assert run.status == "partial"
    assert len(run.findings) == 1
    assert "private" not in (folder / "run.json").read_text(), "a foreign message may quote a text"
    assert "KeyError in broken.py:5" in run.cells[1].error


def test_the_same_command_computes_nothing_again(place):
    first, folder = audit(spec_for(place))
    stamps = {f: f.stat().st_mtime_ns for f in (folder / "cells").iterdir()}
    second, _ = audit(spec_for(place))
    assert {f: f.stat().st_mtime_ns for f in (folder / "cells").iterdir()} == stamps
    assert without_times(first.model_dump()) == without_times(second.model_dump())


def test_adding_an_attack_changes_no_other_result(place):
    alone, _ = audit(
        spec_for(place, games=["keyword"], attacks=["keyword/portfolio"], run={"folder": str(place / "a")})
    )
    both, _ = audit(spec_for(place, games=["keyword"], run={"folder": str(place / "b")}))
    same = next(f for f in both.findings if f.attack == "keyword/portfolio")
    assert len(both.findings) > 1
    assert same.estimate == alone.findings[0].estimate
    assert same.seed == alone.findings[0].seed


def test_another_seed_gives_another_split(place):
    one, _ = audit(spec_for(place, run={"folder": str(place / "a")}))
    two, _ = audit(spec_for(place, seed=1, run={"folder": str(place / "b")}))
    assert one.data[1].fingerprint != two.data[1].fingerprint


def test_words_of_the_collection_are_masked_unless_asked_for(place):
    hidden, folder = audit(spec_for(place, games=["keyword", "inversion"], run={"folder": str(place / "a")}))
    text = (folder / "run.json").read_text() + "".join(f.read_text() for f in (folder / "cells").iterdir())
    text += (folder / "events.jsonl").read_text()
    assert not [w for w in ("apple", "bridge", "forest", "kettle") if w in text]
    samples = [s for f in hidden.findings for s in f.samples]
    assert samples
    assert all(s.masked for s in samples)
    found = [{w for w, hit in zip(s.recovered, s.hits, strict=True) if hit} for s in samples]
    assert all(set(s.truth) <= {*right, "•"} for s, right in zip(samples, found, strict=True)), "no letter of the rest"
    shown, folder = audit(spec_for(place, games=["inversion"], samples=True, run={"folder": str(place / "b")}))
    assert any(w in (folder / "run.json").read_text() for w in ("apple", "bridge", "forest", "kettle"))
    assert not shown.findings[0].samples[0].masked


def test_the_curve_over_pairs_has_its_own_findings(place):
    run, _ = audit(spec_for(place, games=["inversion"], attacks=["inversion/mlp"], curve=[0.3]))
    pairs = sorted(f.cost.pairs for f in run.findings)
    assert len(pairs) == 2
    assert pairs[0] == pytest.approx(0.3 * pairs[1], abs=1)


def test_what_was_left_out_is_listed_with_the_missing_capability(place):
    spec = spec_for(place, adversaries=["outsider", "insider"], external={"rows": 200})
    run, _ = audit(spec)
    assert [s for s in run.skipped if s.what == "attribute/portfolio" and s.missing == ["labels"]]
    reasons = {s.what: s.reason for s in run.skipped}
    assert {"pattern", "fingerprint"} <= set(reasons)
    learnt = ("membership-user", "membership-window", "membership-pair", "membership-model")
    assert {reasons[game] for game in learnt} == {"not among the games of this audit"}


def test_what_a_model_learnt_from_is_no_question_where_nobody_says_what_that_was(place):
    run, _ = audit(spec_for(place, games=["attribute", "membership-user", "membership-window", "membership-pair"]))
    reasons = {s.what: s.reason for s in run.skipped}
    assert {f.game for f in run.findings} == {"attribute"}
    for game in ("membership-user", "membership-window", "membership-pair"):
        assert "--trained-on" in reasons[game]


@pytest.mark.parametrize("attack", ["membership/extraction", "membership/canary-exposure"])
def test_an_attack_on_language_models_says_that_an_audit_has_none(place, attack):
    asked = {"games": ["attribute", "membership-model"], "attacks": ["attribute/linear", attack]}
    run, _ = audit(spec_for(place, **asked))
    assert {f.game for f in run.findings} == {"attribute"}
    assert "an audit trains none" in {s.what: s.reason for s in run.skipped}[attack]


def test_nothing_to_run_is_an_error(place):
    with pytest.raises(NothingRanError, match="no attribute column"):
        audit(spec_for(place, data={"attributes": []}))


def test_too_few_texts_is_an_error(place):
    (place / "few.csv").write_text("text,side\nred,a\nred,a\nred,b\n")
    with pytest.raises(CannotMeasureError, match="1 distinct text"):
        audit(spec_for(place, data={"texts": str(place / "few.csv")}))


def test_a_policy_is_judged(place):
    rule = {"id": "side", "game": "attribute", "max": 0.05}
    run, _ = audit(spec_for(place, policy={"rules": [rule]}))
    assert run.gate is not None
    assert run.gate.exit_code == 1
    assert json.loads(run.model_dump_json())["gate"]["outcomes"][0]["outcome"] == "violated"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sead": 3}, "did you mean 'seed'"),
        ({"data": {"texts": "x", "colum": "y"}}, "did you mean 'column'"),
        ({"adversaries": ["insidr"]}, "unknown adversary"),
        ({"share": 1.5}, "share"),
        ({"curve": [2.0]}, "between 0 and 1"),
        ({"data": {"texts": "x", "group": "a", "time": "b"}}, "not both"),
    ],
)
def test_mistakes_in_an_audit_file(change, message):
    with pytest.raises(UsageError, match=message):
        build_spec(merge({"data": {"texts": "x.csv"}}, change), "audit.toml")


def test_an_unknown_attack_gets_a_suggestion(place):
    with pytest.raises(UnknownNameError, match="did you mean"):
        audit(spec_for(place, attacks=["attribute/liner"]))


def test_quick_only_fills_what_was_not_given():
    quick = build_spec({"quick": True, "data": {"texts": "x"}, "max_targets": 77})
    assert quick.data.max_texts == 1200
    assert quick.max_targets == 77
    full = build_spec({"data": {"texts": "x"}})
    assert (quick.games, quick.adversaries, quick.attacks) == (full.games, full.adversaries, full.attacks)


def test_a_mask_keeps_first_letter_and_length():
    assert mask("secret") == "s•••••"
    assert mask("a") == "•"
