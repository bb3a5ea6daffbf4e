"""A use of vectors of your own, in one file: is the first hit of a search about the same thing?

Run: python examples/own_utility.py
The same on the command line: unembed audit --texts FILE --utility examples/own_utility.py:SameKindFirst,column=topic
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from sklearn.neighbors import NearestNeighbors

from unembed.corpora.generators import GENERATORS
from unembed.encoders import build_encoder
from unembed.games.base import Scores
from unembed.metrics.estimate import ratio
from unembed.params import Parametrised
from unembed.runner.spec import UtilitySpec
from unembed.runner.usefulness import play_utility
from unembed.testing import check_utility
from unembed.utility.base import TaskFacts, UtilityMaterial


class SameKindFirst(Parametrised):
    """Looks up the nearest other text of every text and compares their values in a column."""

    facts: ClassVar[TaskFacts] = TaskFacts(
        name="same-kind-first",
        title="First hit of the same kind",
        metric="first_hits_of_the_same_kind",
        metric_meaning="share of texts whose nearest neighbour has the same value in the column",
        requires=frozenset({"columns"}),
        column_params=("column",),
    )

    def __init__(self, *, column: str) -> None:
        self.column = column

    def score(self, material: UtilityMaterial) -> Scores:
        """One row per text: right or wrong, and one."""
        values = [str(value) for value in material.corpus.column(self.column)]
        search = NearestNeighbors(n_neighbors=1, metric="cosine").fit(material.vectors)
        first = search.kneighbors(return_distance=False)[:, 0]
        right = [values[i] == values[j] for i, j in enumerate(first)]
        return Scores(np.column_stack([right, np.ones(len(right))]), ratio, material.groups)


def main() -> None:
    """Run the conformance suite, then ask what rounding and noise cost."""
    check_utility(SameKindFirst)
    print("SameKindFirst keeps the contract of a utility task")
    corpus = GENERATORS.get("messages")(600)
    plain = build_encoder("lsa", {"components": 100}, fit_texts=corpus.texts).encode(corpus.texts)
    noise = np.random.default_rng(0).standard_normal(plain.shape).astype(np.float32)
    variants = {"one decimal": plain.round(1), "noise": plain + 0.1 * noise}
    tasks = [UtilitySpec(name=f"{__file__}:SameKindFirst", column="topic")]
    for score in play_utility(corpus, plain, variants, tasks, seed=0, groups=corpus.column("document")):
        lost = f", lost {score.loss.value:.2f} [{score.loss.low:.2f}, {score.loss.high:.2f}]" if score.loss else ""
        print(f"{score.variant or 'plain':12} {score.estimate.value:.2f}{lost}")


if __name__ == "__main__":
    main()
