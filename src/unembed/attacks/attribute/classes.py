"""What attacks on classes share: candidates, chosen by balanced accuracy on held-back labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unembed.attacks.learners.candidates import Candidate
from unembed.attacks.learners.choice import Chosen, FloatRows, Rows, choose
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError
from unembed.games.base import IntArray
from unembed.metrics.classes import macro_recall

#: Probabilities are not taken for smaller than this: neighbours say zero of what they never saw.
LEAST = 1e-9


class ClassReader:
    """Learns to tell classes from vectors with the candidate that does best on held-back labels."""

    def __init__(self, classes: int, seed: int) -> None:
        self.classes, self.seed = classes, seed

    def fit(
        self,
        vectors: Vectors,
        labels: IntArray,
        candidates: Sequence[Candidate],
        asked: Vectors | None = None,
        origins: IntArray | None = None,
    ) -> ClassReader:
        """Choose and fit; ``labels`` are numbers below ``classes``, ``asked`` the vectors that choices are made on.

        Vectors of one number in ``origins`` come from one text and are held back together.
        """
        if len(np.unique(labels)) < 2:
            raise CannotMeasureError("all labelled vectors belong to one class: there is nothing to tell apart")
        self.rows_ = Rows(np.float32).fit(vectors)
        self.prior_ = np.bincount(labels, minlength=self.classes) / len(labels)
        rows = {raw: self.rows_.of(vectors, raw) for raw in {c.raw for c in candidates}}
        others = None if asked is None else {raw: self.rows_.of(asked, raw) for raw in rows}

        def score(answers: NDArray[np.float64], seen: IntArray) -> float:
            member = np.eye(self.classes)[labels[seen]]
            right = member * (answers.argmax(axis=1) == labels[seen])[:, None]
            return float(macro_recall(np.hstack([right, member]).sum(axis=0)))

        self.chosen_: Chosen = choose(candidates, rows, labels, score, self._answers, self.seed, others, origins)
        return self

    def _answers(self, candidate: Candidate, model: object, rows: FloatRows) -> NDArray[np.float64]:
        """Log-odds in favour of each class against its share, so that the largest is right for a rare class too."""
        shares = np.full((len(rows), self.classes), LEAST)
        shares[:, model.classes_] = np.maximum(model.predict_proba(rows), LEAST)  # type: ignore[attr-defined]
        if not candidate.balanced:
            shares /= np.maximum(self.prior_, LEAST)
        return np.asarray(np.log(shares))

    def read(self, vectors: Vectors) -> NDArray[np.float64]:
        """One score per vector and class."""
        chosen = self.chosen_
        return self._answers(chosen.candidate, chosen.model, self.rows_.of(vectors, chosen.candidate.raw))
