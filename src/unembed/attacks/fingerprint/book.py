"""The file of known encoders: JSON with arrays as base64, so that reading it can run nothing."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from unembed.attacks.fingerprint.directions import SHAPES, columns_of
from unembed.attacks.fingerprint.signature import Level, Signature
from unembed.errors import DataError, UsageError
from unembed.files import parsing, read_json

#: Goes up when signatures change their meaning; files of another version are refused.
FORMAT = 1
SHIPPED = "known-encoders.json"


@dataclass(frozen=True)
class SignatureBook:
    """Signatures by name."""

    signatures: tuple[Signature, ...] = ()

    @classmethod
    def shipped(cls) -> SignatureBook:
        """Those that come with the package."""
        with resources.as_file(resources.files("unembed.attacks.fingerprint").joinpath(SHIPPED)) as path:
            return cls.read(path)

    @classmethod
    def read(cls, path: Path) -> SignatureBook:
        """Those of a file."""
        document = read_json(path, "file of signatures", "make one with unembed fingerprint --learn NAME")
        with parsing(f"{path} is not a file of signatures, or is damaged"):
            if document["format"] != FORMAT:
                found = str(document["format"])[:20]
                raise DataError(f"{path} has signatures of format {found}, not {FORMAT}: learn them again")
            return cls(tuple(_read_one(entry) for entry in document["signatures"]))

    def text(self) -> str:
        """The file's content."""
        entries = [_written(s) for s in sorted(self.signatures, key=lambda s: (s.dimension, s.name))]
        return json.dumps({"format": FORMAT, "signatures": entries}, indent=1) + "\n"

    def names(self) -> list[str]:
        """All names."""
        return [s.name for s in self.signatures]

    def added(self, signature: Signature, *, replace: bool = False) -> SignatureBook:
        """The book with one more; a taken name is refused unless it is to be replaced."""
        if signature.name in self.names() and not replace:
            raise UsageError(f"there is a signature '{signature.name}' already: choose another name, or --replace it")
        return SignatureBook((*(s for s in self.signatures if s.name != signature.name), signature))

    def without(self, names: Sequence[str]) -> SignatureBook:
        """The book without some."""
        return SignatureBook(tuple(s for s in self.signatures if s.name not in names))

    def of_dimension(self, dimension: int) -> list[Signature]:
        """Candidates: who makes vectors of this size."""
        return [s for s in self.signatures if s.dimension == dimension]


def _written(signature: Signature) -> dict[str, Any]:
    return {
        "name": signature.name,
        "dimension": signature.dimension,
        "mean": _packed(signature.mean, "<f2"),
        "axes": _packed(signature.axes, "<f2"),
        "rest": _packed(signature.rest, "<f4"),
        "shape_mean": [float(v) for v in signature.shape_mean],
        "shape_deviation": [float(v) for v in signature.shape_deviation],
        "own": vars(signature.own),
        "strangers": [vars(level) for level in signature.strangers],
        "facts": signature.facts,
    }


def _read_one(entry: dict[str, Any]) -> Signature:
    dimension = int(entry["dimension"])
    columns = columns_of(dimension)
    axes = _unpacked(entry["axes"], "<f2")
    signature = Signature(
        str(entry["name"]),
        dimension,
        _unpacked(entry["mean"], "<f2"),
        axes.reshape(-1, columns),
        _unpacked(entry["rest"], "<f4"),
        np.array(entry["shape_mean"], dtype=np.float64),
        np.array(entry["shape_deviation"], dtype=np.float64),
        Level(**entry["own"]),
        tuple(Level(**level) for level in entry["strangers"]),
        dict(entry["facts"]),
    )
    sizes = {len(signature.mean), len(signature.rest)}
    shaped = {len(signature.shape_mean), len(signature.shape_deviation)}
    positive = (signature.rest > 0).all() and (signature.shape_deviation > 0).all()
    if sizes != {columns} or shaped != {len(SHAPES)} or not positive or not signature.strangers:
        raise ValueError("a signature's parts do not fit together")
    return signature


def _packed(values: Any, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode("ascii")


def _unpacked(text: str, kind: str) -> Any:
    values = np.frombuffer(base64.b64decode(text, validate=True), dtype=kind).astype(np.float64)
    if not np.isfinite(values).all():
        raise ValueError("not finite")
    return values
