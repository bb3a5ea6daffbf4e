"""No placebo options: each one changes the spec, and flags win over the audit file."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from unembed.cli.flags import AttackFlags, AuditFlags
from unembed.cli.request import attack_request, audit_request
from unembed.errors import UsageError
from unembed.runner.spec import AuditSpec, UtilitySpec

BASE: dict[str, Any] = {"texts": "t.csv"}

#: Every option that shapes the audit, a value, and where it must arrive.
OPTIONS: dict[str, tuple[Any, str, Any]] = {
    "texts": ("other.csv", "data.texts", "other.csv"),
    "column": ("body", "data.column", "body"),
    "attribute": (["author"], "data.attributes", ["author"]),
    "group": ("document", "data.group", "document"),
    "time": ("date", "data.time", "date"),
    "id": ("key", "data.id", "key"),
    "split": ("test", "data.split", "test"),
    "format": ("csv", "data.format", "csv"),
    "encoding": ("latin-1", "data.encoding", "latin-1"),
    "delimiter": ("tab", "data.delimiter", "\t"),
    "max_texts": ("50", "data.max_texts", 50),
    "chunk": (150, "data.chunk", 150),
    "encoder": ("hashing", "encoder.name", "hashing"),
    "encoder_option": (["layer=3"], "encoder.options", {"layer": "3"}),
    "fit_on": ("other.txt", "encoder.fit_on", "other.txt"),
    "vectors": ("v.npy", "data.vectors", "v.npy"),
    "store": ("chroma:./store/notes", "data.store", "chroma:./store/notes"),
    "allow_remote": (True, "encoder.options", {"allow_remote": True}),
    "external": ("public.csv", "external.texts", "public.csv"),
    "trained_on": ("learnt.csv", "training.texts", "learnt.csv"),
    "external_column": ("body", "external.column", "body"),
    "adversary": (["insider"], "adversaries", ["insider"]),
    "game": (["keyword"], "games", ["keyword"]),
    "attack": (["keyword/svm"], "attacks", ["keyword/svm"]),
    "keyword": (["fox"], "keyword.words", ["fox"]),
    "pattern": (["iban"], "pattern.formats", ["iban"]),
    "names": ("people.txt", "names.file", "people.txt"),
    "set_": (["inversion/mlc.epochs=3"], "params", {"inversion/mlc": {"epochs": 3}}),
    "share": (0.3, "share", 0.3),
    "curve": ("0.2,0.4", "curve", [0.2, 0.4]),
    "max_targets": (100, "max_targets", 100),
    "quick": (True, "data.max_texts", 1200),
    "references": (["minilm", "lsa"], "references", ["minilm", "lsa"]),
    "repeats": (3, "repeats", 3),
    "no_calibration": (True, "calibrate", False),
    "seed": (5, "seed", 5),
    "threads": (7, "threads", 7),
    "device": ("cpu", "device", "cpu"),
    "utility": (["retrieval"], "utility", [UtilitySpec(name="retrieval")]),
    "jobs": (4, "run.jobs", 4),
    "cell_timeout": ("30s", "run.cell_timeout", 30.0),
    "budget": ("1.5m", "run.budget", 90.0),
    "memory": ("4g", "run.memory", 4.0 * 2**30),
    "backend": ("threading", "run.backend", "threading"),
    "cache": (Path("c"), "run.cache", "c"),
    "no_cache": (True, "run.no_cache", True),
    "out": (Path("o"), "run.folder", "o"),
    "title": ("T", "title", "T"),
    "samples": (True, "samples", True),
    "allow_unmeasured": (True, "allow_unmeasured", True),
    "max_excess": (0.2, "policy.rules", None),
}
#: What does not shape the audit, or is tested with other options or verbs.
ELSEWHERE = {
    *("audit_file", "vectors_column", "trained_column", "chunk_overlap", "names_column", "find_names"),
    *("defense", "policy", "baseline"),
    *("detects", "dry_run", "output", "as_json", "quiet", "exit_zero"),
}


def at(spec: AuditSpec, path: str) -> Any:
    found: Any = spec
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


def test_every_option_is_tested() -> None:
    assert {f.name for f in fields(AuditFlags)} == set(OPTIONS) | ELSEWHERE


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_changes_the_spec(name: str) -> None:
    given, path, wanted = OPTIONS[name]
    plain, _ = audit_request(AuditFlags(**BASE))
    spec, _ = audit_request(AuditFlags(**{**BASE, name: given}))
    assert at(spec, path) != at(plain, path)
    if wanted is not None:
        assert at(spec, path) == wanted


def test_options_that_go_with_others() -> None:
    spec, _ = audit_request(AuditFlags(texts="t.csv", vectors="v.npz", vectors_column="v"))
    assert spec.data.vectors_column == "v"
    assert audit_request(AuditFlags(texts="t.csv", max_texts="all"))[0].data.max_texts is None
    assert audit_request(AuditFlags(texts="t.csv", curve="none"))[0].curve == []
    assert audit_request(AuditFlags(texts="t.csv", curve="log"))[0].curve == "log"
    assert audit_request(AuditFlags(texts="t.csv", curve="0.1, 500"))[0].curve == [0.1, 500]
    spec, _ = audit_request(AuditFlags(texts="t.csv", names="p.csv", names_column="first", find_names=True))
    assert (spec.names.column, spec.names.find) == ("first", True)
    spec, _ = audit_request(AuditFlags(texts="t.csv", trained_on="learnt.csv", trained_column="body"))
    assert spec.training is not None
    assert (spec.training.texts, spec.training.column) == ("learnt.csv", "body")
    assert audit_request(AuditFlags(texts="t.csv", chunk=150, chunk_overlap=30))[0].data.chunk_overlap == 30


def test_options_win_over_the_audit_file(tmp_path: Path) -> None:
    file = tmp_path / "audit.toml"
    file.write_text(
        'seed = 3\nshare = 0.4\n[data]\ntexts = "a.csv"\ngroup = "document"\n'
        '[encoder]\nname = "transformer"\nlayer = 2\n[[policy.rules]]\nid = "file"\nmax = 0.5\n'
    )
    spec, given = audit_request(AuditFlags(audit_file=file))
    assert (spec.seed, spec.share, spec.data.group, spec.encoder.options) == (3, 0.4, "document", {"layer": 2})
    assert given["seed"] == 3
    spec, _ = audit_request(AuditFlags(audit_file=file, seed=4, time="date", encoder="hashing", max_excess=0.1))
    assert (spec.seed, spec.share, spec.data.texts) == (4, 0.4, "a.csv")
    assert (spec.data.group, spec.data.time) == (None, "date")
    assert (spec.encoder.name, spec.encoder.options) == ("hashing", {})
    assert spec.policy is not None
    assert [r.id for r in spec.policy.rules] == ["max-excess"]
    spec, _ = audit_request(AuditFlags(audit_file=file, vectors="v.npy"))
    assert (spec.encoder.options, spec.asks_encoder) == ({"layer": 2}, True)
    assert not audit_request(AuditFlags(texts="a.csv", vectors="v.npy"))[0].asks_encoder


def test_a_size_that_must_be_found_goes_with_the_limit(tmp_path: Path) -> None:
    spec, _ = audit_request(AuditFlags(texts="t.csv", max_excess=0.1, detects=0.05))
    assert spec.policy is not None
    (rule,) = spec.policy.rules
    assert (rule.max, rule.detects) == (0.1, 0.05)
    with pytest.raises(UsageError, match="--detects goes with --max-excess"):
        audit_request(AuditFlags(texts="t.csv", detects=0.05))
    for wrong in (0, 1.5):
        with pytest.raises(UsageError, match="--detects lies above 0 and at most at 1"):
            audit_request(AuditFlags(texts="t.csv", max_excess=0.1, detects=wrong))


def test_the_audit_file_may_do_without_calibration(tmp_path: Path) -> None:
    file = tmp_path / "audit.toml"
    file.write_text('calibrate = false\n[data]\ntexts = "a.csv"\n')
    assert audit_request(AuditFlags(audit_file=file))[0].calibrate is False
    assert audit_request(AuditFlags(texts="t.csv"))[0].calibrate is True


def test_quick_gives_way_to_what_is_said() -> None:
    spec, _ = audit_request(AuditFlags(texts="t.csv", quick=True, max_texts="77"))
    assert (spec.data.max_texts, spec.max_targets) == (77, 600)


def test_attack_is_an_audit_of_one_attack() -> None:
    spec, _ = attack_request(AttackFlags(name="inversion/mlc", texts="t.csv"))
    assert (spec.attacks, spec.games, spec.adversaries, spec.curve) == (
        ["inversion/mlc"],
        ["inversion"],
        ["insider"],
        [],
    )
    spec, _ = attack_request(AttackFlags(name="inversion/mlc", texts="t.csv", adversary=["outsider"], curve="0.5"))
    assert (spec.adversaries, spec.curve) == (["outsider"], [0.5])
    spec, _ = attack_request(AttackFlags(name="inversion/mlc", texts="t.csv", names="p.txt"))
    assert spec.games == ["inversion", "names"]
    with pytest.raises(UsageError, match="an option of the game 'names' has no effect"):
        attack_request(AttackFlags(name="keyword/svm", texts="t.csv", names="p.txt"))


def test_values_are_typed_by_the_attack(tmp_path: Path) -> None:
    flags = AuditFlags(texts="t.csv", set_=["inversion/mlc.threshold=tuned", "inversion/msp.repeats=true"])
    spec, _ = audit_request(flags)
    assert spec.params == {"inversion/mlc": {"threshold": "tuned"}, "inversion/msp": {"repeats": True}}


def test_a_defense_of_ones_own_with_parameters(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from unembed.defenses.base import DefenseFacts\n"
        "from unembed.params import Parametrised\n"
        "class Round(Parametrised):\n"
        "    facts = DefenseFacts('round', 'Rounding')\n"
        "    def __init__(self, *, decimals: int = 2, seed: int = 0):\n"
        "        self.decimals, self.seed = decimals, seed\n"
        "    def fit(self, vectors, owned=None): return self\n"
        "    def transform(self, vectors, ids): return vectors.round(self.decimals)\n"
    )
    spec, _ = audit_request(AuditFlags(texts="t.csv", defense=[f"{file}:Round,decimals=1"]))
    assert spec.defenses[0].params == {"decimals": 1}
    with pytest.raises(UsageError, match="decimals"):
        audit_request(AuditFlags(texts="t.csv", defense=[f"{file}:Round,decimal=1"]))


def test_utility_tasks_with_parameters_and_the_column_they_need(tmp_path: Path) -> None:
    spec, _ = audit_request(AuditFlags(**BASE, utility=["retrieval,k=5", "column,column=topic,folds=3"]))
    assert [u.params for u in spec.utility] == [{"k": 5}, {"column": "topic", "folds": 3}]
    assert spec.columns == ["topic"]
    for given, says in (("retrieval,kk=5", "did you mean 'k'"), ("column", "needs the option column")):
        with pytest.raises(UsageError, match=says):
            audit_request(AuditFlags(**BASE, utility=[given]))
    file = tmp_path / "audit.toml"
    file.write_text('utility = ["retrieval"]\n[data]\ntexts = "t.csv"\n')
    assert audit_request(AuditFlags(audit_file=file))[0].utility == [UtilitySpec(name="retrieval")]


def test_references_can_be_switched_off_and_none_goes_alone() -> None:
    assert audit_request(AuditFlags(**BASE, references=["none"]))[0].references == []
    with pytest.raises(UsageError, match="none goes alone"):
        audit_request(AuditFlags(**BASE, references=["none", "lsa"]))
