"""What somebody who looks for a rare word finds in a store: keyword attacks at the word's real share.

    python benchmarks/keyword_at_real_share.py [--targets 8000] [--samples 400] [--words other] [--attacks svm,aligned]

Targets are descriptions of medical procedures, the adversary's texts restaurant sentences with *salad*, in whose place
ten body words are put (the case study of Pan et al. 2020, VI-C); each word stands in 0.1 to 2 % of the descriptions.
For each attack and word: accuracy on a balanced test set, average precision and its floor (the share of texts with the
word), precision among the first n texts where n hold the word, what is looked through to find half of them, and
precision and recall of the yes answers. ``--words other`` asks for ten other body words: for choosing settings. Prints
counts and scores only; the words are our own list. The data sets are looked for in ``UNEMBED_DATA``, else beside the
checkout.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import numpy as np

from unembed.attacks import ATTACKS
from unembed.corpora.corpus import Corpus
from unembed.corpora.duplicates import drop_duplicates, remove_leaks
from unembed.corpora.substitution import contains_keyword
from unembed.encoders.cache import CachedEncoder, EmbeddingCache
from unembed.encoders.minilm import MiniLmEncoder
from unembed.errors import DataError
from unembed.games.base import Material
from unembed.games.keyword import KeywordGame
from unembed.games.keyword_scores import AVERAGE_PRECISION, FIRST_N, HALF, PREVALENCE, SLICES
from unembed.games.threat import ADVERSARIES
from unembed.papers.base import Conditions
from unembed.papers.datasets import read
from unembed.papers.pan2020_texts import BODY, PLACE
from unembed.papers.texts import sample
from unembed.seeds import seed_for

WORDS = {
    "body": BODY,
    "other": ("knee", "foot", "wrist", "neck", "elbow", "skull", "rib", "eye", "finger", "heart"),
}
SHOWN = (AVERAGE_PRECISION, PREVALENCE, FIRST_N, HALF, "precision_of_yes", "recall_of_yes")


def arguments() -> argparse.Namespace:
    """What to run on."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", type=int, default=8_000)
    parser.add_argument("--external", type=int, default=1_000, help="restaurant sentences of the adversary")
    parser.add_argument("--samples", type=int, default=400, help="training texts per keyword, half of them with it")
    parser.add_argument("--words", choices=WORDS, default="body")
    parser.add_argument("--attacks", default="svm,aligned", help="names of keyword attacks with commas between them")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def world(options: argparse.Namespace) -> tuple[Corpus, Corpus]:
    """Descriptions as they come, with their words at their real share, and the adversary's sentences."""
    conditions = Conditions()
    procedures = sample(
        read(conditions, "medical_procedures", "description"), 2 * options.targets, options.seed, "drawn"
    )
    target = sample(drop_duplicates(procedures)[0], options.targets, options.seed, "targets")
    menu = read(conditions, "restaurant_sentences", "sentence")
    menu = menu.select(np.flatnonzero(contains_keyword(menu.texts, [PLACE])[:, 0]))
    external, _ = remove_leaks(sample(drop_duplicates(menu)[0], options.external, options.seed, "external"), target)
    return target, external


def show(name: str, game: KeywordGame, deal: Any, seed: int) -> None:
    """One attack: the averages with their intervals, and each word."""
    attack: Any = ATTACKS.get(f"keyword/{name}")(seed=seed)
    started = time.perf_counter()
    guess = attack.fit(deal.knowledge).run(deal.vectors)
    seconds = time.perf_counter() - started
    scores = game.judge(deal.truth, guess, seed)
    accuracy = float(scores.statistic(scores.parts.sum(axis=0)))
    print(f"\nkeyword/{name}: {seconds:.1f} s, balanced accuracy {accuracy:.3f}")
    for key in SHOWN:
        found = scores.secondary[key]
        print(f"  {key:<28} {found.value:.3f} [{found.low:.3f}-{found.high:.3f}]")
    said = np.asarray(guess) > 0
    each = {(s.kind, s.name): s.estimate.value for s in scores.slices}
    print("  word       texts  balanced  average precision  first n  precision of yes  recall")
    for column, word in enumerate(game.keywords):
        there = deal.truth.present[:, column]
        hits, precise = int((said[:, column] & there).sum()), each[SLICES[AVERAGE_PRECISION], word]
        print(
            f"  {word:<9} {int(there.sum()):>6} {each['keyword', word]:>9.3f} {precise:>18.3f} "
            f"{each[SLICES[FIRST_N], word]:>8.3f} {hits / max(int(said[:, column].sum()), 1):>17.3f} "
            f"{hits / int(there.sum()):>7.3f}"
        )


def main() -> int:
    """Encode once (kept in the cache), deal once, play every attack."""
    options = arguments()
    try:
        target, external = world(options)
    except DataError as error:
        print(f"not measured: {error}", file=sys.stderr)
        return 0
    encoder = CachedEncoder(MiniLmEncoder(), EmbeddingCache())
    game = KeywordGame(keywords=WORDS[options.words], samples=options.samples, place=PLACE)
    vectors = encoder.encode(target.texts), encoder.encode(external.texts)
    seed = seed_for(options.seed, "real share")
    material = Material(target, external, *vectors, encoder.encode, ADVERSARIES["outsider"], seed)
    deal = game.deal(material)
    print(f"{len(target):,} targets, {len(external):,} sentences of the adversary, {deal.queries:,} queries")
    for name in options.attacks.split(","):
        show(name, game, deal, options.seed)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
