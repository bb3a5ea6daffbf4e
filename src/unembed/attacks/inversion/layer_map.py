"""White-box inversion through a lower layer (Song 3.1, eq. 6): soft words towards Ψ, reached by a linear map M.

Vectors of deep models are hard to invert: the relaxed problem is far from convex there, and texts of one meaning lie
together. So M turns the observed vector into what a low layer would have given, and the words are searched for at that
layer, where the model below is shallow.

The search costs what ``soft_words`` says, with the layers up to Ψ alone; M what ``nn.ridge`` says, and one pass over
the adversary's texts up to that layer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unembed.attacks.base import AttackFacts
from unembed.attacks.inversion.pairs import check_pairs
from unembed.attacks.inversion.relaxation import SoftWordAttack, error_scale
from unembed.encoders.base import Vectors
from unembed.errors import UsageError
from unembed.games.inversion import InversionKnowledge, PieceGuess, piece_sets
from unembed.games.threat import Capability
from unembed.metrics import sets
from unembed.params import learnt
from unembed.seeds import generator, seed_for

if TYPE_CHECKING:
    from unembed.nn.ridge import RidgeMap

#: Layers that ``layer="tuned"`` tries, and on how many held-back pairs.
TRIED_LAYERS = (0, 1, 2)
TRIED_PAIRS = 24


class LayerMap(SoftWordAttack):
    """Eq. 6: M by ridge regression on the adversary's pairs, then the relaxation at layer ``layer``.

    ``layer="tuned"`` takes the one of the three lowest layers with the best F1 over pieces on held-back pairs.
    """

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="inversion/layer-map",
        game="inversion",
        title="Soft words through a lower layer (linear map)",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS, Capability.WEIGHTS}),
        cost="hours",
        paper="song2020",
        section="3.1, eq. 6, Algorithm 1; Figure 2",
        departures="M is a ridge regression, its strength chosen on held-back pairs, instead of plain least squares. "
        "Search as in inversion/relaxation: higher learning rate, pieces of the adversary's own texts alone, capped "
        "dimensions; start, length and stopping rule are ours, because the paper leaves them open.",
        default=False,
    )

    layer: int | str = 0
    mapped_pairs: int = 50_000

    map_: RidgeMap = learnt()
    scale_: NDArray[np.float32] = learnt()
    layer_: int = learnt()

    def fit(self, knowledge: InversionKnowledge) -> Self:
        """Learn M from the adversary's vectors and what the layer gives for their texts."""
        if self.mapped_pairs < 1:
            raise UsageError("mapped_pairs must be at least 1")
        if isinstance(self.layer, str) and self.layer != "tuned":
            raise UsageError(f"layer must be a number or 'tuned', not '{self.layer}'")
        self._prepare(knowledge)
        n = check_pairs(knowledge, texts=True)
        rows = generator(self.seed, "mapped pairs").permutation(n)[: self.mapped_pairs]
        layer = self._tuned_layer(knowledge, rows) if isinstance(self.layer, str) else self.layer
        return self._learn(knowledge, np.sort(rows), layer)

    def run(self, vectors: Vectors) -> PieceGuess:
        """Words whose text the layer would give what M makes of these vectors."""
        wanted = self.map_.apply(self._dense(vectors))
        return self._words(self._search(wanted, self.scale_, self.layer_))

    def _learn(self, knowledge: InversionKnowledge, rows: NDArray[Any], layer: int) -> Self:
        from unembed.nn.ridge import RidgeMap

        outputs = self.encoder_.layer_output([knowledge.texts[i] for i in rows], layer)
        self.layer_ = layer
        self.scale_ = error_scale(outputs, self.scaling)
        self.map_ = RidgeMap(device=self.device).fit(knowledge.vectors[rows], outputs, seed_for(self.seed, "map"))
        return self

    def _tuned_layer(self, knowledge: InversionKnowledge, rows: NDArray[Any]) -> int:
        """The layer that gives back most pieces of pairs the map did not see."""
        held, rest = np.sort(rows[:TRIED_PAIRS]), np.sort(rows[TRIED_PAIRS:])
        truth = piece_sets([knowledge.texts[i] for i in held], self.encoder_)
        reached: dict[int, float] = {}
        for layer in TRIED_LAYERS:
            try:
                self._learn(knowledge, rest, layer)
            except UsageError:  # the model has no such layer
                break
            found = self.run(knowledge.vectors[held]).pieces
            reached[layer] = float(sets.f1(sets.set_counts(truth, found).sum(axis=0)))
        return max(reached, key=lambda layer: reached[layer])
