"""Multi-set prediction: an LSTM names the words of a text one after another (Song 3.2 eq. 9, Corò 4.2.3 eq. 4.4).

The vector, through one linear layer, is the first input; the word matrix that scores the words also gives the
next input, the row of the word just named. At every step the words of the text not yet named are wanted alike.
Network, training step and what limits it: :mod:`unembed.attacks.inversion.multiset.decoder`.

Both papers' pseudocode takes the word predicted at step t out of the set before it computes the loss of step t, which
would push a right prediction down at the step that made it. Their equations define the set by what was predicted
before t, and so does this implementation. A word once named can't be named again, in training as in use: a network
left to find that out keeps naming the same few words (7 of 10 steps repeated one on 5,000 pairs of tf-idf vectors).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from unembed.attacks.base import AttackFacts
from unembed.attacks.inversion.pairs import check_pairs
from unembed.attacks.validation import held_back
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.inversion import InversionGuess, InversionKnowledge
from unembed.games.inversion_scores import rarity
from unembed.games.threat import Capability
from unembed.metrics.sets import per_text, set_counts
from unembed.nn.device import pick_device
from unembed.nn.features import Scaling, check_vectors
from unembed.params import Parametrised
from unembed.seeds import generator, seed_for

if TYPE_CHECKING:
    import torch

    from unembed.nn.ridge import RidgeMap

RUN_BATCH = 1024
#: The least confidence a named word gets: a guess is never 0.
LEAST = 1e-6
#: Words besides those of the batch that a batch of the sampled loss works with.
NEGATIVES = 1024
#: Where each text has its own number of words, a network names as many as this share of texts has at most.
LONGEST = 0.8


@dataclass(frozen=True)
class Form:
    """The settings of one paper."""

    hidden: int
    epochs: int
    batch_size: int
    learning_rate: float
    weight_decay: float
    dropout: float
    patience: int
    content_only: bool
    eos: Literal["never", "end", "always"]
    length: Literal["mean", "predicted"]


FORMS = {
    "coro": Form(512, 100, 64, 4e-4, 1e-4, 0.2, 10, True, "end", "mean"),
    "song": Form(300, 30, 256, 1e-3, 0.0, 0.0, 0, False, "never", "predicted"),
}


class InversionMSP(Parametrised):
    """Both published forms; ``form`` sets what is left at 0, -1 or None."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="inversion/msp",
        game="inversion",
        title="Multi-set prediction (LSTM)",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS}),
        cost="minutes",
        paper="coro2022",
        section="4.2.3, eq. 4.4; 4.3.3; 6.1; A.1; song2020 3.2, eq. 9; 6.2",
        departures="Vectors are standardised. The words left at a step are those not predicted before it, as in the "
        "equations; the pseudocode also takes out the one predicted at it. A word is named once (repeats). Once no "
        "word is left, where the loss is undefined, Corò's [EOS] is wanted (eos). Early stopping looks at F1 where the "
        "thesis looks at the loss. Products may run in bfloat16, and the sampled loss works with the words of a "
        "batch and random others. Few pairs get more passes (min_steps).",
        default=False,
        version=2,
    )

    form: Literal["coro", "song"] = "coro"
    hidden: int = 0
    steps: int = 0
    epochs: int = 0
    batch_size: int = 0
    learning_rate: float = 0.0
    weight_decay: float = -1.0
    dropout: float = -1.0
    patience: int = -1
    content_only: bool | None = None
    eos: Literal["never", "end", "always"] | None = None
    length: Literal["mean", "predicted"] | None = None
    weighted: bool = False
    word_matrix: str = ""
    repeats: bool = False
    loss: Literal["auto", "fused", "sampled"] = "auto"
    negatives: int = NEGATIVES
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    scaling: Scaling = "each"
    min_steps: int = 300
    device: str = "auto"
    seed: int = 0

    def _form(self) -> Form:
        """The paper's settings, with whatever was given in their place."""
        if self.form not in FORMS:
            raise UsageError(f"unknown form '{self.form}' of inversion/msp: use {' or '.join(FORMS)}")
        given: dict[str, Any] = {
            "hidden": self.hidden or None,
            "epochs": self.epochs or None,
            "batch_size": self.batch_size or None,
            "learning_rate": self.learning_rate or None,
            "weight_decay": self.weight_decay if self.weight_decay >= 0 else None,
            "dropout": self.dropout if self.dropout >= 0 else None,
            "patience": self.patience if self.patience >= 0 else None,
            "content_only": self.content_only,
            "eos": self.eos,
            "length": self.length,
        }
        return replace(FORMS[self.form], **{k: v for k, v in given.items() if v is not None})

    def fit(self, knowledge: InversionKnowledge) -> Self:
        """Train W1, the LSTM and the word matrix on the adversary's pairs."""
        import torch

        from unembed.attacks.inversion.multiset.decoder import SetDecoder, product_type
        from unembed.attacks.inversion.multiset.first_input import first_input
        from unembed.attacks.inversion.multiset.training import SetPlan, WordSets, train_sets
        from unembed.attacks.inversion.word_start import start_vectors
        from unembed.nn.ridge import RidgeMap

        form = self._form()
        check_pairs(knowledge)
        self.width_, self.word_count_ = int(knowledge.vectors.shape[1]), int(knowledge.labels.shape[1])
        self.columns_ = self._columns(knowledge, form.content_only)
        labels = csr_matrix(knowledge.labels)[:, self.columns_]
        filled = np.flatnonzero(np.diff(labels.indptr))
        if not len(filled):
            raise CannotMeasureError("no text of the adversary holds a word of its vocabulary: give it more text")
        training, checking = self._split(filled, form.patience)
        sets = labels[training]
        self.device_ = pick_device(self.device)
        self.steps_ = self.steps or max(1, round(sets.nnz / len(training)))
        self.sizes_: RidgeMap | None = None
        if form.length == "predicted":
            counts = np.diff(labels.indptr)
            self.steps_ = self.steps or max(1, int(np.quantile(counts[training], LONGEST)))
            self.sizes_ = RidgeMap(device=self.device)
            self.sizes_.fit(_extent(knowledge.vectors), counts[:, None], seed_for(self.seed, "sizes"), rows=training)
        torch.manual_seed(seed_for(self.seed, "weights") % 2**32)
        decoder = SetDecoder(
            len(self.columns_),
            form.hidden,
            steps=self.steps_,
            dropout=form.dropout,
            end=form.eos,
            repeats=self.repeats,
            compute=product_type(self.precision, self.device_),
        )
        if self.word_matrix:
            rows, vectors = start_vectors(self.word_matrix, knowledge, self.columns_, sets, form.hidden, self.seed)
            with torch.no_grad():
                decoder.table[torch.from_numpy(rows)] = torch.from_numpy(vectors)
        self.decoder_ = decoder.to(self.device_)
        self.first_ = first_input(knowledge.vectors, self.scaling, form.hidden, self.device_)
        self.first_.prepare(knowledge.vectors, training)
        plan = SetPlan(
            form.epochs,
            form.batch_size,
            form.learning_rate,
            form.weight_decay,
            form.patience,
            self.min_steps,
            self._negatives(),
        )
        held, truth = knowledge.vectors[checking], labels[checking]

        def score() -> float:
            named = self._named(held)
            return float(np.nanmean(per_text(set_counts(truth, named))))

        self.log_ = train_sets(
            self.decoder_,
            self.first_,
            WordSets(sets, self._weights(sets)),
            plan,
            rng=generator(self.seed, "batches"),
            score=score if len(checking) else None,
        )
        self.first_.forget()
        return self

    def _columns(self, knowledge: InversionKnowledge, content_only: bool) -> NDArray[np.int64]:
        """The words that can be named."""
        if not content_only:
            return np.arange(self.word_count_, dtype=np.int64)
        columns = np.flatnonzero(knowledge.vocabulary.content)
        if not len(columns):
            raise CannotMeasureError(
                "the adversary's vocabulary holds no content word: give it more text or set content_only to false"
            )
        return columns

    def _split(self, rows: NDArray[np.int64], patience: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Training rows, and a tenth (at most 2,000) to stop by, where training stops by anything."""
        if not patience:
            return rows, rows[:0]
        checking, training = held_back(len(rows), 0.1, self.seed)
        return rows[training], rows[checking]

    def _negatives(self) -> int:
        """How many words besides its own a batch works with; 0: all of them.

        By itself the sampled loss is taken where it is quicker: on a CPU, with a vocabulary several times the
        candidates of a batch.
        """
        if self.loss == "auto":
            sampled = self.device_.type == "cpu" and len(self.columns_) > 4 * self.negatives
            return self.negatives if sampled else 0
        return self.negatives if self.loss == "sampled" else 0

    def _weights(self, sets: csr_matrix) -> NDArray[np.float32]:
        """One per word, or its rarity among the adversary's texts as in eq. 4.8, 1 on average over what is wanted."""
        count = np.asarray(sets.sum(axis=0), dtype=np.float64).ravel()
        if not self.weighted:
            return np.ones(len(count), dtype=np.float32)
        weights = rarity(sets) + LEAST
        mean = float((weights * count).sum() / count.sum())
        return np.asarray(weights / mean, dtype=np.float32)

    def _named(self, vectors: Vectors) -> csr_matrix:
        """Words named for each vector, over the words that can be named, with the probability each had."""
        words, sure = [], []
        for start in range(0, int(vectors.shape[0]), RUN_BATCH):
            first = self.first_.project(vectors[start : start + RUN_BATCH])
            named, likely = self.decoder_.predict(first)
            words.append(self._cut(_host(named), vectors[start : start + RUN_BATCH]))
            sure.append(_host(likely.float()))
        shape = (int(vectors.shape[0]), len(self.columns_))
        if not words:
            return csr_matrix(shape, dtype=np.float32)
        return named_sets(np.concatenate(words), np.concatenate(sure), shape)

    def _cut(self, named: NDArray[np.int64], vectors: Vectors) -> NDArray[np.int64]:
        """As many words of each text as its vector says it has, where that is asked; -1 from there on."""
        if self.sizes_ is None:
            return named
        sizes = self.sizes_.apply(_extent(vectors)).round().clip(1)
        return np.where(np.arange(named.shape[1]) < sizes, named, -1)

    def run(self, vectors: Vectors) -> InversionGuess:
        """Every word named, with its probability at the step that first named it."""
        check_vectors(vectors, self.width_)
        named = self._named(vectors)
        shape = (int(vectors.shape[0]), self.word_count_)
        return csr_matrix((named.data, self.columns_[named.indices], named.indptr), shape=shape)


def named_sets(words: NDArray[np.int64], sure: NDArray[np.float32], shape: tuple[int, int]) -> csr_matrix:
    """The set of each row of ``words`` (-1: none), a repeated word with its first confidence."""
    rows, steps = np.nonzero(words >= 0)
    found = words[rows, steps]
    keys, where = np.unique(rows * shape[1] + found, return_index=True)
    data = np.maximum(sure[rows, steps][where], LEAST).astype(np.float32)
    return csr_matrix((data, (keys // shape[1], keys % shape[1])), shape=shape)


def _extent(vectors: Vectors) -> Any:
    """What the number of words is read from: the vector, or of a bag of words how many columns it has."""
    return csr_matrix(vectors).getnnz(axis=1)[:, None].astype(np.float32) if issparse(vectors) else vectors


def _host(values: torch.Tensor) -> NDArray[Any]:
    array: NDArray[Any] = values.cpu().numpy()
    return array
