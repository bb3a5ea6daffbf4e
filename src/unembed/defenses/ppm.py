"""A mapping trained to leave an adversary nothing and to move vectors little (Pan 2020, VII (3))."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unembed.defenses.base import DefenseFacts, Owned, check_finite, dense
from unembed.defenses.keywords import FEWEST, keywords_in, texts_with
from unembed.defenses.tiles import ROWS, as_rows, product, usable_tiles
from unembed.encoders.base import DenseVectors, Vectors
from unembed.errors import CannotMeasureError, UsageError
from unembed.params import Parametrised
from unembed.seeds import generator, seed_for

if TYPE_CHECKING:
    import torch

_WHAT = "a trained mapping"
#: Rows that the mapping is trained on, and rows of one step.
_MOST, _BATCH = 20_000, 1024
#: Sigmoid units of the adversary, as in the paper.
_UNITS = 200
#: How much the adversary's answers are held back, so that it learns nothing by heart.
_RIDGE = 0.1
#: Epochs that many steps are counted in.
_EPOCHS = 10


class Ppm(Parametrised):
    """Adds to each vector what a small network makes of it, so that an adversary can't tell what is to be hidden.

    The network plays against an adversary in every step of its training: min over the mapping, max over the adversary,
    of the adversary's success plus λ times the distance that vectors are moved, in units of their mean distance from
    the centre. Only what was named is hidden, from adversaries like the simulated one, and less so on texts that were
    not learnt from: there is no guarantee. To see what it hides, attack texts that it was not fitted on, with pairs
    that it was not fitted on either: on its own texts an attack may fall below guessing, which is no safety.

    Args:
        nearness: How much it counts that vectors stay where they are (λ): the higher, the less is hidden.
        keywords: What to hide; empty, and no ``column`` given: ten frequent content words of the texts.
        column: A column of the owner's, whose values are hidden instead.
        units: Hidden units of the mapping.
        steps: Steps of training, at least.
        seed: Nothing follows from it.
    """

    facts: ClassVar[DefenseFacts] = DefenseFacts(
        name="ppm",
        title="Privacy-preserving mapping",
        paper="pan2020",
        section="VII (3), Appendix C",
        supervised=True,
        version=2,
        departures="the simulated adversary is solved and not trained in turns with the mapping: in each step a linear "
        "adversary and one with 200 fresh random sigmoid units are fitted exactly, because the mapping runs away from "
        "the printed adversary, trained in turns, and one trained afterwards reads nearly everything; the mapping "
        "(d-200-d, ReLU) is added to the vector; batches of up to 1,024; λ is in units of the vectors' spread",
    )

    nearness: float = 0.1
    keywords: Sequence[str] = ()
    column: str | None = None
    units: int = 200
    steps: int = 300
    seed: int = 0

    def fit(self, vectors: Vectors, owned: Owned | None = None) -> Self:
        """Train the mapping."""
        self.check_parameters()
        rows = check_finite(dense(vectors, _WHAT), self.facts.name)
        secrets = self._secrets(owned, len(rows))
        chosen = np.sort(generator(0, "rows of a mapping").permutation(len(rows))[:_MOST])
        rows, secrets = np.asarray(rows[chosen], dtype=np.float32), secrets[chosen]
        self.mean_ = rows.mean(axis=0, dtype=np.float64).astype(np.float32)
        spread = np.linalg.norm(rows - self.mean_, axis=1).mean(dtype=np.float64)
        if not spread > 0:
            raise CannotMeasureError("the defense 'ppm' has nothing to learn from: all vectors are the same")
        # Numbers of about 1, whatever the encoder's scale.
        self.unit_ = float(spread / np.sqrt(rows.shape[1]))
        shares = secrets.mean(axis=0)
        mixed = (shares > 0) & (shares < 1)
        if not mixed.any():
            raise CannotMeasureError("the defense 'ppm' has nothing to hide: all texts are alike in what it was given")
        wanted = ((secrets - shares) / np.sqrt(np.maximum(shares * (1 - shares), 1e-12)))[:, mixed]
        trained = _trained((rows - self.mean_) / self.unit_, wanted, self.nearness, self.units, self.steps)
        self.first_weight_, self.first_bias_, self.second_weight_, self.second_bias_ = trained
        return self

    def transform(self, vectors: Vectors, ids: Sequence[str]) -> Vectors:
        """Mapped vectors."""
        rows = as_rows(self.facts.name, vectors, len(self.mean_))
        unit = np.float32(self.unit_)
        first, second = (np.ascontiguousarray(part.T) for part in (self.first_weight_, self.second_weight_))
        made = np.empty_like(rows)
        for place in usable_tiles(self.facts.name, rows, ROWS):
            scaled = rows[place] - self.mean_
            scaled /= unit
            hidden = product(scaled, first)
            hidden += self.first_bias_
            np.maximum(hidden, np.float32(0), out=hidden)
            added = product(hidden, second)
            added += self.second_bias_
            added *= unit
            np.add(rows[place], added, out=made[place])
        return made

    def check_parameters(self) -> None:
        """Refuse parameters out of range."""
        if not 0 <= self.nearness < np.inf:
            raise UsageError(f"'nearness' of the defense 'ppm' must not be negative, not {self.nearness}")
        if self.units < 1 or self.steps < 1:
            raise UsageError("'units' and 'steps' of the defense 'ppm' must be at least 1")
        if self.column is not None and self.keywords:
            raise UsageError("the defense 'ppm' hides 'keywords' or a 'column', not both")

    def _secrets(self, owned: Owned | None, rows: int) -> NDArray[np.float64]:
        """What the adversary wants to know of each row, as yes or no: ``[rows, questions]``."""
        if self.column is None:
            keywords = keywords_in(self.facts.name, self.keywords, owned, rows)
            assert owned is not None, "the texts were found"
            return texts_with(self.facts.name, keywords, owned.texts).astype(np.float64)
        held = () if owned is None else owned.columns.get(self.column, ())
        if len(held) != rows:
            raise CannotMeasureError(f"the defense 'ppm' has no column '{self.column}' with a value for each vector")
        values = [None if value is None else str(value) for value in held]
        counts = Counter(value for value in values if value is not None)
        classes = sorted(value for value, count in counts.items() if count >= FEWEST)
        if len(classes) < 2:
            raise CannotMeasureError(
                f"the defense 'ppm' needs a column with two values that {FEWEST} rows have, unlike '{self.column}'"
            )
        return np.array([[value == known for known in classes] for value in values], dtype=np.float64)


def _trained(
    rows: DenseVectors, wanted: NDArray[np.float64], nearness: float, units: int, steps: int
) -> tuple[DenseVectors, DenseVectors, DenseVectors, DenseVectors]:
    """Weights and biases of the mapping, at first of one that changes nothing."""
    import torch
    from torch import nn

    from unembed.nn.training import train

    n, width = rows.shape
    first, second = nn.Linear(width, units), nn.Linear(units, width)
    chance = torch.Generator().manual_seed(seed_for(0, "mapping") % 2**62)
    with torch.no_grad():
        bound = 1 / math.sqrt(width)
        for values in (first.weight, first.bias):
            values.uniform_(-bound, bound, generator=chance)
        nn.init.zeros_(second.weight)
        nn.init.zeros_(second.bias)
    model = nn.Sequential(first, nn.ReLU(), second)
    data, secrets = torch.from_numpy(np.ascontiguousarray(rows)), torch.from_numpy(wanted.astype(np.float32))

    def loss_of(chosen: Any) -> torch.Tensor:
        plain = data[chosen]
        moved: torch.Tensor = model(plain)
        mapped = plain + moved
        # The distance is averaged, not squared, as printed; its root is kept away from zero, where it has no slope.
        distance = ((moved**2).sum(dim=1) + 1e-12).sqrt().mean() / math.sqrt(width)
        loss: torch.Tensor = _told(mapped, secrets[chosen], chance) + nearness * distance
        return loss

    # Batches of one size: of a small last one an adversary would learn by heart.
    size = -(-n // -(-n // _BATCH))
    rng = generator(0, "mapping")
    train(model, loss_of, n=n, epochs=_EPOCHS, batch_size=size, learning_rate=1e-3, rng=rng, min_steps=steps)
    learnt = (first.weight, first.bias, second.weight, second.bias)
    return tuple(part.detach().numpy().copy() for part in learnt)  # type: ignore[return-value]


def _told(mapped: torch.Tensor, secrets: torch.Tensor, chance: torch.Generator) -> torch.Tensor:
    """What the best linear adversary, and the best on fresh sigmoid units, tell of the secrets: shares of variance."""
    import torch

    width = mapped.shape[1]
    with torch.no_grad():
        mean, deviation = mapped.mean(dim=0), mapped.std(dim=0) + 1e-6
        weights = torch.randn(width, _UNITS, generator=chance) * (2 / math.sqrt(width))
        biases = torch.randn(_UNITS, generator=chance)
    bent = torch.sigmoid((mapped - mean) / deviation @ weights + biases)
    return _explained(mapped, secrets) + _explained(bent, secrets)


def _explained(features: torch.Tensor, secrets: torch.Tensor) -> torch.Tensor:
    """The share of the secrets' variance that ridge regression on these features explains."""
    import torch

    centred = features - features.mean(dim=0)
    centred = centred / (centred.pow(2).mean(dim=0) + 1e-6).sqrt()
    known = secrets - secrets.mean(dim=0)
    spread = centred.T @ centred / len(centred) + _RIDGE * torch.eye(centred.shape[1])
    shared = centred.T @ known / len(centred)
    told: torch.Tensor = (shared * torch.cholesky_solve(shared, torch.linalg.cholesky(spread))).sum(dim=0).mean()
    return told
