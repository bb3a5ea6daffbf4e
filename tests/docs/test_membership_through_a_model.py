"""The how-to about membership through a model runs as it stands, on made-up texts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unembed.shadows.base import Settings

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "membership-through-a-model.md"
USERS, OWN, POOL = 4, 6, 120


def brought() -> dict[str, Any]:
    """What the page says a reader brings: each user has two words of their own side by side."""
    rng = np.random.default_rng(0)
    own = [
        f"w{user} w{19 - user} " + " ".join(f"w{w}" for w in rng.integers(0, 20, 5))
        for user in range(USERS)
        for _ in range(OWN)
    ]
    texts = [*own, *(" ".join(f"w{w}" for w in rng.integers(0, 20, 7)) for _ in range(POOL))]

    def first_half(texts: list[str]) -> np.ndarray[Any, Any]:
        return np.array([1 if sum(int(w[1:]) < 10 for w in t.split()) > 3 else -1 for t in texts])

    def train_shadow(table: Any, texts: list[str]) -> Any:
        lean = 1 if len(table.numbers) % 2 else -1
        return lambda asked: first_half(asked) * np.where(np.arange(len(asked)) % 3 == 0, lean, 1)

    return {
        "texts": texts,
        "users": np.split(np.arange(USERS * OWN), USERS),
        "pool": np.arange(USERS * OWN, USERS * OWN + POOL),
        "inside": np.array([True, False, True, False]),
        "settings": Settings(dimension=8, passes=2, min_count=2),
        "documents": texts[-5:],
        "my_classifier": first_half,
        "train_shadow": train_shadow,
        "next_word": lambda before: "w19" if before[-1] == "w0" else "w5",
    }


def test_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    seen = brought()
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)
    assert len(blocks) == 3
    for number, code in enumerate(blocks):
        exec(compile(code, f"{PAGE.name}#{number}", "exec"), seen)
    shown = [[float(value) for value in line.split()] for line in capsys.readouterr().out.splitlines()]
    assert len(shown) == 2
    assert all(0 <= value <= 1 for line in shown for value in line)
    assert set(np.unique(np.concatenate([a.ravel() for a in seen["answers"]]))) <= {1, -1}
    hits = seen["hits"]
    assert (hits[0] == 1).any(), "the model says the first user's own pair"
    assert len(seen["through_words"].scores.parts) == USERS


def test_the_page_names_all_that_a_reader_brings() -> None:
    page = PAGE.read_text("utf-8")
    for name in brought():
        assert f"`{name}`" in page, name
