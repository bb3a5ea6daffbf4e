"""A defense in one file: what it is, that it keeps the contract, and what it stops and costs in an audit.

On the command line: ``unembed audit … --defense examples/own_defense.py:KeepSigns --utility retrieval``.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from unembed.defenses.base import DefenseFacts, Owned
from unembed.encoders.base import Vectors
from unembed.params import Parametrised
from unembed.runner.execute import audit
from unembed.runner.spec import build_spec
from unembed.testing import check_defense


class KeepSigns(Parametrised):
    """Keeps on which side of the centre each number lies, and nothing else: one bit per dimension."""

    facts: ClassVar[DefenseFacts] = DefenseFacts(name="keep-signs", title="The sign of the centred vector")
    seed: int = 0

    def fit(self, vectors: Vectors, owned: Owned | None = None) -> Self:
        """Learn the centre of all that the owner holds."""
        self.centre_ = np.asarray(vectors).mean(axis=0)
        return self

    def transform(self, vectors: Vectors, ids: Sequence[str]) -> Vectors:
        """One or minus one."""
        return np.where(np.asarray(vectors) > self.centre_, 1, -1).astype(np.float32)


def main() -> None:
    """Run the conformance suite, then an audit with and without the defense."""
    check_defense(KeepSigns)
    print("KeepSigns keeps the contract of a defense")
    with tempfile.TemporaryDirectory() as folder:
        given = {
            "data": {"texts": "generator:messages", "max_texts": 600, "attributes": ["topic"]},
            "encoder": {"name": "lsa", "components": 64},
            "games": ["attribute"],
            "references": [],
            "defenses": [f"{__file__}:KeepSigns"],
            "utility": ["retrieval"],
            "run": {"folder": folder, "no_cache": True},
        }
        run, _ = audit(build_spec(given))
    for finding in run.findings:
        knows = {None: "", True: ", who knows it", False: ", who doesn't know it"}[finding.adaptive]
        value = finding.estimate.value
        print(f"{finding.defense or 'plain'}, {finding.adversary}{knows}: {value:.2f} ({finding.status})")
    for score in run.utility:
        print(f"{score.variant or 'plain'}: {score.estimate.value:.2f} of the nearest neighbours kept")


if __name__ == "__main__":
    main()
