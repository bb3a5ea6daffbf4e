"""Makes the file of known encoders that the package carries, from generated text alone.

    python benchmarks/shipped_signatures.py src/unembed/attacks/fingerprint/known-encoders.json

Weights are looked for as ``unembed reproduce`` does (UNEMBED_MODELS); an encoder whose weights are not here is left
out and said so, and one that the file has already is kept. Encoders that learn from texts are nobody's in particular
and are not in it: whoever fits one learns its signature with ``unembed fingerprint --learn``.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from unembed.attacks.fingerprint import SignatureBook, learn_from_encoder
from unembed.encoders import build_encoder
from unembed.encoders.cache import CachedEncoder, EmbeddingCache
from unembed.papers.base import Conditions
from unembed.papers.encoders import find_model

LAYER = {"normalise": False}
#: Name, encoder, options, and whose weights it needs; MiniLM comes with the package.
KNOWN = [
    ("all-MiniLM-L6-v2", "minilm", {}, None),
    ("all-MiniLM-L6-v2, first token", "minilm", {"pooling": "first", **LAYER}, None),
    *[(f"all-MiniLM-L6-v2, layer {n}", "minilm", {"layer": n, **LAYER}, None) for n in range(6)],
    ("bge-small-en-v1.5", "transformer", {"pooling": "first"}, "bge-small-en-v1.5"),
    ("bge-small-en-v1.5, mean", "transformer", {"pooling": "mean"}, "bge-small-en-v1.5"),
    ("bert-base-uncased, mean", "transformer", {"pooling": "mean"}, "bert-base-uncased"),
    ("bert-base-uncased, first token", "transformer", {"pooling": "first"}, "bert-base-uncased"),
    ("bert-base-uncased, layer 6", "transformer", {"pooling": "mean", "layer": 6}, "bert-base-uncased"),
    ("Universal Sentence Encoder lite", "use-lite", {}, "use-lite"),
    ("hashing, English", "hashing", {}, None),
]


def main(path: Path) -> None:
    """Write the file after every encoder, so that a stopped run goes on."""
    book = SignatureBook.read(path) if path.is_file() else SignatureBook()
    for name, encoder, options, weights in KNOWN:
        if name in book.names():
            continue
        found = find_model(weights, Conditions()) if weights else None
        if weights and found is None:
            print(f"{name}: no weights here")
            continue
        started = time.perf_counter()
        made = build_encoder(encoder, {**options, **({"model": str(found)} if found else {})})
        made = made if made.card.sparse else CachedEncoder(made, EmbeddingCache())
        book = book.added(learn_from_encoder(name, made))
        path.write_text(book.text(), encoding="utf-8")
        print(f"{name}: {time.perf_counter() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
