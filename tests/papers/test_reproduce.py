"""``unembed reproduce``: papers are described, an experiment of one's own runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from unembed.cli import main
from unembed.errors import PluginError
from unembed.papers import EXPERIMENTS, PAPERS

EXPERIMENT = '''
from unembed.papers import ExperimentFacts, Measured, Published, Reproduction

class Coins:
    """A fair coin, again."""
    facts = ExperimentFacts("mine/table1", "mine", "Coins", "Table 1", (Published("heads", "share", 0.5),))
    def run(self, size, data, *, seed):
        published = self.facts.published[0].value
        return Reproduction((Measured("heads", "share", 0.51, 0.4, 0.6, 100, published),), (f"size {size}",))

class Empty(Coins):
    """Measures nothing."""
    def run(self, size, data, *, seed):
        return Reproduction(())

class NoExperiment:
    """Has no facts."""
'''


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(EXPERIMENT)
    return path


def test_the_overview_lists_the_papers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in PAPERS)
    if not EXPERIMENTS.names():
        assert "No experiment is installed yet" in shown


def test_an_experiment_of_ones_own_shows_published_and_measured(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "table.json"
    assert main(["reproduce", f"{file}:Coins", "--size", "smoke", "--json", "-o", str(table)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["rows"][0]["published"] == 0.5
    assert document["rows"][0]["value"] == 0.51
    assert document["notes"] == ["size smoke"]
    assert json.loads(table.read_text()) == document


@pytest.mark.parametrize(
    ("name", "said", "code"),
    [
        ("song2021", "did you mean 'song2020'", 2),
        ("song2020", "is a paper", 2),
        ("{file}:Empty", "measured nothing", 3),
        ("{file}:NoExperiment", "does not keep its contract", 2),
        ("{file}:Absent", "unknown", 2),
    ],
)
def test_what_can_not_be_run_is_one_error(
    name: str, said: str, code: int, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", name.format(file=file)]) == code
    err = capsys.readouterr().err
    assert err.startswith("error: ")
    assert said in err
    assert len(err.splitlines()) == 1


def test_an_unknown_size_is_refused(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", f"{file}:Coins", "--size", "huge"]) == 2
    assert "unknown size" in capsys.readouterr().err


def test_the_registry_refuses_what_is_no_experiment(file: Path) -> None:
    with pytest.raises(PluginError, match="ExperimentFacts"):
        EXPERIMENTS.get(f"{file}:NoExperiment")
