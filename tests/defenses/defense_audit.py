"""An audit of seconds: invented messages as dense vectors, one attribute, a linear attack."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def small_audit(folder: Path, **more: Any) -> dict[str, Any]:
    """What an audit file would say; its run lies in the folder."""
    return {
        "data": {"texts": "generator:messages", "max_texts": 400, "attributes": ["topic"]},
        "encoder": {"name": "lsa", "components": 24},
        "games": ["attribute"],
        "attacks": ["attribute/linear"],
        "adversaries": ["insider"],
        "references": [],
        "calibrate": False,
        "repeats": 0,
        "threads": 1,
        "run": {"folder": str(folder / "run"), "no_cache": True},
        **more,
    }
