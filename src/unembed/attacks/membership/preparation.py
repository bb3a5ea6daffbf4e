"""The preparation phase of Mahloujifar's attacks (Algorithm 1): which pairs of words tell whose data were used.

It asks nothing of the model under attack. Those who can't ask for vectors take the pairs and ask something else: a
classifier for labels (Algorithm 3), a language model for words (Algorithm 5). Distances are taken as they are. Those of
common words vary little between models, so that λ holds them back; scaled to the same deviation they would be chosen by
chance, and any language model says the second word of a common pair.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unembed.attacks.membership.lasso import MOST_PAIRS, fitted, usable
from unembed.attacks.membership.shadow_lasso import adjacent
from unembed.games.base import IntArray
from unembed.games.membership_user import UserColumns
from unembed.metrics.spread import FloatArray


def chosen_pairs(
    user: UserColumns,
    answers: FloatArray,
    members: NDArray[np.bool_],
    *,
    penalty: float | None = None,
    most: int = MOST_PAIRS,
) -> IntArray:
    """The pairs that a line through the distances in the shadow models gives a weight; none where nothing can be told.

    ``answers`` has a row per shadow model, ``members`` says which of them were trained on the user's data.
    """
    columns = adjacent(user)
    known = answers[:, columns]
    if not usable(known).any():
        return np.zeros(0, dtype=np.int64)
    return columns[fitted(known, members, penalty=penalty, most=most, scaled=False).asked]
