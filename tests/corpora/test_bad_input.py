"""Whatever is wrong with a file, the answer is one line that says what, where and what to do."""

import contextlib
import gzip
import json
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unembed.corpora import iter_rows, read_corpus
from unembed.errors import DataError, UnembedError, UsageError


def put(data, name="a.csv"):
    def make(folder):
        path = folder / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    return make


small = put("text\na\n")


def put_table(columns, cut=None):
    def make(folder):
        path = folder / "a.parquet"
        pq.write_table(pa.table(columns), path)
        if cut:
            path.write_bytes(path.read_bytes()[:cut])
        return path

    return make


def put_arrow(table, change=bytes):
    def make(folder):
        path = folder / "a.arrow"
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
        path.write_bytes(change(path.read_bytes()))
        return path

    return make


def offsets(*numbers):
    return b"".join(number.to_bytes(4, "little") for number in numbers)


def fifo(folder):
    os.mkfifo(folder / "a.csv")
    return folder / "a.csv"


def saved(state):
    def make(folder):
        (folder / "state.json").write_text(state if isinstance(state, str) else json.dumps(state))
        return folder

    return make


def dict_of_itself(folder):
    (folder / "dataset_dict.json").write_text('{"splits": ["a"]}')
    (folder / "a").symlink_to(folder)
    return folder


def gz(data, name="a.txt.gz", cut=None):
    return put(gzip.compress(data)[:cut], name)


LONG = b"long lines make the test fast " * 5 + b"\n"

BAD = {
    "missing file": (lambda d: d / "nothing.csv", {}, "no such file or folder"),
    "NUL in the path": (lambda d: f"{d}/a\0.csv", {}, "path|no such file"),
    "folder without data": (lambda d: d, {}, "holds no data files"),
    "folder without such a split": (lambda d: f"{small(d).parent}#train", {}, "no data files of 'train'"),
    "split of a file": (lambda d: f"{small(d)}#train", {}, "is a file and has no split"),
    "empty file": (put(""), {}, "is empty"),
    "only blank lines": (put("\n\n\n"), {}, "is empty"),
    "header only": (put("text,label\n"), {}, "no rows after its header"),
    "missing column": (put("text,label\na,b\n"), {"column": "lable"}, "did you mean 'label'"),
    "missing extra column": (put("text,label\na,b\n"), {"columns": ["lable"]}, "did you mean 'label'"),
    "missing id column": (put("text,label\na,b\n"), {"id_column": "ident"}, "unknown column 'ident'"),
    "missing key": (put('{"text": "a"}\n', "a.jsonl"), {"column": "txt"}, "did you mean 'text'"),
    "which column": (put("one,two\na,b\n"), {}, "which column holds the text.*one, two"),
    "no text column": (put("one,two\n1,2\n"), {}, "no column of text"),
    "two equal columns": (put("text,text\na,b\n"), {}, "columns 1 and 2 have the same name"),
    "two equal columns of many": (
        put(",".join(["a", *(f"c{i}" for i in range(100_000)), "a"]) + "\n"),
        {},
        "columns 1 and 100002 have the same",
    ),
    "two equal columns in arrow": (
        put_arrow(pa.table([["a"], ["b"]], names=["text", "text"])),
        {},
        "columns 1 and 2 have the same name",
    ),
    "no header": (put("so good,4\nso bad,1\n"), {}, "2 columns, not listed because"),
    "no header, column named": (put("so good,4\nso bad,1\n"), {"column": "text"}, "2 columns, not listed because"),
    "no header, texts only": (put("so good\nso bad\n"), {}, "1 columns, not listed because"),
    "mark of UTF-16 before UTF-8": (put(b"\xff\xfetext,label\na,b\n"), {}, "mark of UTF-16 but is not UTF-16"),
    "bytes of another encoding": (put(b"text\nf\xfc\xdfe\n"), {"encoding": "utf-8"}, "can't be decoded as utf-8"),
    "unknown encoding": (put("text\na\n"), {"encoding": "utf-99"}, "unknown text encoding"),
    "no text encoding": (put("text\na\n"), {"encoding": "base64"}, "unknown text encoding"),
    "NUL bytes": (put(b"text\na\0b\n"), {}, "NUL"),
    "late NUL byte": (put(b"text\n" + LONG * 50_000 + b"\0\n"), {"max_rows": 5}, "line 50002 holds a NUL"),
    "late foreign bytes": (put(b"text\n" + LONG * 50_000 + b"\xff\n"), {"max_rows": 5}, "can't be decoded"),
    "parquet named csv": (put(b"PAR1\x15\x04"), {}, "format='parquet'"),
    "spreadsheet named csv": (put(b"PK\x03\x04abc"), {}, "zip archive or spreadsheet"),
    "binary": (put(bytes(range(256)) * 20), {}, "NUL"),
    "truncated parquet": (put_table({"text": ["a"] * 500}, cut=300), {}, "damaged, cut short"),
    "parquet of nothing": (put(b"", "a.parquet"), {}, "is empty"),
    "text named parquet": (put("hello", "a.parquet"), {}, "damaged, cut short"),
    "text named arrow": (put("hello", "a.arrow"), {}, "damaged, cut short"),
    "offset in arrow that points elsewhere": (
        put_arrow(
            pa.table({"text": ["first", "second", "third"]}),
            lambda data: data.replace(offsets(0, 5, 11, 16), offsets(0, 5, 0x7FFFFFF0, 16)),
        ),
        {},
        "damaged, cut short",
    ),
    "parquet without rows": (put_table({"text": pa.array([], pa.string())}), {}, "has no rows"),
    "number column": (put_table({"text": [1, 2]}), {"column": "text"}, "holds int64, not text"),
    "nested column": (put_table({"text": [["a"], ["b"]]}), {"column": "text"}, r"holds list.*not text"),
    "binary column": (put_table({"text": [b"a", b"b"]}), {"column": "text"}, "holds binary, not text"),
    "number in jsonl": (put('{"text": 3}\n', "a.jsonl"), {"column": "text"}, "holds numbers, not text"),
    "one number in jsonl": (put('{"text": "a"}\n{"text": 3}\n', "a.jsonl"), {}, "row 2.*type int, not text"),
    "object in jsonl": (put('{"text": {"a": 1}}\n', "a.jsonl"), {"column": "text"}, "holds objects"),
    "bad JSON": (put('{"text": "a"}\n{"text": \n', "a.jsonl"), {}, "line 2 is not JSON"),
    "JSON array": (put('[{"text": "a"}]\n', "a.json"), {}, "line 1 is JSON but not an object"),
    "JSON string": (put('{"text": "a"}\n"b"\n', "a.jsonl"), {}, "line 2 is JSON but not an object"),
    "deep JSON": (put('{"text": ' + "[" * 100_000 + "\n", "a.jsonl"), {}, "line 1 is not usable JSON"),
    "endless number": (put('{"text": ' + "1" * 5_000 + "}\n", "a.jsonl"), {}, "line 1 is not usable JSON"),
    "lone surrogate": (put('{"text": "a\\ud800b"}\n', "a.jsonl"), {}, "row 1.*half a character"),
    "short row": (put("text,label\na,b\nc\n"), {"column": "text"}, r"row 2 \(line 3\) has 1 cells"),
    "long row": (put("text,label\na,b,c\n"), {"column": "text"}, "row 1.*has 3 cells, the header has 2"),
    "open quote": (put('text,label\n"a,b\nc,d\n'), {"delimiter": ","}, "quote out of place"),
    "huge cell": (put("text,label\na,b\n" + "x" * 10_000_000 + ",c\n"), {"column": "text"}, "row 2.*1,048,576"),
    "huge line": (put("a\n" + "x" * 10_000_000, "a.txt"), {}, "line 2 is longer"),
    "huge JSON cell": (put('{"text": "' + "x" * 10_000_000 + '"}', "a.jsonl"), {}, "row 1.*10,000,000"),
    "huge parquet cell": (put_table({"text": ["a", "x" * 10_000_000]}), {}, "row 2.*10,000,000"),
    "same ids": (put("id,text\n1,a\n2,b\n1,c\n"), {"id_column": "id"}, "rows 1 and 3 have the same id"),
    "no id": (put("id,text\n1,a\n,b\n"), {"id_column": "id"}, "row 2.*no usable id"),
    "unknown format": (put("text\na\n"), {"format": "cvs"}, "did you mean 'csv'"),
    "unknown ending": (put("text\na\n", "a.data"), {}, "can't tell the format of 'a.data'"),
    "long delimiter": (put("text\na\n"), {"delimiter": "::"}, "one character"),
    "pipe": (fifo, {}, "not a regular file"),
    "device": (lambda d: "/dev/null", {}, "not a regular file"),
    "all empty": (put('text,n\n"",1\n" ",2\n'), {"column": "text"}, "all 2 texts in column 'text' are empty"),
    "no rows wanted": (put("text\na\n"), {"max_rows": 0}, "max_rows must be at least 1"),
    "no characters wanted": (put("text\na\n"), {"max_cell": 0}, "max_cell must be at least 1"),
    "truncated gzip": (gz(b"some text\n" * 1000, cut=40), {}, "not a whole gzip"),
    "damaged gzip": (put(b"\x1f\x8b\x08\x00abcdefghijklmnop", "a.txt.gz"), {}, "not a whole gzip"),
    "gzip bomb": (gz(LONG * 500_000), {"max_rows": 5}, "expands to more than 64 MiB"),
    "gzip of nothing": (gz(b""), {}, "is empty"),
    "splits that go in circles": (dict_of_itself, {}, "no state.json"),
    "broken state": (saved("{"), {}, "state.json is not a description of a data set"),
    "listed state": (saved("[]"), {}, "not a JSON object"),
    "state without files": (saved({"_data_files": []}), {}, "does not list any data files"),
    "state that points elsewhere": (saved({"_data_files": [{"filename": "../x.arrow"}]}), {}, "outside the folder"),
    "state of a lost file": (saved({"_data_files": [{"filename": "x.arrow"}]}), {}, "is not there"),
    "state with an index": (saved({"_indices_data_files": [{"filename": "i"}]}), {}, "flatten_indices"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line_that_says_what_and_where(name, tmp_path):
    make, options, message = BAD[name]
    with pytest.raises((DataError, UsageError), match=message) as caught:
        read_corpus(make(tmp_path), **options)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500 + len(str(tmp_path))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_read_permission(tmp_path):
    path = put("text\na\n")(tmp_path)
    path.chmod(0)
    with pytest.raises(DataError, match="no permission"):
        read_corpus(path)


def test_messages_never_hold_the_text(tmp_path):
    secret = "Zorblatt"
    for name, data in {
        "a.jsonl": f'{{"text": "{secret}" oops}}\n',
        "b.csv": f"text,x\n{secret},1,2\n",
        "c.csv": f'text\n"{secret}" {secret}\n',
        "d.jsonl": f'"{secret}"\n',
        "e.csv": f"id,text\n{secret},a\n{secret},b\n",
        "f.csv": f"I met {secret} today,{secret},3\nso it goes,b,4\n",
        "g.csv": f"I met {secret} today,{secret},{secret}\nso it goes,b,4\n",
        "h.jsonl": f'{{"I met {secret}": 1}}\n',
        "i.csv": b"\xff\xfe" + f"I met {secret} today\n".encode() * 200,
    }.items():
        (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data.encode())
        for column in ("text", None, f"{secret[:-1]}s"):
            with pytest.raises(UnembedError) as caught:
                read_corpus(tmp_path / name, column=column, id_column="id" if name[0] == "e" else None, delimiter=",")
            assert secret not in str(caught.value)
            assert secret.encode().decode("utf-16-le") not in str(caught.value)
            assert len(str(caught.value)) < 300


def test_a_cell_beyond_the_limit_names_no_column_that_is_a_text(tmp_path):
    path = put("I met Zorblatt today,4\n" + "x" * 50 + ",1\n")(tmp_path)
    with pytest.raises(DataError, match="row 1: a column has a cell of 50 characters"):
        list(iter_rows(path, max_cell=40))


def test_usual_headers_are_listed(tmp_path):
    path = put(",review_text,Überschrift,meta.lang,a-b\n1,a,b,c,d\n")(tmp_path)
    with pytest.raises(UsageError, match=r"columns: '', review_text, Überschrift, meta\.lang, a-b\)"):
        read_corpus(path)
    path = put("Review text,stars\nfine,1\n")(tmp_path)
    assert read_corpus(path, column="Review text").texts == ["fine"]


def test_real_utf16_is_still_read(tmp_path):
    for encoding in ("utf-16", "utf-16-be"):
        mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
        (tmp_path / "a.csv").write_bytes(mark + "text,label\nüber,b\n".encode(encoding))
        assert read_corpus(tmp_path / "a.csv").texts == ["über"]


def test_many_columns_are_no_problem(tmp_path):
    names = ["text", *(f"c{i}" for i in range(100_000))]
    path = put(",".join(names) + "\n" + "a" + ",1" * 100_000 + "\n")(tmp_path)
    assert read_corpus(path).texts == ["a"]
    table = pa.table([["a"], *([[1]] * 5_000)], names=names[:5_001])
    assert read_corpus(put_arrow(table)(tmp_path)).texts == ["a"]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.binary(max_size=300), name=st.sampled_from(["a.csv", "a.tsv", "a.jsonl", "a.parquet", "a.arrow", "a.txt"])
)
def test_no_bytes_ever_cause_anything_but_our_own_errors(data, name, tmp_path):
    path = tmp_path / name
    path.write_bytes(data)
    for read in (read_corpus, lambda p: list(iter_rows(p))):
        with contextlib.suppress(UnembedError):
            read(path)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(position=st.integers(0, 10_000), value=st.integers(0, 255))
@pytest.mark.parametrize("written", [lambda table: put_table(table), lambda table: put_arrow(pa.table(table))])
def test_a_damaged_table_is_an_error_or_still_readable(written, position, value, tmp_path):
    path = written({"text": [f"text {i}" for i in range(50)]})(tmp_path)
    data = bytearray(path.read_bytes())
    data[position % len(data)] = value
    path.write_bytes(data)
    with contextlib.suppress(UnembedError):
        read_corpus(path)
