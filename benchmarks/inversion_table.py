"""Strength of inversion on real text: the paper's linear MLC against our MLP, same vectors, one run.

    python benchmarks/inversion_strength.py [--pairs 100000] [--targets 5000] [--vocabulary 20000]

On one GPU 140,000 pairs take two and a half minutes; on two cores 100,000 pairs
were never run (estimated from the operations: more than an hour).
Targets are sentences by authors the adversary has never seen; near-duplicates of targets are removed from
the adversary's side. Prints scores only, never a text.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

from unembed.attacks.inversion.mlc import MLC
from unembed.attacks.inversion.mlp import InversionMLP
from unembed.corpora.corpus import Corpus
from unembed.corpora.readers import read_corpus
from unembed.corpora.splits import split_corpus
from unembed.encoders.cache import CachedEncoder, EmbeddingCache
from unembed.encoders.minilm import MiniLmEncoder
from unembed.games.base import Material
from unembed.games.inversion import InversionGame
from unembed.games.play import play
from unembed.games.threat import ADVERSARIES
from unembed.seeds import generator

CHECKOUT_DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"


def arguments() -> argparse.Namespace:
    """What to run on."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = Path(os.environ.get("UNEMBED_DATA", CHECKOUT_DATA))
    parser.add_argument("--texts", type=Path, default=data / "books_by_author.parquet")
    parser.add_argument("--column", default="sentence")
    parser.add_argument("--group", default="author")
    parser.add_argument("--pairs", type=int, default=None, help="100,000 with a GPU, 20,000 without, if not given")
    parser.add_argument("--targets", type=int, default=5_000)
    parser.add_argument("--vocabulary", type=int, default=20_000)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--hidden", type=int, default=-1, help="units; -1: by the number of pairs")
    parser.add_argument("--model", default="bundled", help="folder of all-MiniLM-L6-v2, if not the bundled one")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", type=Path, default=None)
    return parser.parse_args()


def sides(options: argparse.Namespace) -> tuple[Corpus, Corpus]:
    """The adversary's and the target's sentences: whole authors on one side, 5 words or more."""
    corpus = read_corpus(options.texts, column=options.column, columns=[options.group])
    corpus = corpus.select([i for i, t in enumerate(corpus.texts) if len(t.split()) >= 5])
    split = split_corpus(corpus, share=0.8, by=options.group, seed=0)
    print(
        f"{len(corpus):,} sentences; adversary {len(split.adversary):,} of {split.report.adversary_groups} authors, "
        f"targets from {split.report.target_groups} others; removed from the adversary's side: "
        f"{split.report.leaks.exact} exact and {split.report.leaks.near} near duplicates of targets"
    )
    known = split.adversary.select(generator(0, "known").permutation(len(split.adversary))[: options.pairs])
    target = split.target.select(generator(0, "target").permutation(len(split.target))[: options.targets])
    if len(known) < options.pairs:
        print(f"only {len(known):,} pairs are there, {options.pairs:,} were asked for")
    return known, target


def main() -> int:
    """Run all three and print one table."""
    options = arguments()
    if not options.texts.exists():
        print(f"skipped: no data at {options.texts.name}; set UNEMBED_DATA to the folder of data sets")
        return 0
    import torch

    torch.set_num_threads(options.threads)
    options.pairs = options.pairs or (100_000 if torch.cuda.is_available() else 20_000)
    known, target = sides(options)
    encoder = CachedEncoder(MiniLmEncoder(options.model), EmbeddingCache())
    started = time.perf_counter()
    known_vectors, target_vectors = encoder.encode(known.texts), encoder.encode(target.texts)
    rate = (len(known) + len(target)) / (time.perf_counter() - started)
    print(f"encoded (or read from the cache) at {rate:,.0f} sentences/s")
    material = Material(
        target=target,
        known=known,
        target_vectors=target_vectors,
        known_vectors=known_vectors,
        encode=encoder.encode,
        adversary=ADVERSARIES["insider"],
        seed=0,
        groups=target.column(options.group),
    )
    game = InversionGame(vocabulary_size=options.vocabulary)
    deal = game.deal(material)
    words = len(deal.truth.vocabulary.words)
    print(f"{len(known):,} pairs, {len(target):,} targets, {words:,} words; {deal.notes[0]}")
    adversaries = {
        "linear MLC as printed (Song eq. 8)": MLC(epochs=options.epochs, scaling="none", device=options.device),
        "linear MLC, standardised vectors": MLC(epochs=options.epochs, device=options.device),
        "linear MLC, standardised, tuned": MLC(epochs=options.epochs, threshold="tuned", device=options.device),
        "MLP, tuned (ours)": InversionMLP(hidden=options.hidden, device=options.device),
    }
    rows = []
    for name, attack in adversaries.items():
        played = play(game, attack, deal, seed=0)
        second = played.scores.secondary
        rows.append(
            {
                "attack": name,
                "content_f1": played.estimate.value,
                "content_f1_low": played.estimate.low,
                "content_f1_high": played.estimate.high,
                "content_f1_in_vocabulary": second["content_f1_in_vocabulary"].value,
                "f1": second["f1"].value,
                "floor": played.floors[played.floor].value,
                "floors": {k: v.value for k, v in played.floors.items()},
                "trained_on": played.check.estimate.value,
                "fit_seconds": played.fit_seconds,
                "run_seconds": played.run_seconds,
                "epochs": attack.log_.epochs,
                "device": str(attack.device_),
            }
        )
        row = rows[-1]
        print(
            f"{name:36s} content F1 {row['content_f1']:.3f} [{row['content_f1_low']:.3f}, {row['content_f1_high']:.3f}]"
            f"  in vocabulary {row['content_f1_in_vocabulary']:.3f}  all words {row['f1']:.3f}"
            f"  floor {row['floor']:.3f}  on its own pairs {row['trained_on']:.3f}"
            f"  fit {row['fit_seconds']:.1f} s ({row['epochs']} epochs, {row['device']})",
            flush=True,
        )
    strength = [row["content_f1"] for row in rows]
    print("ours is so many times as strong: " + ", ".join(f"{strength[-1] / s:.2f}" for s in strength[:-1]))
    print(_rate_of_training(len(known), rows[-1]["fit_seconds"], rows[-1]["epochs"], attack))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


def _rate_of_training(pairs: int, seconds: float, epochs: int, attack: InversionMLP) -> str:
    """How far the training is from the device's matrix rate, which is its limit."""
    import torch

    weights = sum(p.numel() for p in attack.model_.parameters())
    done = 6 * weights * pairs * 0.98 * epochs / seconds
    size = 4096 if attack.device_.type == "cuda" else 2048
    left = torch.randn(size, size, device=attack.device_)
    left @ left
    if attack.device_.type == "cuda":
        torch.cuda.synchronize()
    started = time.perf_counter()
    for _ in range(8):
        left @ left
    if attack.device_.type == "cuda":
        torch.cuda.synchronize()
    limit = 8 * 2 * size**3 / (time.perf_counter() - started)
    return (
        f"training the MLP: {weights / 1e6:.1f} M parameters, {done / 1e9:,.0f} GFLOP/s of a matrix rate of "
        f"{limit / 1e9:,.0f} GFLOP/s ({done / limit:.0%}; the rest: Adam's pass over the weights, the loss, validation)"
    )


if __name__ == "__main__":
    sys.exit(main())
