"""The published files of Universal Sentence Encoder lite: a TensorFlow.js graph, read without TensorFlow.

``model.json`` lists the weights with shape and type, shards hold them one after another, ``vocab.json`` holds the
word pieces. They lie in a folder, in a package's ``dist`` folder, or inside the package's ``.tgz``.
"""

from __future__ import annotations

import hashlib
import json
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unembed.errors import DataError, UsageError
from unembed.files import read_bytes

_INNER_FOLDERS = ("", "dist/", "package/dist/")
_TYPES = {"float32": np.float32, "int32": np.int32}
_CODE = "module_apply_default/Encoder_en/KonaTransformer/Encode"
_RAW = "module/Encoder_en"
_LAYER = "TransformerLayer"
#: Several times the size of the published files.
_MAX_FILE = 256 << 20


@dataclass(frozen=True)
class UseLiteFiles:
    """Everything the encoder needs of its files."""

    weights: dict[str, NDArray[np.float32]]
    """Arrays under the short names of :func:`weight_names`."""
    heads: int
    pieces: list[tuple[str, float]]
    digest: str
    """SHA-256 over the weight bytes and the word pieces, whatever they were packed in."""


def weight_names() -> dict[str, str]:
    """Short name to the name in the graph, for every weight that is used."""
    names = {
        "words": "module/Embeddings_en",
        "frequencies": f"{_CODE}/TransformerStack/Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1",
        "widen.kernel": f"{_CODE}/Layer_0/{_LAYER}/dense/kernel/ConcatPartitions/concat",
        "widen.bias": f"{_CODE}/Layer_0/{_LAYER}/dense/bias/ConcatPartitions/concat",
        "out.kernel": f"{_RAW}/hidden_layers/tanh_layer_0/weights",
        "out.bias": f"{_RAW}/hidden_layers/tanh_layer_0/bias",
    }
    for n in (0, 1):
        layer, raw = f"{_CODE}/Layer_{n}/{_LAYER}", f"{_RAW}/KonaTransformer/Encode/Layer_{n}/{_LAYER}"
        for short, path in (("attend", layer), ("feed", f"{layer}/FFN")):
            for part in ("scale", "bias"):
                norm = f"{path}/layer_prepostprocess/layer_norm/layer_norm_{part}/ConcatPartitions/concat"
                names[f"{n}.{short}.norm.{part}"] = norm
        for short, path in (("qkv", "qkv_transform_single"), ("attend.out", "output_transform_single")):
            names[f"{n}.{short}.kernel"] = f"{raw}/MultiheadAttention/{path}/kernel/part_0"
            names[f"{n}.{short}.bias"] = f"{layer}/MultiheadAttention/{path}/bias/ConcatPartitions/concat"
        for short, path in (("feed.in", "conv1"), ("feed.out", "conv2")):
            names[f"{n}.{short}.kernel"] = f"{_CODE}/TransformerStack/Layer_{n}/{_LAYER}/FFN/{path}/Tensordot/Reshape_1"
            names[f"{n}.{short}.bias"] = f"{layer}/FFN/{path}/bias/ConcatPartitions/concat"
    return names


#: The graph's constant that says how many heads attention has.
HEADS_NAME = (
    f"{_CODE}/TransformerStack/Layer_1/{_LAYER}/MultiheadAttention/split_heads/split_last_dimension/Reshape/shape/2"
)


def read_use_lite(place: str | Path) -> UseLiteFiles:
    """Read a folder or a ``.tgz``; what is missing or damaged is named."""
    path = Path(place).expanduser()
    if path.is_dir():
        for inner in _INNER_FOLDERS:
            if (path / inner / "model.json").is_file():
                return _parse(partial(_beside, path / inner), path)
        raise DataError(f"{path} holds no model.json, neither itself nor in dist/")
    if not path.is_file():
        raise UsageError(f"no such folder or package: {path}")
    try:
        with tarfile.open(path, "r:*") as archive:
            return _parse(_members(archive), path)
    except (tarfile.TarError, EOFError):
        raise DataError(f"{path} is not a readable .tgz: fetch it again, or give the unpacked folder") from None


def _beside(folder: Path, name: str) -> bytes:
    return read_bytes(folder / name, "model file", limit=_MAX_FILE)


def _members(archive: tarfile.TarFile) -> Callable[[str], bytes]:
    """Read files beside the archive's ``model.json``, into memory only."""
    known = {member.name.removeprefix("./"): member for member in archive.getmembers() if member.isfile()}
    inner = next((i for i in _INNER_FOLDERS if f"{i}model.json" in known), "")

    def read(name: str) -> bytes:
        member = known.get(inner + name)
        stream = archive.extractfile(member) if member else None
        if member is None or stream is None:
            raise FileNotFoundError(name)
        if member.size > _MAX_FILE:
            raise DataError(f"'{name}' in the package is larger than {_MAX_FILE >> 20} MiB: not unpacked")
        return stream.read()

    return read


def _parse(read: Callable[[str], bytes], place: Path) -> UseLiteFiles:
    try:
        manifest = json.loads(read("model.json"))["weightsManifest"]
        pieces = [(str(piece), float(score or 0.0)) for piece, score in json.loads(read("vocab.json"))]
        arrays: dict[str, NDArray[Any]] = {}
        total = hashlib.sha256(json.dumps(pieces).encode())
        for group in manifest:
            raw = b"".join(read(Path(name).name) for name in group["paths"])
            total.update(raw)
            start = 0
            for entry in group["weights"]:
                size = int(np.prod(entry["shape"], dtype=np.int64))
                found = np.frombuffer(raw, dtype=_TYPES[entry["dtype"]], count=size, offset=start)
                arrays[entry["name"]] = found.reshape(entry["shape"])
                start += found.nbytes
        weights = {
            short: np.array(arrays[name], dtype=np.float32).reshape([s for s in arrays[name].shape if s > 1])
            for short, name in weight_names().items()
        }
        heads = int(arrays[HEADS_NAME])
    except OSError as error:
        raise DataError(f"{place}: '{error.filename or error}' can't be read") from None
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, OverflowError) as error:
        what = f"lacks {error}" if isinstance(error, KeyError) else "is damaged"
        raise DataError(f"{place} {what}: expected Universal Sentence Encoder lite as a TensorFlow.js graph") from None
    if len(weights["words"]) < len(pieces):
        raise DataError(f"{place}: {len(pieces)} word pieces but {len(weights['words'])} rows of word vectors")
    return UseLiteFiles(weights, heads, pieces, total.hexdigest())
