"""SVG written by hand: the elements that every chart is made of, without script, font or request."""

from __future__ import annotations

import math
from collections.abc import Iterable

from markupsafe import Markup


def element(name: str, *inside: str, **attributes: object) -> Markup:
    """One element; ``class_`` and ``text_anchor`` are written as ``class`` and ``text-anchor``, None is left out.

    What is inside is escaped unless it is markup.
    """
    given = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value is not None}
    written = joined(Markup(' {}="{}"').format(key, _shown(value)) for key, value in given.items())
    if not inside:
        return Markup("<{}{}/>").format(name, written)
    return Markup("<{0}{1}>{2}</{0}>").format(name, written, joined(inside))


def line(x1: object, y1: object, x2: object, y2: object, **look: object) -> Markup:
    """A straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, **look)


def text(x: object, y: object, said: str, *, anchor: str = "start", **look: object) -> Markup:
    """One line of text that starts, ends or is centred at a place."""
    return element("text", said, x=x, y=y, text_anchor=anchor, **look)


def dot(x: object, y: object, radius: float, *inside: str, **look: object) -> Markup:
    """A circle."""
    return element("circle", *inside, cx=x, cy=y, r=radius, **look)


def joined(parts: Iterable[str]) -> Markup:
    """Parts one after the other; those that are no markup are escaped."""
    return Markup("").join(parts)


def along(value: float, first: float, last: float, *, by_factors: bool) -> float:
    """Where a value lies between two others, from 0 to 1; by factors on a scale where each step multiplies."""
    if by_factors:
        least = first if first > 0 else 1.0
        value, first, last = (math.log10(max(least, number)) for number in (value, first, last))
    return (value - first) / (last - first) if last > first else 0.5


def _shown(value: object) -> object:
    return f"{round(value, 2):g}" if isinstance(value, float) else value
