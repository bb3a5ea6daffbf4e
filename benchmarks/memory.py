"""Memory of an audit of a million stored vectors (1,000,000 × 384 floats: 1.43 GiB on disk).

    python benchmarks/memory.py [--rows 1000000]

Makes texts and vectors (means of random word vectors plus noise) in a temporary folder, audits them in a
process of its own, once with the default sample and once with every row in use, and prints the peak
resident memory. One epoch of training is enough: memory does not grow with epochs.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

DIMENSION = 384
WORDS = 3000
CHUNK = 50_000
FEW = ["--set", "inversion/mlc.epochs=1", "--set", "inversion/mlp.epochs=1", "--set", "inversion/mlp.hidden=256"]


def make(folder: Path, rows: int) -> tuple[Path, Path]:
    """A text file and a matching .npy file, written in chunks."""
    rng = np.random.default_rng(0)
    table = rng.standard_normal((WORDS, DIMENSION)).astype(np.float32)
    names = np.array([f"word{i}" for i in range(WORDS)])
    texts, vectors = folder / "texts.txt", folder / "vectors.npy"
    out = np.lib.format.open_memmap(vectors, mode="w+", dtype=np.float32, shape=(rows, DIMENSION))
    with texts.open("w", encoding="utf-8") as file:
        for start in range(0, rows, CHUNK):
            count = min(CHUNK, rows - start)
            drawn = rng.integers(0, WORDS, size=(count, 9))
            noise = 0.1 * rng.standard_normal((count, DIMENSION), dtype=np.float32)
            out[start : start + count] = table[drawn].mean(axis=1) + noise
            file.writelines(" ".join(names[row]) + "\n" for row in drawn)
    out.flush()
    return texts, vectors


def peak_of(command: list[str]) -> tuple[int, float, float]:
    """Exit code, peak resident memory in GiB, and seconds of a process."""
    started = time.perf_counter()
    pid = os.spawnv(os.P_NOWAIT, command[0], command)
    _, status, usage = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_maxrss / 2**20, time.perf_counter() - started


def main() -> int:
    """Both audits, one line each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--limit", type=float, default=3.0, help="GiB; more is a failure")
    options = parser.parse_args()
    worst, failed = 0.0, False
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        texts, vectors = make(folder, options.rows)
        size = vectors.stat().st_size / 2**30
        print(f"{options.rows:,} × {DIMENSION} vectors, {size:.2f} GiB on disk")
        for name, extra in (("default sample", []), ("every row", ["--max-texts", str(options.rows), *FEW])):
            command = [sys.executable, "-m", "unembed", "audit", "--texts", str(texts), "--vectors", str(vectors)]
            command += ["--no-cache", "--quiet", "--out", str(folder / name.replace(" ", "-")), *extra]
            code, peak, seconds = peak_of(command)
            print(f"{name}: exit code {code}, peak resident memory {peak:.2f} GiB, {seconds:.0f} s", flush=True)
            worst, failed = max(worst, peak), failed or code != 0
    print(f"worst {worst:.2f} GiB of {options.limit:.1f} GiB allowed")
    return int(failed or worst > options.limit)


if __name__ == "__main__":
    sys.exit(main())
