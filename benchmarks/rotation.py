"""What a secret rotation hides: vectors brought back from pairs, and without any, by number and kind of texts.

    python benchmarks/rotation.py --public public.txt --stored same.txt mails.txt news.txt --model FOLDER
    python benchmarks/rotation.py --public public.npy --stored same.npy mails.npy

A file holds vectors (.npy) or one text per line (.txt, .txt.xz), which are encoded by the model in FOLDER: mean of the
tokens, unit norm. Runs from a checkout with numpy, scipy, and for texts torch and transformers. For every number of
pairs, and for every size of both sides, it prints how many of ``--asked`` recovered vectors come nearest to their own
among ``--among`` plain ones, and their mean cosine. No text is shown.
"""

from __future__ import annotations

import argparse
import itertools
import lzma
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from unembed.defenses.alignment import match_unpaired, procrustes
from unembed.defenses.rotation import Rotation
from unembed.encoders.base import DenseVectors

#: What else is done to the turned vectors; all numbers of a rotated vector vary about alike.
BEHIND: dict[str, Callable[[DenseVectors], Any]] = {
    "nothing": lambda turned: turned,
    "eight-bits": lambda turned: np.round(turned / np.abs(turned).max(axis=0) * 127),
    "one-decimal": lambda turned: np.round(turned, 1),
    "signs": np.sign,
    "noise": lambda turned: turned + turned.std() * np.random.default_rng(0).standard_normal(turned.shape),
}
PAIRS = (24, 48, 96, 192, 288, 384, 768)


def arguments() -> argparse.Namespace:
    """What to run on."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--public", type=Path, required=True, help="the adversary's own texts or vectors")
    parser.add_argument("--stored", type=Path, nargs="+", required=True, help="what lies behind the rotation")
    parser.add_argument("--model", type=Path, help="folder of a transformers model, for texts")
    parser.add_argument("--sizes", default="2000,10000,20000,50000,100000,150000", help="texts on either side")
    parser.add_argument("--pairs", default=",".join(map(str, PAIRS)), help="known pairs")
    parser.add_argument("--most", type=int, default=50_000, help="rows of either side in the last round")
    parser.add_argument("--behind", default="nothing", help=f"further defenses behind it: some of {', '.join(BEHIND)}")
    parser.add_argument("--repeats", type=int, default=1, help="draws of texts and rotation for each size")
    parser.add_argument("--asked", type=int, default=2_000, help="vectors that are looked for")
    parser.add_argument("--among", type=int, default=20_000, help="plain vectors among which they are looked for")
    return parser.parse_args()


def vectors_of(path: Path, model: Path | None, most: int) -> DenseVectors:
    """The vectors in a file, or those of its texts."""
    if path.suffix == ".npy":
        return np.asarray(np.load(path, allow_pickle=False)[:most], dtype=np.float32)
    if model is None:
        raise SystemExit(f"{path} holds texts: name the model with --model")
    with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8") as lines:
        texts = [line.strip() for line in lines if line.strip()][:most]
    started = time.perf_counter()
    made = encode_with_transformers(model, texts)
    print(f"{path.name}: {len(texts):,} texts in {time.perf_counter() - started:.0f} s", flush=True)
    return made.astype(np.float32)


def encode_with_transformers(folder: Path, texts: list[str], batch: int = 512, tokens: int = 256) -> DenseVectors:
    """The mean of the last layer over the tokens of each text, of length one; half precision on a GPU."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    model: Any = AutoModel.from_pretrained(folder).eval().to(device)
    model = model.half() if device == "cuda" else model
    order = np.argsort([len(text) for text in texts], kind="stable")[::-1]
    found: DenseVectors | None = None
    with torch.inference_mode():
        for begin in range(0, len(texts), batch):
            rows = order[begin : begin + batch]
            inputs = tokenizer(
                [texts[row] for row in rows], padding=True, truncation=True, max_length=tokens, return_tensors="pt"
            ).to(device)
            hidden = model(**inputs).last_hidden_state.float()
            mask = inputs["attention_mask"][..., None].float()
            mean = torch.nn.functional.normalize((hidden * mask).sum(dim=1) / mask.sum(dim=1), dim=1)
            if found is None:
                found = np.empty((len(texts), mean.shape[1]), dtype=np.float16)
            found[rows] = mean.cpu().numpy()
    assert found is not None, "there are no texts"
    return found


def judged(recovered: DenseVectors, plain: DenseVectors) -> tuple[float, float]:
    """The share of recovered vectors whose own plain one (in the same row) is the nearest, and their mean cosine."""
    squares, hits = np.square(plain).sum(axis=1), []
    for begin in range(0, len(recovered), 500):
        block = recovered[begin : begin + 500]
        apart = squares - 2 * block @ plain.T
        hits.append(apart.argmin(axis=1) == np.arange(begin, begin + len(block)))
    own = plain[: len(recovered)]
    lengths = np.linalg.norm(own, axis=1) * np.linalg.norm(recovered, axis=1)
    return float(np.concatenate(hits).mean()), float((np.einsum("ij,ij->i", own, recovered) / lengths).mean())


def turned(plain: DenseVectors, key: int) -> DenseVectors:
    """The vectors as they are stored."""
    behind = Rotation(seed=key).fit(plain).transform(plain, [""] * len(plain))
    return np.asarray(behind, dtype=np.float32)


def show_pairs(plain: DenseVectors, numbers: list[int], options: argparse.Namespace) -> None:
    """From pairs: none of them is among those asked about."""
    stored = turned(plain, 1)
    print(f"\n{'pairs':>8s} {'own nearest':>12s} {'cosine':>8s}")
    for count in numbers:
        known = slice(len(plain) - count, None)
        recovered = stored[: options.asked] @ procrustes(stored[known], plain[known])
        share, cosine = judged(recovered, plain[: min(options.among, len(plain) - count)])
        print(f"{count:8,d} {share:12.3f} {cosine:8.3f}", flush=True)


def show_unpaired(name: str, public: DenseVectors, plain: DenseVectors, options: argparse.Namespace) -> None:
    """Without a pair, by the number of texts."""
    print(
        f"\n{name}\n{'public':>8s} {'stored':>8s} {'own nearest':>12s} {'cosine':>8s} "
        f"{'confidence':>11s} {'seconds':>8s}"
    )
    done = set()
    for size in map(int, options.sizes.split(",")):
        sizes = min(size, len(public)), min(size, len(plain))
        if sizes in done:
            continue
        done.add(sizes)
        for behind, number in itertools.product(options.behind.split(","), range(options.repeats)):
            rng = np.random.default_rng([size, number])
            ours, theirs = (
                side[rng.permutation(len(side))[:n]] for side, n in zip((public, plain), sizes, strict=True)
            )
            stored = np.asarray(BEHIND[behind](turned(theirs, number + 1)), dtype=np.float32)
            started = time.perf_counter()
            found = match_unpaired(ours, stored, seed=number, most=options.most)
            seconds = time.perf_counter() - started
            share, cosine = judged(found.back(stored[: options.asked]), theirs[: options.among])
            print(
                f"{sizes[0]:8,d} {sizes[1]:8,d} {share:12.3f} {cosine:8.3f} {found.confidence:11.3f} {seconds:8.1f}"
                f"  {behind}",
                flush=True,
            )


def main() -> None:
    """Encode and print."""
    options = arguments()
    most = max(map(int, options.sizes.split(",")))
    public = vectors_of(options.public, options.model, most)
    for place, path in enumerate(options.stored):
        plain = vectors_of(path, options.model, most)
        if not place and options.pairs:
            show_pairs(plain, [int(n) for n in options.pairs.split(",")], options)
        show_unpaired(f"{options.public.name} -> {path.name}", public, plain, options)


if __name__ == "__main__":
    main()
