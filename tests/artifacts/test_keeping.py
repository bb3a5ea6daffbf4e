"""What is kept is whole, private, made once, and gone on with after a kill."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from counts import Counts

from unembed.artifacts import Artifacts, locking
from unembed.errors import PluginError, UnembedWarning, UsageError

MADE = {"the": 6, "sea": 3, "is": 6, "calm": 3, "harbour": 3, "near": 3}


@pytest.fixture
def recipe(tmp_path: Path) -> Counts:
    return Counts(log=tmp_path / "log.txt")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kept" / "here"


def begun(recipe: Counts) -> list[str]:
    """The pass at which each making began."""
    assert recipe.log is not None
    return recipe.log.read_text().split()


def kept(folder: Path) -> Path:
    """The one artifact in a folder."""
    (found,) = (path for path in folder.iterdir() if path.suffix != ".lock")
    return found


def get(recipe: Counts, folder: Path) -> dict[str, int]:
    return Artifacts(folder).get(recipe)


def test_it_is_made_once_and_loaded_from_then_on(recipe: Counts, folder: Path) -> None:
    assert get(recipe, folder) == get(recipe, folder) == MADE
    assert begun(recipe) == ["0"]
    assert get(replace(recipe, passes=1), folder)["the"] == 2
    assert begun(recipe) == ["0", "0"]


def flip(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"6", b"7"))


DAMAGE: dict[str, Callable[[Path], object]] = {
    "a byte is another": lambda p: flip(p / "files" / "inner" / "counts.json"),
    "a file is empty": lambda p: (p / "files" / "inner" / "counts.json").write_text(""),
    "a file is gone": lambda p: (p / "files" / "inner" / "counts.json").unlink(),
    "a file was added": lambda p: (p / "files" / "more.txt").write_text("x"),
    "all files are gone": lambda p: shutil.rmtree(p / "files"),
    "the seal is cut short": lambda p: (p / "artifact.json").write_text('{"identity"'),
    "the seal is no text": lambda p: (p / "artifact.json").write_bytes(b"\xff\xfe"),
    "the seal is of another": lambda p: flip(p / "artifact.json"),
    "a file of somebody else": lambda p: (shutil.rmtree(p), p.write_text("x")),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=list(DAMAGE))
def test_what_is_damaged_is_made_again(recipe: Counts, folder: Path, damage: Callable[[Path], object]) -> None:
    get(recipe, folder)
    damage(kept(folder))
    with pytest.warns(UnembedWarning, match="made again"):
        assert get(recipe, folder) == MADE
    assert get(recipe, folder) == MADE
    assert begun(recipe) == ["0", "0"]


def test_processes_that_ask_at_once_share_one_making(recipe: Counts, folder: Path) -> None:
    from joblib import Parallel, delayed

    slow = replace(recipe, seconds=0.3)
    assert Parallel(n_jobs=3, backend="loky")(delayed(get)(slow, folder) for _ in range(6)) == [MADE] * 6
    assert begun(recipe) == ["0"]


def test_threads_that_ask_at_once_share_one_making(recipe: Counts, folder: Path) -> None:
    slow = replace(recipe, seconds=0.3)
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(lambda _: get(slow, folder), range(6))) == [MADE] * 6
    assert begun(recipe) == ["0"]


def test_after_a_kill_the_next_one_goes_on(recipe: Counts, folder: Path) -> None:
    from joblib.externals.loky import ProcessPoolExecutor

    with ProcessPoolExecutor(max_workers=1) as pool, pytest.raises(BrokenProcessPool):
        pool.submit(get, replace(recipe, die_at=2), folder).result()
    assert get(recipe, folder) == MADE
    assert begun(recipe) == ["0", "2"]
    assert kept(folder).is_dir(), "partial work is removed when the whole is there"


@dataclass(frozen=True)
class Failing(Counts):
    """Writes half of what it is and fails."""

    def save(self, made: dict[str, int], place: Path) -> None:
        super().save({}, place)
        raise RuntimeError


def test_what_fails_half_way_is_not_taken_for_whole(recipe: Counts, folder: Path) -> None:
    for _ in range(2):
        with pytest.raises(RuntimeError):
            get(Failing(log=recipe.log), folder)
    assert get(recipe, folder) == MADE
    assert begun(recipe) == ["0", "3", "3"]


@pytest.fixture
def open_to_all() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("open_to_all")
@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_everything_is_for_the_owner_alone(recipe: Counts, folder: Path) -> None:
    with pytest.raises(RuntimeError):
        get(Failing(log=recipe.log, passes=2), folder)
    get(recipe, folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    for path in folder.iterdir():
        if path.is_dir():
            assert path.stat().st_mode & 0o777 == 0o700, path
    whole = next(path for path in folder.iterdir() if (path / "artifact.json").exists())
    for path in whole.rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


class TestWithoutLocks:
    """As on some network file systems."""

    @pytest.fixture(autouse=True)
    def no_locks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(file: object, *, wait: bool) -> None:
            raise OSError(errno.ENOLCK, "no locks available")

        monkeypatch.setattr(locking, "_lock", refuse)

    def test_each_makes_its_own_and_one_is_kept(self, recipe: Counts, folder: Path) -> None:
        slow = replace(recipe, seconds=0.3)
        with ThreadPoolExecutor(3) as pool:
            assert list(pool.map(lambda _: get(slow, folder), range(3))) == [MADE] * 3
        assert kept(folder).is_dir()
        assert get(recipe, folder) == MADE
        assert set(begun(recipe)) == {"0"}

    def test_nothing_half_stays_behind(self, recipe: Counts, folder: Path) -> None:
        with pytest.raises(RuntimeError):
            get(Failing(log=recipe.log), folder)
        assert not [path for path in folder.iterdir() if path.is_dir()]


def test_a_folder_that_can_not_be_written_to_is_told_in_one_line(recipe: Counts, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="can't write to") as told:
        get(recipe, tmp_path / "file" / "kept")
    assert "\n" not in str(told.value)


@dataclass(frozen=True)
class Odd(Counts):
    @property
    def identity(self):  # type: ignore[no-untyped-def]
        return {"passes": {1, 2}}


def test_an_identity_that_is_not_plain_data_names_its_recipe(folder: Path) -> None:
    with pytest.raises(PluginError, match="identity of Odd is not plain JSON data"):
        get(Odd(), folder)
