"""Keyword attacks beside the plain way: all keywords trained as one beside one after another, and beside scikit-learn.

The work is invented vectors with one direction per keyword, so that nothing has to be encoded and accuracy means
something. ``keyword/dann`` trains all keywords as one; the plain way is a PyTorch loop, one network at a time, as Pan's
Algorithm 1 reads, at the same number of steps, batch and learning rate. The limit is the products of the stacked step.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from measure import Case, Yardstick
from torch import nn
from torch.nn import functional

from unembed.attacks.keyword.dann import DomainAdversarial
from unembed.attacks.keyword.svm import MOST_TRIED, PARTS, STRENGTHS, KeywordSVM
from unembed.games.keyword import KeywordKnowledge
from unembed.nn.features import Standardiser
from unembed.seeds import generator

DIMENSION, EPOCHS = 384, 8


def world(keywords: int, samples: int, targets: int) -> tuple[KeywordKnowledge, np.ndarray]:
    """One direction per keyword, noise, and vectors under attack that are moved away; and which hold what."""
    rng = generator(0, "keyword benchmark")
    directions = rng.standard_normal((keywords, DIMENSION)) / np.sqrt(DIMENSION)
    half = samples // 2
    shared = rng.standard_normal((half, DIMENSION))
    own = [shared, *(rng.standard_normal((half, DIMENSION)) + 6 * d for d in directions)]
    rows = tuple(np.concatenate([np.arange(half), half * (k + 1) + np.arange(half)]) for k in range(keywords))
    labels = tuple(np.arange(2 * half) >= half for _ in range(keywords))
    held = rng.random((targets, keywords)) < 0.1
    moved = rng.standard_normal(DIMENSION)
    private = rng.standard_normal((targets, DIMENSION)) + 6 * held @ directions + 0.5 * moved
    names = tuple(f"keyword{k}" for k in range(keywords))
    vectors = np.concatenate(own).astype(np.float32)
    return KeywordKnowledge(vectors, rows, labels, names, unlabelled=private.astype(np.float32)), held


class Reversal(torch.autograd.Function):
    """The same forward, the other sign backward."""

    @staticmethod
    def forward(ctx, values):
        """The values."""
        return values.view_as(values)

    @staticmethod
    def backward(ctx, gradient):
        """The gradient, reversed."""
        return -gradient


def plain(knowledge: KeywordKnowledge, numbers: range, epochs: int, batch: int) -> np.ndarray:
    """Some keywords one after another, as anybody would write it; the share of epochs that say yes."""
    scaler = Standardiser().fit(knowledge.vectors)
    private = torch.from_numpy(scaler.transform(knowledge.unlabelled))
    said = []
    for number in numbers:
        torch.manual_seed(number)
        public = torch.from_numpy(scaler.transform(knowledge.vectors[knowledge.rows[number]]))
        answers = torch.from_numpy(knowledge.labels[number].astype(np.int64))
        both = torch.cat([public, private])
        domain = (torch.arange(len(both)) >= len(public)).long()
        encoder = nn.Sequential(nn.Linear(public.shape[1], 25), nn.Sigmoid())
        keyword, critic = nn.Linear(25, 2), nn.Linear(25, 2)
        optimiser = torch.optim.Adam([*encoder.parameters(), *keyword.parameters(), *critic.parameters()], lr=1e-3)
        decided = []
        for _ in range(epochs):
            for rows in torch.randperm(len(public)).split(batch):
                drawn = torch.randint(0, len(both), (batch,))
                loss = functional.cross_entropy(keyword(encoder(public[rows])), answers[rows])
                loss = loss + functional.cross_entropy(critic(Reversal.apply(encoder(both[drawn]))), domain[drawn])
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
            with torch.no_grad():
                scores = keyword(encoder(private))
                decided.append((scores[:, 1] > scores[:, 0]).numpy())
        said.append(np.mean(decided, axis=0))
    return np.stack(said, axis=1)


def balanced(said: np.ndarray, held: np.ndarray) -> float:
    """Mean over keywords of the balanced accuracy; ``said`` may be a share of epochs."""
    columns = range(said.shape[1])
    return float(np.mean([(said[held[:, c], c].mean() + 1 - said[~held[:, c], c].mean()) / 2 for c in columns]))


def adversarial(folder: Path) -> Case:
    """Fifty keywords trained as one; an iteration is one keyword and one batch of 64."""
    keywords, samples, targets, few = 50, 800, 1000, range(5)
    knowledge, held = world(keywords, samples, targets)
    attack = DomainAdversarial(epochs=EPOCHS, min_steps=1, device="cpu")
    steps = EPOCHS * -(-samples // attack.batch_size)

    def ours() -> np.ndarray:
        return attack.fit(knowledge).run(knowledge.unlabelled).decided.mean(axis=0)

    def theirs() -> np.ndarray:
        return plain(knowledge, few, EPOCHS, attack.batch_size)

    apart = balanced(ours()[:, few], held[:, few]) - balanced(theirs(), held[:, few])
    if apart < -0.05:
        raise AssertionError(f"all keywords at once are {-apart:.2f} less accurate than one after another")
    private = round(attack.batch_size * targets / (targets + samples))
    beside = (
        Yardstick("its matrix products", "FLOPs", products(keywords, attack.batch_size, private, attack.units, steps)),
        Yardstick("a plain loop over keywords", "reference", theirs, steps * len(few)),
    )
    return Case("iterations/s", steps * keywords, ours, beside)


def products(keywords: int, batch: int, private: int, units: int, steps: int) -> Callable[[], None]:
    """Forward and weight gradient of the stacked step: own rows by keyword, private rows for all at once."""
    own, shared = torch.randn(keywords, batch, DIMENSION), torch.randn(private, DIMENSION)
    weights, back = torch.randn(keywords, DIMENSION, units), torch.randn(keywords, batch, units)
    joined, shared_back = torch.randn(DIMENSION, keywords * units), torch.randn(private, keywords * units)

    def run() -> None:
        for _ in range(steps):
            torch.bmm(own, weights)
            torch.bmm(own.transpose(1, 2), back)
            shared @ joined
            shared.T @ shared_back

    return run


def machines(folder: Path) -> Case:
    """A support vector machine per keyword, its settings chosen on held-back rows."""
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    knowledge, _ = world(8, MOST_TRIED, 10)

    def search(number: int) -> Any:
        machine = LinearSVC(intercept_scaling=10, random_state=0, dual="auto", max_iter=5000)
        grid = {"linearsvc__C": STRENGTHS, "standardscaler__with_std": (True, False)}
        folds = StratifiedKFold(PARTS, shuffle=True, random_state=0)
        rows = knowledge.rows[number]
        return GridSearchCV(make_pipeline(StandardScaler(), machine), grid, cv=folds).fit(
            knowledge.vectors[rows], knowledge.labels[number]
        )

    count = len(knowledge.keywords)
    theirs = Yardstick("scikit-learn's grid search, LinearSVC", "reference", lambda: [search(k) for k in range(count)])
    return Case("keywords/s", count, lambda: KeywordSVM().fit(knowledge), (theirs,))


CASES = {"train, keyword/dann": adversarial, "train, keyword/svm": machines}
