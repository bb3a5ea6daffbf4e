"""Every format gives the same corpus; options do what they say; samples are uniform and keep the order."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from unembed.corpora import iter_rows, read_corpus, read_corpus_with_report
from unembed.errors import DataError, UsageError

ROWS = [
    {"id": "a", "text": 'He said "hello",\nthen left', "mood": "calm"},
    {"id": "b", "text": "naïve café, Füße; 漢字", "mood": "glad"},
    {"id": "c", "text": "plain", "mood": None},
]


def write_csv(path, delimiter=",", encoding="utf-8", rows=ROWS):
    import csv

    with path.open("w", newline="", encoding=encoding) as file:
        writer = csv.DictWriter(file, ["id", "text", "mood"], delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_jsonl(path, rows=ROWS):
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    return path


def write_parquet(path, rows=ROWS):
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def write_stream(path, rows=ROWS):
    table = pa.Table.from_pylist(rows)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return path


def save_dataset(folder, rows=ROWS, shards=2):
    """What datasets.Dataset.save_to_disk writes."""
    folder.mkdir(parents=True)
    names = [f"data-{i:05d}-of-{shards:05d}.arrow" for i in range(shards)]
    for i, name in enumerate(names):
        write_stream(folder / name, rows[i * len(rows) // shards : (i + 1) * len(rows) // shards])
    state = {"_data_files": [{"filename": n} for n in names], "_fingerprint": "0", "_split": None}
    (folder / "state.json").write_text(json.dumps(state))
    (folder / "dataset_info.json").write_text(json.dumps({"features": {}}))
    return folder


def gz(path):
    packed = path.with_name(path.name + ".gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    return packed


MAKERS = {
    "csv": lambda d: write_csv(d / "a.csv"),
    "semicolon": lambda d: write_csv(d / "a.csv", delimiter=";"),
    "pipe": lambda d: write_csv(d / "a.csv", delimiter="|"),
    "tsv": lambda d: write_csv(d / "a.tsv", delimiter="\t"),
    "bom": lambda d: write_csv(d / "a.csv", encoding="utf-8-sig"),
    "utf16": lambda d: write_csv(d / "a.csv", encoding="utf-16"),
    "csv.gz": lambda d: gz(write_csv(d / "a.csv")),
    "jsonl": lambda d: write_jsonl(d / "a.jsonl"),
    "ndjson.gz": lambda d: gz(write_jsonl(d / "a.ndjson")),
    "parquet": lambda d: write_parquet(d / "a.parquet"),
    "arrow": lambda d: write_stream(d / "a.arrow"),
    "saved": lambda d: save_dataset(d / "set"),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_every_format_gives_the_same_corpus(kind, tmp_path):
    corpus, report = read_corpus_with_report(MAKERS[kind](tmp_path), id_column="id", columns=["mood"])
    assert corpus.texts == [r["text"] for r in ROWS]
    assert corpus.ids == ["a", "b", "c"]
    assert corpus.columns == {"mood": ["calm", "glad", None]}
    assert (report.rows, report.kept, report.empty, report.sampled) == (3, 3, 0, False)
    assert report.text_column == "text"


@pytest.mark.parametrize("kind", MAKERS)
def test_rows_stream_with_all_columns(kind, tmp_path):
    path = MAKERS[kind](tmp_path)
    rows = list(iter_rows(path))
    assert [r["text"] for r in rows] == [r["text"] for r in ROWS]
    assert set(rows[0]) == {"id", "text", "mood"}
    assert list(iter_rows(path, columns=["id"])) == [{"id": "a"}, {"id": "b"}, {"id": "c"}]


def test_plain_text_is_one_text_a_line_and_blank_lines_are_counted(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("eins\r\n\r\nzwei\n  \nfünf".encode())
    corpus, report = read_corpus_with_report(path)
    assert corpus.texts == ["eins", "zwei", "fünf"]
    assert corpus.ids == ["0", "2", "4"]
    assert (report.rows, report.empty, report.encoding) == (5, 2, "utf-8")
    assert read_corpus(gz(path)).texts == corpus.texts


def test_a_file_that_is_not_utf8_is_recognised_and_can_be_forced(tmp_path):
    texts = ["Das Mädchen läuft über die Straße", "Größe, Äpfel und Öl für später", "Ein schöner Gruß"] * 5
    path = tmp_path / "a.txt"
    path.write_bytes("\n".join(texts).encode("cp1252"))
    assert read_corpus(path).texts == texts
    forced, report = read_corpus_with_report(path, encoding="latin-1")
    assert forced.texts == texts
    assert report.encoding == "latin-1"


def test_delimiter_and_quotes_can_be_forced(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('text;n\n"a, b;1\nc, d";2\n')
    assert read_corpus(path, column="text", delimiter=";", quotes=False).texts == ['"a, b', 'c, d"']
    path.write_text("one:text\n1:a,b\n2:c,d\n")
    assert read_corpus(path, delimiter=":").texts == ["a,b", "c,d"]


def test_a_saved_dict_of_splits_needs_and_takes_a_choice(tmp_path):
    folder = tmp_path / "sets"
    save_dataset(folder / "train")
    save_dataset(folder / "test", ROWS[:2], shards=1)
    (folder / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    assert len(read_corpus(f"{folder}#train")) == 3
    assert len(read_corpus(f"{folder}#test")) == 2
    with pytest.raises(UsageError, match=r"train, test.*sets#train"):
        read_corpus(folder)
    with pytest.raises(UsageError, match="did you mean 'train'"):
        read_corpus(f"{folder}#trian")


@pytest.mark.parametrize(("write", "end"), [(write_parquet, "parquet"), (write_jsonl, "jsonl"), (write_csv, "csv")])
def test_a_folder_of_shards_is_one_corpus(write, end, tmp_path):
    write(tmp_path / f"train-1.{end}", rows=ROWS[:1])
    write(tmp_path / f"train-2.{end}", rows=ROWS[1:])
    write(tmp_path / f"test-1.{end}", rows=ROWS[:1])
    (tmp_path / "README.md").write_text("not data")
    (tmp_path / f".hidden.{end}").write_text("not data")
    assert len(read_corpus(tmp_path)) == 4
    assert read_corpus(f"{tmp_path}#train").texts == [r["text"] for r in ROWS]
    (tmp_path / "more.txt").write_text("a line")
    with pytest.raises(UsageError, match="mixes formats"):
        read_corpus(tmp_path)
    assert len(read_corpus(tmp_path, format="txt")) == 1


@pytest.mark.parametrize("names", [["label", "Sentence"], ["n", "body"], ["only"], ["content", "title"]])
def test_the_obvious_text_column_is_chosen(names, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({n: 3 if n == "n" else f"words of {n}" for n in names}) + "\n")
    expected = {"label": "Sentence", "n": "body", "only": "only", "content": "content"}[names[0]]
    assert read_corpus(path).texts == [f"words of {expected}"]


def test_a_number_column_of_a_csv_is_not_taken_for_the_text(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("score,remark\n1.5,good\n2,bad\n")
    assert read_corpus(path).texts == ["good", "bad"]
    path.write_text("number\n110105194912310021\n")
    assert read_corpus(path, column="number").texts == ["110105194912310021"]


def test_a_key_that_comes_late_in_jsonl_is_found(tmp_path):
    rows = [{"note": "x"}] * 300 + [{"note": "x", "late": "found"}]
    corpus, report = read_corpus_with_report(write_jsonl(tmp_path / "a.jsonl", rows), column="late")
    assert corpus.texts == ["found"]
    assert report.empty == 300


def test_a_sample_is_uniform_ordered_and_seeded(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("".join(f"{i}\n" for i in range(40)))
    counts = np.zeros(40)
    for seed in range(600):
        rows = [int(t) for t in read_corpus(path, max_rows=10, seed=seed).texts]
        assert rows == sorted(set(rows))
        assert len(rows) == 10
        counts[rows] += 1
    # Each row is drawn with probability 1/4: 150 of 600, standard deviation about 10.6.
    assert counts.min() > 150 - 5 * 10.6
    assert counts.max() < 150 + 5 * 10.6
    first, report = read_corpus_with_report(path, max_rows=10, seed=1)
    assert first.texts == read_corpus(path, max_rows=10, seed=1).texts
    assert first.ids == first.texts
    assert report.sampled
    assert read_corpus(path, max_rows=40).texts == read_corpus(path).texts


def test_a_large_cell_is_read_when_allowed(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text\n" + "x" * 3_000_000 + "\n")
    with pytest.raises(DataError, match="row 1"):
        read_corpus(path)
    assert len(read_corpus(path, max_cell=4_000_000).texts[0]) == 3_000_000


def test_reading_stays_within_bounded_memory(tmp_path):
    import tracemalloc

    path = tmp_path / "a.jsonl"
    with path.open("w") as file:
        for i in range(60_000):
            file.write(json.dumps({"text": f"row {i} " + "word " * 40}) + "\n")
    tracemalloc.start()
    corpus = read_corpus(path, max_rows=100)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(corpus) == 100
    assert path.stat().st_size > 12_000_000
    assert peak < 12_000_000


def test_importing_the_package_loads_nothing_heavy():
    import subprocess
    import sys

    code = (
        "import sys, unembed.corpora; from unembed.corpora import read_corpus, split_corpus, stop_words, GENERATORS;"
        "print([m for m in ('pyarrow', 'scipy', 'sklearn', 'torch', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
