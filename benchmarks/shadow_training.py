"""Training many word2vec models: gensim, the compiled trainer and the batched one, in models per second.

    python benchmarks/shadow_training.py TEXTS [--size 10000] [--models 800] [--architecture skip-gram]

TEXTS holds one text per line (``.xz`` is unpacked). Every trainer that can run here trains models of ``--size`` random
texts in 20 passes: gensim one with two workers, the compiled trainer two at once in two threads, the batched one
``--models`` at once on a GPU. Beside the speed stands what the vectors are like: how far the similarities of all pairs
of words agree with those of gensim's, and the distance of words that stand side by side. Prints numbers only.
"""

from __future__ import annotations

import argparse
import lzma
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from unembed.shadows.base import Settings, TokenCorpus, WordTable
from unembed.shadows.plan import Plan, plan_for
from unembed.shadows.with_gensim import Gensim


def read(path: Path) -> list[str]:
    """One text per line."""
    whole = path.read_bytes()
    return (lzma.decompress(whole) if path.suffix == ".xz" else whole).decode().splitlines()


def pairs_per_pass(plan: Plan, window: int) -> tuple[float, float]:
    """How many words are kept, and how many pairs of words are trained, in a pass of one model; expected values."""
    kept = plan.skip[plan.tokens].astype(np.float64) / 2**32
    long = np.add.reduceat(np.append(kept, 0.0), plan.starts[:-1]) * (np.diff(plan.starts) > 0)
    pairs = sum(
        2 / window * np.maximum(long - gap, 0).sum() for reach in range(1, window + 1) for gap in range(1, reach + 1)
    )
    return float(long.sum()), float(pairs)


def likeness(first: WordTable, second: WordTable, most: int = 2000) -> float:
    """The correlation of the similarities of all pairs of words that both know."""
    both = np.intersect1d(first.numbers, second.numbers)[:most]
    found = []
    for table in (first, second):
        vectors = table.vectors[table.rows_of(both)]
        vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        found.append((vectors @ vectors.T)[np.triu_indices(len(both), 1)])
    return float(np.corrcoef(found)[0, 1])


def side_by_side(table: WordTable, corpus: TokenCorpus, rows: np.ndarray) -> np.ndarray:
    """10 %, 50 % and 90 % of the distances of neighbouring words."""
    places = table.rows_of(corpus.some(rows[:500])[0].astype(np.int64))
    first, second = places[:-1], places[1:]
    both = (first >= 0) & (second >= 0) & (first != second)
    apart = np.linalg.norm(table.vectors[first[both]] - table.vectors[second[both]], axis=1)
    return np.quantile(apart, [0.1, 0.5, 0.9])


def timed(what: Callable[[], list[WordTable]]) -> tuple[float, list[WordTable]]:
    """Seconds by the clock, and what was made."""
    start = time.perf_counter()
    made = what()
    return time.perf_counter() - start, made


def copy_bandwidth() -> float:
    """Bytes per second of a large copy on the device, read and written."""
    import torch

    block = torch.empty(2**30, dtype=torch.float32, device="cuda").normal_()
    other = torch.empty_like(block)
    times = []
    for _ in range(6):
        torch.cuda.synchronize()
        start = time.perf_counter()
        other.copy_(block)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return 2 * block.numel() * 4 / float(np.median(times))


def main() -> None:
    """Train with everything that runs here, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--models", type=int, default=800)
    parser.add_argument("--passes", type=int, default=20)
    parser.add_argument("--gensim-passes", type=int, help="fewer, where the time is short; counted up to all of them")
    parser.add_argument("--architecture", default="skip-gram")
    args = parser.parse_args()
    corpus = TokenCorpus.of(read(args.texts))
    settings = Settings(architecture=args.architecture, passes=args.passes)
    drawn = [np.random.default_rng(seed).permutation(len(corpus))[: args.size] for seed in range(args.models)]
    plan = plan_for(corpus, drawn[0], settings)
    kept, pairs = pairs_per_pass(plan, settings.window)
    words = len(corpus.some(drawn[0])[0]) * settings.passes
    print(f"{args.size:,} texts, {words // settings.passes:,} words, {len(plan.numbers):,} in the vocabulary;")
    print(f"{settings.passes} passes of {kept:,.0f} kept words and {pairs:,.0f} pairs; {settings.architecture}")

    few = args.gensim_passes or settings.passes
    gensim = Gensim(replace(settings, passes=few), workers=2)
    seconds, _ = timed(lambda: [gensim.train(corpus, drawn[0], 0)])
    seconds *= settings.passes / few
    show("gensim, 2 workers", 1, seconds, words, seconds)
    reference = Gensim(settings).train(corpus, drawn[0], 0)
    other = Gensim(settings).train(corpus, drawn[0], 1)
    print(f"  likeness of two of gensim's, other seeds: {likeness(reference, other):.3f}")
    print(f"  side by side {side_by_side(reference, corpus, drawn[0]).round(3)}")

    if find_spec("numba"):
        from unembed.shadows.compiled import Compiled

        compiled = Compiled(settings)
        Compiled(replace(settings, passes=1)).train(corpus, drawn[0][:200], 0)  # compiles
        with ThreadPoolExecutor(2) as pool:
            took, made = timed(lambda: list(pool.map(lambda s: compiled.train(corpus, drawn[s], s), range(2))))
        show("compiled, 2 threads", 2, took, words, seconds)
        print(f"  likeness to gensim's: {likeness(reference, made[0]):.3f}")
        print(f"  side by side {side_by_side(made[0], corpus, drawn[0]).round(3)}")

    import torch

    if torch.cuda.is_available():
        from unembed.shadows.batched import Batched

        batched = Batched(settings)
        Batched(replace(settings, passes=1)).train_many(corpus, drawn[:2], [0, 1])  # compiles
        took, made = timed(lambda: batched.train_many(corpus, drawn, list(range(args.models))))
        show(f"batched, {torch.cuda.get_device_name()}", args.models, took, words, seconds)
        print(f"  likeness to gensim's: {likeness(reference, made[0]):.3f}")
        print(f"  side by side {side_by_side(made[0], corpus, drawn[0]).round(3)}")
        rows = pairs * (1 + settings.negatives) + kept if args.architecture == "skip-gram" else 0
        moved = rows * settings.passes * args.models * settings.dimension * 4 * 2
        if moved:
            whole = copy_bandwidth()
            print(f"  {pairs * settings.passes * args.models / took / 1e6:,.0f} M pairs/s; rows read and written")
            print(f"  {moved / took / 1e12:.2f} TB/s of {whole / 1e12:.2f} TB/s: {moved / took / whole:.2f}")


def show(name: str, models: int, seconds: float, words: int, reference: float) -> None:
    """One line about a trainer."""
    each = seconds / models
    print(f"{name}: {models} in {seconds:.1f} s, {each:.3f} s a model, {words / each / 1e6:.2f} M words/s,", end=" ")
    print(f"{reference / each:.1f} times gensim", flush=True)


if __name__ == "__main__":
    main()
