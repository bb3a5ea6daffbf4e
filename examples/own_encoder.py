"""Auditing an encoder of your own: any function from a list of texts to rows of numbers.

Run: python examples/own_encoder.py
The same on the command line: unembed audit --texts FILE --encoder callable:examples/own_encoder.py:embed
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unembed.encoders.callables import CallableEncoder
from unembed.runner.execute import audit
from unembed.runner.spec import build_spec
from unembed.testing import check_encoder

DIMENSION = 128


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """The mean of a fixed random vector per word: stands for whatever you run in production."""
    rows = np.zeros((len(texts), DIMENSION), dtype=np.float32)
    for row, text in enumerate(texts):
        words = text.lower().split()
        for word in words:
            seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
            rows[row] += np.random.default_rng(seed).standard_normal(DIMENSION, dtype=np.float32)
        rows[row] /= max(len(words), 1)
    return rows


def main() -> None:
    """Check the encoder, then ask what its vectors give away."""
    check_encoder(CallableEncoder(embed, version="1"))
    with tempfile.TemporaryDirectory() as folder:
        spec = build_spec(
            {
                "data": {"texts": "generator:messages", "max_texts": 600, "group": "document"},
                # 'version' identifies the function, so that its vectors may be cached: change it with the code.
                "encoder": {"name": "callable", "function": f"{__file__}:embed", "version": "1"},
                "adversaries": ["outsider", "insider"],
                "games": ["keyword"],
                "attacks": ["keyword/svm"],
                "threads": 1,
                "run": {"folder": folder, "no_cache": True},
            }
        )
        run, _ = audit(spec)
    print(run.encoder["name"], run.encoder["dimension"], "dimensions")
    print(run.verdict.sentence)


if __name__ == "__main__":
    main()
