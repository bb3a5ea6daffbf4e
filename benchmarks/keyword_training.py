"""Training fifty keyword networks as one against one after another, and iterations a second (Pan, Table VI).

    python benchmarks/keyword_training.py [--keywords 50] [--threads 2] [--dimension 384]

The work is invented vectors with a direction a keyword, so that nothing has to be encoded and accuracy means something.
Compared in one run, at the same number of steps, batch and learning rate:

- stacked: ``keyword/dann`` with all keywords in one training;
- one after another: a plain PyTorch loop, one network at a time, as Algorithm 1 reads; a few keywords are trained
  whole and the time is scaled to all of them, because the whole would take minutes.

Both are measured three times in turns. Ours is timed with scaling the vectors, the plain loop without.

The limit of the stacked step is its products: 4 · keywords · (batch + its private part) · dimension · units operations,
printed as a rate.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from unembed.attacks.keyword.aligned import Aligned
from unembed.attacks.keyword.dann import DomainAdversarial
from unembed.attacks.keyword.mlp import KeywordMLP
from unembed.attacks.keyword.svm import KeywordSVM
from unembed.games.keyword import KeywordKnowledge
from unembed.nn.features import Standardiser
from unembed.seeds import generator

#: How often both ways are measured, one after the other; medians are shown.
TURNS = 3


def world(keywords: int, dimension: int, samples: int, targets: int) -> tuple[KeywordKnowledge, np.ndarray]:
    """A direction a keyword, noise, and vectors under attack that are moved away; and which hold what."""
    rng = generator(0, "keyword benchmark")
    directions = rng.standard_normal((keywords, dimension)) / np.sqrt(dimension)
    half = samples // 2
    shared = rng.standard_normal((half, dimension))
    own = [shared, *(rng.standard_normal((half, dimension)) + 6 * d for d in directions)]
    rows = tuple(np.concatenate([np.arange(half), half * (k + 1) + np.arange(half)]) for k in range(keywords))
    labels = tuple(np.arange(2 * half) >= half for _ in range(keywords))
    held = rng.random((targets, keywords)) < 0.1
    moved = rng.standard_normal(dimension)
    private = rng.standard_normal((targets, dimension)) + 6 * held @ directions + 0.5 * moved
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


def plain(knowledge: KeywordKnowledge, number: int, epochs: int, batch: int) -> tuple[np.ndarray, float]:
    """One keyword as anybody would write it; the mean decision over epochs, and the seconds of training alone."""
    torch.manual_seed(number)
    scaler = Standardiser().fit(knowledge.vectors)
    public = torch.from_numpy(scaler.transform(knowledge.vectors[knowledge.rows[number]]))
    answers = torch.from_numpy(knowledge.labels[number].astype(np.int64))
    private = torch.from_numpy(scaler.transform(knowledge.unlabelled))
    both = torch.cat([public, private])
    domain = (torch.arange(len(both)) >= len(public)).long()
    encoder = nn.Sequential(nn.Linear(public.shape[1], 25), nn.Sigmoid())
    keyword, critic = nn.Linear(25, 2), nn.Linear(25, 2)
    optimiser = torch.optim.Adam([*encoder.parameters(), *keyword.parameters(), *critic.parameters()], lr=1e-3)
    decided, seconds = [], 0.0
    for _ in range(epochs):
        started = time.perf_counter()
        for rows in torch.randperm(len(public)).split(batch):
            drawn = torch.randint(0, len(both), (batch,))
            loss = functional.cross_entropy(keyword(encoder(public[rows])), answers[rows])
            loss = loss + functional.cross_entropy(critic(Reversal.apply(encoder(both[drawn]))), domain[drawn])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        seconds += time.perf_counter() - started
        with torch.no_grad():
            scores = keyword(encoder(private))
            decided.append((scores[:, 1] > scores[:, 0]).numpy())
    return np.mean(decided, axis=0), seconds


def balanced(said: np.ndarray, held: np.ndarray) -> float:
    """Mean over keywords of the balanced accuracy; ``said`` may be a share of epochs."""
    columns = range(said.shape[1])
    return float(np.mean([(said[held[:, c], c].mean() + 1 - said[~held[:, c], c].mean()) / 2 for c in columns]))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keywords", type=int, default=50)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--samples", type=int, default=800)
    parser.add_argument("--targets", type=int, default=2000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--compared", type=int, default=9, help="keywords trained one after another")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    knowledge, held = world(args.keywords, args.dimension, args.samples, args.targets)

    DomainAdversarial(epochs=1, min_steps=1, device="cpu").fit(knowledge)  # what torch does once
    chosen = range(min(args.compared, args.keywords))
    took, single = [], []
    for turn in range(TURNS):  # in turns, so that a machine that is slower for a while is so for both
        started = time.perf_counter()
        attack = DomainAdversarial(min_steps=1, device="cpu").fit(knowledge)
        took.append(time.perf_counter() - started)
        single += [plain(knowledge, k, attack.epochs, attack.batch_size) for k in chosen[turn::TURNS]]
    stacked = float(np.median(took))
    steps = attack.epochs * -(-max(len(r) for r in knowledge.rows) // attack.batch_size)
    ours = attack.run(knowledge.unlabelled).decided.mean(axis=0)

    chosen = [k for turn in range(TURNS) for k in chosen[turn::TURNS]]
    each = float(np.median([seconds for _, seconds in single]))
    said = np.stack([s for s, _ in single], axis=1)

    private = attack.batch_size * args.targets / (args.targets + args.samples)
    work = 4 * args.keywords * (attack.batch_size + private) * args.dimension * attack.units * steps
    same = balanced(ours[:, chosen], held[:, chosen])
    print(f"{args.keywords} keywords, {args.dimension} dimensions, {steps} steps each, {args.threads} threads")
    print(f"stacked            {stacked:8.2f} s  accuracy {same:.3f} (of the keywords below)")
    print(f"one after another  {each * args.keywords:8.2f} s  accuracy {balanced(said, held[:, chosen]):.3f}")
    print(f"ratio              {each * args.keywords / stacked:8.1f}    products at {work / stacked / 1e9:.1f} GFLOP/s")

    print("\niterations a second (one iteration: one keyword, one batch of 64; Pan Table VI in brackets)")
    print(f"domain-adversarial {steps * args.keywords / stacked:10.0f}   plain loop {steps / each:8.0f}   [316.8]")
    started = time.perf_counter()
    mlp = KeywordMLP(min_steps=1, device="cpu").fit(knowledge)
    seconds = time.perf_counter() - started
    print(
        f"mlp                {mlp.epochs * -(-args.samples // 64) * args.keywords / seconds:10.0f}   {'':19}   [352.3]"
    )
    for name, other in (("svm", KeywordSVM()), ("aligned", Aligned(device="cpu"))):
        started = time.perf_counter()
        guess = other.fit(knowledge).run(knowledge.unlabelled)
        seconds = time.perf_counter() - started
        print(f"{name:18} {seconds:8.2f} s for all keywords, accuracy {balanced((guess > 0).astype(float), held):.3f}")


if __name__ == "__main__":
    main()
