"""Training on pairs of vectors and words: `inversion/mlc` beside its products, `inversion/msp` beside a plain loop."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from measure import Case, Yardstick
from msp_throughput import World, arguments, plain, trained
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse import random as random_sparse

from unembed.attacks.inversion.mlc import MLC
from unembed.corpora.words import Vocabulary
from unembed.games.inversion import InversionKnowledge

DIMENSION, WORDS, PAIRS = 384, 8_000, 2_048


def random_pairs(count: int, words_each: int) -> tuple[NDArray[np.float32], csr_matrix]:
    """Vectors and word sets that have nothing to do with each other: only the work counts here."""
    rng = np.random.default_rng(0)
    labels = csr_matrix(random_sparse(count, WORDS, words_each / WORDS, "csr", np.float32, rng))
    labels.data[:] = 1
    return rng.standard_normal((count, DIMENSION), dtype=np.float32), labels


def classifiers(folder: Path) -> Case:
    """One linear classifier per word, all in one layer."""
    vectors, labels = random_pairs(PAIRS, 12)
    counts = np.asarray(labels.sum(axis=0)).ravel().astype(np.int64)
    vocabulary = Vocabulary(tuple(f"word{i}" for i in range(WORDS)), counts, counts, PAIRS)
    knowledge = InversionKnowledge(vectors, labels, vocabulary)
    attack = MLC(epochs=2, min_steps=1, device="cpu")
    rows, weights, back = (torch.randn(shape) for shape in ((256, DIMENSION), (DIMENSION, WORDS), (256, WORDS)))

    def products() -> None:
        for _ in range(attack.epochs * PAIRS // len(rows)):
            rows @ weights
            rows.T @ back

    limit = Yardstick("its matrix products", "FLOPs", products)
    return Case("pairs/s", attack.epochs * PAIRS, lambda: attack.fit(knowledge), (limit,))


def multi_sets(folder: Path) -> Case:
    """Naming the words of a set one after another, with the sampled loss that so many words get by default.

    In float32, because only some processors have quick products in bfloat16.
    """
    pairs, held = 256, 8
    options = arguments(["--epochs", "1", "--pairs", str(pairs), "--threads", "1"])
    device, world = torch.device("cpu"), World(*random_pairs(pairs + held, 9), pairs)
    loop = Yardstick("a plain PyTorch loop", "reference", lambda: plain(world, options, device))
    return Case("pairs/s", pairs, lambda: trained(world, options, device, "float32", options.negatives), (loop,))


CASES = {"train, inversion/mlc": classifiers, "train, inversion/msp": multi_sets}
