"""The checks behind ``check_recipe``: what is made once must have an identity, be kept whole, and survive a kill."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np

from unembed.artifacts import Artifacts, Json, Recipe
from unembed.artifacts.base import plain_identity
from unembed.errors import PluginError
from unembed.testing.checks import require

T = TypeVar("T")
#: The most kills, spread over all files that are written.
MOST_KILLS = 8


def check_recipe(recipe: Recipe[T], behaviour: Callable[[T], object], changed: Sequence[Recipe[T]]) -> None:
    """A recipe keeps its contract.

    Args:
        recipe: A small one: it is made more than ten times, in processes of its own, so it must be picklable.
        behaviour: What a made thing does, as plain data or arrays; two things that do the same are the same.
        changed: The same recipe with another text, option or seed; one for each input.
    """
    for check in recipe_checks(behaviour, changed):
        check(recipe)


def recipe_checks(
    behaviour: Callable[[T], object], changed: Sequence[Recipe[T]]
) -> Iterator[Callable[[Recipe[T]], None]]:
    """Every check of a recipe, for test suites that want one test each."""

    def identity_names_every_input(recipe: Recipe[T]) -> None:
        require(bool(changed), "'changed' is empty: give a recipe with another input")
        plain = [_plain(one) for one in (recipe, recipe, *changed)]
        require(plain[0] == plain[1], "identity is another one when it is asked for again")
        apart = {json.dumps(one, sort_keys=True) for one in plain}
        require(len(apart) == len(plain) - 1, "identity is the same although an input is another")

    def same_identity_same_thing(recipe: Recipe[T]) -> None:
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
            first, second = (behaviour(recipe.make(Path(place))) for place in (one, other))
        require(_same(first, second), "made twice, it behaves in two ways")

    def load_gives_what_was_saved(recipe: Recipe[T]) -> None:
        with tempfile.TemporaryDirectory() as work, tempfile.TemporaryDirectory() as place:
            made = recipe.make(Path(work))
            recipe.save(made, Path(place))
            require(_same(behaviour(made), behaviour(recipe.load(Path(place)))), "loaded, it behaves in another way")

    def what_is_kept_is_not_made_again(recipe: Recipe[T]) -> None:
        counted = _Counted(recipe)
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(2):
                Artifacts(Path(folder)).get(counted)
        require(counted.made == 1, f"asked for twice, it was made {counted.made} times")

    def nothing_half_is_taken_for_whole(recipe: Recipe[T]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            told = _alone(recipe, Path(folder) / "whole", None)
            if told is None:
                raise AssertionError("the process that makes it dies")
            identity, steps, pickles = told
            require(identity == _plain(recipe), "identity is another one in another process")
            require(not pickles, f"load opens a pickle: {', '.join(pickles)}")
            whole = behaviour(Artifacts(Path(folder) / "whole").get(recipe))
            for step in np.unique(np.linspace(1, steps, MOST_KILLS).astype(int)).tolist():
                killed = Path(folder) / str(step)
                require(_alone(recipe, killed, step) is None, "it writes other files when it is made again")
                where = f"killed at file {step} of {steps} and begun again"
                try:
                    again = behaviour(Artifacts(killed).get(recipe))
                except Exception as error:
                    raise AssertionError(f"{where}, it can't be made: {type(error).__name__}") from error
                require(_same(whole, again), f"{where}, it behaves in another way")

    yield from (identity_names_every_input, same_identity_same_thing, load_gives_what_was_saved)
    yield from (what_is_kept_is_not_made_again, nothing_half_is_taken_for_whole)


class _Counted(Generic[T]):
    """A recipe that counts how often it is made."""

    def __init__(self, recipe: Recipe[T]) -> None:
        self.recipe, self.made = recipe, 0
        self.save, self.load = recipe.save, recipe.load

    @property
    def identity(self) -> Mapping[str, Json]:
        return self.recipe.identity

    def make(self, place: Path) -> T:
        self.made += 1
        return self.recipe.make(place)


def _plain(recipe: Recipe[T]) -> Json:
    try:
        return plain_identity(recipe)
    except PluginError as error:
        raise AssertionError(str(error)) from error


def _same(one: object, other: object) -> bool:
    try:
        np.testing.assert_equal(one, other)
    except AssertionError:
        return False
    return True


Told = tuple[Json, int, list[str]]


def _alone(recipe: Recipe[T], folder: Path, kill_at: int | None) -> Told | None:
    """Get a recipe's thing in a process of its own; None if the process was killed."""
    from joblib.externals.loky import ProcessPoolExecutor

    with ProcessPoolExecutor(max_workers=1) as pool:
        try:
            told: Told = pool.submit(_watched, recipe, folder, kill_at).result()
        except BrokenProcessPool:
            return None
    return told


def _watched(recipe: Recipe[T], folder: Path, kill_at: int | None) -> Told:
    """Get a thing twice, the second time from the disk: its identity, the files written, the classes unpickled.

    With ``kill_at`` the process ends at that file, which is open then and nothing is written to it yet. Python tells of
    each file that it opens or renames (``sys.addaudithook``).
    """
    steps, pickles, loading = 0, [], False

    def watch(event: str, told: tuple[object, ...]) -> None:
        nonlocal steps
        if event == "pickle.find_class" and loading:
            pickles.append(".".join(map(str, told)))
        flags = told[2] if event == "open" and isinstance(told[2], int) else 0
        written = flags & (os.O_WRONLY | os.O_RDWR) or event == "os.rename"
        if not written or not isinstance(told[0], str | Path):
            return
        path = Path(told[0])
        if path.is_relative_to(folder) and path.suffix != ".lock":
            steps += 1
            if steps == kill_at:
                if flags:
                    os.open(path, flags, 0o600)
                os._exit(1)

    sys.addaudithook(watch)
    Artifacts(folder).get(recipe)
    loading = True
    Artifacts(folder).get(recipe)
    return _plain(recipe), steps, pickles
