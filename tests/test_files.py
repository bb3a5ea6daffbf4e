"""Every file a user names is a regular file within limits; anything else is one line, not a wait or a full memory."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from unembed import files
from unembed.attacks.fingerprint.book import SignatureBook
from unembed.cli.policies import read_policy
from unembed.corpora import read_corpus
from unembed.corpora.names import read_names
from unembed.encoders.table_files import read_table
from unembed.encoders.vector_files import open_vectors
from unembed.errors import DataError, UnembedError, UsageError
from unembed.gate.baseline import read_baseline
from unembed.results.io import read_run
from unembed.runner.spec import read_audit_file

#: Everything that opens a file which a user names, with an ending that it accepts.
READERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "audit file": (read_audit_file, ".toml"),
    "policy": (read_policy, ".toml"),
    "baseline": (read_baseline, ".toml"),
    "result": (read_run, ".json"),
    "signatures": (SignatureBook.read, ".json"),
    "texts": (read_corpus, ".csv"),
    "names": (read_names, ".txt"),
    "word vectors": (read_table, ".txt"),
    **{f"vectors{e}": (open_vectors, e) for e in (".npy", ".npz", ".safetensors", ".parquet", ".csv", ".jsonl")},
}
DOCUMENTS = ["audit file", "policy", "baseline", "result", "signatures"]


def refusal(name: str, path: Path) -> str:
    with pytest.raises(UnembedError) as caught:
        READERS[name][0](path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", READERS)
def test_a_pipe_is_refused_and_not_waited_for(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"pipe{READERS[name][1]}"
    os.mkfifo(path)
    assert "not a regular file" in refusal(name, path)


@pytest.mark.parametrize("name", READERS)
def test_a_device_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"zero{READERS[name][1]}"
    path.symlink_to("/dev/zero")
    assert "not a regular file" in refusal(name, path)


@pytest.mark.parametrize("name", sorted(READERS.keys() - {"result", "texts", "names"}))
def test_a_folder_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"folder{READERS[name][1]}"
    path.mkdir()
    assert "is a folder" in refusal(name, path)


@pytest.mark.parametrize("name", READERS)
def test_a_missing_file_is_named(name: str, tmp_path: Path) -> None:
    assert "missing" in refusal(name, tmp_path / f"missing{READERS[name][1]}")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_beyond_the_limit_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(files.MAX_DOCUMENT + 1)  # no disk is used: the file is one hole
    assert "larger than 64 MiB" in refusal(name, path)


DEEP = 100_000
DIGITS = "1" * 5_000


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("kind", ["deep", "digits", "latin-1", "NUL"])
def test_odd_documents_are_one_line(name: str, kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"odd{READERS[name][1]}"
    key = "format = " if path.suffix == ".toml" else '{"format": '
    content = {"deep": key + "[" * DEEP, "digits": f"{key}{DIGITS}", "latin-1": "é", "NUL": "\0"}[kind]
    end = "}" if path.suffix == ".json" and kind == "digits" else ""
    path.write_bytes((content + end).encode("latin-1"))
    assert "odd" in refusal(name, path)


def test_a_mark_before_utf8_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes(b'\xef\xbb\xbf[data]\ntexts = "t.csv"\n')
    assert read_audit_file(tmp_path / "a.toml") == {"data": {"texts": "t.csv"}}


@pytest.mark.parametrize("name", ["vectors.csv", "vectors.jsonl", "word vectors", "texts"])
def test_an_endless_line_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"line{READERS[name][1]}"
    path.write_bytes(b"1" * (files.MAX_LINE + 3))
    assert "line 1 is longer than 16,777,216 characters" in refusal(name, path)


def test_word_vectors_that_unpack_to_far_more_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.txt.gz"
    line = b"word" + b" 0" * 40_000 + b"\n"
    with gzip.open(path, "wb", compresslevel=9) as file:
        for _ in range(files.UNPACKED_FLOOR // len(line) + 20):
            file.write(line)
    assert "expands to more than 64 MiB" in refusal("word vectors", path)


def test_the_errors_tell_what_can_be_typed_from_what_is_damaged(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no result file at .*: expected a run folder"):
        read_run(tmp_path / "nowhere")
    (tmp_path / "run.json").mkdir()
    with pytest.raises(DataError, match="is a folder"):
        read_run(tmp_path)
