"""Models packed as 8-bit codes with one half-precision scale for every 64 columns, expanded into plain folders.

A third of the size of float32 weights, for machines that can't fetch from a hub. A packed folder holds
``*.int8.safetensors`` beside the tokenizer and the configuration; ``SHA256SUMS`` beside it names every file.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from unembed.encoders.digests import file_digest
from unembed.errors import DataError, MissingExtraError

GROUP = 64
PACKED = ".int8.safetensors"


def is_packed(folder: Path) -> bool:
    """Whether a folder holds packed weights."""
    return any(folder.glob(f"*{PACKED}"))


def unpack(packed: Path, into: Path) -> Path:
    """The plain folder of a packed model under ``into``; made once, whole or not at all."""
    final = into / packed.name
    if final.is_dir():
        return final
    files = sorted(p for p in packed.rglob("*") if p.is_file())
    _check_digests(packed, files)
    try:
        from safetensors.numpy import save_file
    except ImportError as error:
        raise MissingExtraError("a packed model", "neural") from error
    into.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{packed.name}-", dir=into))
    try:
        weights = [p for p in files if p.name.endswith(PACKED)]
        save_file(_expanded(weights), work / "model.safetensors", metadata={"format": "pt"})
        for file in files:
            if file not in weights:
                target = work / file.relative_to(packed)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)
        work.chmod(0o755)
        try:
            work.replace(final)
        except OSError:
            if not final.is_dir():  # else another process was quicker
                raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return final


def _check_digests(packed: Path, files: list[Path]) -> None:
    sums = packed.parent / "SHA256SUMS"
    if not sums.is_file():
        raise DataError(f"{sums} is missing: a packed model is only opened when its digests can be checked")
    lines = (line.split(maxsplit=1) for line in sums.read_text(encoding="utf-8").splitlines() if line.strip())
    wanted = {name.lstrip("*"): digest for digest, name in lines}
    for file in files:
        name = file.relative_to(packed.parent).as_posix()
        if wanted.get(name) != file_digest(file):
            raise DataError(f"{file} is not the file that {sums} names (SHA-256 differs): not opened")


def _expanded(weights: list[Path]) -> dict[str, Any]:
    import numpy as np
    from safetensors import safe_open

    tensors: dict[str, Any] = {}
    for part in weights:
        with safe_open(part, framework="np") as held:
            names = set(held.keys())
            for name in sorted(names):
                if name.endswith(".scale"):
                    continue
                value = held.get_tensor(name)
                if f"{name}.scale" in names:
                    scale = held.get_tensor(f"{name}.scale").astype(np.float32)
                    value = value.astype(np.float32) * np.repeat(scale, GROUP, axis=1)
                tensors[name] = np.ascontiguousarray(value)
    return tensors
