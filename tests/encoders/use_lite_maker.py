"""A tiny Universal Sentence Encoder lite with random weights, written as the published files are."""

import json
import tarfile

import numpy as np

from unembed.encoders.use_lite_files import HEADS_NAME, weight_names

PIECES = [
    *(("�", 0), ("<s>", 0), ("</s>", 0), ("extra_1", 0), ("extra_2", 0), ("extra_3", 0)),
    *((c, -8.0 - i / 100) for i, c in enumerate("abcdefghijklmnopqrstuvwxyz")),
    *((f"▁{c}", -7.0) for c in "at"),
    ("▁", -5.0),
    ("▁the", -2.0),
    ("▁sea", -4.0),
    ("▁red", -4.0),
    ("s", -3.0),
    ("ing", -3.5),
    (":", None),
]
WIDTH, WIDE, INNER, HEADS = 8, 12, 20, 2


def shapes(rows):
    """Short name to the shape that the graph has it in."""
    found = {
        "words": (rows, WIDTH),
        "frequencies": (1, WIDTH // 2),
        "widen.kernel": (WIDTH, WIDE),
        "widen.bias": (WIDE,),
    }
    found |= {"out.kernel": (WIDE, WIDE), "out.bias": (WIDE,)}
    for n, width in ((0, WIDTH), (1, WIDE)):
        found |= {f"{n}.attend.norm.{p}": (width,) for p in ("scale", "bias")}
        found |= {f"{n}.feed.norm.{p}": (WIDE,) for p in ("scale", "bias")}
        found |= {f"{n}.qkv.kernel": (1, 1, width, 3 * width), f"{n}.qkv.bias": (3 * width,)}
        found |= {f"{n}.attend.out.kernel": (1, 1, width, WIDE), f"{n}.attend.out.bias": (WIDE,)}
        found |= {f"{n}.feed.in.kernel": (WIDE, INNER), f"{n}.feed.in.bias": (INNER,)}
        found |= {f"{n}.feed.out.kernel": (INNER, WIDE), f"{n}.feed.out.bias": (WIDE,)}
    return found


def write_model(folder, seed=0, leave_out=()):
    """``model.json``, two shards cut through the middle of a weight, ``vocab.json``; the arrays as written."""
    rng = np.random.default_rng(seed)
    names = weight_names()
    arrays = {
        names[short]: (rng.standard_normal(shape) * 0.5).astype(np.float32)
        for short, shape in shapes(len(PIECES) + 2).items()
        if short not in leave_out
    }
    arrays[HEADS_NAME] = np.array(HEADS, dtype=np.int32)
    raw = b"".join(array.tobytes() for array in arrays.values())
    folder.mkdir(parents=True, exist_ok=True)
    cut = len(raw) // 2 + 1
    for number, part in enumerate((raw[:cut], raw[cut:]), start=1):
        (folder / f"group1-shard{number}of2").write_bytes(part)
    weights = [{"name": n, "shape": list(a.shape), "dtype": a.dtype.name} for n, a in arrays.items()]
    paths = ["group1-shard1of2", "group1-shard2of2"]
    manifest = {"modelTopology": {}, "weightsManifest": [{"paths": paths, "weights": weights}]}
    (folder / "model.json").write_text(json.dumps(manifest), encoding="utf-8")
    (folder / "vocab.json").write_text(json.dumps(PIECES, ensure_ascii=False), encoding="utf-8")
    return {short: arrays[name] for short, name in names.items() if short not in leave_out}


def pack(folder, path):
    """The folder as a package file."""
    with tarfile.open(path, "w:gz") as archive:
        archive.add(folder, arcname="package/dist")
    return path
