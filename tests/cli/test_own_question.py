"""A question in one file outside the package, and an adversary in an audit file: they go through everything."""

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from command_line import ONCE

from unembed.errors import UsageError
from unembed.games.threat import ADVERSARIES, Capability
from unembed.runner.spec import build_spec

GAME = Path(__file__).parents[2] / "examples" / "own_game.py"
SMALL = ("--texts", "generator:messages", "--max-texts", "900", "--encoder", "hashing", "--threads", "1", *ONCE)

FORMER = {
    "name": "former employee",
    "title": "Somebody who took a backup along",
    "capabilities": ["vectors", "shadow corpus", "pairs", "labels"],
}


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def own(tmp_path):
    """A copy of the file, which may be edited."""
    file = tmp_path / "mine.py"
    file.write_text(GAME.read_text(encoding="utf-8"), encoding="utf-8")
    return file


def findings(folder):
    return json.loads((folder / "run.json").read_text(encoding="utf-8"))["findings"]


def cell(folder):
    (only,) = json.loads((folder / "run.json").read_text(encoding="utf-8"))["cells"]
    return only


class TestGame:
    def test_it_reaches_verdict_reports_and_gate(self, own, tmp_path, run):
        reports = ("-o", "r.md", "-o", "r.junit.xml")
        done = run("audit", *SMALL, "--game", f"{own}:AsksGame", "--max-excess", "0.01", "--out", "run", *reports)
        assert done.code == 1, done.err
        told = "can tell questions from statements in"
        assert told in " ".join(done.out.split())
        html = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
        assert told in html
        assert "Does the text behind a vector ask something?" in html
        assert told in (tmp_path / "r.md").read_text(encoding="utf-8")
        assert ElementTree.parse(tmp_path / "r.junit.xml").getroot().iter("testcase")
        (finding,) = findings(tmp_path / "run")
        assert (finding["game"], finding["section"], finding["attack"]) == ("asks", "classes", "attribute/portfolio")

    def test_its_parameters_are_set_like_any_other(self, own, tmp_path, run):
        name = f"{own}:AsksGame"
        run("audit", *SMALL, "--game", name, "--set", f"{name}.mark=you", "--out", "run")
        assert cell(tmp_path / "run")["identity"]["game"]["params"] == {"mark": "you"}

    def test_an_edited_file_is_another_game(self, own, tmp_path, run):
        """Whatever it finds: old results must not be taken for new ones."""
        command = ["audit", *SMALL, "--game", f"{own}:AsksGame", "--out", "run"]
        keys = []
        for mark in ("?", "?", "you"):
            text = GAME.read_text(encoding="utf-8")
            own.write_text(text.replace('mark: str = "?"', f'mark: str = "{mark}"'), encoding="utf-8")
            run(*command)
            keys.append(cell(tmp_path / "run")["key"])
        assert keys[0] == keys[1] != keys[2]

    def test_a_moved_or_edited_file_makes_the_same_random_choices(self, own, tmp_path, run):
        """What two versions find then differs by what was changed, not by chance."""
        found = []
        for file in (own, own.with_name("moved.py")):
            file.write_text(GAME.read_text(encoding="utf-8") + f"# {file.name}\n", encoding="utf-8")
            run("audit", *SMALL, "--game", f"{file}:AsksGame", "--out", file.stem)
            found += findings(tmp_path / file.stem)
        assert found[0]["cell"] != found[1]["cell"]
        assert (found[0]["seed"], found[0]["estimate"]) == (found[1]["seed"], found[1]["estimate"])


class TestAdversary:
    def spec(self, **changes):
        return build_spec({"data": {"texts": "x"}, "adversary": [FORMER], **changes})

    def test_it_is_played_beside_the_others(self):
        assert [who.name for who in self.spec().cast] == [*ADVERSARIES, "former employee"]

    def test_it_can_be_played_alone_and_holds_what_is_said(self):
        (who,) = self.spec(adversaries=["former employee"]).cast
        assert who.inside
        assert Capability.QUERIES not in who.capabilities

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"name": "insider"}, "already"),
            ({"capabilities": ["shadow corpus"]}, "at least the vectors"),
            ({"capabilities": ["vectors"]}, "texts to learn from"),
            ({"capabilities": ["vectors", "shadow corpus", "the texts"]}, "texts under attack"),
            ({"capabilities": ["vectors", "telepathy"]}, "capabilities"),
        ],
    )
    def test_nonsense_is_refused(self, change, message):
        with pytest.raises(UsageError, match=message):
            build_spec({"data": {"texts": "x"}, "adversary": [{**FORMER, **change}]})

    def test_it_carries_out_an_audit(self, tmp_path, run):
        (tmp_path / "audit.toml").write_text(
            """
            adversaries = ["former employee"]
            games = ["attribute"]
            [data]
            texts = "generator:messages"
            max_texts = 400
            attributes = ["topic"]
            [encoder]
            name = "hashing"
            [[adversary]]
            name = "former employee"
            capabilities = ["vectors", "shadow corpus", "pairs", "labels"]
            """,
            encoding="utf-8",
        )
        done = run("audit", "audit.toml", *ONCE, "--threads", "1", "--out", "run")
        assert done.code == 0, done.err
        assert "Somebody with a copy of the vectors and part of the collection can tell" in " ".join(done.out.split())
        (finding,) = findings(tmp_path / "run")
        assert finding["adversary"] == "former employee"
