"""The notebooks of the gallery run, and hold what they showed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from gallery import GALLERY, execute

NOTEBOOKS = sorted(GALLERY.glob("*.ipynb"))
ROOT = Path(__file__).parents[2]
#: Folders of one machine, spelt so that this file does not hold them.
MACHINE = re.compile("(?<![\\w.])/(" + "|".join(("work", "tmp", "home", "root")) + ")/")


def name(path: Path) -> str:
    return path.stem


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_notebook_runs(path: Path) -> None:
    before = set(GALLERY.iterdir())
    book = execute(path)  # raises where a cell does
    shown = [bool(cell.outputs) for cell in book.cells if cell.cell_type == "code"]
    held = [bool(cell["outputs"]) for cell in json.loads(path.read_text("utf-8"))["cells"] if "outputs" in cell]
    assert shown == held, "run tests/docs/gallery.py and commit what it shows"
    assert set(GALLERY.iterdir()) == before, "a notebook left files behind"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_notebook_is_small_and_holds_what_it_showed(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    cells = json.loads(text)["cells"]
    assert len(text) < 100_000
    assert any(cell.get("outputs") for cell in cells), "run tests/docs/gallery.py and commit what it shows"
    assert not [
        o for c in cells for o in c.get("outputs", ()) if o["output_type"] == "error" or o.get("name") == "stderr"
    ]
    assert not re.search(r"(?<![\w.])/(tmp|home|root|work)/", text)  # fmt: skip
    assert f"gallery/{path.name}" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
