"""Whether stored vectors are an encoder's: a few texts are encoded again and compared with what is stored for them.

An outsider makes pairs of their own with the encoder, so a wrong model, a missing prompt or rows in another order would
make them look harmless. Each of the three leaves its own trace, and the refusal names it with the measured agreement.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unembed.collections import Stored
from unembed.encoders.base import TOLERANCE, DenseVectors, Encoder, EncoderCard
from unembed.errors import CannotMeasureError
from unembed.runner.prepare import INSIDE, Sides
from unembed.seeds import seed_for

#: So many rows are encoded again; one of them that disagrees is enough to ask why.
ROWS = 20
#: Vectors of one text agree at least so well: float16 keeps 0.9999, eight bits about 0.99.
SAME = 0.99
#: Below, it is another model: a prompt, another layer or another version change a vector less.
RELATED = 0.5
#: Rows among which a vector that is not at its own row is looked for.
_ELSEWHERE = 5000


@dataclass(frozen=True)
class Agreement:
    """How well an encoder's vectors of some texts agree with the stored ones."""

    rows: int
    cosine: float
    """The median over rows."""
    own: int
    """Rows whose stored vector is the most similar of all that were looked at."""
    elsewhere: int
    """Rows whose vector is stored, but for another text."""
    scale: float
    """How much longer the stored vectors are than the encoder's; the median over rows."""

    @property
    def problem(self) -> str | None:
        """Why the vectors are not taken for the encoder's; None where they are."""
        if self.cosine >= SAME and abs(self.scale - 1) <= TOLERANCE:
            return None
        if self.cosine >= SAME:
            return (
                f"they point where the encoder's do (median cosine {self.cosine:.3f}) but are {self.scale:.3g} times "
                "as long: have the encoder scale its vectors alike (--encoder-option normalise=true, if it has that)"
            )
        measured = (
            f"the median cosine of {self.rows} texts encoded again is {self.cosine:.3f} (the same model: over {SAME})"
        )
        if 2 * self.elsewhere > self.rows:
            return (
                f"{measured}, and for {self.elsewhere} of them the encoder's vector is stored for another text: the "
                "rows of texts and vectors are in different orders"
            )
        if 2 * self.own > self.rows and self.cosine >= RELATED:
            return (
                f"{measured}, although the own vector is the nearest for {self.own} of them: a prompt is missing, or "
                "the model, its pooling or its version is a relative; set its options with --encoder-option"
            )
        return f"{measured}, and the own vector is the nearest for {self.own} of them: another model made these vectors"


def check_agreement(sides: Sides, encoder: Encoder, seed: int) -> Sides:
    """The sides with the measured agreement on their card; vectors that are not the encoder's are refused."""
    if sides.stored is None:
        return sides
    texts, held = sides.target, sides.known[INSIDE]
    found = compare(sides.stored, [*texts.ids, *held.ids], [*texts.texts, *held.texts], encoder, seed)
    if found.problem:
        raise CannotMeasureError(f"the stored vectors are not those of {encoder.card.name}: {found.problem}")
    facts: dict[str, int | str] = {
        "texts encoded again": found.rows,
        "median cosine to the stored vectors": f"{found.cosine:.4f}",
    }
    cards = [
        card.model_copy(update={"facts": {**card.facts, **facts}}) if card.role == "target" else card
        for card in sides.cards
    ]
    return replace(sides, cards=cards)


def card_of_stored(card: EncoderCard, stored: Stored) -> EncoderCard:
    """The encoder's card for vectors that it made earlier: they are known by their own digest, too."""
    both = hashlib.sha256(f"{card.digest} {stored.card.cache_key('document')}".encode()).hexdigest()
    known = card.digest is not None and stored.card.digest is not None
    return replace(card, digest=both if known else None, options=(*card.options, ("stored vectors", stored.card.name)))


def compare(stored: Stored, ids: Sequence[str], texts: Sequence[str], encoder: Encoder, seed: int) -> Agreement:
    """Encode some of the texts again and compare them with their stored vectors."""
    dimension = encoder.card.dimension
    if dimension != stored.card.dimension:
        raise CannotMeasureError(
            f"the stored vectors have {stored.card.dimension} dimensions, those of {encoder.card.name} {dimension}: "
            "another model made them"
        )
    if encoder.card.sparse:
        raise CannotMeasureError(
            f"the stored vectors are dense, those of {encoder.card.name} are sparse: leave the encoder out"
        )
    order = np.random.default_rng(seed_for(seed, "agreement")).permutation(len(ids))
    looked = order[:_ELSEWHERE]
    held = stored.vectors_for([ids[row] for row in looked])
    made = np.asarray(encoder.encode([texts[row] for row in looked[:ROWS]]), dtype=np.float32)
    return agreement(made, held)


def agreement(made: DenseVectors, held: DenseVectors) -> Agreement:
    """Compare the encoder's vectors with the first rows of the stored ones; the rest are other texts'."""
    lengths, stored_lengths = np.linalg.norm(made, axis=1), np.linalg.norm(held, axis=1)
    cosines = _unit(made, lengths) @ _unit(held, stored_lengths).T
    rows = np.arange(len(made))
    own = cosines[rows, rows]
    best = cosines.max(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.nanmedian(stored_lengths[: len(made)] / lengths)
    return Agreement(
        rows=len(made),
        cosine=float(np.median(own)),
        own=int((own >= best - 1e-6).sum()),
        elsewhere=int(((own < SAME) & (best >= SAME)).sum()),
        scale=float(scale),
    )


def _unit(vectors: DenseVectors, lengths: NDArray[np.floating]) -> DenseVectors:
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1)[:, None], dtype=np.float32)
