"""What a run leaves on the disk: nobody else can read it, and what was changed afterwards is not believed."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from unembed.errors import DataError
from unembed.papers.base import Conditions, ExperimentFacts, Measured
from unembed.papers.tables import Row, run_rows
from unembed.report import write_report
from unembed.results.io import read_run
from unembed.results.schema import without_times
from unembed.runner.execute import audit
from unembed.runner.spec import AuditSpec, build_spec, merge
from unembed.testing.toys import toy_corpus


@pytest.fixture
def place(tmp_path: Path) -> Path:
    corpus = toy_corpus(200, seed=4)
    rows = [f"{text},{side}" for text, side in zip(corpus.texts, corpus.column("side"), strict=True)]
    (tmp_path / "t.csv").write_text("text,side\n" + "\n".join(rows) + "\n")
    return tmp_path


@pytest.fixture
def generous() -> Iterator[None]:
    """A umask that lets everybody read and write."""
    before = os.umask(0)
    yield
    os.umask(before)


def spec_for(place: Path, **changes: Any) -> AuditSpec:
    base = {
        "data": {"texts": str(place / "t.csv"), "column": "text", "attributes": ["side"]},
        "encoder": {"name": "lsa", "components": 8},
        "adversaries": ["insider"],
        "games": ["attribute"],
        "attacks": ["attribute/linear"],
        "references": ["random"],
        "calibrate": False,
        "repeats": 0,
        "threads": 1,
        "run": {"folder": str(place / "runs" / "run"), "cache": str(place / "cache")},
    }
    return build_spec(merge(base, changes))


def readable_by_others(*folders: Path) -> list[str]:
    paths = [path for folder in folders for path in (folder, *folder.rglob("*"))]
    return [str(path) for path in paths if stat.S_IMODE(path.stat().st_mode) & 0o077]


class TestPermissions:
    def test_a_run_that_was_stopped_keeps_its_texts_and_vectors_to_itself(self, place: Path, generous: None) -> None:
        def stop(what: str, done: int, total: int) -> None:
            if what == "references":
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            audit(spec_for(place), progress=stop)
        assert any((place / "runs" / "run" / "work").rglob("target.parquet"))
        assert any((place / "cache").rglob("*.block"))
        assert readable_by_others(place / "runs", place / "cache") == []

    @pytest.mark.parametrize("samples", [False, True])
    def test_a_report_is_for_others_unless_it_shows_texts(self, samples: bool, place: Path, generous: None) -> None:
        run, folder = audit(spec_for(place, samples=samples))
        assert readable_by_others(folder) == []
        for ending in ("html", "json", "md"):
            write_report(run, place / f"report.{ending}")
            mode = stat.S_IMODE((place / f"report.{ending}").stat().st_mode)
            assert mode == (0o600 if samples else 0o666)


def with_another_digit(text: str, after: str) -> str:
    """The same file with one digit changed behind a mark: still valid, still of the same form."""
    at = next(i for i in range(text.index(after), len(text)) if text[i].isdigit())
    return text[:at] + str((int(text[at]) + 1) % 10) + text[at + 1 :]


class TestSeals:
    @pytest.mark.parametrize(
        ("pattern", "after"),
        [("cells/*.json", '"value"'), ("references/*.json", '"value"'), ("vector-twins.json", '"inside"')],
    )
    def test_a_changed_file_is_measured_again(self, pattern: str, after: str, place: Path) -> None:
        known = place / "t.csv"
        known.write_text(known.read_text() + known.read_text().splitlines()[5] + " again\n")
        spec = spec_for(place)
        first, folder = audit(spec)
        path = next(folder.glob(pattern))
        whole = path.read_text()
        document = json.loads(whole)
        if "rows" in document:  # rows that were never twins
            document["rows"]["inside"] = [0, 1, 2]
            path.write_text(json.dumps(document))
        else:
            path.write_text(with_another_digit(whole, after))
        again, _ = audit(spec)
        assert without_times(again.model_dump()) == without_times(first.model_dump())
        assert without_times(json.loads(path.read_text())) == without_times(json.loads(whole))

    def test_a_changed_result_is_refused_and_one_without_a_seal_is_read(self, place: Path) -> None:
        run, folder = audit(spec_for(place))
        path = folder / "run.json"
        whole = path.read_text()
        path.write_text(with_another_digit(whole, '"excess"'))
        with pytest.raises(DataError, match="as unembed wrote it: it was damaged or edited"):
            read_run(folder)
        path.write_text(json.dumps({k: v for k, v in json.loads(whole).items() if k != "seal"}))
        assert read_run(folder) == run

    def test_a_json_report_is_sealed_too(self, place: Path) -> None:
        run, _ = audit(spec_for(place))
        write_report(run, place / "r.json")
        assert read_run(place / "r.json") == run
        (place / "r.json").write_text(with_another_digit((place / "r.json").read_text(), '"excess"'))
        with pytest.raises(DataError, match="edited"):
            read_run(place / "r.json")

    @pytest.mark.parametrize("damage", ["edited", "copied"])
    def test_a_changed_row_of_an_experiment_is_measured_again(self, damage: str, tmp_path: Path) -> None:
        facts = ExperimentFacts("mine", "Mine", "nobody", "1", {})
        cells = [Row(n, {}, lambda n=n: [Measured(n, "F1", 0.5, 0.4, 0.6, 10)]) for n in ("one", "two")]  # type: ignore[misc]
        run_rows(facts, cells, Conditions(folder=tmp_path))
        one, two = sorted((tmp_path / "rows").iterdir())
        one.write_text(with_another_digit(one.read_text(), '"value"') if damage == "edited" else two.read_text())
        again = run_rows(facts, cells, Conditions(folder=tmp_path))
        assert [(row.setting, row.value) for row in again.rows] == [("one", 0.5), ("two", 0.5)]
