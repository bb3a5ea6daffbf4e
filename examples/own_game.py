"""A question of one's own, in one file: does the text behind a vector ask something?

    unembed audit --texts generator:messages --max-texts 600 --encoder hashing --game examples/own_game.py:AsksGame

Whether a text asks is a value that its author never wrote into a column, so the game writes it there itself and leaves
the rest to the game of attributes, whose attacks play this one too.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from unembed.corpora.corpus import Corpus
from unembed.games.attribute import AttributeGame
from unembed.games.base import Deal, Example, Material, Scores
from unembed.games.claims import Figures
from unembed.games.facts import GameFacts
from unembed.games.threat import Adversary
from unembed.params import Parametrised
from unembed.runner.execute import audit
from unembed.runner.spec import build_spec

COLUMN = "asks"


class AsksGame(Parametrised):
    """Deals vectors with what is known of some texts; judges who can tell questions from statements."""

    facts: ClassVar[GameFacts] = GameFacts(
        name="asks",
        question="Does the text behind a vector ask something?",
        metric="balanced_accuracy",
        metric_meaning="share of questions and of statements that are told right, both counted alike",
        consequence="Whoever holds the vectors can pick out the messages that want an answer.",
        attacks_of="attribute",
        section="classes",
    )

    def __init__(self, *, mark: str = "?") -> None:
        self.mark = mark

    @staticmethod
    def claim(found: Figures) -> str:
        """What the adversary can do, in words."""
        return f"can tell questions from statements in {found.estimate.value:.0%} of cases, both counted alike"

    @property
    def subject(self) -> str | None:
        """There is only one question."""
        return None

    def queries(self, known: Corpus, adversary: Adversary, seed: int) -> list[str]:
        """None: the adversary learns from its own texts."""
        return []

    def deal(self, material: Material) -> Deal[Any, Any]:
        """The deal of the game of attributes about a column that is made here."""
        return self._game.deal(replace(material, target=self._told(material.target), known=self._told(material.known)))

    def judge(self, truth: Any, guess: Any, seed: int) -> Scores:
        """Balanced accuracy."""
        return self._game.judge(truth, guess, seed)

    def prior_guess(self, knowledge: Any, n: int) -> Any:
        """Always the same answer."""
        return self._game.prior_guess(knowledge, n)

    def rehearsal(self, knowledge: Any, seed: int) -> Any:
        """Some of the adversary's own texts, held back."""
        return self._game.rehearsal(knowledge, seed)

    def examples(self, truth: Any, guess: Any, rows: Sequence[int]) -> list[Example]:
        """Yes or no."""
        return self._game.examples(truth, guess, rows)

    @property
    def _game(self) -> AttributeGame:
        return AttributeGame(column=COLUMN)

    def _told(self, corpus: Corpus) -> Corpus:
        asks = ["question" if self.mark in text else "statement" for text in corpus.texts]
        return replace(corpus, columns={**corpus.columns, COLUMN: asks})


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "data": {"texts": "generator:messages", "max_texts": 600},
            "encoder": {"name": "hashing"},
            "games": [f"{__file__}:{AsksGame.__name__}"],
            "run": {"folder": str(Path(folder) / "run")},
        }
        run, _ = audit(build_spec(settings))
    print(run.verdict.sentence)
