"""Copies of targets on the adversary's side: which of them are found, what else is removed, and how long it takes.

    python benchmarks/twins.py [--count 200] [--others 1000] [--data ../shared/data] [--size 10000]

For every kind of twin (``tests/altered_copies.py``): how many of ``--count`` stay, and how many of the unrelated texts
are removed. Then, for invented texts and for the data sets found under ``--data``, how many texts of a plain random
half are removed under each rule: counts only, no text is shown. Last, the processor time for ``--size`` texts on either
side.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

from unembed.corpora import Corpus, drop_duplicates, read_corpus_with_report, remove_leaks, split_corpus
from unembed.corpora.generators.messages import generate_messages
from unembed.runner.twins import vector_twins

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from altered_copies import KINDS, invented_texts, make_twins, short_texts

SHORT = "one word of eight changed"
SETS = {
    "news_agnews_test": "text",
    "medical_procedures": "description",
    "medical_sentences": "sentence",
    "airline_sentences": "sentence",
    "restaurant_sentences": "sentence",
    "clinton_emails": "text",
    "enron_emails": "text",
    "books_by_author": "sentence",
    "italian_crime_news": "text",
}


def arguments() -> argparse.Namespace:
    """What to run on."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="twins per kind")
    parser.add_argument("--others", type=int, default=1_000, help="unrelated texts beside them")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of real data sets")
    parser.add_argument("--size", type=int, default=10_000, help="texts on either side for the time")
    return parser.parse_args()


def show_kinds(count: int, others: int) -> None:
    """How many twins of each kind stay."""
    print(f"{'kind of twin':38s} {'left of ' + str(count):>12s} {'others removed':>15s}")
    dress = invented_texts(count, seed=2)
    for kind in KINDS:
        make = short_texts if kind == SHORT else invented_texts
        target = make(count, seed=1)
        known = set(target)
        unrelated = [text for text in make(others, seed=3) if text not in known]
        kept, report = remove_leaks(Corpus.of(make_twins(kind, target, dress) + unrelated), Corpus.of(target))
        left = sum(int(row) < count for row in kept.ids)
        print(f"{kind:38s} {left:12,} {report.removed - (count - left):15,}")


def show_removed(name: str, corpus: Corpus) -> None:
    """What each rule removes from a random half of a collection."""
    corpus, dropped = drop_duplicates(corpus)
    leaks = split_corpus(corpus, max_targets=2_000, seed=1).report.leaks
    counts = (leaks.rows, leaks.targets, dropped.dropped, leaks.exact, leaks.disguised, leaks.near, leaks.quoted)
    print(f"{name:24s}" + "".join(f"{count:11,}" for count in counts))


def show_time(size: int) -> None:
    """Seconds of processor time for texts and for vectors of so many rows on either side."""
    mine, theirs = (Corpus.of(invented_texts(size, seed=seed)) for seed in (5, 6))
    started = time.process_time()
    remove_leaks(mine, theirs)
    texts = time.process_time() - started
    rng = np.random.default_rng(0)
    vectors = [rng.standard_normal((size, 384)).astype(np.float32) for _ in range(2)]
    started = time.process_time()
    vector_twins(*vectors)
    print(f"{size:,} x {size:,}: texts {texts:.1f} s, vectors of 384 dimensions {time.process_time() - started:.1f} s")


def main() -> None:
    """All three."""
    options = arguments()
    show_kinds(options.count, options.others)
    columns = ("adversary", "targets", "dropped", "exact", "disguised", "near", "quoted")
    print(f"\n{'collection':24s}" + "".join(f"{column:>11s}" for column in columns))
    show_removed("invented messages", generate_messages(10_000))
    show_removed("invented public text", generate_messages(10_000, domain="public"))
    for name, column in SETS.items():
        path = options.data / f"{name}.parquet"
        if path.is_file():
            show_removed(name, read_corpus_with_report(path, column=column, max_rows=10_000, seed=0)[0])
        else:
            print(f"{name:24s} not under {options.data}")
    print()
    show_time(options.size)


if __name__ == "__main__":
    main()
