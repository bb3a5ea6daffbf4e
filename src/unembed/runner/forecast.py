"""How long an audit would take: what is left to encode at a rate that is tried, and a rough guess for the attacks.

The encoder is tried on a few of the texts, because encoders differ a thousandfold; an endpoint is never tried. What
attacks cost follows from their class of cost and from the pairs they learn from, with constants measured once.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from unembed.attacks import ATTACKS
from unembed.encoders.base import Encoder
from unembed.encoders.cache import CachedEncoder, inside
from unembed.runner.agreement import ROWS
from unembed.runner.plan import Cell
from unembed.runner.prepare import EXTERNAL, Sides
from unembed.runner.references import takes_references
from unembed.runner.spec import AuditSpec

#: Texts of a trial: a few, then more if those took less than TRIED seconds.
_FEW, _MORE, _TRIED = 8, 64, 1.0


@dataclass(frozen=True)
class Cost:
    """Seconds that a measurement takes: once, for a thousand pairs, for each target."""

    once: float
    per_thousand_pairs: float = 0.0
    per_target: float = 0.0


#: By the attack's class of cost. Measured once, as means over attacks, on invented messages with 384 dimensions, 500 to
#: 3,000 pairs and two threads on a machine of two cores that had other work; attacks of one class differ tenfold.
COSTS = {
    "seconds": Cost(3.0, per_thousand_pairs=3.0),
    "minutes": Cost(1.0, per_thousand_pairs=40.0),
    "hours": Cost(10.0, per_target=3.0),
}
#: What a measurement costs that learns once (a point of the curve), for one that also repeats and plants leaks.
_ONCE = 0.4
#: What one reference adds to a measurement that it stands beside.
_REFERENCE = 0.5


@dataclass(frozen=True)
class Forecast:
    """Seconds on this machine; ``encoding`` is None where nobody can tell, as of an endpoint."""

    to_encode: int
    """Texts that the cache does not hold, where it can tell."""
    trial: int
    """Texts that the encoder was tried on."""
    encoding: float | None
    measuring: float

    @property
    def seconds(self) -> float:
        """All of it that is known."""
        return (self.encoding or 0.0) + self.measuring


def encoded_texts(sides: Sides, queries: Mapping[str, Sequence[str]]) -> Iterator[Sequence[str]]:
    """The texts that an encoder gets, call by call; of stored vectors only those that are compared."""
    if not sides.can_encode:
        return
    if sides.stored is None:
        yield sides.target.texts
        yield from (corpus.texts for corpus in sides.known.values())
    else:
        yield sides.target.texts[:ROWS]
        yield from (corpus.texts for name, corpus in sides.known.items() if name == EXTERNAL)
    yield from queries.values()


def forecast(
    spec: AuditSpec,
    sides: Sides,
    cells: Sequence[Cell],
    queries: Mapping[str, Sequence[str]],
    encoder: Encoder | None,
) -> Forecast:
    """What the audit would take; the encoder is tried on a few texts, None: one that must not be asked yet."""
    from joblib import effective_n_jobs

    calls = list(encoded_texts(sides, queries))
    measuring = sum(_seconds_of(cell, spec, sides) for cell in cells)
    measuring /= max(1, min(effective_n_jobs(spec.run.jobs), len(cells)))
    if encoder is None:
        return Forecast(sum(map(len, calls)), 0, None, measuring)
    left = _not_held(encoder, calls)
    trial, per_text = _rate(inside(encoder), left)
    return Forecast(len(left), trial, per_text * len(left), measuring)


def _not_held(encoder: Encoder, calls: Sequence[Sequence[str]]) -> list[str]:
    """What the encoder itself will be asked: all, or each text once that its cache does not hold."""
    texts = [text for call in calls for text in call]
    return encoder.missing(texts) if isinstance(encoder, CachedEncoder) else texts


def _rate(encoder: Encoder, texts: Sequence[str]) -> tuple[int, float]:
    """How many texts were tried, drawn evenly, and the seconds that one took."""
    tried, per_text = 0, 0.0
    for count in (1, _FEW, _MORE):  # the first warms up
        some = texts[:: max(1, len(texts) // count)][:count]
        if len(some) <= tried:
            break
        began = time.perf_counter()
        encoder.encode(some)
        took = time.perf_counter() - began
        tried, per_text = len(some), took / len(some)
        if took > _TRIED and count > 1:
            break
    return tried, per_text


def _seconds_of(cell: Cell, spec: AuditSpec, sides: Sides) -> float:
    """A rough guess: attacks of one class of cost differ much."""
    identity = cell.identity
    named = ATTACKS.get(identity.attack.name).facts.cost
    cost = COSTS[named]
    pairs = len(sides.known[identity.known]) if identity.pairs is None else identity.pairs
    seconds = cost.once + cost.per_thousand_pairs * pairs / 1000 + cost.per_target * len(sides.target)
    if named == "seconds" and not (identity.calibrate or identity.repeats):
        seconds *= _ONCE
    beside = len(spec.references) if takes_references(cell) else 0
    return seconds * (1 + _REFERENCE * beside)
