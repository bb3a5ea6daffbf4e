"""What a terminal shows: whole words and numbers at every width, stages, completion, a file to begin with."""

from __future__ import annotations

import csv
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from io import StringIO
from pathlib import Path

import pytest
from command_line import SMALL, Result, call, environment
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from unembed.cli.output import table

Run = Callable[..., Result]
WORDS = st.lists(st.text("abc019.%[]–/", min_size=1, max_size=12), min_size=0, max_size=6).map(" ".join)


def shown(head: list[str], rows: list[list[str]], width: int) -> list[str]:
    console = Console(width=width, record=True, markup=False, highlight=False, emoji=False, file=StringIO())
    console.print(table(head, rows))
    return console.export_text().splitlines()


@given(rows=st.lists(st.lists(WORDS, min_size=4, max_size=4), min_size=1, max_size=4), width=st.integers(30, 160))
def test_no_table_splits_a_word_or_a_number(rows: list[list[str]], width: int) -> None:
    lines = shown(["Who", "Question", "Result", "Judgement"], rows, width)
    said = {word.strip(";") for line in lines for word in line.split()}
    for cell in (cell for row in rows for cell in row):
        for word in cell.split():
            assert word.strip(";") in said
    assert all(len(line) <= width for line in lines)


def test_a_wide_terminal_gets_a_table_and_a_narrow_one_paragraphs() -> None:
    row = ["insider", "attribute (topic)", "balanced_accuracy 93.1% [90.4–95.2%]", "leak, high"]
    head = ["Who", "Question", "Result", "Judgement"]
    assert shown(head, [row], 100)[0].split() == head
    assert shown(head, [row], 40)[0].strip() == "insider"


def in_a_terminal(arguments: list[object], width: int) -> str:
    """What the command shows on a terminal of this width, without its colours."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "unembed", *map(str, arguments)],
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env=environment(COLUMNS=str(width), TERM="dumb"),
    )
    os.close(theirs)
    parts = []
    with suppress(OSError):  # the end of a terminal is an error on Linux
        while part := os.read(ours, 65536):
            parts.append(part)
    assert process.wait() == 0
    os.close(ours)
    return re.sub(r"\x1b\[[0-9;]*m", "", b"".join(parts).decode())


@pytest.mark.parametrize("width", [80, 100, 160])
def test_a_run_is_shown_without_a_split_word(finished_run: Path, run: Run, width: int) -> None:
    command = ["gate", finished_run, "--max-excess", "0.9"]
    whole = call(command, cwd=finished_run.parent)
    fitted = in_a_terminal(command, width)
    assert fitted.split() == whole.out.split()
    assert max(map(len, fitted.splitlines())) <= width


def test_stages_are_told_line_by_line_where_there_is_no_terminal(messages: Path, tmp_path: Path) -> None:
    command = ["audit", "--texts", messages, "--column", "text", *SMALL, "--out", tmp_path / "run"]
    done = call(command, cwd=tmp_path)
    stages = [line for line in done.err.splitlines() if line.startswith("done: ")]
    assert any(line.startswith("done: reading texts (") for line in stages)
    assert any(re.fullmatch(r"done: attacks \(\d+, \d+\.\d s\)", line) for line in stages)
    assert call([*command, "--quiet"], cwd=tmp_path).err == ""


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("audit --attack keyword/s", "keyword/svm"),
        ("audit --encoder min", "minilm"),
        ("audit --game inv", "inversion"),
        ("audit --adversary out", "outsider"),
        ("reproduce song2020/table", "song2020/table1"),
        ("attack inversion/ms", "inversion/msp"),
        ("list att", "attacks"),
        ("show keyword/al", "keyword/aligned"),
    ],
)
def test_names_are_completed(tmp_path: Path, typed: str, offered: str) -> None:
    words = f"unembed {typed}"
    done = call(
        [], cwd=tmp_path, _UNEMBED_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(typed.count(" ") + 1)
    )
    assert offered in done.out.split()


def test_the_help_of_a_switch_names_no_value(run: Run) -> None:
    shown = run("audit", "--help").out
    assert re.search(r"--quick +Fewer", shown)
    assert re.search(r"--seed +<int>", shown)


def test_list_without_a_kind_names_all_and_fits_a_screen(run: Run) -> None:
    done = run("list")
    assert done.code == 0
    assert "inversion/{" in done.out
    assert "portfolio" in done.out
    assert len(done.out.splitlines()) < 40


def test_demo_writes_a_file_to_follow_the_tutorial_with(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    done = run("demo", "--write-data", path, "--texts", "120")
    assert done.code == 0, done.err
    rows = list(csv.DictReader(path.open(encoding="utf-8", newline="")))
    assert len(rows) == 120
    assert {"text", "author", "topic", "document"} <= rows[0].keys()
    again = run("demo", "--write-data", path)
    assert (again.code, len(again.errors)) == (2, 1)
    assert run("demo", "--write-data", tmp_path / "notes.xlsx").code == 2
