"""unembed: what text vectors give away, to whom, at what price, and what stops it."""

from __future__ import annotations

from unembed._version import __version__

__all__ = ["__version__"]
