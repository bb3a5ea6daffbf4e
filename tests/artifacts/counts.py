"""A small recipe: words counted pass after pass, with a checkpoint after each."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from unembed.artifacts import Json, texts_digest


@dataclass(frozen=True)
class Counts:
    """Notes in ``log``, which changes nothing that is made, the pass at which each making begins."""

    texts: tuple[str, ...] = ("the sea is calm", "the harbour is near")
    passes: int = 3
    log: Path | None = None
    die_at: int | None = None
    """The pass at which the process ends."""
    seconds: float = 0.0

    @property
    def identity(self) -> Mapping[str, Json]:
        return {"what": "counts", "passes": self.passes, "texts": texts_digest(self.texts)}

    def make(self, place: Path) -> dict[str, int]:
        checkpoint = place / "checkpoint.json"
        done, counts = json.loads(checkpoint.read_text()) if checkpoint.exists() else (0, {})
        if self.log is not None:
            with self.log.open("a") as file:
                file.write(f"{done}\n")
        time.sleep(self.seconds)
        for number in range(done, self.passes):
            if number == self.die_at:
                os._exit(1)
            counts = dict(Counter(counts) + Counter(word for text in self.texts for word in text.split()))
            aside = place / "aside.json"
            aside.write_text(json.dumps([number + 1, counts]))
            aside.replace(checkpoint)
        return counts

    def save(self, made: dict[str, int], place: Path) -> None:
        (place / "inner").mkdir()
        (place / "inner" / "counts.json").write_text(json.dumps(made))

    def load(self, place: Path) -> dict[str, int]:
        counts: dict[str, int] = json.loads((place / "inner" / "counts.json").read_text())
        return counts
