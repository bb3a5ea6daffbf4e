"""Looking for a defense among 60 settings: how long the search takes, and whether measuring everything says the same.

    python benchmarks/sweep.py restaurant_sentences.parquet --column sentence --attribute sentiment --keyword salad
    python benchmarks/sweep.py … --full-grid

Twelve defenses in five settings each, by three attacks of the insider (words, a keyword, a column), who knows each of
them. Prints the rounds, the front and the choice.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from typing import Any

import unembed

SHARES = (0.5, 0.25, 0.125, 0.0625, 0.03125)


def settings(keyword: str) -> list[Any]:
    """Twelve defenses, five settings each, from weak to strong."""

    def principal(share: float) -> dict[str, Any]:
        return {"name": "truncation", "components": share, "kind": "principal"}

    return [
        *({"name": "rounding", "decimals": decimals} for decimals in (4, 3, 2, 1, 0)),
        *({"name": "gaussian", "scale": scale} for scale in (0.25, 0.5, 1.0, 2.0, 4.0)),
        *({"name": "laplace", "epsilon": epsilon} for epsilon in (1000.0, 300.0, 100.0, 30.0, 10.0)),
        *({"name": "metric-dp", "epsilon": epsilon} for epsilon in (1600.0, 800.0, 400.0, 200.0, 100.0)),
        *({"name": "product-quantization", "bytes": size} for size in (192, 96, 48, 24, 12)),
        *({"name": "truncation", "components": share} for share in SHARES),
        *(principal(share) for share in SHARES),
        *([principal(share), {"name": "int8"}] for share in SHARES),
        *([principal(share), {"name": "binary"}] for share in SHARES),
        *([principal(share), {"name": "gaussian", "scale": 0.5}] for share in SHARES),
        *({"name": "neighbours", "components": share} for share in SHARES),
        *({"name": "subspace", "beta": beta, "keywords": [keyword]} for beta in (0.01, 0.026, 0.05, 0.1, 0.2)),
    ]


def main() -> int:
    """One search."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts")
    parser.add_argument("--column", default="text")
    parser.add_argument("--attribute", required=True)
    parser.add_argument("--keyword", required=True)
    parser.add_argument("--encoder", default="minilm")
    parser.add_argument("--max-texts", type=int, default=20_000)
    parser.add_argument("--target", default="inversion.content_f1 <= 0.2")
    parser.add_argument("--full-grid", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--folder", required=True)
    options = parser.parse_args()
    games = ["inversion", "keyword", "attribute"]
    began = time.perf_counter()
    found = unembed.defend(
        options.texts,
        encoder=options.encoder,
        column=options.column,
        attributes=[options.attribute],
        keyword=[options.keyword],
        games=games,
        attacks=[f"{game}/portfolio" for game in games],
        adversaries=["insider"],
        defenses=settings(options.keyword),
        max_texts=options.max_texts,
        target=options.target,
        full_grid=options.full_grid,
        unaware=False,
        calibrate=False,
        repeats=0,
        curve=[],
        references=[],
        threads=1,
        jobs=options.jobs,
        folder=options.folder,
        progress=True,
    )
    seconds = time.perf_counter() - began
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    computing = sum(one.ru_utime + one.ru_stime for one in used)
    for done in found.rounds:
        going = [one.variant for one in done.tried if one.kept]
        print(f"{done.texts:,} texts, {done.seconds:.0f} s: {len(done.tried)} settings, {len(going)} go on")
    for point in found.points:
        print(f"  {point.variant or 'none'}: leak {point.leak.value:.3f}, loss {point.loss.value:.3f}")
    front = [point.variant for point in found.front]
    print(f"front: {', '.join(name or 'none' for name in front)}")
    print(f"{found.sentence}")
    print(f"{seconds:.0f} s in all, {computing:.0f} s of a processor, {options.jobs} attacks at a time")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
