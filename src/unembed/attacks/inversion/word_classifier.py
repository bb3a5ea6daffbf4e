"""One network with an output per vocabulary word: what MLC and its stronger form share.

Cost: a training step is 6 · batch · parameters FLOPs, nearly all in the output layer (hidden × words), and
one read and write of that layer's weights and Adam moments; the loss adds two passes over batch × words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from unembed.attacks.inversion.pairs import check_pairs, rows_of
from unembed.attacks.validation import held_back, to_check_on
from unembed.encoders.base import Vectors
from unembed.games.inversion import InversionGuess, InversionKnowledge
from unembed.metrics.sets import best_prefix
from unembed.nn.features import InputRows, LabelRows, Scaling, Standardiser
from unembed.nn.trained import Trained
from unembed.params import learnt

RUN_BATCH = 1024
#: Words less likely than this are never guessed; bounds the memory of ranking all (text, word) pairs.
LEAST_PROBABILITY = 0.02


class WordClassifier(Trained):
    """Trains eq. 8 of Song over (vector, word set) pairs; subclasses say how wide and with which threshold."""

    thresholds_: NDArray[np.float32] = learnt()

    def train_on(
        self,
        knowledge: InversionKnowledge,
        *,
        scaling: Scaling,
        width: int = 0,
        depth: int = 0,
        dropout: float = 0.0,
        validate: float = 0.0,
        checking: InversionKnowledge | None = None,
        **loop: Any,
    ) -> Self:
        """Fit the network.

        Epoch and thresholds are chosen on ``checking``, or on a share ``validate`` of the pairs that is held back for
        it; with neither, the last epoch stands and the thresholds are left alone.
        """
        import torch

        from unembed.attacks.inversion.losses import set_cross_entropy
        from unembed.nn.modules import ResidualPerceptron

        n, word_count = check_pairs(knowledge), int(knowledge.labels.shape[1])
        self._start()
        held, training = (
            held_back(n, validate, self.seed) if validate and checking is None else (np.arange(0), np.arange(n))
        )
        self.scaler_ = Standardiser(scaling).fit(knowledge.vectors)
        labels = knowledge.labels[training].tocsr()
        model = ResidualPerceptron(self.scaler_.width, width, depth if width else 0, word_count, dropout=dropout)
        prior = (np.asarray(labels.sum(axis=0)).ravel() + 0.5) / (len(training) + 1)
        with torch.no_grad():
            model.straight.bias.copy_(torch.from_numpy(np.log(prior / (1 - prior)).astype(np.float32)))
        self.model_ = model.to(self.device_)

        inputs = InputRows(self.scaler_, knowledge.vectors, training, self.device_)
        present = LabelRows(labels, self.device_)

        def loss_of(rows: NDArray[np.int64] | torch.Tensor) -> torch.Tensor:
            with half_products(self.device_):
                scores = self.model_(inputs[rows])
            return set_cross_entropy(scores.float(), *present[rows])

        loop["recorded"] = inputs.ready is not None
        content = knowledge.vocabulary.content
        if checking is None and len(held):
            checking = replace(
                knowledge,
                vectors=to_check_on(knowledge)[held],
                labels=knowledge.labels[held].tocsr(),
                as_stored=None,
            )
        if checking is not None:
            asked, truth = checking.vectors, checking.labels
            best: dict[str, Any] = {"f1": -1.0}

            def score() -> float:
                thresholds, f1 = best_thresholds(self._confidences(asked), truth, content)
                if f1 > best["f1"]:
                    best.update(f1=f1, thresholds=thresholds)
                return f1

            self._train(self.model_, loss_of, len(training), score=score, **loop)
            self.thresholds_ = best["thresholds"]
        else:
            self._train(self.model_, loss_of, len(training), **loop)
        return self

    def scores_of(self, vectors: Vectors) -> Any:
        """Logits of some vectors as a tensor ``[n, words]`` on the device."""
        import torch

        return self.model_(torch.from_numpy(self.scaler_.transform(vectors)).to(self.device_))

    def _confidences(self, vectors: Vectors, least: float = LEAST_PROBABILITY) -> csr_matrix:
        """Probabilities of at least ``least``, as CSR."""
        import torch

        def part(start: int) -> Any:
            return torch.sigmoid(self.scores_of(vectors[start : start + RUN_BATCH]))

        return sparse_confidences(part, int(vectors.shape[0]), self.model_.straight.out_features, least)

    def run(self, vectors: Vectors) -> InversionGuess:
        """Words whose probability reaches their threshold, with that probability as confidence."""
        return above(self._confidences(vectors, float(self.thresholds_.min())), self.thresholds_)


def half_products(device: Any) -> Any:
    """Matrix products in bfloat16 where the device has fast ones; the loss is taken in float32."""
    import torch

    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda")


def sparse_confidences(part: Callable[[int], Any], n: int, words: int, least: float) -> csr_matrix:
    """Rows ``start`` to ``start + RUN_BATCH`` of ``part(start)`` as CSR, without what lies below ``least``."""
    import torch

    parts = []
    with torch.no_grad():
        for start in range(0, n, RUN_BATCH):
            sure = part(start)
            rows, columns = torch.nonzero(sure >= least, as_tuple=True)
            data = sure[rows, columns].float().cpu().numpy()
            parts.append(csr_matrix((data, (rows.cpu().numpy(), columns.cpu().numpy())), shape=tuple(sure.shape)))
    return csr_matrix(vstack(parts)) if parts else csr_matrix((0, words), dtype=np.float32)


def above(confidences: csr_matrix, thresholds: NDArray[np.float32]) -> csr_matrix:
    """The confidences that reach their word's threshold."""
    guess = confidences.copy()
    guess.data[guess.data < thresholds[guess.indices]] = 0
    guess.eliminate_zeros()
    return guess


def best_thresholds(
    confidences: csr_matrix, truth: csr_matrix, content: NDArray[np.bool_]
) -> tuple[NDArray[np.float32], float]:
    """One threshold for content words and one for function words, each with the best pooled F1.

    Returns them as one value per word, and the F1 of the content words.
    """
    thresholds = np.full(len(content), 0.5, dtype=np.float32)
    # Asked for no entry at all, scipy gives a sparse matrix instead of an array.
    found = truth[rows_of(confidences), confidences.indices] if confidences.nnz else np.zeros(0)
    hit = np.asarray(found).ravel() != 0
    present = np.asarray(truth.sum(axis=0)).ravel()
    reached = 0.0
    for group in (content, ~content):
        inside = group[confidences.indices]
        order = np.argsort(-confidences.data[inside], kind="stable")
        hits, sure = hit[inside][order].astype(np.float64), confidences.data[inside][order]
        count = best_prefix(hits, float(present[group].sum()))
        if count:
            thresholds[group] = sure[count - 1]
            if group is content:
                reached = float(2 * hits[:count].sum() / (count + present[group].sum()))
    return thresholds, reached
