"""One lazy registry for everything that has a name: encoders, games, attacks, defenses, sources, tasks.

An entry is a ``module:attr`` string (built in), an entry point of an installed package, or
``path/to/file.py:Name`` typed by the user. Nothing is imported before it is asked for, so
listing names costs nothing, and a broken plug-in harms only those who use it.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import CodeType, FunctionType
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
        self._broken: dict[str, str] = {}
        #: Installed plug-ins that can't be used, with the cause.
        self.left_out: dict[str, str] = {}
        self._lock = threading.RLock()
        self._plugins_seen = group is None

    def _see_plugins(self) -> None:
        with self._lock:
            if self._plugins_seen:
                return
            self._plugins_seen = True
            for point in entry_points(group=self.group or ""):
                if point.name in self._targets:
                    taken = f"the name is already taken by {self._origin_of(self._targets[point.name])}"
                    self._leave_out(point, taken)
                    continue
                self._targets[point.name] = point

    def _leave_out(self, point: EntryPoint, cause: str) -> None:
        """Take note of a plug-in that can't be used, and warn about it once."""
        name = f"{point.name} ({point.dist.name if point.dist else point.value})"
        if name not in self.left_out:
            self.left_out[name] = cause
            warnings.warn(f"the plug-in {self.kind} {name} is left out: {cause}", UnembedWarning, stacklevel=4)

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

    def registered(self) -> list[str]:
        """The same in the order of registration."""
        self._see_plugins()
        return list(self._targets)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __contains__(self, name: object) -> bool:
        self._see_plugins()
        return name in self._targets or name in self._loaded

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

    @contextmanager
    def lending(self, name: str, found: object) -> Iterator[None]:
        """An object that is found under a name while this lasts, as one typed into a notebook; not listed."""
        with self._lock:
            if name in self and self.get(name) is not found:
                raise PluginError(
                    f"{self.kind} '{name}' is already registered by {self.origin(name)}: give yours another name"
                )
            lent = name not in self._loaded
            self._loaded[name] = self._checked(name, found)
        try:
            yield
        finally:
            if lent:
                del self._loaded[name]

    def get(self, name: str) -> T:
        """The object behind a name or behind ``path/to/file.py:Name``."""
        with self._lock:
            if name in self._loaded:
                return self._loaded[name]
            if name in self._broken:
                raise PluginError(self._broken[name])
            if name not in self._targets and ".py:" in name:
                # Not kept under its name: the file may be edited, and its next version is another plug-in.
                return self._checked(name, _load_from_file(name))
            self._see_plugins()
            if name not in self._targets:
                raise UnknownNameError(self.kind, name, self._targets)
            target = self._targets[name]
            if isinstance(target, str):
                module, _, attribute = target.partition(":")
                return self._checked(name, getattr(importlib.import_module(module), attribute))
            try:
                return self._checked(name, self._load(name, target))
            except PluginError as error:
                self._broken[name] = str(error)
                raise

    def working(self) -> dict[str, T]:
        """Everything that can be loaded, by name; installed plug-ins that can't be are left out with a warning."""
        found: dict[str, T] = {}
        for name in self.names():
            try:
                found[name] = self.get(name)
            except PluginError as error:
                target = self._targets[name]
                if isinstance(target, str):
                    raise
                self._leave_out(target, str(error))
        return found

    def _checked(self, name: str, found: object) -> T:
        try:
            problem = self._check(found) if self._check else None
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            problem = f"looking at it raised {_say(error)}"
        if problem:
            raise PluginError(f"{self.kind} '{name}' does not keep its contract: {problem}")
        kept: T = found  # type: ignore[assignment]
        if name in self._targets:
            self._loaded[name] = kept
        return kept

    def _load(self, name: str, target: EntryPoint) -> object:
        try:
            return target.load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            message = f"{self.kind} '{name}' of {self._origin_of(target)} can't be loaded: {_say(error)}"
            raise PluginError(message) from error


def _say(error: BaseException) -> str:
    """Type and message in one line; it can't hold text of a corpus, because none has been read yet."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def source_digest(found: object, reference: str = "") -> str | None:
    """A digest of the files that define a plug-in: a class with its bases, or a function, and the file named.

    None for what comes with unembed, where a version tells. An edited file is another plug-in, whose results
    must not be taken for those of the old one.
    """
    files = {Path(reference.rpartition(":")[0]).expanduser()} if ".py:" in reference else set()
    typed: set[str] = set()
    for part in found.__mro__ if isinstance(found, type) else (found,):
        room = str(getattr(part, "__module__", "")).partition(".")[0]
        if room == "unembed" or room in sys.stdlib_module_names:
            continue
        try:
            file = inspect.getsourcefile(part)  # type: ignore[arg-type]
        except (TypeError, OSError):  # compiled, or typed into an interpreter
            typed |= _typed_in(part)
            continue
        typed |= _typed_in(part, beside=True)
        files |= {Path(file)} if file else set()
    digests = sorted({hashlib.sha256(file.read_bytes()).hexdigest() for file in files if file.is_file()} | typed)
    return hashlib.sha256("".join(digests).encode()).hexdigest() if digests else None


def _typed_in(part: object, *, beside: bool = False) -> set[str]:
    """A digest of the methods of a class that no file holds, as one typed into a notebook; none where a file does.

    ``beside``: there is a file, but the class may have been typed beside it, as into a session that a script opened.
    """

    def told(held: object) -> object:
        if isinstance(held, CodeType):
            return [held.co_name, held.co_code.hex(), held.co_names, [told(c) for c in held.co_consts]]
        return sorted(map(repr, held)) if isinstance(held, frozenset) else repr(held)

    held = {name: inspect.unwrap(m) for name, m in vars(part).items() if callable(m)} if inspect.isclass(part) else {}
    own = {name: m.__code__ for name, m in held.items() if isinstance(m, FunctionType)}
    if beside:  # what dataclasses write has no file either
        own = {n: c for n, c in own.items() if c.co_filename != "<string>" and not Path(c.co_filename).is_file()}
    codes = {name: told(code) for name, code in own.items()}
    return {hashlib.sha256(repr(sorted(codes.items())).encode()).hexdigest()} if codes else set()


def _load_from_file(reference: str) -> object:
    """Import ``path/to/file.py:Name`` under a module name that is unique to the path and what stands in it."""
    file_part, _, attribute = reference.rpartition(":")
    path = Path(file_part).expanduser().resolve()
    if not path.is_file():
        raise PluginError(f"no such plug-in file: {file_part}")
    digest = hashlib.sha256(str(path).encode() + b"\x00" + path.read_bytes()).hexdigest()
    module_name = f"unembed_file_{digest[:16]}"
    module = sys.modules.get(module_name)
    if module is None:
        spec = importlib.util.spec_from_file_location(module_name, path)
        if spec is None or spec.loader is None:
            raise PluginError(f"can't import {file_part}")
        module = importlib.util.module_from_spec(spec)
        sys.modules[module_name] = module
        try:
            spec.loader.exec_module(module)
        except KeyboardInterrupt:
            del sys.modules[module_name]
            raise
        except BaseException as error:
            del sys.modules[module_name]
            raise PluginError(f"{file_part} can't be loaded: {_say(error)}") from error
    if not hasattr(module, attribute):
        public = [n for n in vars(module) if not n.startswith("_")]
        raise UnknownNameError(f"name in {path.name}", attribute, public)
    found: object = getattr(module, attribute)
    return found
