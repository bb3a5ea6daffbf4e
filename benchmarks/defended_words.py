"""How many words are read from defended vectors with very many pairs, and how many neighbours are left; for a GPU.

    python benchmarks/defended_words.py TEXTS MODEL [--train 300000] [--epochs 8] [--only NAME …]

TEXTS holds one text per line (``.xz`` is unpacked), those of one document together: the first ``--train`` are the
adversary's, the rest are the store. MODEL is the folder of a BERT-like encoder whose token outputs are averaged. A
network of two layers of 2048 units learns the 20,000 commonest words from defended vectors, with noise drawn anew at
every step where there is any, and is asked about 5,000 stored texts; its threshold is chosen on 5,000 others. Recall is
that of the ten nearest among all stored vectors, queries treated alike, for 2,000 of them; ``new`` is the same for
2,000 queries that are not stored. ``unaware`` is the same network learnt from plain vectors. Prints scores only.
Needs no package beyond numpy, scipy, torch and transformers.
"""

from __future__ import annotations

import argparse
import lzma
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from unembed.corpora.words import stop_words, words
from unembed.defenses import DEFENSES

VOCABULARY, ASKED, QUERIES, K = 20_000, 5_000, 2_000, 10
#: For `neighbours` on a GPU: a wider network than the usual, longer learnt.
WIDE = {"hidden": 8192, "steps": 6000, "around": 128, "learning_rate": 2e-3}
SETTINGS: list[tuple[str, dict[str, Any]]] = [
    *(("rounding", {"decimals": d}) for d in (2, 1)),
    *(("gaussian", {"scale": s}) for s in (0.25, 0.5, 1.0, 2.0, 4.0)),
    ("float16", {}),
    ("int8", {}),
    ("binary", {}),
    *(("product-quantization", {"bytes": b}) for b in (96, 48, 12)),
    *(("truncation", {"components": c, "kind": "principal"}) for c in (192, 128, 96, 64, 48, 24)),
    ("rotation", {}),
    *(("neighbours", {"components": c, **WIDE}) for c in (192, 128, 96, 64, 48, 32, 24)),
]


@dataclass
class Held:
    """Which words of the vocabulary stand in each text, as rows of a ragged array, and how many others do."""

    words: Tensor
    starts: Tensor
    others: Tensor

    def dense(self, rows: Tensor) -> Tensor:
        """One row of zeros and ones per text."""
        first, counts = self.starts[rows], self.starts[rows + 1] - self.starts[rows]
        made = torch.zeros(len(rows), VOCABULARY, device=rows.device)
        where = torch.repeat_interleave(torch.arange(len(rows), device=rows.device), counts)
        within = torch.arange(len(where), device=rows.device) - torch.repeat_interleave(
            counts.cumsum(0) - counts, counts
        )
        made[where, self.words[torch.repeat_interleave(first, counts) + within]] = 1
        return made


def read(path: Path) -> list[str]:
    """One text per line."""
    raw = path.read_bytes()
    return (lzma.decompress(raw) if path.suffix == ".xz" else raw).decode().split("\n")


@torch.no_grad()
def encode(folder: Path, texts: Sequence[str], device: str, batch: int = 2048) -> Tensor:
    """The mean of the token outputs, of length 1."""
    from transformers import AutoModel, AutoTokenizer

    tokens, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).float().to(device).eval()
    order = np.argsort([len(text) for text in texts])
    made = torch.empty(len(texts), model.config.hidden_size, device=device)
    for start in range(0, len(texts), batch):
        rows = order[start : start + batch]
        given = tokens([texts[i] for i in rows], padding=True, truncation=True, max_length=256, return_tensors="pt")
        given = given.to(device)
        mask = given["attention_mask"][..., None]
        mean = (model(**given).last_hidden_state * mask).sum(1) / mask.sum(1)
        made[torch.as_tensor(rows, device=device)] = functional.normalize(mean, dim=1)
    return made


def held(texts: Sequence[str], place: dict[str, int], device: str) -> Held:
    """The words of texts by their number in the vocabulary; function words outside it are not counted as missed."""
    found, starts, others = [], [0], []
    function = stop_words()
    for text in texts:
        own = set(words(text))
        found += [place[word] for word in own if word in place]
        starts.append(len(found))
        others.append(sum(word not in place and word not in function for word in own))
    return Held(*(torch.tensor(part, device=device) for part in (found, starts, others)))


def learn(
    inputs: Callable[[Tensor], Tensor], known: Held, epochs: int, batch: int = 1024
) -> Callable[[Tensor], Tensor]:
    """A network of two layers that says for each word how likely it stands in the text."""
    device = known.words.device
    texts = len(known.starts) - 1
    sample = inputs(torch.arange(4096, device=device))
    mean, deviation = sample.mean(0), sample.std(0) + 1e-6
    torch.manual_seed(0)
    width = 2048
    net = nn.Sequential(
        *(
            nn.Linear(sample.shape[1], width),
            nn.GELU(),
            nn.Linear(width, width),
            nn.GELU(),
            nn.Linear(width, VOCABULARY),
        )
    ).to(device)
    nn.init.constant_(net[-1].bias, -7.0)
    optimiser = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-2, fused=True)
    rate = torch.optim.lr_scheduler.OneCycleLR(optimiser, 1e-3, total_steps=epochs * (texts // batch), pct_start=0.1)
    for _ in range(epochs):
        order = torch.randperm(texts, device=device)
        for start in range(0, texts - batch + 1, batch):
            rows = order[start : start + batch]
            with torch.autocast("cuda", dtype=torch.bfloat16):
                said = net((inputs(rows) - mean) / deviation)
            loss = functional.binary_cross_entropy_with_logits(said.float(), known.dense(rows), reduction="sum") / batch
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
            rate.step()

    @torch.no_grad()
    def say(vectors: Tensor) -> Tensor:
        with torch.autocast("cuda", dtype=torch.bfloat16):
            return torch.sigmoid(net((vectors - mean) / deviation).float())

    return say


def content_f1(say: Callable[[Tensor], Tensor], vectors: Tensor, truth: Held, content: Tensor) -> tuple[float, float]:
    """The mean F1 of a text's content words with half the width of its interval; vectors and truth hold both halves."""
    thresholds = torch.linspace(0.05, 0.6, 23, device=content.device)
    hits, named = torch.zeros(23, device=content.device), torch.zeros(23, device=content.device)
    there, scores = 0.0, []
    for start in range(0, ASKED, 1000):
        rows = torch.arange(start, start + 1000, device=content.device)
        sure, real = say(vectors[rows])[:, content], truth.dense(rows)[:, content]
        there += float(real.sum() + truth.others[rows].sum())
        for place, threshold in enumerate(thresholds):
            guess = sure >= threshold
            hits[place] += (guess * real).sum()
            named[place] += guess.sum()
    threshold = thresholds[(2 * hits / (named + there)).argmax()]
    for start in range(ASKED, 2 * ASKED, 1000):
        rows = torch.arange(start, start + 1000, device=content.device)
        guess, real = say(vectors[rows])[:, content] >= threshold, truth.dense(rows)[:, content]
        most = guess.sum(1) + real.sum(1) + truth.others[rows]
        scores.append(2 * (guess * real).sum(1) / most.clamp(min=1))
    found = torch.cat(scores)
    return float(found.mean()), float(1.96 * found.std() / len(found) ** 0.5)


@torch.no_grad()
def nearest(vectors: Tensor, rows: Tensor | None = None, queries: Tensor | None = None) -> Tensor:
    """The nearest others of some vectors, or the nearest to some queries, in full precision: ranks are close."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    unit, found = functional.normalize(vectors, dim=1), []
    asked = unit[rows] if queries is None else functional.normalize(queries, dim=1)
    for start in range(0, len(asked), 500):
        similar = asked[start : start + 500] @ unit.T
        if rows is not None:
            similar.scatter_(1, rows[start : start + 500, None], -9)
        found.append(similar.topk(K).indices)
    torch.set_float32_matmul_precision(before)
    return torch.cat(found)


def shared(plain: Tensor, defended: Tensor) -> Tensor:
    """The share of each query's nearest that is among its nearest still."""
    return (plain[:, :, None] == defended[:, None, :]).any(2).float().mean(1)


def main() -> int:
    """One line per setting."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--train", type=int, default=300_000)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--fit-elsewhere", action="store_true", help="fit on the adversary's texts, not on the store")
    options = parser.parse_args()
    device = "cuda"
    torch.set_float32_matmul_precision("high")
    texts = read(options.texts)
    vectors = encode(options.model, texts, device)
    known, stored = vectors[: options.train], vectors[options.train :]
    counts = Counter(word for text in texts[: options.train] for word in set(words(text)))
    place = {word: number for number, (word, _) in enumerate(counts.most_common(VOCABULARY))}
    content = torch.tensor([word not in stop_words() for word in place], device=device)
    pairs = held(texts[: options.train], place, device)
    truth = held(texts[options.train : options.train + 2 * ASKED], place, device)
    queries = torch.randperm(len(stored), generator=torch.Generator().manual_seed(1))[:QUERIES].to(device)
    plain_near = nearest(stored, queries)
    fresh = slice(options.train - QUERIES, options.train)
    plain_fresh = nearest(stored, queries=known[fresh])
    unaware = learn(lambda rows: known[rows], pairs, options.epochs)
    print(f"{len(known):,} pairs, {len(stored):,} stored, dimension {known.shape[1]}", flush=True)
    f1, half = content_f1(unaware, stored, truth, content)
    print(f"{'plain':44s} adaptive {f1:.3f}±{half:.3f}  recall@{K} 1.000", flush=True)
    owned = np.ascontiguousarray(vectors.cpu().numpy())
    ids = [str(i) for i in range(len(owned))]
    for name, params in SETTINGS:
        if options.only and name not in options.only:
            continue
        began = time.monotonic()
        defense = DEFENSES.get(name)(**params, seed=7).fit(
            owned[: options.train - QUERIES] if options.fit_elsewhere else owned[options.train :]
        )
        behind = torch.from_numpy(np.asarray(defense.transform(owned[options.train :], ids[options.train :]))).to(
            device
        )
        if defense.facts.keyed == "noise":
            added = torch.tensor(defense.scale * defense.deviation_, device=device)
            inputs = lambda rows, by=added: known[rows] + by * torch.randn_like(known[rows])  # noqa: E731
        else:
            own = torch.from_numpy(np.asarray(defense.transform(owned[: options.train], ids[: options.train]))).to(
                device
            )
            inputs = lambda rows, own=own: own[rows]  # noqa: E731
        kept = shared(plain_near, nearest(behind, queries))
        asked = torch.from_numpy(np.asarray(defense.transform(owned[fresh], ids[fresh]))).to(device)
        new = shared(plain_fresh, nearest(behind, queries=asked))
        f1, half = content_f1(learn(inputs, pairs, options.epochs), behind, truth, content)
        same = behind.shape[1] == stored.shape[1]
        naive = f"{content_f1(unaware, behind, truth, content)[0]:.3f}" if same else "  –  "
        size = getattr(defense, "stored_bytes", lambda d: 4.0 * d)(stored.shape[1])
        told = f"{name} " + " ".join(f"{k}={v}" for k, v in params.items() if k not in WIDE)
        print(
            f"{told:44s} adaptive {f1:.3f}±{half:.3f}  unaware {naive}  recall@{K} {float(kept.mean()):.3f}"
            f"±{float(1.96 * kept.std() / len(kept) ** 0.5):.3f}  new {float(new.mean()):.3f}  {size:.0f} bytes  "
            f"{time.monotonic() - began:.0f} s",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
