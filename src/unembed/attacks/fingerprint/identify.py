"""Who made these vectors: dimension first, then the evidence of all vectors together, or none of those known."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from unembed.attacks.fingerprint.book import SignatureBook
from unembed.attacks.fingerprint.directions import columns_of, directions
from unembed.errors import UsageError

FALSE_ALARM = 0.01
#: More say no more.
MOST_VECTORS = 1000
#: From fewer, unknown encoders that resemble a known one are named more often than the stated rate.
ENOUGH_VECTORS = 10


@dataclass(frozen=True)
class Candidate:
    """One known encoder of the right dimension: how well the vectors fit it, and how well they would have to."""

    name: str
    score: float
    needed: float
    behind: float
    """Evidence against it and for the best one, in nats, all vectors together."""

    @property
    def fits(self) -> bool:
        """Whether the vectors may be this encoder's."""
        return self.score >= self.needed


@dataclass(frozen=True)
class Identification:
    """The answer: a name, or None for "none of those I know"; and what it rests on."""

    name: str | None
    reason: str
    dimension: int
    vectors: int
    zero_vectors: int
    unit_length: bool
    false_alarm: float
    candidates: tuple[Candidate, ...]
    alike: tuple[str, ...] = ()
    """Others that fit as well and can't be told apart by so few vectors."""


def identify(vectors: Any, book: SignatureBook | None = None, *, false_alarm: float = FALSE_ALARM) -> Identification:
    """Name the encoder of some vectors.

    Strangers (encoders of no relation to a known one) are given a name at the rate ``false_alarm`` at most, if there
    are ``ENOUGH_VECTORS``; relatives, such as another layer of a known network, may pass for it.
    """
    if not 0 < false_alarm < 0.5:
        raise UsageError(f"a false-alarm rate lies between 0 and 0.5, not at {false_alarm}")
    known = SignatureBook.shipped() if book is None else book
    count, dimension = (int(v) for v in vectors.shape)
    chosen = vectors if count <= MOST_VECTORS else vectors[np.linspace(0, count - 1, MOST_VECTORS).astype(np.int64)]
    rows = directions(chosen)
    lengths = np.sqrt(np.asarray(chosen.multiply(chosen).sum(axis=1)).ravel() if hasattr(chosen, "multiply") else
                      (np.asarray(chosen, dtype=np.float64) ** 2).sum(axis=1))  # fmt: skip
    unit = bool(np.allclose(lengths[lengths > 0], 1, atol=1e-2))
    n, zero = len(rows), int((lengths == 0).sum())
    signatures = known.of_dimension(dimension)
    if not signatures:
        sizes = sorted({s.dimension for s in known.signatures})
        reason = f"no known encoder makes {dimension} dimensions (known: {', '.join(map(str, sizes)) or 'none'})"
        return Identification(None, reason, dimension, n, zero, unit, false_alarm, ())
    scores = np.stack([s.score_directions(rows) for s in signatures])
    means = scores.mean(axis=1)
    best = int(means.argmax())
    columns = columns_of(dimension)
    candidates = tuple(
        Candidate(
            signatures[i].name,
            float(means[i]),
            signatures[i].needed(n, false_alarm),
            float((means[best] - means[i]) * n * columns),
        )
        for i in np.argsort(-means, kind="stable")
    )
    top = candidates[0]
    if not top.fits:
        fitting = f"{top.name} is nearest, with {top.score:.3f} where {top.needed:.3f} is needed"
        reason = f"{n} vector(s) fit none of {len(candidates)} known encoders of {dimension} dimensions: {fitting}"
        return Identification(None, reason, dimension, n, zero, unit, false_alarm, candidates)
    certain = NormalDist().inv_cdf(1 - false_alarm)
    alike = []
    for i, other in enumerate(signatures):
        lead = scores[best] - scores[i]
        spread = float(lead.std(ddof=1)) if n > 1 else signatures[best].own.within
        if i != best and lead.mean() < certain * spread / np.sqrt(n):
            alike.append(other.name)
    reason = f"{n} vector(s) fit {top.name} best of {len(candidates)} known encoders of {dimension} dimensions"
    if alike:
        reason += f"; so few can't rule out {', '.join(alike)}"
    return Identification(top.name, reason, dimension, n, zero, unit, false_alarm, candidates, tuple(alike))
