"""Something of your own that takes long to make: made once, kept, and gone on with after a kill.

Run: python examples/own_artifact.py
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from unembed.artifacts import Artifacts, Json, Recipe, texts_digest
from unembed.testing import check_recipe

Counts = dict[str, int]


@dataclass(frozen=True)
class WordCounts:
    """How often each word occurs; stands for a model that is trained on texts, pass after pass."""

    texts: tuple[str, ...]
    passes: int = 3

    @property
    def identity(self) -> Mapping[str, Json]:
        """All that decides what is made. 'version' goes up with the code."""
        return {"what": "word counts", "version": 1, "passes": self.passes, "texts": texts_digest(self.texts)}

    def make(self, place: Path) -> Counts:
        """Each pass leaves a checkpoint, written aside and renamed; after a kill the next call begins there."""
        checkpoint = place / "checkpoint.json"
        done, counts = json.loads(checkpoint.read_text()) if checkpoint.exists() else (0, {})
        for number in range(done, self.passes):
            counts = dict(Counter(counts) + Counter(word for text in self.texts for word in text.split()))
            aside = place / "aside.json"
            aside.write_text(json.dumps([number + 1, counts]))
            aside.replace(checkpoint)
        return counts

    def save(self, made: Counts, place: Path) -> None:
        (place / "counts.json").write_text(json.dumps(made))

    def load(self, place: Path) -> Counts:
        counts: Counts = json.loads((place / "counts.json").read_text())
        return counts


def main() -> None:
    """Check the contract, then make once and load from then on."""
    recipe: Recipe[Counts] = (words := WordCounts(("the sea is calm", "the harbour is near")))
    check_recipe(recipe, behaviour=dict, changed=[replace(words, passes=2), replace(words, texts=("the sea",))])
    print("WordCounts keeps the contract")
    with tempfile.TemporaryDirectory() as folder:
        artifacts = Artifacts(Path(folder))
        print(artifacts.get(recipe)["the"], "made;", artifacts.get(recipe)["the"], "loaded")


if __name__ == "__main__":
    main()
