"""``unembed reproduce``: papers are described, experiments run, go on after a stop, and say what is missing."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from unembed.cli import main
from unembed.errors import DataError, PluginError
from unembed.papers import EXPERIMENTS, PAPERS, Conditions, ExperimentFacts, Measured, Published, Reproduction
from unembed.papers.encoders import RECIPES, Encoders, Recipe
from unembed.papers.packed_models import is_packed, unpack
from unembed.papers.plot import draw
from unembed.papers.present import as_markdown
from unembed.papers.tables import AttackSpec, Row, run_rows
from unembed.sealed import seal, unseal

EXPERIMENT = '''
from unembed.papers import ExperimentFacts, Measured, Published, Reproduction, Unmeasured

class Coins:
    """A fair coin, again."""
    facts = ExperimentFacts("mine/table1", "mine", "Coins", "Table 1", (Published("heads", "share", 0.5),))
    def run(self, conditions):
        published = self.facts.printed("heads", "share")
        row = Measured("heads", "share", 0.51, 0.4, 0.6, 100, published, floor=0.5)
        return Reproduction((row,), (f"size {conditions.size}",), (Unmeasured("edge", "it never happened"),))

class Empty(Coins):
    """Measures nothing."""
    def run(self, conditions):
        return Reproduction(())

class NoExperiment:
    """Has no facts."""
'''
FACTS = ExperimentFacts("mine/table1", "mine", "Coins", "Table 1", (), headline="F1", axis="pairs")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(EXPERIMENT)
    return path


def test_the_overview_lists_papers_and_experiments(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in PAPERS)
    assert "song2020/table2" in shown


def test_every_experiment_names_itself_and_its_paper() -> None:
    for name in EXPERIMENTS:
        facts = EXPERIMENTS.get(name).facts
        assert facts.name == name
        assert facts.paper in PAPERS
        assert name.startswith(f"{facts.paper}/")
        assert facts.departures


def test_an_experiment_of_ones_own_shows_published_and_measured(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "coins"
    assert main(["reproduce", f"{file}:Coins", "--size", "smoke", "--json", "-o", str(folder)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["rows"][0]["published"] == 0.5
    assert document["rows"][0]["value"] == 0.51
    assert document["unmeasured"][0]["reason"] == "it never happened"
    assert document["notes"] == ["size smoke"]
    assert json.loads((folder / "result.json").read_text()) == document
    table = (folder / "table.md").read_text()
    assert "| heads | share | 0.500 | 0.510 [0.400–0.600] | 0.500 | 100 |" in table
    assert "edge: it never happened" in table
    ElementTree.parse(folder / "plot.svg")


def test_without_an_output_folder_results_lie_under_the_runs(file: Path) -> None:
    assert main(["reproduce", f"{file}:Coins", "-q"]) == 0
    assert Path("unembed-runs/reproduce/mine-table1-small/result.json").is_file()


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


@pytest.mark.parametrize(
    ("options", "said", "code"),
    [
        (["--size", "huge"], "unknown size", 2),
        (["--data", "nowhere"], "no folder of data sets", 2),
        (["--size", "smoke", "--encoder", "minilmm"], "did you mean 'minilm'", 2),
        (["--size", "smoke", "--encoder", "bert-mean"], "the weights of bert-base-uncased are not on this machine", 3),
        (["--size", "smoke", "-o", "table.json"], "--output takes a folder", 2),
        (["--size", "smoke", "--device", "cuda:x"], "unknown device", 2),
    ],
)
def test_wrong_options_are_one_error(
    options: list[str], said: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", "song2020/table2", *options]) == code
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("song2020/table1", "books_by_author.parquet"),
        ("coro2022/table5.2", "italian_crime_news.parquet"),
        ("coro2022/table5.2-english", "news_reuters21578.parquet"),
        ("coro2022/table5.4", "italian_crime_news.parquet"),
    ],
)
def test_missing_data_name_the_file_wanted(
    name: str, wanted: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert main(["reproduce", name, "--size", "small", "--data", str(empty)]) == 2
    err = capsys.readouterr().err
    assert wanted in err
    assert "--size smoke" in err


def test_the_registry_refuses_what_is_no_experiment(file: Path) -> None:
    with pytest.raises(PluginError, match="ExperimentFacts"):
        EXPERIMENTS.get(f"{file}:NoExperiment")


def test_a_stopped_run_goes_on_where_it_was(tmp_path: Path) -> None:
    asked: list[str] = []

    def cell(name: str, stop: bool = False) -> Row:
        def measure() -> list[Measured]:
            asked.append(name)
            if stop:
                raise KeyboardInterrupt
            return [Measured(name, "F1", 0.5, 0.4, 0.6, 10)]

        return Row(name, {"name": name}, measure)

    conditions = Conditions(size="small", folder=tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run_rows(FACTS, [cell("one"), cell("two", stop=True)], conditions)
    result = run_rows(FACTS, [cell("one"), cell("two")], conditions)
    assert asked == ["one", "two", "two"]
    assert [row.setting for row in result.rows] == ["one", "two"]
    other_seed = Conditions(size="small", folder=tmp_path, seed=1)
    run_rows(FACTS, [cell("one")], other_seed)
    assert asked[-1] == "one"


def test_rows_stand_beside_what_is_printed_for_them() -> None:
    facts = replace(FACTS, published=(Published("one", "F1", 0.7),))
    rows = [Measured("one", "F1", 0.5, 0.4, 0.6, 10), Measured("two", "F1", 0.5, 0.4, 0.6, 10, published=0.2)]
    cell = Row("both", {}, lambda: rows)
    assert [r.published for r in run_rows(facts, [cell], Conditions()).rows] == [0.7, 0.2]
    assert [r.published for r in run_rows(facts, [cell], Conditions(size="smoke")).rows] == [None, None]


def test_a_row_that_fails_is_reported_and_kept_nowhere(tmp_path: Path) -> None:
    def broken() -> list[Measured]:
        raise ValueError("a text of the corpus")

    conditions = Conditions(folder=tmp_path)
    good = Row("good", {}, lambda: [Measured("good", "F1", 0.5, 0.4, 0.6, 10)])
    result = run_rows(FACTS, [Row("bad", {}, broken), good], conditions)
    assert [row.setting for row in result.rows] == ["good"]
    assert result.unmeasured[0].reason.startswith("ValueError in test_reproduce.py:")
    assert "corpus" not in result.unmeasured[0].reason
    assert len(list((tmp_path / "rows").iterdir())) == 1


def test_rows_kept_from_another_machine_are_said_to_be(tmp_path: Path) -> None:
    cell = Row("one", {}, lambda: [Measured("one", "F1", 0.5, 0.4, 0.6, 10)])
    conditions = Conditions(folder=tmp_path, device="cpu")
    run_rows(FACTS, [cell], conditions)
    kept = next((tmp_path / "rows").iterdir())
    kept.write_text(seal({**unseal(kept.read_text()), "device": "another machine (8 cores)"}))
    result = run_rows(FACTS, [cell], conditions)
    assert "on another machine (" in as_markdown(FACTS, result, conditions)


@pytest.mark.parametrize("damage", [lambda text: "{", lambda text: text.replace("0.5", "0.9")])
def test_a_damaged_row_is_measured_again(damage: Callable[[str], str], tmp_path: Path) -> None:
    row = Row("one", {}, lambda: [Measured("one", "F1", 0.5, 0.4, 0.6, 10)])
    first = run_rows(FACTS, [row], Conditions(folder=tmp_path))
    path = next((tmp_path / "rows").iterdir())
    whole = path.read_text()
    path.write_text(damage(whole))
    assert run_rows(FACTS, [row], Conditions(folder=tmp_path)) == first
    assert path.read_text() == whole


def test_no_two_lines_of_a_plot_look_alike() -> None:
    rows = [
        Measured(f"{name} · {x}", "F1", 0.5, 0.4, 0.6, 9, series=f"line {name}", x=float(x))
        for name in range(12)
        for x in (1, 2)
    ]
    legend = [part for part in draw(FACTS, Reproduction(tuple(rows))).split("<") if 'stroke-width="3"' in part]
    looks = {tuple(word for word in part.split() if word.startswith("stroke")) for part in legend}
    assert len(legend) == len(looks) == 12


def test_a_series_is_a_line_in_a_panel_and_each_panel_has_its_own_axis() -> None:
    rows = [
        Measured("a", "F1", 0.5, 0.4, 0.6, 9, series=f"{line} · {panel}", x=float(x))
        for panel, places in (("first", (1, 2, 3)), ("second", (100, 1000, 90000)))
        for line in ("ours", "theirs")
        for x in places
    ]
    alone = Measured("a", "F1", 0.5, 0.4, 0.6, 9, series="ours · single point", x=7.0)
    svg = draw(FACTS, Reproduction((*rows, alone)))
    words = [element.text for element in ElementTree.fromstring(svg).iter() if element.tag.endswith("text")]
    assert [words.count(w) for w in ("ours", "theirs", "first: F1", "second: F1", "90,000", "2")] == [1] * 6
    assert "single point: F1" not in words, "one point makes no line; it is in the table"


def test_lines_and_dots_are_well_formed_and_hold_the_figures() -> None:
    dots = [Measured("a <b> & c", "F1", 0.5, 0.4, 0.6, 10, published=0.7, floor=0.1)]
    lines = [Measured(f"{x} pairs", "F1", x / 2000, 0, 1, 9, series="hashing", x=float(x)) for x in (10, 100, 1000)]
    for rows, said in ((dots, "published 0.700"), (lines, "1,000")):
        svg = draw(FACTS, Reproduction(tuple(rows)))
        ElementTree.fromstring(svg)
        assert said in svg
        assert "prefers-color-scheme: dark" in svg


def test_rows_are_measured_once_through_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    make = AttackSpec.make
    monkeypatch.setattr(AttackSpec, "make", lambda spec, c: made.append(spec.title) or make(spec, c))
    command = ["reproduce", "coro2022/tableA.1", "--size", "smoke", "--threads", "1", "-q", "-o", str(tmp_path / "out")]
    assert main(command) == 0
    assert len(made) == 2
    first = (tmp_path / "out" / "result.json").read_text()
    sorted((tmp_path / "out" / "rows").iterdir())[0].unlink()
    assert main(command) == 0
    assert len(made) == 3
    again = json.loads((tmp_path / "out" / "result.json").read_text())
    for old, new in zip(json.loads(first)["rows"], again["rows"], strict=True):
        assert {**old, "seconds": None} == {**new, "seconds": None}


def test_a_fitted_encoder_is_fitted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    from unembed.corpora.corpus import Corpus
    from unembed.encoders.lsa import LsaEncoder

    texts = Corpus.of([f"{a} {b} stone river" for a in ("red", "green", "blue") for b in ("boat", "house", "tree")])
    fitted: list[int] = []
    fit = LsaEncoder.fit
    monkeypatch.setattr(LsaEncoder, "fit", lambda self, t: fitted.append(len(t)) or fit(self, t))
    monkeypatch.setitem(RECIPES, "lsa-tfidf", Recipe("LSA", "lsa", {"components": 3}, takes_language=True))
    first, second = (Encoders(Conditions(), texts).vectors("lsa-tfidf", texts) for _ in range(2))
    assert fitted == [9]
    assert np.array_equal(first, second)
    Encoders(Conditions(), texts.select(range(8))).encoder("lsa-tfidf")
    assert fitted == [9, 8]


def test_doc2vec_learns_from_the_other_domain_alone_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    from unembed.corpora.corpus import Corpus

    monkeypatch.setitem(RECIPES, "doc2vec", replace(RECIPES["doc2vec"], options={"sample": 0.0}))
    news, novels = (Corpus.of([f"{word} {word} {word} river"] * 30) for word in ("minister", "dragon"))
    here, abroad = Encoders(Conditions(), news), Encoders(Conditions(), news, other_domain=novels)
    assert "minister" in here.encoder("doc2vec").vocabulary  # type: ignore[attr-defined]
    assert "minister" not in abroad.encoder("doc2vec").vocabulary  # type: ignore[attr-defined]
    assert here.identity("doc2vec") != abroad.identity("doc2vec")
    assert here.identity("lsa-tfidf") == abroad.identity("lsa-tfidf")


def packed_model(folder: Path) -> Path:
    import hashlib

    import numpy as np
    from safetensors.numpy import save_file

    model = folder / "tiny"
    model.mkdir(parents=True)
    codes = np.arange(-64, 64, dtype=np.int8).reshape(1, 128)
    save_file(
        {"w": codes, "w.scale": np.array([[0.5, 2.0]], dtype=np.float16), "bias": np.ones(3, dtype=np.float32)},
        model / "model-1.int8.safetensors",
    )
    (model / "config.json").write_text("{}")
    lines = [f"{hashlib.sha256(p.read_bytes()).hexdigest()}  tiny/{p.name}" for p in sorted(model.iterdir())]
    (folder / "SHA256SUMS").write_text("\n".join(lines) + "\n")
    return model


def test_a_packed_model_is_expanded_once(tmp_path: Path) -> None:
    import numpy as np
    from safetensors.numpy import load_file

    model = packed_model(tmp_path / "models")
    assert is_packed(model)
    plain = unpack(model, tmp_path / "plain")
    found = load_file(plain / "model.safetensors")
    wanted = np.arange(-64, 64) * np.repeat([0.5, 2.0], 64)
    assert np.array_equal(found["w"].ravel(), wanted.astype(np.float32))
    assert (plain / "config.json").is_file()
    assert not is_packed(plain)
    (model / "config.json").write_text("{} ")  # no longer the file that was packed, but no longer read either
    assert unpack(model, tmp_path / "plain") == plain


def test_a_packed_model_with_another_digest_is_not_opened(tmp_path: Path) -> None:
    model = packed_model(tmp_path / "models")
    (model / "config.json").write_text("{} ")
    with pytest.raises(DataError, match="SHA-256 differs"):
        unpack(model, tmp_path / "plain")
    assert not (tmp_path / "plain" / "tiny").exists()
