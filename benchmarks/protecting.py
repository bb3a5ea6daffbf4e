"""A million stored vectors (1,000,000 × 384 floats: 1.43 GiB) through every defense, from a file into a file.

    python benchmarks/protecting.py [--rows 1000000] [--folder FOLDER] [--only int8]

Each defense is fitted on a part of the vectors and saved; a process of its own then loads it, streams the file through
it and prints its processor time beside that of its limit: writing the same file block by block with nothing but a copy,
the defense's matrix products or as many random numbers in between. The peak resident memory is that of the whole
process (Linux).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

import numpy as np
from stored_vectors import DIMENSION

from defenses import MEASURED, fitted, limit_of
from unembed.defenses.saving import load_chain, save_chain
from unembed.defenses.streaming import block_rows, defend_file
from unembed.encoders.vector_files import open_vectors

FITTED_ON = 100_000


def make(path: Path, rows: int) -> None:
    """Normal vectors, written in chunks."""
    rng = np.random.default_rng(0)
    out = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(rows, DIMENSION))
    for start in range(0, rows, FITTED_ON):
        part = out[start : start + FITTED_ON]
        part[:] = rng.standard_normal(part.shape, dtype=np.float32)
    out.flush()


def copied(source: Path, out: Path, least: Callable[[np.ndarray], np.ndarray]) -> None:
    """The file read and written block by block, and whatever else no defense of this kind can do without."""
    vectors = np.load(source, mmap_mode="r")
    step = block_rows(DIMENSION)
    with out.open("wb") as file:
        for start in range(0, len(vectors), step):
            file.write(least(vectors[start : start + step]).data)
        file.flush()
        os.fsync(file.fileno())


def one(name: str, folder: Path, *, limit: bool) -> None:
    """Stream through one defense, or its limit, and print the processor time and the peak memory of this process."""
    source, out = folder / "vectors.npy", folder / "out.npy"
    least, chain, table = limit_of(name), load_chain(folder / name), open_vectors(source)
    began = time.process_time()
    if limit:
        copied(source, out, least)
    else:
        defend_file(chain, table, out)
    spent = time.process_time() - began
    out.unlink()
    # Not from getrusage: what that says begins with the memory of the process that started this one.
    (peak,) = (line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line)
    print(json.dumps({"seconds": spent, "peak": int(peak) / 2**20}))


def main() -> int:
    """One line for each defense."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, help="where files of some GiB may lie for a while")
    parser.add_argument("--only", default="", help="one defense")
    parser.add_argument("--turns", type=int, default=5, help="of which the fastest counts")
    parser.add_argument("--most", type=float, default=2.0, help="GiB; more is a failure")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--limit", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(options.one, options.folder, limit=options.limit)
        return 0
    worst = 0.0
    with tempfile.TemporaryDirectory(dir=options.folder) as place:
        folder = Path(place)
        make(folder / "vectors.npy", options.rows)
        some = np.array(np.load(folder / "vectors.npy", mmap_mode="r")[:FITTED_ON])
        for name in [options.only] if options.only else MEASURED:
            save_chain(fitted(name, some), folder / name)
            turns = [[run(name, folder, *extra) for extra in ((), ("--limit",))] for _ in range(options.turns)]
            # What the kernel takes to write a file differs by seconds from turn to turn: the least counts, of both.
            ours, theirs = (min(turn[side]["seconds"] for turn in turns) for side in (0, 1))
            peak = max(turn[0]["peak"] for turn in turns)
            worst = max(worst, peak)
            print(
                f"{name}: {ours:.1f} s, limit {theirs:.1f} s, ratio {theirs / ours:.2f}, "
                f"peak resident memory {peak:.2f} GiB",
                flush=True,
            )
    print(f"worst {worst:.2f} GiB of {options.most:.1f} GiB allowed")
    return int(worst > options.most)


def run(name: str, folder: Path, *extra: str) -> dict[str, float]:
    """What a process of its own printed."""
    command = [sys.executable, __file__, "--one", name, "--folder", str(folder), *extra]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    found: dict[str, float] = json.loads(told)
    return found


if __name__ == "__main__":
    sys.exit(main())
