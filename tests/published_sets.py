"""Invented texts under the names and columns of published data sets: its words tell what a text is about."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

#: Words that only texts of one class hold; a text has three of them among three of everybody's.
OWN = [[f"{stem}{ending}" for ending in ("ab", "ek", "il", "om", "ur")] for stem in (
    *("bran", "clov", "drin", "flam", "gros"), *("hust", "jolp", "krim", "luft", "mend"),
)]  # fmt: skip
SHARED = ["the", "a", "on", "with", "and", "of", "to", "for"]


def texts_about(labels: np.ndarray, seed: int) -> list[str]:
    """One text per label."""
    rng = np.random.default_rng(seed)
    return [" ".join(rng.permutation([*rng.choice(OWN[label], 3), *rng.choice(SHARED, 3)])) for label in labels]


def windows(sites: np.ndarray, seed: int) -> list[str]:
    """Twenty nucleotides for each; those with a site hold few G and T."""
    rng = np.random.default_rng(seed)
    few = [0.4, 0.4, 0.1, 0.1]
    return ["".join(rng.choice(list("ACGT"), 20, p=few if site else few[::-1])) for site in sites]


def news(per_class: int = 60, classes: int = 8) -> dict[str, list[object]]:
    """Articles whose titles tell their category less often than their texts."""
    labels = np.repeat(np.arange(classes), per_class)
    rng = np.random.default_rng(0)
    vague = np.where(rng.random(len(labels)) < 0.3, rng.integers(0, classes, len(labels)), labels)
    titles = [f"{title} {i}" for i, title in enumerate(texts_about(vague, 1))]
    return {"title": titles, "text": texts_about(labels, 2), "category": [f"c{label}" for label in labels]}


def write_published_sets(folder: Path) -> None:
    """One file for each set that a task reads."""
    halves, tens = np.arange(400) % 2, np.arange(400) % 10
    split = ["test" if i % 5 == 0 else "train" for i in range(400)]
    about = {"text": texts_about(halves, 3), "label": halves.astype(str).tolist()}
    pairs = {
        "text_a": texts_about(tens, 4),
        "text_b": texts_about(np.where(halves == 1, tens, (tens + 1 + tens % 3) % 10), 5),
        "label": halves.tolist(),
        "split": ["val" if i % 7 == 0 and part == "train" else part for i, part in enumerate(split)],
    }
    sets = {
        "news_reuters21578": news(40, 3),
        "splice_sites": {"window20": windows(halves, 6), "label": ["donor" if h else "pseudo-donor" for h in halves]},
        "medical_procedures": {
            "description": [f"{t} {i}" for i, t in enumerate(texts_about(tens, 7))],
            "department": [f"d{t}" for t in tens],
        },
        "utility_mpqa": about,
        "utility_subj": about,
        "utility_trec": {"text": texts_about(tens % 6, 8), "label": (tens % 6).astype(str).tolist(), "split": split},
        "utility_msrp": pairs,
    }
    for name, columns in sets.items():
        pq.write_table(pa.table(columns), folder / f"{name}.parquet")
