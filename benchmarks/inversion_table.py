"""Every inversion attack on the same vectors with the same knowledge, in one run: strength, floors, seconds.

    python benchmarks/inversion_table.py [--encoder minilm] [--data books|wikipedia] [--pairs N] [--targets N]
    python benchmarks/inversion_table.py --known wikipedia --data books        # cross-domain

Targets come from authors (novels) or articles (Wikipedia) that the adversary has never seen; near-duplicates of
targets are removed from the adversary's side. ``--selection`` asks other authors or articles than the reported ones:
for choosing settings. Prints scores only, never a text. On one GPU 400,000 pairs take minutes; without a GPU the
default is 5,000 pairs.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from unembed.attacks import ATTACKS
from unembed.corpora.corpus import Corpus
from unembed.corpora.duplicates import drop_duplicates, remove_leaks
from unembed.corpora.readers import read_corpus
from unembed.corpora.splits import split_corpus
from unembed.encoders.cache import CachedEncoder, EmbeddingCache
from unembed.encoders.minilm import MiniLmEncoder
from unembed.encoders.transformer import TransformerEncoder
from unembed.errors import UnembedError
from unembed.games.base import Material
from unembed.games.inversion import InversionGame
from unembed.games.play import play
from unembed.games.threat import ADVERSARIES
from unembed.seeds import generator

CHECKOUT_DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"
CORPORA = {"books": ("books_by_author.parquet", "author"), "wikipedia": ("wikipedia_sentences.parquet", "article_id")}
LEAST_WORDS = 5


def arguments() -> argparse.Namespace:
    """What to run on."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path(os.environ.get("UNEMBED_DATA", CHECKOUT_DATA)))
    parser.add_argument("--data", choices=CORPORA, default="wikipedia", help="where the targets come from")
    parser.add_argument("--known", choices=CORPORA, default=None, help="where the adversary's texts come from")
    parser.add_argument("--encoder", default="minilm", help="minilm, minilm:FOLDER or transformer:FOLDER")
    parser.add_argument("--pooling", default="mean", choices=["mean", "first"])
    parser.add_argument("--normalise", action="store_true")
    parser.add_argument("--pairs", type=int, default=None, help="400,000 with a GPU, 5,000 without, if not given")
    parser.add_argument("--targets", type=int, default=None, help="10,000 with a GPU, 1,000 without")
    parser.add_argument("--vocabulary", type=int, default=20_000)
    parser.add_argument("--rows", default="", help="parts of row names, with ; between them; all if not given")
    parser.add_argument("--sides", type=Path, default=None, help="keep the split in this file, or take it from there")
    parser.add_argument("--selection", action="store_true", help="score on the groups kept for choosing settings")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", type=Path, default=None)
    return parser.parse_args()


def sides(options: argparse.Namespace) -> tuple[Corpus, Corpus, str]:
    """The adversary's and the target's sentences, from a file of row numbers where they were split before."""
    group = CORPORA[options.data][1]
    if options.sides is None or not options.sides.exists():
        known, target = split_sides(options)
        if options.sides is not None:
            rows = {"known": known.ids, "target": target.ids}
            np.savez_compressed(options.sides, **{k: np.array(v, dtype=np.int64) for k, v in rows.items()})
        return known, target, group
    held = np.load(options.sides, allow_pickle=False)
    known = read_corpus(options.folder / CORPORA[options.known or options.data][0], column="sentence")
    target = read_corpus(options.folder / CORPORA[options.data][0], column="sentence", columns=[group])
    return known.select(held["known"][: options.pairs]), target.select(held["target"][: options.targets]), group


def split_sides(options: argparse.Namespace) -> tuple[Corpus, Corpus]:
    """Whole authors or articles on one side, no near-duplicate of a target on the adversary's."""
    target_corpus, group = _read(options, options.data)
    split = split_corpus(target_corpus, share=0.88 if options.data == "wikipedia" else 0.8, by=group, seed=0)
    known, leaks = split.adversary, split.report.leaks
    if options.known and options.known != options.data:
        known, leaks = remove_leaks(_read(options, options.known)[0], split.target)
    groups = sorted(set(split.target.column(group)))
    half = {groups[i] for i in generator(0, "selection").permutation(len(groups))[: len(groups) // 2]}
    rows = [i for i, g in enumerate(split.target.column(group)) if (g in half) == options.selection]
    target = split.target.select(rows)
    known = known.select(generator(0, "known").permutation(len(known))[: options.pairs])
    target = target.select(generator(0, "target").permutation(len(target))[: options.targets])
    print(
        f"targets: {len(target):,} sentences of {len(groups) - len(half):,} {group}s that the adversary never saw; "
        f"removed from its side: {leaks.removed} duplicates of targets"
    )
    return known, target


def _read(options: argparse.Namespace, name: str) -> tuple[Corpus, str]:
    file, group = CORPORA[name]
    corpus = read_corpus(options.folder / file, column="sentence", columns=[group])
    corpus = corpus.select([i for i, t in enumerate(corpus.texts) if len(t.split()) >= LEAST_WORDS])
    return drop_duplicates(corpus)[0], group


def open_encoder(options: argparse.Namespace) -> TransformerEncoder:
    """The encoder under attack."""
    name, _, folder = options.encoder.partition(":")
    if name == "minilm":
        return MiniLmEncoder(folder or "bundled", device=options.device)
    return TransformerEncoder(folder, pooling=options.pooling, normalise=options.normalise, device=options.device)


def adversaries(options: argparse.Namespace, gpu: bool) -> dict[str, Any]:
    """Each row of the table.

    On a GPU the set predictors take larger batches and steps, or they would take hours, and both stop when words of
    held-back texts have not been read better for four epochs.
    """
    large: dict[str, Any] = {"batch_size": 1024, "learning_rate": 2e-3, "patience": 4} if gpu else {}
    rows: dict[str, tuple[str, dict[str, Any]]] = {
        "I3 sparse coding (weights)": ("sparse-coding", {}),
        "I4 linear, as printed, 0.5": ("mlc", {"scaling": "none"}),
        "I4 linear, as printed, best threshold": ("mlc", {"scaling": "none", "threshold": "tuned"}),
        "I4 linear, standardised, best threshold": ("mlc", {"threshold": "tuned"}),
        "I4 MLP": ("mlp", {}),
        "ours": ("committee", {}),
        "I5 MSP, Song": ("msp", {"form": "song", **large}),
        "I5 MSP, Corò": ("msp", {"form": "coro", **large}),
        "ours, no queries": ("committee", {}),
        "ours, one member": ("committee", {"members": 1}),
    }
    wanted = [w.strip() for w in options.rows.split(";") if w.strip()]
    return {
        name: ATTACKS.get(f"inversion/{attack}")(device=options.device, **params)
        for name, (attack, params) in rows.items()
        if not wanted or any(w in name if w != "ours" else w == name for w in wanted)
    }


def main() -> int:
    """Run all and print one table."""
    options = arguments()
    if not (options.folder / CORPORA[options.data][0]).exists():
        print("skipped: the data sets are missing; set UNEMBED_DATA to their folder")
        return 0
    import torch

    torch.set_num_threads(options.threads)
    gpu = torch.cuda.is_available() and options.device in ("auto", "cuda")
    options.pairs = options.pairs or (400_000 if gpu else 5_000)
    options.targets = options.targets or (10_000 if gpu else 1_000)
    started = time.perf_counter()
    timeline: dict[str, float] = {}

    def lap(what: str) -> None:
        timeline[what] = time.perf_counter() - started - sum(timeline.values())

    known, target, group = sides(options)
    lap("reading, duplicates, split")
    model = open_encoder(options)
    encoder = CachedEncoder(model, EmbeddingCache()) if not gpu else model
    known_vectors, target_vectors = encoder.encode(known.texts), encoder.encode(target.texts)
    lap(f"encoding {len(known) + len(target):,} sentences")
    game = InversionGame(vocabulary_size=options.vocabulary)
    material = Material(
        target=target,
        known=known,
        target_vectors=target_vectors,
        known_vectors=known_vectors,
        encode=encoder.encode,
        adversary=ADVERSARIES["weights"],
        seed=0,
        groups=target.column(group),
        encoder=model,
    )
    deal = game.deal(material)
    lap("dealing (vocabulary, word sets)")
    print(f"{len(known):,} pairs, {len(target):,} targets, {len(deal.truth.vocabulary):,} words; {deal.notes[0]}")
    facts = {
        "encoder": model.card.name,
        "pooling": options.pooling,
        "targets_from": options.data,
        "known_from": options.known or options.data,
        "pairs": len(known),
        "targets": len(target),
        "words": len(deal.truth.vocabulary),
        "selection": options.selection,
        "device": torch.cuda.get_device_name() if gpu else "cpu",
    }
    rows: list[dict[str, Any]] = []
    for name, attack in adversaries(options, gpu).items():
        dealt = deal
        if "no queries" in name:
            dealt = replace(deal, knowledge=replace(deal.knowledge, query=None))
        asked = deal.door.count if deal.door else 0
        try:
            row = _row(name, attack, play(game, attack, dealt, seed=0))
        except UnembedError as error:
            print(f"{name:40s} not measured: {error}")
            continue
        row["queries"] = (deal.door.count if deal.door else 0) - asked
        rows.append(row)
        lap(name)
        print(
            f"{name:40s} content F1 {row['content_f1']:.3f} [{row['content_f1_low']:.3f}, {row['content_f1_high']:.3f}]"
            f"  in vocabulary {row['content_f1_in_vocabulary']:.3f}  all words {row['f1']:.3f}"
            f"  floor {row['floor']:.3f}  own pairs {row['trained_on']:.3f}  fit {row['fit_seconds']:.1f} s, run "
            f"{row['run_seconds']:.1f} s  {row['epochs'] or ''}  {row['queries']:,} queries",
            flush=True,
        )
        if options.json:
            report = {**facts, "seconds": timeline, "rows": rows}
            options.json.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    for what, seconds in timeline.items():
        print(f"  {seconds:7.1f} s  {what}")
    print(f"  {time.perf_counter() - started:7.1f} s  in all")
    return 0


def _row(name: str, attack: Any, played: Any) -> dict[str, Any]:
    second = played.scores.secondary
    log = getattr(attack, "log_", None)
    return {
        "attack": name,
        "content_f1": played.estimate.value,
        "content_f1_low": played.estimate.low,
        "content_f1_high": played.estimate.high,
        "secondary": {k: v.value for k, v in second.items()},
        "content_f1_in_vocabulary": second["content_f1_in_vocabulary"].value,
        "f1": second["f1"].value,
        "floor": played.floors[played.floor].value,
        "floors": {k: v.value for k, v in played.floors.items()},
        "trained_on": played.check.estimate.value,
        "fit_seconds": played.fit_seconds,
        "run_seconds": played.run_seconds,
        "epochs": f"{log.epochs} epochs, best {log.best_epoch + 1}" if log is not None else None,
    }


if __name__ == "__main__":
    sys.exit(main())
