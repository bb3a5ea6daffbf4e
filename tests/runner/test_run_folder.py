"""The run folder: one process at a time, and no cell ever takes what belongs to another audit."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from unembed.encoders.cache import full_card
from unembed.errors import UsageError
from unembed.results.io import read_run
from unembed.results.schema import without_times
from unembed.runner.cell import CellResult, Task, run_cell
from unembed.runner.execute import audit
from unembed.runner.folder import locked
from unembed.runner.plan import ask, make_plan
from unembed.runner.prepare import encode_sides, open_encoder, read_sides
from unembed.runner.spec import AuditSpec, build_spec, merge
from unembed.sealed import unseal
from unembed.testing.toys import toy_corpus

ENCODER = """
from unembed.testing.toys import LeakyEncoder
encode = LeakyEncoder({options}).encode
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Two collections: in ``leaky`` the attribute follows from the text, in ``clean`` it is drawn at random."""
    for name, seed in (("leaky", 4), ("clean", 5)):
        corpus = toy_corpus(300, seed=seed)
        sides = corpus.column("side")
        if name == "clean":
            sides = list(np.random.default_rng(0).permutation(sides))
        rows = [f"{t},{s}" for t, s in zip(corpus.texts, sides, strict=True)]
        (tmp_path / f"{name}.csv").write_text("text,side\n" + "\n".join(rows) + "\n")
    (tmp_path / "enc.py").write_text(ENCODER.format(options=""))
    return tmp_path


def spec_for(place: Path, texts: str = "leaky", **changes: object) -> AuditSpec:
    base = {
        "data": {"texts": str(place / f"{texts}.csv"), "column": "text", "attributes": ["side"]},
        "encoder": {"name": f"callable:{place / 'enc.py'}:encode", "version": "1"},
        "adversaries": ["insider"],
        "games": ["attribute"],
        "threads": 1,
        "run": {"folder": str(place / "run"), "no_cache": True},
    }
    return build_spec(merge(base, changes))


class TestLock:
    def test_a_second_audit_is_refused_and_the_first_is_not_disturbed(self, place: Path) -> None:
        alone, _ = audit(spec_for(place, run={"folder": str(place / "alone")}))
        refused: list[str] = []

        def when_encoded(what: str, done: int, total: int) -> None:
            if (what, done) == ("attacks", 0):
                with pytest.raises(UsageError, match="in use by another unembed process: wait") as caught:
                    audit(spec_for(place, "clean"))
                refused.append(str(caught.value))

        beside, _ = audit(spec_for(place), progress=when_encoded)
        assert str(place / "run") in refused[0]
        assert beside.findings == [f.model_copy(update={"cost": beside.findings[0].cost}) for f in alone.findings]
        assert beside.findings[0].status == "leak"

    def test_it_ends_with_its_holder_however_that_ends(self, tmp_path: Path) -> None:
        script = (
            "import sys, time\nfrom pathlib import Path\nfrom unembed.runner.folder import locked\n"
            "with locked(Path(sys.argv[1])):\n    print('held', flush=True)\n    time.sleep(600)\n"
        )
        holder = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            with pytest.raises(UsageError, match="in use"), locked(tmp_path):
                pass
        finally:
            holder.kill()
            holder.communicate()
        with locked(tmp_path):
            pass


def task_for(place: Path, texts: str) -> Task:
    """A cell of an audit, with both sides encoded into a work folder of its own."""
    spec = spec_for(place, texts)
    sides = read_sides(spec)
    encoder = open_encoder(spec, sides)
    cell = make_plan(spec, sides, ask(spec, sides), full_card(encoder), "").cells[0]
    work = place / f"work-{texts}"
    encode_sides(sides, encoder, work, lambda *_: None)
    return Task(cell, str(work), str(place / f"{texts}.json"), "leaky", 1, "cpu", False, True)


class TestCells:
    def test_the_texts_of_another_audit_are_refused(self, place: Path) -> None:
        leaky, clean = task_for(place, "leaky"), task_for(place, "clean")
        for task in (leaky, clean, replace(leaky, work=clean.work, result=str(place / "mixed.json"))):
            run_cell(task)
        mine, mixed = (CellResult.model_validate(unseal((place / f"{n}.json").read_text())) for n in ("leaky", "mixed"))
        assert mine.findings[0].status == "leak"
        assert (mixed.record.status, mixed.findings) == ("failed", [])
        assert "another audit" in str(mixed.record.error)

    def test_a_file_copied_over_another_is_not_believed(self, place: Path) -> None:
        spec = spec_for(place, attacks=["attribute/linear"])
        first, folder = audit(spec)
        clean, _ = audit(spec_for(place, "clean"))
        (leak,), (safe,) = first.cells, clean.cells
        cells = folder / "cells"
        (cells / f"{leak.key}.json").write_bytes((cells / f"{safe.key}.json").read_bytes())
        again, _ = audit(spec)
        assert without_times(again.model_dump()) == without_times(first.model_dump())

    @pytest.mark.parametrize("damage", ["edited", "cut", "emptied", "nothing"])
    def test_a_damaged_file_is_computed_again(self, place: Path, damage: str) -> None:
        first, folder = audit(spec_for(place))
        (path,) = (folder / "cells").iterdir()
        whole, stamp = path.read_text(), path.stat().st_mtime_ns
        data = json.loads(whole)
        data["findings"][0]["status"] = "no-leak-found"
        emptied = {**json.loads(whole), "findings": []}
        kinds = {"edited": json.dumps(data), "cut": whole[:-40], "emptied": json.dumps(emptied), "nothing": whole}
        if damage != "nothing":
            path.write_text(kinds[damage])
        again, _ = audit(spec_for(place))
        assert without_times(again.model_dump()) == without_times(first.model_dump())
        assert (path.stat().st_mtime_ns == stamp) == (damage == "nothing")


class TestAnotherAuditInTheSameFolder:
    def test_each_finds_its_own_and_the_earlier_result_is_kept(self, place: Path) -> None:
        leaky, folder = audit(spec_for(place))
        clean, _ = audit(spec_for(place, "clean"))
        assert [leaky.findings[0].status, read_run(folder)] == ["leak", clean]
        assert read_run(folder / "run.previous.json") == leaky
        back, _ = audit(spec_for(place))
        assert without_times(back.model_dump()) == without_times(leaky.model_dump())

    def test_one_that_is_stopped_leaves_no_result_that_could_pass_for_its_own(self, place: Path) -> None:
        def stop(what: str, done: int, total: int) -> None:
            if what == "attacks":
                raise KeyboardInterrupt

        _, folder = audit(spec_for(place, "clean"))
        with pytest.raises(KeyboardInterrupt):
            audit(spec_for(place), progress=stop)
        with pytest.raises(UsageError, match="no result file"):
            read_run(folder)
        assert audit(spec_for(place))[0].findings[0].status == "leak"


class TestEditedPlugins:
    """A plug-in is edited and the same command is run into the same folder: the figure is that of the new one."""

    def test_an_encoder_with_the_same_version(self, place: Path) -> None:
        cached = {"run": {"no_cache": False, "cache": str(place / "cache")}}
        before, _ = audit(spec_for(place, **cached))
        (place / "enc.py").write_text(ENCODER.format(options="salt='other'"))
        after, _ = audit(spec_for(place, **cached))
        assert before.cells[0].key != after.cells[0].key
        assert before.findings[0].estimate != after.findings[0].estimate

    def test_an_encoder_class_with_the_same_digest(self, place: Path) -> None:
        """Its vectors are in the cache under the digest it declares."""
        body = "from unembed.testing.toys import LeakyEncoder\nclass E(LeakyEncoder):\n"
        body += "    def encode(self, texts, *, role='document'):\n        return super().encode(texts) * {scale}\n"
        changes = {"encoder": {"name": f"{place / 'e.py'}:E"}, "run": {"no_cache": False, "cache": str(place / "c")}}
        kept = spec_for(place, **changes).model_dump(exclude={"encoder"}, exclude_unset=True)
        spec = build_spec({**kept, "encoder": changes["encoder"]})
        (place / "e.py").write_text(body.format(scale=1))
        assert audit(spec)[0].findings[0].status == "leak"
        (place / "e.py").write_text(body.format(scale=0))
        assert audit(spec)[0].findings[0].status != "leak"

    def test_a_defense(self, place: Path) -> None:
        parts = Path(__file__).parents[1] / "plugin_package" / "src" / "unembed_fixture" / "parts.py"
        (place / "noise.py").write_text(parts.read_text())
        quick = {"attacks": ["attribute/linear"], "references": [], "calibrate": False, "repeats": 0, "curve": []}
        spec = spec_for(place, defenses=[{"name": f"{place / 'noise.py'}:Noise"}], **quick)

        def unaware() -> float:
            return next(f for f in audit(spec)[0].findings if f.adaptive is False).estimate.value

        before = unaware()
        (place / "noise.py").write_text(parts.read_text().replace("* self.scale", "* self.scale * 50"))
        assert unaware() < before

    def test_a_default_of_a_defense_and_the_same_value_given_are_one(self, place: Path) -> None:
        name = f"{Path(__file__).parents[1] / 'plugin_package' / 'src' / 'unembed_fixture' / 'parts.py'}:Noise"
        keys = [
            {c.key for c in make_plan(spec, sides, ask(spec, sides), full_card(open_encoder(spec, sides)), "").cells}
            for given in ({}, {"scale": 1.0}, {"scale": 2.0})
            for spec in [spec_for(place, defenses=[{"name": name, **given}])]
            for sides in [read_sides(spec)]
        ]
        assert keys[0] == keys[1]
        assert len(keys[0] & keys[2]) == 1, "the undefended cell"
