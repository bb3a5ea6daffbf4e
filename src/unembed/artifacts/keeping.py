"""A folder of things that were made once, each under a digest of what it was made of.

An artifact appears whole, by a rename, and carries a digest of its files that is checked before it is read. Of several
processes or threads that ask for one at the same time, one makes it while the others wait: a training may take hours
and leaves partial work that two can't share. The lock goes with the process that holds it, so after a kill the next one
goes on from the partial work. Where a file system has no locks, each makes its own and the first to rename wins;
partial work is not kept there. Everything is readable for the owner alone.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from unembed.artifacts.base import Json, Recipe, plain_identity
from unembed.artifacts.locking import lock
from unembed.encoders.digests import folder_digest
from unembed.errors import UnembedWarning, UsageError
from unembed.writing import make_private_folder, private_opener

T = TypeVar("T")
_SEAL, _FILES = "artifact.json", "files"


class Artifacts:
    """What recipes made, kept in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, recipe: Recipe[T]) -> T:
        """What the recipe makes: loaded if it is there and whole, else made and kept.

        Whoever asks gets what was loaded, the maker too: so all hold the same thing to the last bit.
        """
        identity, key, place = self._place(recipe)
        if not _is_whole(place, identity):
            with self._bench(key) as bench:
                # In this order, because without locks another process may put it in place at any moment.
                if place.exists() and not _is_whole(place, identity):
                    warnings.warn(f"{place} is damaged or foreign: it is made again", UnembedWarning, stacklevel=2)
                    with _telling(self.folder):
                        _remove(place)
                if not place.exists():
                    self._make(recipe, identity, bench, place)
        return recipe.load(place / _FILES)

    def holds(self, recipe: Recipe[T]) -> bool:
        """Whether what the recipe makes is there and whole."""
        identity, _, place = self._place(recipe)
        return _is_whole(place, identity)

    def _place(self, recipe: Recipe[T]) -> tuple[Json, str, Path]:
        """What a recipe is known by, and where its artifact lies once it is made."""
        identity = plain_identity(recipe)
        key = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:32]
        return identity, key, self.folder / key

    @contextmanager
    def _bench(self, key: str) -> Iterator[Path]:
        """A private folder for making one thing, with what a killed process left there."""
        with _telling(self.folder):
            make_private_folder(self.folder)
            file = open(self.folder / f"{key}.lock", "ab", opener=private_opener)  # noqa: SIM115
        with file:
            if lock(file, wait=True):
                yield self.folder / f"{key}.part"
            else:
                with tempfile.TemporaryDirectory(dir=self.folder) as own:
                    yield Path(own)

    def _make(self, recipe: Recipe[T], identity: Json, bench: Path, place: Path) -> None:
        work, whole = bench / "work", bench / "whole"
        with _telling(self.folder):
            bench.mkdir(mode=0o700, exist_ok=True)
            work.mkdir(exist_ok=True)
            _remove(whole)
        made = recipe.make(work)
        with _telling(self.folder):
            (whole / _FILES).mkdir(parents=True)
        recipe.save(made, whole / _FILES)
        with _telling(self.folder):
            seal = {"identity": identity, "digest": _digest(whole)}
            (whole / _SEAL).write_text(json.dumps(seal), encoding="utf-8")
            for path in (whole, *whole.rglob("*")):
                path.chmod(0o700 if path.is_dir() else 0o600)
            try:
                whole.rename(place)
            except OSError:
                if not _is_whole(place, identity):
                    raise
            _remove(bench)


def _is_whole(place: Path, identity: Json) -> bool:
    """Whether a whole artifact with this identity is there."""
    try:
        seal = json.loads((place / _SEAL).read_text(encoding="utf-8"))
        return bool(seal == {"identity": identity, "digest": _digest(place)})
    except (OSError, ValueError):
        return False


def _digest(place: Path) -> str:
    return folder_digest(place / _FILES, ("*",), recursive=True)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def _telling(folder: Path) -> Iterator[None]:
    """A folder that can't be written to is an error of one line."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"can't write to {folder}: {error.strerror or error}") from error
