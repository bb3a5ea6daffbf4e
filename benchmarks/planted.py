"""What is found of labels planted into real vectors, by code that shares nothing with the tool's own planting.

    python benchmarks/planted.py labels --vectors news.npy     accuracy beside the Bayes limit, and the status
    python benchmarks/planted.py limit --vectors news.npy      whether leaks of the stated smallest size are found
    python benchmarks/planted.py noise                         how often pure noise is called a leak
    python benchmarks/planted.py audits                        the same through whole audits, with words and keywords

``--vectors`` is a file of vectors (.npy), for example of news: 4,000 rows suffice. Without it, normal ones are made.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import norm

from unembed.corpora.corpus import Corpus
from unembed.errors import CannotMeasureError
from unembed.games.attribute import AttributeGame
from unembed.games.base import Material
from unembed.games.number import NumberGame
from unembed.games.play import play, status_of
from unembed.games.repeats import REPEATS
from unembed.games.threat import ADVERSARIES

KINDS = ("verbatim", "axis", "rotated", "distance", "xor")
LIMITS = (0.60, 0.75, 0.90, 0.98)
TARGETS = 1000


def main() -> int:
    """Run one of the three experiments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("labels", "limit", "noise", "audits"))
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    vectors = (
        np.load(given.vectors, allow_pickle=False)
        if given.vectors
        else np.random.default_rng(0).standard_normal((4000, 384))
    )
    started = time.perf_counter()
    run = {"labels": labels, "limit": limit, "noise": noise, "audits": audits}[given.what]
    run(np.asarray(vectors, float), given.seeds, given.jobs)
    print(f"{time.perf_counter() - started:.0f} s with {given.jobs} jobs")
    return 0


def labels(vectors: np.ndarray, seeds: int, jobs: int) -> None:
    """Planted labels of known Bayes limit: mean and worst accuracy over the seeds, and the statuses."""
    print("kind      labels/class  limit  accuracy  worst  statuses")
    cells = [(k, n, b, s) for k in KINDS for n in (500, 50) for b in LIMITS for s in range(seeds)]
    found = dict(zip(cells, Parallel(jobs, verbose=1)(delayed(_one)(vectors, *cell) for cell in cells), strict=True))
    for kind in KINDS:
        for n in (500, 50):
            for bayes in LIMITS:
                results = [found[kind, n, bayes, s] for s in range(seeds)]
                accuracy = [a for a, _ in results]
                statuses = ", ".join(f"{v} {k}" for k, v in Counter(s for _, s in results).most_common())
                print(f"{kind:9} {n:12} {bayes:6.2f} {np.mean(accuracy):9.3f} {min(accuracy):6.3f}  {statuses}")


def _one(vectors: np.ndarray, kind: str, per_class: int, bayes: float, seed: int) -> tuple[float, str]:
    rng = np.random.default_rng([seed, per_class, round(100 * bayes), KINDS.index(kind)])
    rows, label = plant(vectors, kind, bayes, 2 * per_class + TARGETS, rng)
    played = _played(rows, [f"v{y}" for y in label], 2 * per_class, seed)
    return played.scores.secondary["accuracy"].value, status_of(played)[0]


def plant(
    vectors: np.ndarray, kind: str, bayes: float, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the vectors with a random label written into them that nobody can read better than ``bayes``."""
    rows = vectors[rng.permutation(len(vectors))[:n]].copy()
    if kind == "xor":
        main_directions = np.linalg.svd(vectors - vectors.mean(axis=0), full_matrices=False)[2][:32]
        rows = rows @ main_directions.T
    label = rng.integers(0, 2, n)
    side, noise = 2 * label - 1, rng.standard_normal(n)
    told = np.where(rng.random(n) < bayes, side, -side)
    live = np.flatnonzero(rows.std(axis=0) > 1e-6)
    first, second = rng.choice(live, size=2, replace=False)
    deviation = rows.std(axis=0)
    if kind == "verbatim":
        rows[:, first] = rows[:, first].mean() + deviation[first] * told
    elif kind == "axis":
        rows[:, first] = rows[:, first].mean() + deviation[first] * (side * norm.ppf(bayes) + noise)
    elif kind == "rotated":
        direction = rng.standard_normal(rows.shape[1])
        direction /= np.linalg.norm(direction)
        along = rows @ direction
        wanted = along.mean() + along.std() * (side * norm.ppf(bayes) + noise)
        rows += np.outer(wanted - along, direction)
    elif kind == "distance":
        centre = rows.mean(axis=0)
        length = np.linalg.norm(rows - centre, axis=1)
        wanted = np.maximum(length.mean() + length.std() * (side * norm.ppf(bayes) + noise), 1e-3)
        rows = centre + (rows - centre) * (wanted / length)[:, None]
    else:
        one = rng.choice([-1, 1], n)
        rows[:, first] = deviation[first] * one * np.abs(noise)
        rows[:, second] = deviation[second] * one * told * np.abs(rng.standard_normal(n))
    return rows, label


def limit(vectors: np.ndarray, seeds: int, jobs: int) -> None:
    """The stated smallest leak, and how many of 40 leaks of that size, planted here, are found."""
    rng = np.random.default_rng(7)
    rows = vectors[rng.permutation(len(vectors))[:2000]]
    blank = _played(rows, [f"v{y}" for y in rng.integers(0, 2, len(rows))], 1000, 0)
    assert blank.detection is not None, "a leak was found in vectors without one"
    assert blank.detection.size is not None, "no size is always found"
    size = blank.detection.size
    kinds = [k for k in ("axis", "rotated", "distance") if k in blank.detection.kinds]
    print(f"stated: {size} above guessing; tried {blank.detection.tried}; {status_of(blank)[2]}")

    def found(seed: int) -> tuple[str, bool]:
        kind = kinds[seed % len(kinds)]
        planted, label = plant(vectors, kind, 0.5 + size, 2000, np.random.default_rng([seed, 11]))
        return kind, status_of(_played(planted, [f"v{y}" for y in label], 1000, seed, calibrate=False))[0] == "leak"

    results = Parallel(jobs, verbose=1)(delayed(found)(seed) for seed in range(4 * seeds))
    print(f"found: {sum(hit for _, hit in results)} of {len(results)}")
    for kind in kinds:
        own = [hit for k, hit in results if k == kind]
        print(f"  {kind}: {sum(own)} of {len(own)}")


def noise(vectors: np.ndarray, seeds: int, jobs: int) -> None:
    """Vectors that know nothing: statuses of classes (2, 5, 50, 5 % positives) and numbers, 300 targets."""
    asked = ("2", "5", "50", "rare", "number")
    cells = [(what, seed) for seed in range(6 * seeds) for what in asked]
    found = Parallel(jobs, verbose=1)(delayed(_noise)(*cell) for cell in cells)
    for what in asked:
        print(what, dict(Counter(s for (w, _), s in zip(cells, found, strict=True) if w == what)))
    leaky = {seed for (_, seed), status in zip(cells, found, strict=True) if status == "leak"}
    print(f"leaks in {sum(s == 'leak' for s in found)} of {len(found)} findings, in {len(leaky)} of {6 * seeds} audits")


def _noise(what: str, seed: int) -> str:
    rng = np.random.default_rng([seed, 5])
    rows = rng.standard_normal((900, 384))
    if what == "number":
        return status_of(_played(rows, list(rng.gamma(2, 10, 900)), 600, seed))[0]
    drawn = rng.random(900) < 0.05 if what == "rare" else rng.integers(0, int(what), 900)
    try:
        return status_of(_played(rows, [f"v{int(y)}" for y in drawn], 600, seed))[0]
    except CannotMeasureError:
        return "refused"


def audits(vectors: np.ndarray, seeds: int, jobs: int) -> None:
    """Audits of 1,000 invented messages whose vectors know nothing: statuses by game, and verdicts."""
    found = Parallel(jobs, verbose=1)(delayed(_audit)(seed) for seed in range(6 * seeds))
    for game in sorted({game for findings, _ in found for game, _ in findings}):
        print(game, dict(Counter(status for findings, _ in found for g, status in findings if g == game)))
    statuses = [status for findings, _ in found for _, status in findings]
    print(f"leaks in {statuses.count('leak')} of {len(statuses)} findings")
    print("verdicts:", dict(Counter(level for _, level in found)))


def _audit(seed: int) -> tuple[list[tuple[str, str]], str]:
    import csv

    from unembed.corpora.generators.messages import generate_messages
    from unembed.runner.execute import audit
    from unembed.runner.spec import build_spec

    warnings.simplefilter("ignore")
    messages = generate_messages(1000, seed=seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (folder / "texts.csv").open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["text", "topic", "author"])
            rows.writerows(zip(messages.texts, messages.column("topic"), messages.column("author"), strict=True))
        noise = np.random.default_rng([seed, 5]).standard_normal((len(messages), 384), dtype=np.float32)
        np.save(folder / "noise.npy", noise)
        data = {
            "texts": str(folder / "texts.csv"),
            "column": "text",
            "attributes": ["topic", "author"],
            "vectors": str(folder / "noise.npy"),
        }
        run, _ = audit(build_spec({"data": data, "seed": seed, "run": {"folder": str(folder / "run")}}))
    return [(f.game, f.status) for f in run.findings], run.verdict.level


def _played(rows: np.ndarray, values: list, known: int, seed: int, *, calibrate: bool = True):  # type: ignore[no-untyped-def]
    """The default attack of the tool on the first ``known`` rows against the rest, as an audit plays it."""
    from unembed.attacks import ATTACKS

    warnings.simplefilter("ignore")
    game = NumberGame(column="a") if isinstance(values[0], float) else AttributeGame(column="a")
    attack = ATTACKS.get(f"{game.facts.name}/portfolio")(seed=seed)
    sides = [Corpus.of([f"text {i}" for i in range(len(part))], a=part) for part in (values[:known], values[known:])]
    own = rows.astype(np.float32)
    material = Material(
        target=sides[1],
        known=sides[0],
        target_vectors=own[known:],
        known_vectors=own[:known],
        encode=lambda texts: own[: len(texts)],
        adversary=ADVERSARIES["insider"],
        seed=seed,
    )
    return play(game, attack, game.deal(material), seed, calibrate=calibrate, repeats=REPEATS)


if __name__ == "__main__":
    sys.exit(main())
