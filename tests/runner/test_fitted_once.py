"""In one audit no encoder is fitted twice on the same texts, whoever asks for it and in which process."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from unembed.errors import NothingRanError
from unembed.runner.execute import audit
from unembed.runner.spec import AuditSpec, build_spec
from unembed.testing.toys import toy_corpus

COUNTING = '''
import hashlib
import numpy as np
from pathlib import Path
from unembed.encoders.base import EncoderCard
from unembed.testing.toys import LeakyEncoder

class Counting(LeakyEncoder):
    """Leaks every word and notes each time it is fitted, and on which texts."""

    salt_ = None

    def __init__(self, *, dimension=20, salt="pepper"):
        super().__init__(dimension=dimension, salt=salt)

    @property
    def is_fitted(self):
        return self.salt_ is not None

    def fit(self, texts):
        seen = hashlib.sha256("\\n".join(texts).encode()).hexdigest()
        with open({log!r}, "a") as file:
            file.write(f"{{self.salt}} {{seen}}\\n")
        self.salt_ = seen
        return self
'''
SAVED = """
    def save(self, folder):
        Path(folder, "state.txt").write_text(f"{self.dimension} {self.salt} {self.salt_}")

    @classmethod
    def load(cls, folder):
        dimension, salt, seen = Path(folder, "state.txt").read_text().split()
        made = cls(dimension=int(dimension), salt=salt)
        made.salt_ = seen
        return made

class Sweet(Counting):
    def __init__(self, *, dimension=20, salt="sugar"):
        super().__init__(dimension=dimension, salt=salt)
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    corpus = toy_corpus(400)
    rows = (f"{text},{side}" for text, side in zip(corpus.texts, corpus.column("side"), strict=True))
    (tmp_path / "toy.csv").write_text("text,side\n" + "\n".join(rows) + "\n")
    (tmp_path / "enc.py").write_text(COUNTING.format(log=str(tmp_path / "fits.txt")) + SAVED)
    return tmp_path


def spec_for(place: Path, **changes: Any) -> AuditSpec:
    attributes = ["side"] if "attribute" in changes.get("games", ()) else []
    return build_spec(
        {
            "data": {"texts": str(place / "toy.csv"), "column": "text", "attributes": attributes},
            "encoder": {"name": "lsa", "components": 20},
            "adversaries": ["insider"],
            "games": ["fingerprint"],
            "threads": 1,
            **changes,
            "run": {"no_cache": True, "folder": str(place / "run"), **changes.get("run", {})},
        }
    )


def fits(place: Path) -> Counter[str]:
    """How often each kind was fitted on each collection of texts."""
    return Counter((place / "fits.txt").read_text().splitlines())


CANDIDATES = ("Counting", "Sweet")


@pytest.mark.parametrize("run", [{"jobs": 1}, {"jobs": 2, "backend": "loky"}], ids=["one process", "two processes"])
def test_two_cells_fit_each_candidate_once(place: Path, run: dict[str, Any]) -> None:
    candidates = [f"{place / 'enc.py'}:{name}" for name in CANDIDATES]
    done, folder = audit(spec_for(place, params={"fingerprint": {"candidates": candidates}}, run=run))
    assert [cell.status for cell in done.cells] == ["done", "done"]
    for finding in done.findings:
        assert set(candidates) <= {part.name for part in finding.slices}
    assert sorted(key.split()[0] for key in fits(place).elements()) == ["pepper", "sugar"]
    assert not (folder / "work").exists(), "what was fitted holds words of the texts"


def test_the_encoder_under_audit_its_cells_and_its_references_share_what_is_fitted(place: Path) -> None:
    name = f"{place / 'enc.py'}:Counting"
    changes = {
        "encoder": {"name": name},
        "games": ["attribute", "fingerprint"],
        "references": [f"{place / 'enc.py'}:Sweet"],
        "params": {"fingerprint": {"candidates": [f"{place / 'enc.py'}:Sweet", name]}},
    }
    done, _ = audit(spec_for(place, **changes))
    assert {cell.status for cell in done.cells} == {"done"}
    assert set(fits(place).values()) == {1}
    # Under audit it learns all texts, as a candidate those that the adversary knows.
    assert Counter(key.split()[0] for key in fits(place)) == {"pepper": 2, "sugar": 1}


def test_a_run_that_goes_on_fits_nothing_again(place: Path) -> None:
    broken = "class A(AttributeLinear):\n    def fit(self, knowledge):\n        1 / 0\n"
    (place / "attack.py").write_text(f"from unembed.attacks.attribute.linear import AttributeLinear\n{broken}")
    spec = spec_for(
        place,
        encoder={"name": f"{place / 'enc.py'}:Counting"},
        games=["attribute"],
        attacks=["attribute/linear", f"{place / 'attack.py'}:A"],
    )
    for _ in range(2):
        done, folder = audit(spec)
        assert {cell.status for cell in done.cells} == {"done", "failed"}
        assert set(fits(place).values()) == {1}
    kept = folder / "work" / "artifacts"
    modes = {path.stat().st_mode & 0o077 for path in (kept, *kept.rglob("*")) if path.suffix != ".lock"}
    assert modes == {0}, "fitted encoders hold words of the texts"


def test_an_audit_of_nothing_leaves_nothing_fitted_behind(place: Path) -> None:
    spec = spec_for(place, games=["inversion"], attacks=["inversion/relaxation"])
    with pytest.raises(NothingRanError):
        audit(spec)
    assert not (place / "run" / "work").exists()


def test_an_encoder_that_is_fitted_and_can_not_be_saved_has_a_line_up_too(place: Path) -> None:
    (place / "enc.py").write_text(COUNTING.format(log=str(place / "fits.txt")))
    done, _ = audit(spec_for(place, encoder={"name": f"{place / 'enc.py'}:Counting"}))
    assert [(cell.status, cell.error) for cell in done.cells] == [("done", None)] * 2
