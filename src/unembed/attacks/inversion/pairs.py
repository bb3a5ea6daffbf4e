"""What every inversion attack does with its pairs before it learns from them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from unembed.encoders.base import WhiteBoxEncoder
from unembed.errors import CannotMeasureError
from unembed.games.inversion import InversionKnowledge


def check_pairs(knowledge: InversionKnowledge, *, texts: bool = False) -> int:
    """How many pairs there are; refuses vectors without their word sets or, with ``texts``, without their texts."""
    vectors = int(knowledge.vectors.shape[0])
    if knowledge.labels.shape[0] != vectors:
        raise CannotMeasureError(f"{vectors} vectors but word sets of {knowledge.labels.shape[0]} texts")
    if texts and len(knowledge.texts) != vectors:
        raise CannotMeasureError(f"{vectors} vectors but {len(knowledge.texts)} texts: the pairs can't be matched")
    return vectors


def model_of(knowledge: InversionKnowledge) -> WhiteBoxEncoder:
    """The model whose weights the adversary holds; without it an attack through the weights does not apply."""
    if knowledge.encoder is None:
        raise CannotMeasureError(
            "not applicable: this attack works through the model's weights, and this encoder is closed or the "
            "adversary does not hold them; use an attack without weights, such as inversion/mlp"
        )
    return knowledge.encoder


def rows_of(matrix: csr_matrix) -> NDArray[np.int64]:
    """The row of every stored entry."""
    rows: NDArray[np.int64] = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return rows
