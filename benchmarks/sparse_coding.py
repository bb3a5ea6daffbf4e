"""Sparse coding (Song eq. 7): our solver against the paper's procedure and against the limit, in one run.

    python benchmarks/sparse_coding.py [--targets 4096] [--device cpu] [--matrix random] [--penalty 0.1]

The word matrix is all-MiniLM-L6-v2's own (30,522 x 384) and the targets are means of the word vectors of invented
messages; ``--matrix random`` draws both. The limit is one dense pass, the product targets x word matrix in float32: its
rate is measured in the same run, between the runs of the solver, and the solver's time is given in passes. The paper's
procedure is run on fewer targets (``--slow-targets``) until it reaches the same objective to ``--within``.
``benchmarks/run.py`` takes the ratio to one dense pass from here.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from measure import Case, Yardstick
from numpy.typing import NDArray

from unembed.attacks.inversion.sparse.projected_adam import projected_adam
from unembed.attacks.inversion.sparse.solver import SparseCoder
from unembed.nn.device import pick_device

Matrix = NDArray[np.float32]


def arguments() -> argparse.Namespace:
    """What to run on."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", type=int, default=None, help="4,096 on a CPU, 16,384 on a GPU, if not given")
    parser.add_argument("--slow-targets", type=int, default=None, help="for the paper's procedure; 64 or 1,024")
    parser.add_argument("--matrix", choices=("minilm", "random"), default="minilm")
    parser.add_argument("--model", default="bundled", help="folder of all-MiniLM-L6-v2, if its package is missing")
    parser.add_argument("--words", type=int, default=30_000, help="rows of a random matrix")
    parser.add_argument("--dimension", type=int, default=384, help="columns of a random matrix")
    parser.add_argument("--penalty", type=float, default=0.1)
    parser.add_argument("--tolerance", type=float, default=1e-5, help="duality gap, as a share of the objective")
    parser.add_argument("--within", type=float, default=1e-3, help="share above our objective the paper's may stay")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--threads", type=int, default=None)
    return parser.parse_args()


def problem(options: argparse.Namespace) -> tuple[Matrix, Matrix]:
    """A word matrix and targets."""
    return random_problem(options) if options.matrix == "random" else of_messages(options.targets, options.model)


def random_problem(options: argparse.Namespace) -> tuple[Matrix, Matrix]:
    """Both drawn."""
    rng = np.random.default_rng(0)
    words = rng.standard_normal((options.words, options.dimension)).astype(np.float32)
    words *= 1.1 / np.linalg.norm(words, axis=1, keepdims=True)
    drawn = rng.integers(0, len(words), (options.targets, 20))
    return words, np.stack([words[row].mean(axis=0) for row in drawn])


def of_messages(targets: int, model: str = "bundled") -> tuple[Matrix, Matrix]:
    """MiniLM's own word matrix, and means of the words of invented messages."""
    from unembed.attacks.inversion.sparse_coding import word_means
    from unembed.corpora.generators.messages import generate_messages
    from unembed.encoders.minilm import MiniLmEncoder

    encoder = MiniLmEncoder(model, device="cpu")
    texts = generate_messages(targets, seed=0).texts
    matrix = encoder.word_matrix
    return matrix, word_means(texts, encoder, matrix)(np.arange(len(texts)))


def timed(work: Callable[[], object], device: torch.device) -> float:
    """Seconds, waiting for the device."""
    wait = torch.cuda.synchronize if device.type == "cuda" else (lambda: None)
    wait()
    started = time.perf_counter()
    work()
    wait()
    return time.perf_counter() - started


def dense_pass(words: Matrix, targets: Matrix, device: torch.device) -> Callable[[], None]:
    """Targets times word matrix, in portions and into one buffer: what no solver that proves its result gets below.

    The matrix is filled up to a multiple of 32 rows: an odd number of columns slows the product down by a third.
    """
    filled = np.concatenate([words, np.zeros((-len(words) % 32, words.shape[1]), dtype=np.float32)])
    right, left = torch.from_numpy(filled).to(device).T, torch.from_numpy(targets).to(device)
    rows = 256 if device.type == "cpu" else 16_384
    buffer = torch.empty(min(rows, len(left)), right.shape[1], device=device)

    def run() -> None:
        for start in range(0, len(left), rows):
            part = left[start : start + rows]
            torch.mm(part, right, out=buffer[: len(part)])

    return run


def solving(folder: Path) -> Case:
    """Codes that are proven, for a batch of targets."""
    words, targets = of_messages(512)
    coder, device = SparseCoder(words, device="cpu"), torch.device("cpu")
    beside = (Yardstick("one pass of targets x words", "FLOPs", dense_pass(words, targets, device)),)
    return Case("targets/s", len(targets), lambda: coder.solve(targets, 0.1), beside)


CASES = {"solve, inversion/sparse-coding": solving}


def main() -> int:
    """Measure and print."""
    options = arguments()
    if options.threads:
        torch.set_num_threads(options.threads)
    device = pick_device(options.device)
    on_gpu = device.type == "cuda"
    options.targets = options.targets or (16_384 if on_gpu else 4_096)
    slow = min(options.targets, options.slow_targets or (1_024 if on_gpu else 64))
    words, targets = problem(options)
    n, flops = len(targets), 2 * len(targets) * words.size
    print(f"{n:,} targets, word matrix {words.shape[0]:,} x {words.shape[1]}, penalty {options.penalty}, {device}")

    coder = SparseCoder(words, device=str(device))
    one_pass = dense_pass(words, targets, device)
    one_pass()
    found = coder.solve(targets, options.penalty, tolerance=options.tolerance)
    passes, solves = [], []
    for _ in range(options.repeats):
        passes.append(timed(one_pass, device))
        solve = lambda: coder.solve(targets, options.penalty, tolerance=options.tolerance)  # noqa: E731
        solves.append(timed(solve, device))
    limit, ours = statistics.median(passes), statistics.median(solves)
    print(f"one dense pass (the limit): {flops / limit / 1e9:,.0f} GFLOP/s, {n / limit:,.0f} targets/s")
    print(
        f"accelerated: {ours:.3f} s, {n / ours:,.0f} targets/s, the time of {ours / limit:.2f} dense passes "
        f"(by repeat: {', '.join(f'{s / p:.2f}' for s, p in zip(solves, passes, strict=True))}); "
        f"{found.looks:.2f} looks at all words a target, {found.full_looks:.2f} repeated in full precision"
    )
    print(
        f"  certificate: {found.converged.mean():.1%} of targets proven, largest duality gap "
        f"{(found.gap / np.maximum(found.objective, 1e-30)).max():.1e} of the objective, largest KKT violation "
        f"{found.kkt.max():.1e} of the penalty; {found.codes.nnz / n:.1f} words a target"
    )
    goal = found.objective[:slow] * (1 + options.within)
    paper = None

    def as_published() -> None:
        nonlocal paper
        paper = projected_adam(words, targets[:slow], options.penalty, goal=goal, device=str(device))

    seconds = timed(as_published, device) / slow
    assert paper is not None
    print(
        f"paper's procedure (Adam 0.001, projected), {slow} targets: {paper.steps:.0f} steps, {seconds * 1e3:.1f} ms a "
        f"target, objective {paper.objective.mean():.6f} against ours {found.objective[:slow].mean():.6f}"
    )
    print(f"ratio paper / accelerated at the same objective: {seconds / (ours / n):,.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
