"""SHA-256 digests of model folders: the identity of an encoder is what its files hold, not their names."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

#: What decides a model's vectors: weights, shard indexes, configuration, tokenizer.
MODEL_FILES = (
    "*.safetensors",
    "*.safetensors.index.json",
    "pytorch_model*.bin",
    "pytorch_model*.bin.index.json",
    "config.json",
    "tokenizer*.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab*.txt",
    "vocab*.json",
    "merges.txt",
    "*.model",
)

_known: dict[tuple[str, int, int], str] = {}


def file_digest(path: Path) -> str:
    """The SHA-256 of a file; read again in this process only if size or modification time changed."""
    status = path.stat()
    key = (str(path.resolve()), status.st_size, status.st_mtime_ns)
    if key not in _known:
        with path.open("rb") as stream:
            _known[key] = hashlib.file_digest(stream, "sha256").hexdigest()
    return _known[key]


def folder_digest(folder: Path, patterns: Iterable[str] = MODEL_FILES, *, recursive: bool = False) -> str:
    """One digest for all matching files of a folder, with their names."""
    found = {p for pattern in patterns for p in (folder.rglob(pattern) if recursive else folder.glob(pattern))}
    total = hashlib.sha256()
    for path in sorted(p for p in found if p.is_file()):
        total.update(f"{path.relative_to(folder).as_posix()}\0{file_digest(path)}\n".encode())
    return total.hexdigest()
