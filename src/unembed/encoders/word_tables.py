"""Encoders that hold one vector per word and give a text the mean of its words (Song 2.1, 6.1).

What word2vec, fastText and GloVe share once they are trained: reading and keeping a table, the mean, and all that an
adversary with the weights may use. Encoding is one sparse product: n texts of t words can't be quicker than reading
n·t rows of the table, 4·d bytes each; cutting the texts into words costs more than that.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unembed.corpora.words import fold, words
from unembed.encoders.base import DenseVectors, EncoderCard
from unembed.encoders.callables import unit_norm
from unembed.encoders.saving import Arrays, LearntEncoder, State, read_state
from unembed.encoders.table_files import read_table
from unembed.errors import DataError, UsageError
from unembed.nn.device import require_torch

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class WordTableEncoder(LearntEncoder):
    """The trained half of every word-table encoder; a family adds its settings and ``_train``.

    With ``table``, a text file of word vectors or a folder that ``save`` wrote, nothing is trained: the encoder is
    ready at once and ``fit`` leaves it as it is.
    """

    shorthand: ClassVar[str] = "table"
    arrays: ClassVar[tuple[str, ...]] = ("vectors",)

    normalise: bool = False
    table: str | None = None

    def _train(self, texts: Sequence[str]) -> tuple[list[str], DenseVectors]:
        """Learn words and their vectors."""
        raise NotImplementedError

    @property
    def is_fitted(self) -> bool:
        """Whether there is a table, or a file to read it from."""
        return self.table is not None or hasattr(self, "words_")

    def fit(self, texts: Sequence[str]) -> Self:
        """Learn the table from texts, unless one was given."""
        if self.table is None:
            if not len(texts):
                raise DataError(f"{self.kind} can't be fitted on no texts")
            self._keep(*self._train(texts))
        return self

    @property
    def card(self) -> EncoderCard:
        """What this encoder is; the digest is that of the words and their vectors."""
        self._require_fitted()
        return EncoderCard(
            name=self.kind if self.table is None else f"{self.kind}:{Path(self.table).name}",
            family=self.kind,
            digest=self._digest,
            dimension=self.matrix_.shape[1],
            normalised=self.normalise,
            pooling="mean",
            layer=0,
            open_weights=True,
            options=(("words", str(len(self.words_))),),
        )

    def encode(self, texts: Sequence[str], *, role: str = "document") -> DenseVectors:
        """The mean of each text's words; a text without a known word is a row of zeros."""
        vectors = self.layer_output(texts, 0)
        return unit_norm(vectors) if self.normalise else vectors

    @property
    def vocabulary(self) -> list[str]:
        """The words of the table, most frequent first."""
        self._require_fitted()
        return self.words_

    @property
    def word_matrix(self) -> DenseVectors:
        """V of Song eq. 7: one row per word."""
        self._require_fitted()
        return self.matrix_

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The known words of each text, in order, as rows of the table."""
        self._require_fitted()
        rows = self._rows
        return [[rows[word] for word in words(text) if word in rows] for text in texts]

    def layer_output(self, texts: Sequence[str], layer: int) -> DenseVectors:
        """Layer 0, the only one: the mean of the words before it is scaled to unit norm."""
        _require_layer_zero(layer)
        counts = self._counts(self.token_ids(texts))
        totals = np.asarray(counts.sum(axis=1), dtype=np.float32).reshape(-1, 1)
        means: DenseVectors = (counts @ self.matrix_) / np.maximum(totals, 1)
        return means

    def encode_soft(self, word_weights: Any, *, layer: int | None = None, tokens: Any = None) -> Any:
        """The mean over soft words, weights over the vocabulary [n, tokens, |V|], in torch; differentiable.

        With ``tokens`` (rows of the word matrix) the weights stand for these alone.
        """
        require_torch("a differentiable pass")
        import torch

        if layer is not None:
            _require_layer_zero(layer)
        rows = self.word_matrix if tokens is None else self.word_matrix[np.asarray(tokens)]
        matrix = torch.from_numpy(rows).to(device=word_weights.device, dtype=word_weights.dtype)
        means = word_weights.mean(dim=1) @ matrix
        return torch.nn.functional.normalize(means, dim=1) if self.normalise and layer is None else means

    def _state(self, folder: Path) -> tuple[State, Arrays]:
        state = {"parameters": {**self.get_params(), "table": None}, "words": self.words_, **self._more_state()}
        return state, {"vectors": self.matrix_, **self._more_arrays()}

    def _restore(self, state: State, arrays: Arrays, folder: Path) -> None:
        matrix = arrays["vectors"]
        if matrix.ndim != 2 or len(matrix) != len(state["words"]):
            raise DataError(f"{folder}: {len(state['words'])} words but vectors of shape {matrix.shape}")
        self._keep(state["words"], matrix)

    def _more_arrays(self) -> Arrays:
        """Arrays that a family keeps beside the word vectors."""
        return {}

    def _more_state(self) -> State:
        return {}

    def _keep(self, names: Sequence[str], matrix: NDArray[Any]) -> None:
        self.words_ = [str(name) for name in names]
        self.matrix_ = np.ascontiguousarray(matrix, dtype=np.float32)
        for cached in ("_rows", "_digest"):
            self.__dict__.pop(cached, None)

    def _require_fitted(self) -> None:
        if hasattr(self, "words_"):
            return
        if self.table is None:
            raise UsageError(f"the {self.kind} encoder has seen no texts yet: call fit(texts) first or give a table")
        path = Path(self.table).expanduser()
        if path.is_dir():
            state, arrays = read_state(path, self.kind, self.arrays)
            self._restore(state, arrays, path)
        else:
            self._keep(*read_table(path))

    def _counts(self, ids: Sequence[Sequence[int]]) -> csr_matrix:
        """How often each text holds each word, ``[texts, words]``."""
        from scipy.sparse import csr_matrix

        ends = np.zeros(len(ids) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in ids], out=ends[1:])
        columns = np.fromiter((i for row in ids for i in row), dtype=np.int64, count=int(ends[-1]))
        held = np.ones(len(columns), dtype=np.float32)
        return csr_matrix((held, columns, ends), shape=(len(ids), len(self.words_)))

    @cached_property
    def _rows(self) -> dict[str, int]:
        """Word to row, as texts are cut: exact spellings first, then whatever folds to the same."""
        exact = {word: row for row, word in enumerate(self.words_)}
        folded = {fold(word): row for row, word in reversed(list(enumerate(self.words_)))}
        return {**folded, **exact}

    @cached_property
    def _digest(self) -> str:
        total = hashlib.sha256(json.dumps([self.kind, self.words_, self.matrix_.shape, self._more_state()]).encode())
        total.update(self.matrix_.tobytes())
        for array in self._more_arrays().values():
            total.update(array.tobytes())
        return total.hexdigest()


def _require_layer_zero(layer: int) -> None:
    if layer != 0:
        raise UsageError(f"layer {layer} does not exist: a table of words has layer 0 only")
