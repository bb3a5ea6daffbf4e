"""Files are written whole, for their owner alone unless they are meant for others, and nothing half-written stays."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from unembed.errors import UsageError
from unembed.writing import ABANDONED_SECONDS, make_private_folder, remove_abandoned, write_atomically, written_aside


def mode(path: Path) -> str:
    return f"{stat.S_IMODE(path.stat().st_mode):o}"


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def test_a_file_and_its_folders_are_the_owners_alone(umask: int, tmp_path: Path) -> None:
    path = tmp_path / "new" / "deep" / "texts.json"
    write_atomically(path, "{}")
    assert [mode(path), mode(path.parent), mode(path.parent.parent)] == ["600", "700", "700"]


def test_a_shared_file_follows_the_umask(umask: int, tmp_path: Path) -> None:
    path = tmp_path / "new" / "report.html"
    write_atomically(path, b"<p>", shared=True)
    assert [mode(path), mode(path.parent)] == [f"{0o666 & ~umask:o}", f"{0o777 & ~umask:o}"]


def test_a_folder_of_the_user_keeps_its_permissions(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_private_folder(tmp_path)
    assert mode(tmp_path) == "755"


def test_a_private_file_takes_the_place_of_one_that_others_could_read(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("masked")
    path.chmod(0o644)
    write_atomically(path, "not masked")
    assert (path.read_text(), mode(path)) == ("not masked", "600")


def stopped_while_writing(path: Path) -> None:
    with written_aside(path) as file:
        file.write(b"ne")
        raise KeyboardInterrupt


def test_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write_atomically(path, "old")
    with pytest.raises(KeyboardInterrupt):
        stopped_while_writing(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_is_no_folder_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"can't write to .*file"):
        write_atomically(tmp_path / "file" / "x.json", "{}")


def test_what_a_kill_left_goes_with_the_next_write_and_what_another_process_writes_stays(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    abandoned, busy, other = (tmp_path / f".{name}.part" for name in ("run.json.aa", "run.json.bb", "report.html.cc"))
    long_ago = time.time() - 2 * ABANDONED_SECONDS
    for left in (abandoned, busy, other):
        left.touch()
    for left in (abandoned, other):
        os.utime(left, (long_ago, long_ago))
    write_atomically(path, "{}")
    assert sorted(tmp_path.iterdir()) == sorted([path, busy, other])
    remove_abandoned(tmp_path)
    assert list(tmp_path.iterdir()) == [path]
