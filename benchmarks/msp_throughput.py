"""Training throughput of multi-set prediction: a plain PyTorch loop against ours, same pairs, one run.

    python benchmarks/msp_throughput.py [--device cpu] [--pairs 4000] [--epochs 4] [--vocabulary 20000]

The plain loop is what the papers' pseudocode becomes in PyTorch: a cell, logits over all words, log-softmax and
autograd, float32, with torch's own Adam; as there, a word may be named again. Both start from the same weights and see
the same batches; validation F1 is the mean over texts after as many epochs. Prints scores only, never a text.
``benchmarks/run.py`` takes the ratio of the two from here, on random pairs.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_matrix
from torch import Tensor, nn

from unembed.attacks.inversion.msp import named_sets
from unembed.attacks.inversion.multiset.decoder import SetDecoder, product_type
from unembed.attacks.inversion.multiset.first_input import DenseFirst, first_input
from unembed.attacks.inversion.multiset.training import SetPlan, WordSets, trainer_for
from unembed.corpora.readers import read_corpus
from unembed.corpora.words import build_vocabulary, word_sets
from unembed.encoders import build_encoder
from unembed.metrics.sets import per_text, set_counts
from unembed.nn.device import pick_device
from unembed.nn.training import whole_batches
from unembed.seeds import generator

CHECKOUT_DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    """What to run on."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = Path(os.environ.get("UNEMBED_DATA", CHECKOUT_DATA))
    parser.add_argument("--texts", type=Path, default=data / "wikipedia_sentences.parquet")
    parser.add_argument("--column", default="sentence")
    parser.add_argument("--encoder", default="lsa", help="a dense encoder: lsa, minilm, …")
    parser.add_argument("--pairs", type=int, default=4_000)
    parser.add_argument("--held", type=int, default=500, help="pairs for the validation F1")
    parser.add_argument("--vocabulary", type=int, default=20_000)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--hidden", type=int, default=512)
    parser.add_argument("--dropout", type=float, default=0.2)
    parser.add_argument("--negatives", type=int, default=1024, help="of the sampled loss")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--without", nargs="*", default=[], help="ways to leave out: plain, fused32, fused, sampled")
    parser.add_argument("--no-graph", action="store_true", help="no CUDA graph")
    parser.add_argument("--processor-time", action="store_true", help="on a CPU others use too; with --threads 1")
    parser.add_argument("--json", type=Path, default=None)
    return parser.parse_args(given)


class World:
    """The pairs: vectors, padded word sets, a split, and the score."""

    def __init__(self, vectors: Any, labels: csr_matrix, pairs: int) -> None:
        self.vectors, self.labels = vectors, labels
        self.training, self.checking = np.arange(pairs), np.arange(pairs, labels.shape[0])
        self.steps = round(labels[self.training].nnz / pairs)
        self.sets = WordSets(labels[self.training], np.ones(labels.shape[1], dtype=np.float32))

    @classmethod
    def of_texts(cls, options: argparse.Namespace) -> World:
        """Some texts of a file, their vectors and content words."""
        texts = list(read_corpus(options.texts, column=options.column).texts)
        texts = [
            texts[i] for i in generator(0, "msp texts").permutation(len(texts)) if 8 <= len(texts[i].split()) <= 40
        ]
        vocabulary = build_vocabulary(texts, size=4 * options.vocabulary)
        columns = np.flatnonzero(vocabulary.content)[: options.vocabulary]
        chosen = texts[: options.pairs + options.held]
        encoder = build_encoder(options.encoder, {}, fit_texts=texts[: max(len(chosen), 20_000)])
        return cls(encoder.encode(chosen), csr_matrix(word_sets(chosen, vocabulary))[:, columns], options.pairs)

    def f1(self, decoder: SetDecoder, first: DenseFirst) -> float:
        """Mean F1 over the held-back texts."""
        decoder.eval()
        named, sure = decoder.predict(first.project(self.vectors[self.checking]))
        shape = (len(self.checking), self.labels.shape[1])
        guess = named_sets(named.cpu().numpy(), sure.float().cpu().numpy(), shape)
        return float(np.nanmean(per_text(set_counts(self.labels[self.checking], guess))))


def fresh(world: World, options: argparse.Namespace, device: torch.device, precision: str) -> Any:
    """The same untrained network each time."""
    torch.manual_seed(0)
    compute = product_type(precision, device)
    decoder = SetDecoder(
        world.labels.shape[1],
        options.hidden,
        steps=world.steps,
        dropout=options.dropout,
        repeats=True,
        compute=compute,
    )
    first = first_input(world.vectors, "each", options.hidden, device)
    return decoder.to(device), first


def plain(world: World, options: argparse.Namespace, device: torch.device) -> tuple[float, float]:
    """Seconds and F1 of the plain loop."""
    decoder, first = fresh(world, options, device, "float32")
    cell = nn.LSTMCell(options.hidden, options.hidden).to(device)
    with torch.no_grad():
        cell.weight_ih.copy_(decoder.weight[:, : options.hidden])
        cell.weight_hh.copy_(decoder.weight[:, options.hidden :])
        cell.bias_ih.copy_(decoder.bias)
        cell.bias_hh.zero_()
    own = [decoder.table, decoder.first_hidden, decoder.first_cell, *cell.parameters(), *first.parameters()]
    optimiser = torch.optim.Adam(own, lr=options.learning_rate)
    inputs = torch.from_numpy(first.scaler.transform(world.vectors[world.training])).to(device)
    words = torch.from_numpy(world.sets.padded).to(device).long()
    present = torch.from_numpy(world.sets.inside).to(device)

    def loss_of(rows: Tensor) -> Tensor:
        left, batch = present[rows].clone(), len(rows)
        current = first.linear(inputs[rows])
        state = decoder.first_hidden.expand(batch, -1), decoder.first_cell.expand(batch, -1)
        total = torch.zeros((), device=device)
        for _ in range(world.steps):
            state = cell(nn.functional.dropout(current, options.dropout), state)
            logits = state[0] @ decoder.table.T
            word = logits.argmax(1)
            likely = logits.log_softmax(1).gather(1, words[rows])
            total = total - ((likely * left).sum(1) / left.sum(1).clamp_min(1)).mean()
            left = left & (words[rows] != word[:, None])
            current = decoder.table[word]
        return total

    rng = generator(0, "batches")
    start = _now(device)
    for _ in range(options.epochs):
        for rows in whole_batches(len(world.training), options.batch_size, rng):
            optimiser.zero_grad(set_to_none=True)
            loss_of(torch.from_numpy(rows).to(device)).backward()
            optimiser.step()
    seconds = _now(device) - start
    with torch.no_grad():
        decoder.weight.copy_(torch.cat([cell.weight_ih, cell.weight_hh], 1))
        decoder.bias.copy_(cell.bias_ih + cell.bias_hh)
    return seconds, world.f1(decoder, first)


def ours(
    world: World, options: argparse.Namespace, device: torch.device, precision: str, negatives: int
) -> tuple[float, float, dict[str, float]]:
    """Seconds and F1 of our training, and what share of a batch each part takes."""
    seconds, f1 = trained(world, options, device, precision, negatives)
    return seconds, f1, _breakdown(world, options, device, precision, negatives)


def trained(
    world: World, options: argparse.Namespace, device: torch.device, precision: str, negatives: int
) -> tuple[float, float]:
    """Seconds and F1 of our training."""
    decoder, first = fresh(world, options, device, precision)
    first.prepare(world.vectors, world.training)
    plan = SetPlan(
        options.epochs, options.batch_size, options.learning_rate, negatives=negatives, graph=not options.no_graph
    )
    rng = generator(0, "batches")
    decoder.train()
    trainer = trainer_for(decoder, first, world.sets, plan, rng)
    start = _now(device)
    for _ in range(options.epochs):
        for rows in whole_batches(len(world.training), options.batch_size, rng):
            trainer.batch(rows)
    return _now(device) - start, world.f1(decoder, first)


def _breakdown(
    world: World, options: argparse.Namespace, device: torch.device, precision: str, negatives: int
) -> dict[str, float]:
    """Share of each part, from some batches run one operation after another."""
    decoder, first = fresh(world, options, device, precision)
    first.prepare(world.vectors, world.training)
    plan = SetPlan(1, options.batch_size, options.learning_rate, negatives=negatives, graph=False)
    decoder.train()
    rng = generator(0, "batches")
    trainer = trainer_for(decoder, first, world.sets, plan, rng)
    spent: dict[str, float] = defaultdict(float)

    @contextmanager
    def clock(part: str) -> Iterator[None]:
        start = _now(device)
        yield
        spent[part] += _now(device) - start

    for i, rows in enumerate(whole_batches(len(world.training), options.batch_size, rng)[:12]):
        trainer.clock = clock if i > 1 else trainer.clock
        trainer.batch(rows)
    whole = sum(spent.values())
    return {part: value / whole for part, value in sorted(spent.items(), key=lambda item: -item[1])}


#: What counts the seconds: the clock, or the processor's time.
_timer = time.perf_counter


def _now(device: torch.device) -> float:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return _timer()


def main() -> int:
    """Run what was asked for and print one table."""
    options = arguments()
    if not options.texts.exists():
        print(f"skipped: no data at {options.texts.name}; set UNEMBED_DATA to the folder of data sets")
        return 0
    global _timer
    if options.processor_time:
        _timer = time.process_time
    torch.set_num_threads(options.threads)
    device = pick_device(options.device)
    world = World.of_texts(options)
    print(
        f"{options.pairs:,} pairs, {world.labels.shape[1]:,} words, {world.steps} steps, {options.hidden} units, "
        f"batch {options.batch_size}, {options.epochs} epochs, {device}, {options.threads} threads"
    )
    products = product_type("auto", device)
    ways: dict[str, Any] = {
        "plain": lambda: (*plain(world, options, device), {}),
        "fused32": lambda: ours(world, options, device, "float32", 0),
        "fused": lambda: ours(world, options, device, "auto", 0),
        "sampled": lambda: ours(world, options, device, "auto", options.negatives),
    }
    seen = options.epochs * -(-options.pairs // options.batch_size) * options.batch_size
    results: dict[str, dict[str, Any]] = {}
    for name, way in ways.items():
        if name in options.without:
            continue
        seconds, f1, parts = way()
        results[name] = {"seconds": seconds, "pairs_per_second": seen / seconds, "f1": f1, "parts": parts}
        base = results.get("plain")
        ratio = f"{base['seconds'] / seconds:6.2f} x plain" if base else ""
        shown = ", ".join(f"{part} {share:.0%}" for part, share in parts.items())
        print(f"{name:8} {seconds:8.2f} s {seen / seconds:10.0f} pairs/s  F1 {f1:.4f} {ratio}  {shown}", flush=True)
    print(f"products of 'fused' and 'sampled' in {products}, of the others in float32")
    if options.json:
        options.json.write_text(json.dumps({"options": {k: str(v) for k, v in vars(options).items()}, **results}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
