"""What protects, what it costs: every defense against words, keywords and a column, through whole audits.

    python benchmarks/defended_table.py news_agnews_test.parquet --attribute category --keyword market --keyword team
    python benchmarks/defended_table.py … --encoder sentence-transformer:path/to/model

The insider, who holds part of the texts with their vectors, attacks each variant of the vectors twice: not knowing the
defense, and knowing all of it but the key. Printed for each question is the strongest figure of either, and what is
left of a search and of the classification by the same column, with intervals of 95 %; then the bytes of a stored vector
and the time that defending one takes, in one thread. Prints scores only.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from typing import Any

import unembed
from unembed.frontier.points import Point, points_of, strongest_by_question
from unembed.metrics.estimate import Estimate
from unembed.results.schema import Finding, Run

DEFENSES: list[Any] = [
    {"name": "rounding", "decimals": 2},
    {"name": "rounding", "decimals": 1},
    {"name": "laplace", "epsilon": 100.0},
    {"name": "laplace", "epsilon": 30.0},
    {"name": "gaussian", "scale": 0.5},
    {"name": "gaussian", "scale": 1.0},
    {"name": "gaussian", "scale": 2.0},
    {"name": "metric-dp", "epsilon": 200.0},
    {"name": "float16"},
    {"name": "int8"},
    {"name": "binary"},
    {"name": "product-quantization", "bytes": 48},
    {"name": "product-quantization", "bytes": 12},
    {"name": "truncation", "components": 96},
    {"name": "truncation", "components": 96, "kind": "principal"},
    {"name": "truncation", "components": 24, "kind": "principal"},
    {"name": "neighbours", "components": 96},
    {"name": "neighbours", "components": 24},
    {"name": "rotation"},
    {"name": "pii-removal"},
]
#: Defenses that are told the keywords they protect.
KEYED: list[Any] = [{"name": "subspace", "beta": 0.05}, {"name": "ppm"}]


def figure(estimate: Estimate | None) -> str:
    """A figure with its interval."""
    if estimate is None or estimate.value != estimate.value:
        return "–"
    return f"{estimate.value:.3f} [{estimate.low:.3f}–{estimate.high:.3f}]"


def strongest(findings: Iterable[Finding], game: str) -> Estimate | None:
    """The largest figure of one question, whichever attack reached it."""
    found = [f.estimate for f in strongest_by_question(findings) if f.game == game]
    return max(found, key=lambda estimate: estimate.value, default=None)


def line(run: Run, point: Point, games: list[str]) -> str:
    """One variant: every question by who knows it and who does not, uses, bytes, microseconds."""
    own = [f for f in run.findings if f.defense == point.variant and f.status not in ("could-not-measure", "yardstick")]
    cells = [point.variant or "none"]
    for game in games:
        cells.append(figure(strongest([f for f in own if f.adaptive is not False], game)))
        cells.append("" if point.variant is None else figure(strongest([f for f in own if f.adaptive is False], game)))
    cells += [figure(None if use.error else use.estimate) for use in point.uses]
    cost = point.cost
    cells += ["", ""] if cost is None else [f"{cost.stored_bytes:.0f}", f"{cost.transform_seconds * 1e6:.1f}"]
    return "| " + " | ".join(cells) + " |"


def main() -> int:
    """One line per variant."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts")
    parser.add_argument("--column", default="text")
    parser.add_argument("--attribute", required=True)
    parser.add_argument("--keyword", required=True, action="append", help="repeat for several")
    parser.add_argument("--encoder", default="minilm")
    parser.add_argument("--max-texts", type=int, default=4000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--folder", help="keeps the run, and goes on where it stopped")
    options = parser.parse_args()
    games = ["inversion", "keyword", "attribute"]
    run = unembed.audit(
        options.texts,
        encoder=options.encoder,
        column=options.column,
        attributes=[options.attribute],
        games=games,
        attacks=[*(f"{game}/portfolio" for game in games), "keyword/svm"],
        adversaries=["insider"],
        defenses=[*DEFENSES, *({**one, "keywords": options.keyword} for one in KEYED)],
        utility=[{"name": "retrieval"}, {"name": "column", "column": options.attribute}],
        keyword=options.keyword,
        max_texts=options.max_texts,
        references=[],
        curve=[],
        threads=1,
        jobs=options.jobs,
        folder=options.folder,
        progress=True,
    ).result
    points = points_of(run)
    uses = [f"{use.title} ({use.metric})" for use in points[0].uses]
    heads = ["vectors", *(f"{g}, {who}" for g in games for who in ("who knows it", "unaware")), *uses, "bytes", "µs"]
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
    for point in points:
        print(line(run, point, games))
    for record in run.cells:
        if record.status == "failed":
            print(f"not measured: {record.identity.attack.name}, {record.identity.defense}: {record.error}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
