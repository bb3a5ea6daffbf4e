"""Identities of cells, for tests that build results by hand."""

from typing import Any

from unembed.results.identity import CellIdentity, Made


def made(name: str, **params: Any) -> Made:
    """A part of a cell under its own name."""
    return Made(name=name, called=name, version=1, params=params)


def identity(game: str | Made = "inversion", attack: str = "mlc", **changes: Any) -> CellIdentity:
    """A cell's identity; what a test is not about has some value."""
    usual: dict[str, Any] = {
        "version": 1,
        "adversary": "insider",
        "capabilities": ("vectors",),
        "game": game if isinstance(game, Made) else made(game),
        "subject": None,
        "attack": made(attack),
        "encoder": "e",
        "known": "inside",
        "known_fingerprint": "k",
        "target_fingerprint": "t",
        "group": None,
        "pairs": None,
        "calibrate": False,
        "repeats": 0,
        "threads": 1,
        "device": "cpu",
        "seed": 0,
    }
    return CellIdentity(**{**usual, **changes})
