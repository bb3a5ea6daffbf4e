"""White-box inversion by relaxation (Song 3.1, eq. 3-5, Algorithm 1): soft words, optimised through the model.

The cost and its limit are those of ``soft_words``.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from unembed.attacks.base import AttackFacts
from unembed.attacks.inversion.pairs import model_of
from unembed.attacks.inversion.pieces import PieceWords
from unembed.encoders.base import Vectors, WhiteBoxEncoder
from unembed.errors import CannotMeasureError, UnknownNameError, UsageError
from unembed.games.inversion import InversionKnowledge, PieceGuess
from unembed.games.threat import Capability
from unembed.nn.device import pick_device
from unembed.nn.features import Standardiser, check_vectors
from unembed.params import Parametrised, learnt
from unembed.seeds import seed_for

if TYPE_CHECKING:
    from unembed.attacks.inversion.soft_words import Recovered, SoftPass

Candidates = Literal["all", "own"]
CANDIDATES: tuple[Candidates, ...] = ("all", "own")
ErrorScaling = Literal["capped", "each", "none"]
SCALINGS: tuple[ErrorScaling, ...] = ("capped", "each", "none")
#: A dimension that spreads more than so many times the median one would decide the distance alone.
WIDEST = 10.0
#: Parameters that say how the relaxed problem is solved.
SETTINGS = ("temperature", "learning_rate", "steps", "tolerance", "spread", "restarts", "threshold")
#: So many of the adversary's texts tell the usual length.
LENGTH_TEXTS = 2000


class SoftWordAttack(Parametrised):
    """What the attacks through the weights share: whose words, how many, and the search for them."""

    encoder_: WhiteBoxEncoder = learnt()
    spelling_: PieceWords = learnt()
    pieces_: NDArray[np.int64] = learnt()
    length_: int = learnt()
    recovered_: Recovered = learnt()

    length: int = 0
    temperature: float = 0.05
    learning_rate: float = 0.02
    steps: int = 300
    tolerance: float = 0.02
    spread: float = 1.0
    restarts: int = 1
    threshold: float = 0.0
    candidates: Candidates = "own"
    scaling: ErrorScaling = "capped"
    batch_size: int = 0
    device: str = "auto"
    seed: int = 0

    def _prepare(self, knowledge: InversionKnowledge) -> None:
        """Check that this can be done at all; which pieces are tried, and how many positions a text gets."""
        self.encoder_ = model_of(knowledge)
        self._check_parameters()
        self.device_ = pick_device(self.device)
        self.dimension_ = int(knowledge.vectors.shape[1])
        self.spelling_ = PieceWords.of(self.encoder_, knowledge.vocabulary)
        self.pieces_ = np.arange(len(self.encoder_.vocabulary))
        if self.candidates == "own" or not self.length:
            ids = self.encoder_.token_ids(list(knowledge.texts))
            if self.candidates == "own":
                used = {i for row in ids for i in row if self.spelling_.usable[i]}
                self.pieces_ = np.array(sorted(used), dtype=np.int64)
            self.length_ = self.length or round(float(np.mean([len(i) for i in ids[:LENGTH_TEXTS]] or [0])))
        else:
            self.length_ = self.length
        if not len(self.pieces_) or not self.length_:
            raise CannotMeasureError("the adversary's texts hold no token of this encoder: nothing can be searched for")

    def _check_parameters(self) -> None:
        if self.candidates not in CANDIDATES:
            raise UnknownNameError("candidates", str(self.candidates), CANDIDATES)
        if self.scaling not in SCALINGS:
            raise UnknownNameError("scaling", str(self.scaling), SCALINGS)
        for name in ("temperature", "learning_rate", "steps", "restarts"):
            if getattr(self, name) <= 0:
                raise UsageError(f"{name} must be above 0")
        for name in ("length", "tolerance", "spread", "threshold", "batch_size"):
            if getattr(self, name) < 0:
                raise UsageError(f"{name} must be 0 or more")

    def _dense(self, vectors: Vectors) -> NDArray[np.float32]:
        """The vectors under attack, checked: a wrong or broken one must not come out as a text nobody wrote."""
        check_vectors(vectors, self.dimension_)
        given: Any = vectors
        return np.asarray(given.toarray() if issparse(given) else given, dtype=np.float32)

    def _search(self, wanted: NDArray[np.float32], scale: NDArray[np.float32], layer: int | None) -> csr_matrix:
        """Weights of pieces whose soft text comes near the wanted vectors, CSR ``[n, tokens of the encoder]``."""
        from unembed.attacks.inversion.soft_words import Settings, recover

        self.recovered_ = recover(
            self._soft_pass(layer),
            wanted,
            scale,
            len(self.pieces_),
            Settings(self.length_, **{name: getattr(self, name) for name in SETTINGS}),
            seed=seed_for(self.seed, "relaxation"),
            device=self.device_,
            batch_size=self.batch_size,
        )
        found = self.recovered_.weights.tocoo()
        shape = (len(wanted), len(self.encoder_.vocabulary))
        return csr_matrix((found.data, (found.row, self.pieces_[found.col])), shape=shape)

    def _soft_pass(self, layer: int | None) -> SoftPass:
        """Weights over the candidates to vectors; an encoder that takes only whole rows of weights gets zeros."""
        encoder, pieces, size = self.encoder_, self.pieces_, len(self.encoder_.vocabulary)
        some = len(pieces) < size
        selective = some and "tokens" in inspect.signature(encoder.encode_soft).parameters

        def soft(weights: Any) -> Any:
            if selective:
                vectors = encoder.encode_soft(weights, layer=layer, tokens=pieces)  # type: ignore[call-arg]
            elif some:
                whole = weights.new_zeros((*weights.shape[:2], size))
                whole[..., pieces] = weights
                vectors = encoder.encode_soft(whole, layer=layer)
            else:
                vectors = encoder.encode_soft(weights, layer=layer)
            return vectors.to(weights.device)

        return soft

    def _words(self, pieces: csr_matrix) -> PieceGuess:
        guess = self.spelling_.guess(pieces)
        np.minimum(guess.words.data, 1, out=guess.words.data)
        return guess


class Relaxation(SoftWordAttack):
    """Algorithm 1's last case, with Ψ = Φ: the model's own output is the target.

    ``learning_rate=0.001, candidates="all", scaling="none"`` with a smaller tolerance and more steps is the paper to
    the letter.
    """

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="inversion/relaxation",
        game="inversion",
        title="Soft words through the model (relaxation)",
        requires=frozenset({Capability.VECTORS, Capability.WEIGHTS}),
        cost="hours",
        paper="song2020",
        section="3.1, eq. 3-5, Algorithm 1; 6.2",
        departures="Twenty times the paper's learning rate, which only shortens the way. Only pieces of the "
        "adversary's own texts are tried (candidates='all' tries every one). Dimensions that would decide the distance "
        "alone are capped. Start, length and stopping rule are ours, because the paper leaves them open.",
        default=False,
    )

    def fit(self, knowledge: InversionKnowledge) -> Self:
        """Nothing is trained: keeps the model, the words, the usual length and each dimension's spread."""
        self._prepare(knowledge)
        self.scale_ = error_scale(knowledge.vectors, self.scaling)
        return self

    def run(self, vectors: Vectors) -> PieceGuess:
        """Words whose text the model would give these vectors."""
        return self._words(self._search(self._dense(vectors), self.scale_, None))


def error_scale(vectors: Vectors, scaling: ErrorScaling) -> NDArray[np.float32]:
    """What each dimension of the distance is multiplied with, by its spread over known vectors.

    "none" leaves eq. 5 as printed; "capped" brings dimensions that would decide it alone down to ten times the median
    spread and leaves out dead ones; "each" makes all spread alike.
    """
    narrow = Standardiser().fit(vectors).scale_
    alive = narrow > 0
    if scaling == "none" or not alive.any():
        return np.ones_like(narrow)
    if scaling == "each":
        return narrow
    capped: NDArray[np.float32] = np.minimum(narrow * np.float32(WIDEST / np.median(narrow[alive])), 1) * alive
    return capped
