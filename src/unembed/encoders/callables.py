"""Any Python callable, or object with ``encode``, as an encoder."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from unembed.encoders.base import DenseVectors, EncoderCard, first_unusable
from unembed.errors import DataError, PluginError, UnknownNameError, UsageError, fenced
from unembed.params import Parametrised
from unembed.registry import Registry, source_digest


class CallableEncoder(Parametrised):
    """Vectors from ``function(texts)``.

    Args:
        function: a callable, an object with ``encode``, or where to find one: ``module:name`` or
            ``path/to/file.py:name``. A class is made without arguments. It receives a list of texts, and
            ``role`` if it takes a parameter of that name.
        name: shown in reports.
        version: what identifies the function. Without it there is no way to know that it still gives the same
            vectors, so they are not cached.
        normalise: unit L2 norm.
        batch_size: texts per call; all at once unless given.
    """

    shorthand: ClassVar[str] = "function"

    function: Any = field(kw_only=False)
    name: str | None = None
    version: str | None = None
    normalise: bool = False
    batch_size: int | None = None

    @cached_property
    def card(self) -> EncoderCard:
        """What this encoder is; asks for one vector to learn the dimension."""
        source = source_digest(self._call, self.function if isinstance(self.function, str) else "")
        shown = self.name or getattr(self._call, "__qualname__", type(self._call).__name__)
        return EncoderCard(
            name=f"callable:{shown}",
            family="callable",
            digest=None if self.version is None else f"{shown}@{self.version}",
            dimension=int(self.encode(["dimension"]).shape[1]),
            normalised=self.normalise,
            revision=self.version,
            options=() if source is None else (("source", source),),
        )

    def encode(self, texts: Sequence[str], *, role: str = "document") -> DenseVectors:
        """One float32 vector per text, in order; what the function returns is checked."""
        if self.batch_size is not None and self.batch_size < 1:
            raise UsageError("batch_size must be at least 1")
        if not len(texts):
            return np.empty((0, self.card.dimension), dtype=np.float32)
        size = self.batch_size or len(texts)
        more = {"role": role} if self._takes_role else {}
        parts: list[DenseVectors] = []
        for start in range(0, len(texts), size):
            asked = list(texts[start : start + size])
            with fenced("the callable"):
                found = self._call(asked, **more)
            part = checked_vectors(found, len(asked), "the callable", first_row=start)
            if parts and part.shape[1] != parts[0].shape[1]:
                raise DataError(f"the callable returned {parts[0].shape[1]} and later {part.shape[1]} dimensions")
            parts.append(part)
        return unit_norm(np.concatenate(parts)) if self.normalise else np.concatenate(parts)

    @cached_property
    def _call(self) -> Any:
        found = _find(self.function) if isinstance(self.function, str) else self.function
        if inspect.isclass(found):
            try:
                with fenced(found.__name__):
                    found = found()
            except TypeError as error:
                raise UsageError(f"{found.__name__} can't be made without arguments: {error}") from error
        method = getattr(found, "encode", None)
        if callable(method):
            return method
        if not callable(found):
            raise UsageError(f"{type(found).__name__} is neither a callable nor an object with encode")
        return found

    @cached_property
    def _takes_role(self) -> bool:
        try:
            return "role" in inspect.signature(self._call).parameters
        except (TypeError, ValueError):  # some built-in callables have no signature
            return False


def checked_vectors(found: Any, count: int, source: str, *, first_row: int = 0) -> DenseVectors:
    """Foreign output as float32 [count, d], or an error that says what is wrong with it."""
    if hasattr(found, "detach"):
        found = found.detach().cpu().float().numpy()
    try:
        array = np.asarray(found)
    except ValueError:
        raise DataError(f"{source} returned vectors of different lengths") from None
    if array.dtype.kind not in "fiu":
        raise DataError(f"{source} returned {array.dtype} values: expected real numbers")
    if array.ndim != 2 or array.shape[1] == 0:
        raise DataError(f"{source} returned an array of shape {array.shape}: expected ({count}, dimension)")
    if len(array) != count:
        raise DataError(f"{source} returned {len(array)} vectors for {count} texts")
    with np.errstate(over="ignore"):
        array = np.ascontiguousarray(array, dtype=np.float32)
    if (bad := first_unusable(array)) is not None:
        raise DataError(f"{source} returned for row {first_row + bad[0]}: {bad[1]}")
    return array


def unit_norm(vectors: DenseVectors) -> DenseVectors:
    """Rows scaled to length one; rows of zeros stay."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: DenseVectors = (vectors / np.where(norms > 0, norms, np.float32(1))).astype(np.float32, copy=False)
    return scaled


def _find(reference: str) -> Any:
    place, colon, attribute = reference.rpartition(":")
    if not colon or not place or not attribute:
        raise UsageError(f"'{reference}' does not name a callable: write module:name or path/to/file.py:name")
    if place.endswith(".py"):
        files: Registry[Any] = Registry("callable", {})
        return files.get(f"{Path(place)}:{attribute}")
    try:
        with fenced(f"module '{place}'"):
            module = importlib.import_module(place)
    except ImportError as error:
        raise PluginError(f"module '{place}' can't be imported: {error}") from error
    if not hasattr(module, attribute):
        raise UnknownNameError(f"name in {place}", attribute, [n for n in vars(module) if n[0] != "_"])
    return getattr(module, attribute)
