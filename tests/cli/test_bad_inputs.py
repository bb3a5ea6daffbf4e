"""Inputs that can't be used: one error line that helps, no traceback, nothing half-written."""

from __future__ import annotations

import gzip
import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import SMALL, Result, environment, write_csv

Run = Callable[..., Result]
Make = Callable[[Path], list[Any]]

TEXTS = [f"the {a} {b} went to the {c} on a {d} day" for a in ("old", "red", "tall") for b in ("fox", "cat", "hen")
         for c in ("barn", "lake") for d in ("grey", "warm")]  # fmt: skip


def table(path: Path, columns: dict[str, list[Any]]) -> list[Any]:
    """A csv file with these columns."""
    write_csv(path / "t.csv", [list(columns), *zip(*columns.values(), strict=True)])
    return ["--texts", path / "t.csv"]


def content(path: Path, name: str, data: bytes | str) -> list[Any]:
    (path / name).write_bytes(data.encode() if isinstance(data, str) else data)
    return ["--texts", path / name]


def good(path: Path, *options: object) -> list[Any]:
    half = len(TEXTS) // 2
    kinds = ["a"] * half + ["b"] * (len(TEXTS) - half)
    return [*table(path, {"text": TEXTS, "kind": kinds, "n": list(range(len(TEXTS)))}), "--column", "text", *options]


def parquet(path: Path, columns: dict[str, list[Any]], *, keep: int | None = None) -> list[Any]:
    pq.write_table(pa.table(columns), path / "t.parquet")
    data = (path / "t.parquet").read_bytes()
    return content(path, "t.parquet", data[:keep] if keep else data)


def vectors(path: Path, array: Any, *, keep: int | None = None, **save: Any) -> list[Any]:
    np.save(path / "v.npy", array, **save)
    data = (path / "v.npy").read_bytes()
    (path / "v.npy").write_bytes(data[:keep] if keep else data)
    return good(path, "--vectors", path / "v.npy")


def jsonl_vectors(path: Path, rows: list[list[float]]) -> list[Any]:
    (path / "v.jsonl").write_text("\n".join(json.dumps(r) for r in rows))
    return good(path, "--vectors", path / "v.jsonl")


def bad_row(value: float) -> Any:
    array = np.ones((len(TEXTS), 4), dtype=np.float32)
    array[3, 2] = value
    return array


def audit_file(path: Path, text: str) -> list[Any]:
    (path / "audit.toml").write_text(text)
    return [path / "audit.toml"]


def policy(path: Path, text: str) -> list[Any]:
    (path / "policy.toml").write_text(text)
    return good(path, "--policy", path / "policy.toml")


def plugin(path: Path, code: str, option: str = "--attack") -> list[Any]:
    (path / "plugin.py").write_text(code)
    return good(path, option, f"{path / 'plugin.py'}:Thing")


def bomb(path: Path) -> list[Any]:
    with gzip.open(path / "t.csv.gz", "wb", compresslevel=9) as file:
        file.write(b"text\n" + b"x" * 40_000_000 + b"\n")
    return ["--texts", path / "t.csv.gz"]


BAD: dict[str, tuple[Make, str]] = {
    # texts
    "empty file": (lambda p: content(p, "t.csv", ""), "empty"),
    "header only": (lambda p: content(p, "t.csv", "text,kind\n"), "no rows"),
    "one row": (lambda p: table(p, {"text": ["only one"]}), "1 distinct"),
    "duplicates only": (lambda p: table(p, {"text": ["the same text"] * 50}), "distinct"),
    "texts all empty": (lambda p: table(p, {"text": ["", " ", ""], "n": [1, 2, 3]}), "empty"),
    "missing file": (lambda p: ["--texts", p / "nowhere.csv"], "no such file"),
    "folder without data": (lambda p: ["--texts", p], "no data files"),
    "folder in place of a file": (lambda p: ((p / "t.csv").mkdir(), ["--texts", p / "t.csv"])[1], "no data files"),
    "unknown ending": (lambda p: content(p, "t.docx", "x"), "format"),
    "unknown column": (lambda p: good(p, "--column", "texts"), "did you mean 'text'"),
    "column not named": (lambda p: table(p, {"one": TEXTS, "two": TEXTS}), "column"),
    "unknown attribute": (lambda p: good(p, "--attribute", "kinds"), "did you mean 'kind'"),
    "column of numbers": (lambda p: [*parquet(p, {"n": [1, 2, 3]}), "--column", "n"], "not text"),
    "wrong encoding": (lambda p: [*content(p, "t.csv", b"text\n\xff\xfe\xe4\n"), "--encoding", "utf-8"], "utf-8"),
    "unknown encoding": (lambda p: good(p, "--encoding", "utf-99"), "unknown text encoding"),
    "binary as csv": (lambda p: content(p, "t.csv", bytes(range(256)) * 20), "t.csv"),
    "truncated parquet": (lambda p: parquet(p, {"text": TEXTS}, keep=200), "t.parquet"),
    "not a parquet": (lambda p: content(p, "t.parquet", "text\nhello\n"), "t.parquet"),
    "bad json line": (lambda p: content(p, "t.jsonl", '{"text": "a"}\n{"text": \n'), "2"),
    "json array line": (lambda p: content(p, "t.jsonl", '["a", "b"]\n'), "1"),
    "ragged csv": (lambda p: content(p, "t.csv", "text,kind\na,b\nc,d,e,f\n"), "t.csv"),
    "cell of 10 MB": (lambda p: content(p, "t.csv", "text\n" + "x" * 10_000_000 + "\n"), "longer than"),
    "row that unpacks to 40 MB": (bomb, "t.csv.gz"),
    "duplicate ids": (lambda p: [*table(p, {"text": TEXTS, "id": [1] * len(TEXTS)}), "--column", "text", "--id", "id"],
                      "same id"),
    "single class": (lambda p: [*table(p, {"text": TEXTS, "kind": ["a"] * len(TEXTS)}), "--column", "text",
                                "--attribute", "kind"], "kind"),
    "attribute without values": (lambda p: [*table(p, {"text": TEXTS, "kind": [""] * len(TEXTS)}), "--column", "text",
                                            "--attribute", "kind"], "kind"),
    "split by the attribute": (lambda p: good(p, "--attribute", "kind", "--group", "kind"), "can't split by 'kind'"),
    "one group": (lambda p: [*table(p, {"text": TEXTS, "g": ["x"] * len(TEXTS)}), "--column", "text", "--group", "g"],
                  "group"),
    "csv without a header": (lambda p: content(p, "t.csv", "so good,4\nso bad,1\n"), "is the header missing?"),
    "time beyond any float": (lambda p: [*table(p, {"text": TEXTS, "when": [10**400] * len(TEXTS)}), "--column", "text",
                                         "--time", "when"], "not a date"),
    "no dates": (lambda p: good(p, "--time", "kind"), "not a date"),
    "unknown format": (lambda p: good(p, "--format", "xlsx"), "unknown format"),
    "bad delimiter": (lambda p: good(p, "--delimiter", ";;"), "delimiter"),
    "unknown generator": (lambda p: ["--texts", "generator:massages"], "did you mean 'messages'"),
    # vectors
    "vectors missing": (lambda p: good(p, "--vectors", p / "v.npy"), "no file of vectors"),
    "NaN in a vector": (lambda p: vectors(p, bad_row(np.nan)), "row 3"),
    "number too large for a vector": (lambda p: vectors(p, bad_row(1e19)), "row 3: the vector is longer"),
    "infinity in a vector": (lambda p: vectors(p, bad_row(np.inf)), "row 3"),
    "mixed dimensions": (lambda p: jsonl_vectors(p, [[1, 2], [1, 2, 3]]), "row 1"),
    "wrong number of vectors": (lambda p: vectors(p, np.ones((7, 4), np.float32)), "7 vectors"),
    "pickled vectors": (lambda p: vectors(p, np.array([{}, {}], dtype=object), allow_pickle=True), "pickled"),
    "truncated vectors": (lambda p: vectors(p, np.ones((36, 4)), keep=300), "cut short"),
    "vectors without dimensions": (lambda p: vectors(p, np.ones((36, 0))), "no vectors"),
    "one-dimensional vectors": (lambda p: vectors(p, np.ones(36)), "shape"),
    "vectors and encoder": (lambda p: [*vectors(p, np.ones((36, 4))), "--encoder", "hashing"], "4 dimensions"),
    "vectors column alone": (lambda p: good(p, "--vectors-column", "v"), "--vectors"),
    # names
    "unknown encoder": (lambda p: good(p, "--encoder", "minilmm"), "did you mean 'minilm'"),
    "option nested too deep": (lambda p: good(p, "--set", "keyword/svm.x=" + "[" * 5_000), "not valid JSON"),
    "unknown encoder option": (lambda p: good(p, "--encoder", "hashing", "--encoder-option", "feature=9"), "features"),
    "encoder option without value": (lambda p: good(p, "--encoder-option", "features"), "NAME=VALUE"),
    "unknown game": (lambda p: good(p, "--game", "keywords"), "did you mean 'keyword'"),
    "unknown attack": (lambda p: good(p, "--attack", "keyword/svn"), "did you mean 'keyword/svm'"),
    "unknown adversary": (lambda p: good(p, "--adversary", "inside"), "insider"),
    "defense out of range": (lambda p: good(p, "--defense", "rounding,decimals=99"), "from -15 to 15, not 99"),
    "noise out of range": (lambda p: good(p, "--defense", "gaussian,scale=-1"), "must not be negative"),
    "unknown defense": (lambda p: good(p, "--defense", "rounding-up"), "unknown defense"),
    "unknown utility task": (lambda p: good(p, "--utility", "retrieve"), "did you mean 'retrieval'"),
    "unknown backend": (lambda p: good(p, "--backend", "spark"), "loky"),
    "unknown device": (lambda p: good(p, "--device", "tpu"), "unknown device"),
    "unknown attack parameter": (lambda p: good(p, "--set", "inversion/mlc.epoch=3"), "epochs"),
    "attack parameter of a wrong type": (lambda p: good(p, "--set", "inversion/mlc.epochs=many"), "epochs"),
    "parameter of nothing": (lambda p: good(p, "--set", "epochs=3"), "NAME.PARAM=VALUE"),
    "seed as parameter": (lambda p: good(p, "--set", "inversion/mlc.seed=3"), "--seed"),
    "attack of another game": (lambda p: good(p, "--game", "keyword", "--attack", "inversion/mlc"), "--game inversion"),
    # numbers
    "share 0": (lambda p: good(p, "--share", "0"), "share"),
    "share 1": (lambda p: good(p, "--share", "1"), "share"),
    "negative seed": (lambda p: good(p, "--seed", "-1"), "seed"),
    "curve out of range": (lambda p: good(p, "--curve", "0.1,2"), "curve"),
    "curve of words": (lambda p: good(p, "--curve", "some"), "--curve"),
    "curve of too few pairs": (lambda p: good(p, "--curve", "12"), "curve"),
    "file of names that is not there": (lambda p: good(p, "--names", "nobody.txt"), "nobody.txt"),
    "names found without a list": (lambda p: good(p, "--find-names"), "file of names"),
    "names without their game": (lambda p: good(p, "--game", "keyword", "--names", "n.txt"), "'names' is not played"),
    "names set as a parameter": (lambda p: good(p, "--set", "names.names=x"), "--names"),
    "no jobs": (lambda p: good(p, "--jobs", "0"), "jobs"),
    "too few texts": (lambda p: good(p, "--max-texts", "2"), "max_texts"),
    "number that is none": (lambda p: good(p, "--max-targets", "many"), "--max-targets"),
    # contradictions
    "group and time": (lambda p: good(p, "--group", "kind", "--time", "n"), "contradict"),
    "cache and no cache": (lambda p: good(p, "--cache", p / "c", "--no-cache"), "contradict"),
    "keyword without its game": (lambda p: good(p, "--keyword", "fox", "--game", "inversion"), "keyword"),
    "external without outsider": (lambda p: good(p, "--external", p / "t.csv", "--adversary", "insider"), "outsider"),
    "baseline without policy": (lambda p: good(p, "--baseline", p / "b.toml"), "policy"),
    # files
    "no audit file": (lambda p: [p / "audit.toml"], "no audit file"),
    "audit file nested too deep": (lambda p: audit_file(p, "a = " + "[" * 5_000), "nested too deep"),
    "audit file with an endless number": (lambda p: audit_file(p, "seed = " + "1" * 5_000), "too long a number"),
    "device as audit file": (lambda p: ["/dev/zero"], "not a regular file"),
    "standard input as audit file": (lambda p: ["/dev/stdin"], "not a regular file"),
    "bad TOML": (lambda p: audit_file(p, "title = \n"), "TOML"),
    "unknown key": (lambda p: audit_file(p, '[data]\ntexts = "t.csv"\ncolumns = "text"\n'), "did you mean 'column'"),
    "no texts": (lambda p: audit_file(p, 'title = "x"\n'), "--texts"),
    "policy missing": (lambda p: good(p, "--policy", p / "policy.toml"), "no policy file"),
    "policy with an unknown key": (lambda p: policy(p, '[[rules]]\nid = "a"\nmaximum = 1\n'), "unknown key"),
    "policy without rules": (lambda p: policy(p, "rules = []\n"), "rules"),
    "policy twice": (lambda p: [*policy(p, '[[rules]]\nid = "a"\nmax = 1\n'), "--max-excess", "0.1"], "contradict"),
    "limit above one": (lambda p: good(p, "--max-excess", "20"), "between 0 and 1"),
    "baseline missing": (lambda p: good(p, "--max-excess", "0.1", "--baseline", p / "b.toml"), "no baseline"),
    "report of an unknown kind": (lambda p: good(p, "-o", p / "report.pdf"), "report.pdf"),
    "report into a file": (lambda p: good(p, "-o", p / "t.csv" / "report.html"), "is a file"),
    "run folder is a file": (lambda p: good(p, "-d", p / "t.csv"), "is a file"),
    "plug-in file missing": (lambda p: good(p, "--attack", f"{p / 'nowhere.py'}:Thing"), "no such plug-in"),
    "plug-in that fails": (lambda p: plugin(p, "1 / 0\n"), "ZeroDivisionError"),
    "plug-in without the name": (lambda p: plugin(p, "Other = 1\n"), "unknown name"),
    "plug-in that is no attack": (lambda p: plugin(p, "class Thing: pass\n"), "contract"),
    "plug-in that is no encoder": (lambda p: plugin(p, "class Thing: pass\n", "--encoder"), "contract"),
    "endpoint without permission": (lambda p: good(p, "--encoder", "endpoint:https://models.invalid/v1",
                                                   "--encoder-option", "model=m"), "allow"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_an_input_that_can_not_be_used_is_one_error(
    case: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, said = BAD[case]
    data, here = tmp_path / "data", tmp_path / "here"
    data.mkdir()
    here.mkdir()
    monkeypatch.chdir(here)
    done = run("audit", *make(data))
    assert done.code in (2, 3), done.err
    assert len(done.errors) == 1, done.err
    assert any(word in done.err for word in said.split("|")), done.err
    assert "Traceback" not in done.err + done.out
    left = [p.name for p in here.rglob("*") if p.is_file()]
    assert set(left) <= {"events.jsonl"}, left
    assert not [n for n in left if n.startswith(".") or n.endswith((".part", ".tmp"))]


def test_at_least_forty_of_them() -> None:
    assert len(BAD) >= 40


def test_when_nothing_could_be_measured_the_error_says_why(run: Run, messages: Path, tmp_path: Path) -> None:
    done = run(
        *("audit", "--texts", messages, "--column", "text", *SMALL, "--keyword", "zyzzyva"),
        *("--adversary", "insider", "-d", tmp_path / "run"),
    )
    assert done.code == 3
    assert len(done.errors) == 1
    assert "nothing could be measured" in done.err
    assert json.loads((tmp_path / "run" / "run.json").read_text())["status"] == "nothing-ran"


def damaged(path: Path, good: Path, how: str) -> Path:
    run = json.loads((good / "run.json").read_text())
    text = {
        "not json": "{",
        "not a run": "{}",
        "binary": "\x00\x01",
        "from the future": json.dumps({**run, "schema_version": 99}),
    }[how]
    (path / "run.json").write_text(text)
    return path / "run.json"


@pytest.mark.parametrize("how", ["not json", "not a run", "binary", "from the future"])
@pytest.mark.parametrize("verb", ["report", "compare", "gate"])
def test_a_damaged_result_file_is_one_error(verb: str, how: str, run: Run, finished_run: Path, tmp_path: Path) -> None:
    bad = damaged(tmp_path, finished_run, how)
    rest = {
        "report": ["-o", tmp_path / "r.html"],
        "compare": [finished_run],
        "gate": ["--max-excess", "0.1"],
    }[verb]
    done = run(verb, bad, *rest)
    assert done.code == 2
    assert len(done.errors) == 1
    assert "run.json" in done.err
    assert not (tmp_path / "r.html").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["report", "nowhere", "-o", "r.html"], "no result file"),
        (["gate", "nowhere"], "--policy"),
        (["gate", "nowhere", "--max-excess", "0.1", "--reason", "x"], "--write-baseline"),
        (["list", "attack"], "did you mean 'attacks'"),
        (["show", "keyword/svn"], "did you mean 'keyword/svm'"),
        (["cache", "clear", "--older-than", "soon", "--yes"], "30d"),
        (["attack", "attribute/linear", "--texts", "t.csv"], "--attribute"),
        (["attack", "inversion/nothing", "--texts", "t.csv"], "unknown attack"),
        (["audti"], "audti"),
        (["compare", "one"], "AFTER|after"),
    ],
)
def test_other_verbs_say_what_to_type(
    arguments: list[str], said: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*arguments)
    assert done.code == 2
    assert len(done.errors) == 1, done.err
    assert any(word in done.err for word in said.split("|")), done.err
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_one_error_and_leaves_no_result(messages: Path, tmp_path: Path) -> None:
    """A limit on the size of files stands for the full disk: writing fails in the same place."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "unembed", "audit", "--texts", str(messages), "--column", "text"),
            *(*SMALL, "-d", "run"),
        ],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("error:") == 1
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run" / "run.json").exists()
    assert not [p for p in tmp_path.rglob(".*") if p.is_file()]


def test_a_place_nobody_can_write_to(run: Run, messages: Path) -> None:
    done = run("audit", "--texts", messages, "--column", "text", *SMALL, "-d", "/proc/unembed")
    assert done.code == 2
    assert len(done.errors) == 1
    assert "/proc/unembed" in done.err
