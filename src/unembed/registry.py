"""One lazy registry for everything that has a name: encoders, games, attacks, defenses, sources, tasks.

An entry is a ``module:attr`` string (built in), an entry point of an installed package, or
``path/to/file.py:Name`` typed by the user. Nothing is imported before it is asked for, so that listing
names costs nothing and a plug-in that is broken harms nobody who does not use it.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Generic, TypeVar

from unembed.errors import PluginError, UnembedWarning, UnknownNameError

T = TypeVar("T")


class Registry(Generic[T]):
    """Names of one kind, resolved on first use.

    ``check`` receives a loaded object and returns what is wrong with it, or None; it runs once, on load.
    """

    def __init__(
        self,
        kind: str,
        builtin: Mapping[str, str],
        *,
        group: str | None = None,
        check: Callable[[object], str | None] | None = None,
    ) -> None:
        self.kind = kind
        self.group = group
        self._targets: dict[str, str | EntryPoint] = dict(builtin)
        self._check = check
        self._loaded: dict[str, T] = {}
        self._lock = threading.RLock()
        self._plugins_seen = group is None

    def _see_plugins(self) -> None:
        with self._lock:
            if self._plugins_seen:
                return
            self._plugins_seen = True
            for point in entry_points(group=self.group or ""):
                if point.name in self._targets:
                    owner = point.dist.name if point.dist else point.value
                    warnings.warn(
                        f"plug-in '{owner}' is ignored: its {self.kind} '{point.name}' is already taken "
                        f"by {self._origin_of(self._targets[point.name])}",
                        UnembedWarning,
                        stacklevel=3,
                    )
                    continue
                self._targets[point.name] = point

    @staticmethod
    def _origin_of(target: str | EntryPoint) -> str:
        if isinstance(target, str):
            return target
        package = target.dist.name if target.dist else "an installed package"
        return f"{target.value} ({package})"

    def names(self) -> list[str]:
        """All registered names, built in and from installed plug-ins, sorted."""
        self._see_plugins()
        return sorted(self._targets)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __contains__(self, name: object) -> bool:
        self._see_plugins()
        return name in self._targets

    def origin(self, name: str) -> str:
        """Where a name comes from: ``module:attr``, with the package for a plug-in."""
        self._see_plugins()
        if name not in self._targets:
            raise UnknownNameError(self.kind, name, self._targets)
        return self._origin_of(self._targets[name])

    def register(self, name: str, target: str) -> None:
        """Add a name at run time; a name that is taken is an error."""
        self._see_plugins()
        with self._lock:
            if name in self._targets and self._targets[name] != target:
                raise PluginError(
                    f"{self.kind} '{name}' is already registered by {self._origin_of(self._targets[name])}"
                )
            self._targets[name] = target

    def get(self, name: str) -> T:
        """The object behind a name or behind ``path/to/file.py:Name``."""
        with self._lock:
            if name in self._loaded:
                return self._loaded[name]
            if name not in self._targets and ".py:" in name:
                found = _load_from_file(name)
            else:
                self._see_plugins()
                if name not in self._targets:
                    raise UnknownNameError(self.kind, name, self._targets)
                found = self._load(name, self._targets[name])
            problem = self._check(found) if self._check else None
            if problem:
                raise PluginError(f"{self.kind} '{name}' does not keep its contract: {problem}")
            self._loaded[name] = found  # type: ignore[assignment]
            return self._loaded[name]

    def _load(self, name: str, target: str | EntryPoint) -> object:
        if isinstance(target, EntryPoint):
            try:
                return target.load()
            except Exception as error:
                raise PluginError(
                    f"{self.kind} '{name}' of {self._origin_of(target)} can't be loaded: "
                    f"{type(error).__name__}: {error}"
                ) from error
        module, _, attribute = target.partition(":")
        return getattr(importlib.import_module(module), attribute)


def _load_from_file(reference: str) -> object:
    """Import ``path/to/file.py:Name`` under a module name that is unique to the path."""
    file_part, _, attribute = reference.rpartition(":")
    path = Path(file_part).expanduser().resolve()
    if not path.is_file():
        raise PluginError(f"no such plug-in file: {file_part}")
    module_name = f"unembed_file_{hashlib.sha256(str(path).encode()).hexdigest()[:16]}"
    module = sys.modules.get(module_name)
    if module is None:
        spec = importlib.util.spec_from_file_location(module_name, path)
        if spec is None or spec.loader is None:
            raise PluginError(f"can't import {file_part}")
        module = importlib.util.module_from_spec(spec)
        sys.modules[module_name] = module
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            del sys.modules[module_name]
            raise PluginError(f"{file_part} can't be loaded: {type(error).__name__}: {error}") from error
    if not hasattr(module, attribute):
        public = [n for n in vars(module) if not n.startswith("_")]
        raise UnknownNameError(f"name in {path.name}", attribute, public)
    found: object = getattr(module, attribute)
    return found
