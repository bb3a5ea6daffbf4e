"""``unembed data``: what experiments need, where it comes from, and files made from originals of the public layout."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unembed.corpora.readers as readers
from unembed.cli import main
from unembed.corpora.corpus import Corpus
from unembed.corpora.generators.public_text import generate_public_text
from unembed.errors import UnembedError
from unembed.papers import EXPERIMENTS, Conditions, originals
from unembed.papers.datasets import data_sets

NOVEL = """<?xml version="1.0"?>
<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt>
<title>The Kettle : ELTeC
   edition</title><author>Nobody, Ann (1801-1899)</author></titleStmt></fileDesc></teiHeader>
<text><front><div><p>By Nobody.</p></div></front>
<body><div><head>I</head><p>It rained on <hi>the</hi>
   kettle. Mr. Pot slept.</p></div></body></text></TEI>"""
PROCEDURES = """<ICD10PCS.tabular><pcsTable>
<axis pos="1"><title>Section</title><label code="0">Medical</label></axis>
<axis pos="2"><title>Body System</title><label code="0">Nerves</label></axis>
<axis pos="3"><title>Operation</title><label code="1">Bypass</label></axis>
<pcsRow><axis pos="4"><title>Body Part</title><label code="6">Left Leg</label></axis>
<axis pos="5"><title>Approach</title><label code="0">Open</label><label code="X">External</label></axis>
<axis pos="6"><title>Device</title><label code="7">Shunt</label><label code="Z">No Device</label></axis>
<axis pos="7"><title>Qualifier</title><label code="Z">No Qualifier</label></axis></pcsRow></pcsTable>
</ICD10PCS.tabular>"""
REUTERS = """<!DOCTYPE lewis SYSTEM "lewis.dtd">
<REUTERS TOPICS="NO" OLDID="5" NEWID="1"><PEOPLE></PEOPLE><TEXT TYPE="BRIEF"><TITLE>SHORT</TITLE>none</TEXT></REUTERS>
<REUTERS TOPICS="YES" OLDID="6" NEWID="2"><TOPICS><D>tin</D></TOPICS><PEOPLE><D>nobody</D><D>no-one</D></PEOPLE>
<TEXT><TITLE>LONG</TITLE><BODY>Tin rose at Pot &lt;POT>.
 Reuter
&#3;</BODY></TEXT></REUTERS>"""
POST = "From: nobody\nSubject: tin\n\nann writes:\n> old words\nTin is dear.\n-- \nAnn\n"
MAIL = """From: Ann Nobody <Ann@Example.org>
To: b@example.org
Subject: tin

Tin is dear.
> old words

-----Original Message-----
From: b@example.org
older words
"""
LONG_POST = "kettle " * 30
SEQUENCE = "A" * 20 + "CCCCCCCCCCGTGTGTGTGT" + "T" * 20

#: For each data set: an original as its public layout has it, and the rows that must come out.
ORIGINALS: dict[str, tuple[dict[str, str], list[dict[str, Any]]]] = {
    "books_by_author": (
        {"ELTeC-eng/level1/ENG1.xml": NOVEL},
        [
            {"sentence": s, "author": "Nobody, Ann (1801-1899)", "title": "The Kettle"}
            for s in ("It rained on the kettle.", "Mr. Pot slept.")
        ],
    ),
    "wikipedia_sentences": (
        {"AA/wiki_00": '<doc id="12" url="u" title="Tin">\nTin\n\nTin is a metal. It melts &amp; flows.\n</doc>\n'},
        [
            {"sentence": s, "article_id": "12", "source": "wikipedia"}
            for s in ("Tin is a metal.", "It melts & flows.")
        ],
    ),
    "blog_posts_by_user": (
        {
            "blogs/7.female.25.Arts.Leo.xml": "".join(f"<post>{n} {LONG_POST} & tea</post>" for n in range(61)),
            "blogs/8.male.15.Student.Leo.xml": "".join(f"<post>{n} {LONG_POST}</post>" for n in range(61)),
        },
        [
            {"text": f"{n} {LONG_POST}& tea", "user_id": "7902699be42c", "industry": "Arts"}
            for n in range(originals.POSTS_PER_WRITER)
        ],
    ),
    "medical_procedures": (
        {"data/icd10pcs_tables_2020.xml": PROCEDURES},
        [
            {"description": f"Bypass Left Leg{device}, {approach} Approach", "department": "Nerves"}
            for approach in ("Open", "External")
            for device in (" with Shunt", "")
        ],
    ),
    "medical_sentences": (
        {"mtsamples.csv": ",transcription\n0,The left leg was cold. He went home.\n1,\n"},
        [{"sentence": "The left leg was cold."}],
    ),
    "airline_sentences": (
        {"data/airline.csv": "airline_name,content\na,We left. We flew to Hong Kong. It was late.\n"},
        [{"sentence": "We left."}, {"sentence": "We flew to Hong Kong."}],
    ),
    "restaurant_sentences": (
        {f"yelp/sentiment.{part}.{n}": "the salad was cold .\n" for part in ("train", "dev", "test") for n in (0, 1)},
        [{"sentence": "the salad was cold ."}],
    ),
    "splice_sites": (
        {"splice.csv": f"EI,  MADE-UP-1,   {SEQUENCE}\nN,MADE-UP-2,{'N' + SEQUENCE[1:]}\n"},
        [
            {"window20": SEQUENCE[20:40], "clean": True, "label": "EI"},
            {"window20": SEQUENCE[20:40], "clean": False, "label": "N"},
        ],
    ),
    "italian_crime_news": (
        {"italian_crime_news.csv": "id,url,text\n4,u,Piove ancora.\n5,u,\n"},
        [{"text": "Piove ancora.", "doc_id": "4"}],
    ),
    "italian_ner_kind": (
        {
            f"dataset/{corpus}_{split}.tsv": "L'\tO\nacqua\tO\n,\tO\nA\tPER\n.\tO\n\n\nFine\tO\n"
            for corpus in ("moro", "fiction", "wikinews", "degasperi")
            for split in ("train", "test")
        },
        [
            {"sentence": s, "corpus": corpus, "split": split}
            for corpus in ("degasperi", "fiction", "moro", "wikinews")
            for split in ("test", "train")
            for s in ("L'acqua, A.", "Fine")
        ],
    ),
    "italian_novels": (
        {"level1/ITA1.xml": NOVEL.replace("It rained on <hi>the</hi>\n   kettle. Mr. Pot slept.", "Piove.")},
        [{"sentence": "Piove.", "author": "Nobody, Ann (1801-1899)", "title": "The Kettle"}],
    ),
    "news_reuters21578": (
        {f"reut2-{n:03}.sgm": REUTERS for n in range(22)},
        [
            {
                "text": "Tin rose at Pot <POT>.",
                "doc_id": 2,
                "people": ["nobody", "no-one"],
                "title": "LONG",
                "category": "tin",
            }
        ],
    ),
    "news_20newsgroups": (
        {f"20news-bydate-{'test' if n < 7_532 else 'train'}/misc.tin/{n}": POST for n in range(18_846)},
        [
            {"text": "Tin is dear.", "title": "tin", "category": "misc.tin", "group": "misc.tin"}
            | {"author": "6382b3cc8814"}
        ],
    ),
    "enron_emails": (
        {
            "raw/ham/ann-n/sent/1.": MAIL,
            "raw/spam/BG/2004/08/2": "From: x@example.org\n\n> all of it quoted\n",
            "raw/spam/BG/2004/08/3": "From: shop@example.org\n\nBuy tin.\n",
        },
        [
            {"text": "Tin is dear.", "label": "ham", "sender": "ann@example.org"},
            {"text": "Buy tin.", "label": "spam", "sender": "shop@example.org"},
        ],
    ),
    "clinton_emails": (
        {"Emails.csv": "Id,MetadataFrom,ExtractedBodyText\n1,\"Nobody, Ann\",Tin is dear.\n2,Pot,\n"},
        [{"text": "Tin is dear.", "sender": "Nobody, Ann"}],
    ),
    "first_names": (
        {"names/male.txt": "Abe\n", "names/female.txt": "Zoe \n\n"},
        [{"first_name": "Zoe"}, {"first_name": "Abe"}],
    ),
}  # fmt: skip


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def test_every_data_set_has_an_original_to_try() -> None:
    assert set(ORIGINALS) == set(data_sets())


@pytest.mark.parametrize("name", ORIGINALS)
def test_an_original_becomes_the_file_that_experiments_read(name: str, tmp_path: Path) -> None:
    files, rows = ORIGINALS[name]
    write(tmp_path / "original", files)
    assert main(["data", "make", name, "--from", str(tmp_path / "original"), "--out", str(tmp_path / "data")]) == 0
    path = tmp_path / "data" / f"{name}.parquet"
    assert pq.read_table(path).to_pylist() == rows
    text, *more = data_sets()[name].columns
    assert len(readers.read_corpus(path, column=text, columns=more)) == len(rows)


@pytest.mark.parametrize(
    ("name", "files", "said"),
    [
        ("first_names", {}, "holds 0 of the 2 or more files"),
        ("first_names", {"male.txt": "Abe\n"}, "holds 1 of the 2 or more files"),
        ("first_names", {"male.txt": "\n", "female.txt": ""}, "nothing in"),
        ("books_by_author", {"level1/a.xml": "SECRET words"}, "a.xml is not as in COST-ELTeC/ELTeC-eng"),
        ("books_by_author", {"level1/a.xml": "<TEI>SECRET</TEI>"}, "a.xml is not as in COST-ELTeC/ELTeC-eng"),
        ("splice_sites", {"splice.csv": "SECRET,1,ACGT\n"}, "splice.csv is not as in"),
        ("italian_crime_news", {"italian_crime_news.csv": "id,words\n1,SECRET\n"}, "text"),
    ],
)
def test_a_wrong_or_incomplete_original_is_one_line(
    name: str, files: dict[str, str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "original").mkdir()
    write(tmp_path / "original", files)
    assert main(["data", "make", name, "--from", str(tmp_path / "original"), "--out", str(tmp_path / "data")]) == 2
    err = capsys.readouterr().err
    assert len(err.splitlines()) == 1
    assert said in err
    assert "SECRET" not in err
    assert not (tmp_path / "data").exists()


def test_unknown_names_and_missing_folders_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "make", "first_name", "--from", "a", "--out", "b"]) == 2
    assert "did you mean 'first_names'" in capsys.readouterr().err
    assert main(["data", "make", "first_names", "--from", "nowhere", "--out", "b"]) == 2
    assert "no folder at nowhere" in capsys.readouterr().err
    assert main(["data", "--experiment", "song2020/table9"]) == 2
    assert "unknown experiment" in capsys.readouterr().err


def test_the_list_says_what_is_here_and_what_is_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "original", ORIGINALS["first_names"][0])
    folder = str(tmp_path / "data")
    assert main(["data", "make", "first_names", "--from", str(tmp_path / "original"), "--out", folder]) == 0
    pq.write_table(pa.table({"words": ["a"]}), tmp_path / "data" / "news_20newsgroups.parquet")
    capsys.readouterr()
    assert main(["data", "--data", folder, "--experiment", "coro2022/table5.6", "--json"]) == 0
    out, shown = capsys.readouterr()
    told = {each["name"]: each for each in json.loads(out)}
    assert set(told) == {"first_names", "news_20newsgroups", "news_reuters21578", "wikipedia_sentences"}
    assert told["first_names"]["here"]["rows"] == 2
    assert told["news_20newsgroups"]["here"]["missing"] == ["text", "title", "category", "group", "author"]
    assert told["wikipedia_sentences"]["here"] is None
    assert "unembed data make wikipedia_sentences --from FOLDER" in shown
    assert "it lacks the columns text" in shown
    assert main(["data", "--experiment", "pan2020/table2"]) == 0
    assert "needs no data set" in capsys.readouterr().out


def test_a_file_that_is_not_parquet_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, {"first_names.parquet": "Abe"})
    assert main(["data", "--data", str(tmp_path)]) == 2
    assert "first_names.parquet is not a Parquet file" in capsys.readouterr().err


@pytest.fixture
def files_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], dict[str, set[str]]]:
    """Which files an experiment opens and which columns it asks for, where the files hold a few invented texts."""
    for name in data_sets():
        (tmp_path / f"{name}.parquet").touch()
    seen: dict[str, set[str]] = {}

    def read(path: Path, *, column: str, columns: list[str]) -> Corpus:
        seen.setdefault(path.stem, set()).update([column, *columns])
        made = generate_public_text(200, seed=len(path.stem)).texts
        ends = (
            ("salad", "London", "leg") if path.stem != "restaurant_sentences" else ("salad and grelk", "salad, plorn")
        )
        texts = [f"{text} {ends[i % len(ends)]}" for i, text in enumerate(made)]
        if path.stem == "restaurant_sentences":
            texts += [f"a salad of {word} and {word}s" for word in ("zorbs", "quimp", "vlapt", "drimb") for _ in "ab"]
        if column == "window20":
            texts = ["ACGT" * 5] * len(texts)
        more = {
            c: [["ann"]] * len(texts) if c == "people" else [str(i // 4) for i in range(len(texts))] for c in columns
        }
        return Corpus.of(texts, name=path.stem, **more)

    monkeypatch.setattr(readers, "read_corpus", read)

    def run(experiment: str) -> dict[str, set[str]]:
        seen.clear()
        make = EXPERIMENTS.get(experiment)
        for size in ("small", "full"):
            try:
                make().rows(Conditions(size=size, data=tmp_path), make.encoders["smoke"])
            except UnembedError:  # so few texts are enough to see what is read, not always for more
                continue
        return {name: set(columns) for name, columns in seen.items()}

    return run


@pytest.mark.parametrize("experiment", EXPERIMENTS.names())
def test_an_experiment_reads_the_data_sets_and_columns_declared_for_it(
    experiment: str, files_read: Callable[[str], dict[str, set[str]]]
) -> None:
    read = files_read(experiment)
    assert set(read) == {each.name for each in data_sets().values() if each.needed_for(experiment)}
    for name, columns in read.items():
        assert columns <= set(data_sets()[name].columns)
