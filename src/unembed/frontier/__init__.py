"""Which defense to use: many settings measured, leak against usefulness, and a choice among them."""

from __future__ import annotations

from unembed.frontier.points import Point, pareto, points_of
from unembed.frontier.target import Target, read_target

__all__ = ["Point", "Target", "pareto", "points_of", "read_target"]
