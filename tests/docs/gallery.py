"""Run the notebooks of the gallery and keep what they show: ``python tests/docs/gallery.py [NAME ...]``."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"


def execute(path: Path) -> nbformat.NotebookNode:
    """The notebook as it looks after every cell was run; what differs from run to run is left out."""
    book = nbformat.read(path, as_version=4)
    NotebookClient(book, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(GALLERY)}}).execute()
    for cell in book.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":  # warnings and bars of other libraries name folders of the machine
            cell.outputs = [o for o in cell.outputs if o.get("name") != "stderr"]
    book.metadata["language_info"] = {"name": "python"}
    return book


if __name__ == "__main__":
    for path in sorted(GALLERY.glob("*.ipynb")):
        if path.stem in sys.argv[1:] or not sys.argv[1:]:
            nbformat.write(execute(path), path)
