"""A callable as an encoder in a process of its own: code that nobody here knows can hang, or crash past all of Python.

There it can be ended by a time limit, and when it dies the audit says so in one line instead of dying with it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from multiprocessing.util import Finalize
from typing import Any

from unembed.artifacts import Artifacts
from unembed.artifacts.encoders import ready_encoder
from unembed.encoders import build_encoder
from unembed.encoders.base import DenseVectors, Encoder, EncoderCard
from unembed.errors import CannotMeasureError, PluginError, fenced
from unembed.runner.processes import ElsewhereError, Worker


def safe_encoder(
    name: str,
    options: Mapping[str, Any],
    texts: Sequence[str],
    artifacts: Artifacts | None,
    limit: float | None = None,
    deadline: float | None = None,
) -> Encoder:
    """An encoder ready to encode, as ``ready_encoder`` gives it; a callable in a process of its own."""
    if name.partition(":")[0] == "callable":
        return ApartEncoder(name, options, limit, deadline)
    return ready_encoder(name, options, texts, artifacts)


class ApartEncoder:
    """An encoder by name and options that lives in another process; one call may take ``limit`` seconds."""

    def __init__(self, name: str, options: Mapping[str, Any], limit: float | None, deadline: float | None) -> None:
        self.name, self.options, self.limit, self.deadline = name, json.dumps(dict(options)), limit, deadline
        self._worker: Worker | None = None

    @cached_property
    def card(self) -> EncoderCard:
        """What the encoder says of itself there."""
        card: EncoderCard = self._ask(None)
        return card

    def encode(self, texts: Sequence[str], *, role: str = "document") -> DenseVectors:
        """Its vectors."""
        vectors: DenseVectors = self._ask((list(texts), role))
        return vectors

    def _ask(self, given: tuple[list[str], str] | None) -> Any:
        if self._worker is None:
            self._worker = Worker()
            # Before multiprocessing waits for all processes, which would be for ever.
            Finalize(self, self._worker.stop, exitpriority=10)
        outcome = self._worker.ask(answer, (self.name, self.options, given), self.limit, self.deadline)
        if outcome.lost is None:
            return outcome.result
        if outcome.usable:
            raise PluginError(f"encoder '{self.name}' failed: {outcome.lost}") from ElsewhereError(outcome.trace)
        self._worker.stop()
        self._worker = None
        raise CannotMeasureError(f"encoder '{self.name}' gave no vectors: {outcome.lost}")


def answer(asked: tuple[str, str, tuple[list[str], str] | None]) -> Any:
    """In the other process: vectors of texts in a role, or without them the card."""
    name, options, given = asked
    with fenced(f"encoder '{name}'"):
        encoder = _opened(name, options)
        return encoder.card if given is None else encoder.encode(given[0], role=given[1])


@lru_cache(maxsize=1)
def _opened(name: str, options: str) -> Encoder:
    return build_encoder(name, json.loads(options))
