"""Corò 2022, section 3.2: which texts a language model learnt from, by four rankings, and which it writes itself.

The thesis quotes Carlini et al. 2021 on GPT-2, whose training texts nobody outside knows. Small models that are trained
here have learnt from known ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar

import numpy as np

from unembed.games.base import Deal
from unembed.games.language_answers import about_texts
from unembed.games.membership_model import MembershipModelGame, ModelKnowledge, ModelTrials, dealt
from unembed.games.model_answers import OF_TEXTS, Answered
from unembed.metrics.estimate import mean
from unembed.nn.language_model import LanguageModel
from unembed.papers.base import Conditions, Measured, by_size
from unembed.papers.character_models import LONGEST, Characters, log_perplexity_of, sentences
from unembed.papers.coro2022_language import FIGURES
from unembed.papers.library import facts_of
from unembed.papers.tables import AttackSpec, Row, Table, played, setting
from unembed.seeds import seed_for

RANKINGS = {
    "perplexity": "perplexity",
    "ratio": "ratio to a second model",
    "zlib": "ratio to zlib",
    "lower": "ratio to lower case",
}
SPECS = tuple(AttackSpec(title, "membership/extraction", {"ranking": name}) for name, title in RANKINGS.items())
#: Each character is drawn among so many, the likeliest.
TOP = 5
PROMPT = 10
#: Candidates of a ranking that somebody would look at.
FIRST = 20
PRECISION, SHARE, REPEATED = f"learnt from, of the first {FIRST}", "learnt from, of all", "repeated sentences written"


@dataclass(frozen=True)
class Way:
    """How a model writes: the temperature of the first character, and whether it goes on from given ones."""

    hot: float = 1.0
    prompted: bool = False


WAYS = {
    f"likeliest {TOP} characters": Way(),
    "falling temperature": Way(hot=10.0),
    f"prompted by {PROMPT} characters": Way(prompted=True),
}


@dataclass(frozen=True)
class Scale:
    """Sentences of each of five parts, those that are repeated and how often, the training, and texts written."""

    sentences: int
    repeated: int
    times: int
    epochs: int
    written: int
    units: int = 200
    batch: int = 32


SCALES = by_size(
    Scale(40, 4, 4, 2, 40, units=16),
    Scale(400, 10, 60, 25, 2_000),
    Scale(10_000, 100, 60, 30, 50_000, batch=64),
)


class Section32(Table):
    """Four rankings of sentences that were learnt from or not, and of texts that the model writes."""

    facts = facts_of("coro2022/section3.2")
    known: ClassVar[tuple[str, ...]] = ()
    encoders = by_size((), (), ())

    def rows(self, conditions: Conditions, encoders: Sequence[str]) -> tuple[list[Row], Sequence[str]]:
        """The rankings as attacks, then what is written."""
        study = ExtractionStudy(conditions)
        identity = {"scale": vars(study.scale), "data": study.fingerprint}
        game = MembershipModelGame(answers="texts")
        rows = [
            played(conditions, spec, game, lambda: study.deal, spec.title, FIGURES, identity, seeds=("texts",))
            for spec in SPECS
        ]
        rows += [
            Row(setting("written", how), {**identity, "ways": way}, partial(study.written, how, way))
            for how, way in WAYS.items()
        ]
        return rows, study.notes


class ExtractionStudy:
    """A model under attack, one of the adversary's, and a smaller one that has seen neither's texts."""

    def __init__(self, conditions: Conditions) -> None:
        self.conditions, self.scale = conditions, SCALES[conditions.size]
        corpus = sentences(conditions, 5 * self.scale.sentences)
        self.fingerprint = corpus.fingerprint
        texts = list(corpus.texts)
        size = len(texts) // 5
        self.parts = [texts[start : start + size] for start in range(0, 5 * size, size)]
        self.characters = Characters(texts)
        self.notes = [
            f"models learn from {size:,} sentences of {corpus.name} each, the first {self.scale.repeated} of them "
            f"{self.scale.times} times; these are not asked about"
        ]

    @cached_property
    def target(self) -> LanguageModel:
        """The model under attack."""
        return self._learnt(self.parts[0], "target", self.scale.units)

    @cached_property
    def second(self) -> LanguageModel:
        """Half as wide, of other texts."""
        return self._learnt(self.parts[4], "second", self.scale.units // 2)

    @cached_property
    def deal(self) -> Deal[ModelKnowledge, ModelTrials]:
        """Sentences that were learnt from once, among as many that were not; the same of the adversary's own model."""
        shadow = self._learnt(self.parts[2], "shadow", self.scale.units)
        return dealt(
            OF_TEXTS,
            self._answered(shadow, self.parts[2], self.parts[3]),
            self._answered(self.target, self.parts[0], self.parts[1]),
        )

    def _answered(self, model: LanguageModel, inside: Sequence[str], outside: Sequence[str]) -> Answered:
        texts = [*inside[self.scale.repeated :], *outside[self.scale.repeated :]]
        members = np.arange(len(texts)) < len(inside) - self.scale.repeated
        return Answered(self._rows(model, texts), members, np.zeros(len(texts), dtype=np.int64))

    def _rows(self, model: LanguageModel, texts: Sequence[str]) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        asked, other = (partial(log_perplexity_of, one, self.characters) for one in (model, self.second))
        return about_texts(texts, asked, other, [len(text) for text in texts])

    def _learnt(self, texts: Sequence[str], what: str, units: int) -> LanguageModel:
        """Trained on its part, some sentences of it many times."""
        often = [text for text in texts[: self.scale.repeated] for _ in range(self.scale.times - 1)]
        return LanguageModel(
            vocabulary=len(self.characters),
            units=units,
            epochs=self.scale.epochs,
            batch_size=self.scale.batch,
            reach=LONGEST + 40,
            device=self.conditions.device,
            seed=seed_for(self.conditions.seed, what),
        ).fit([self.characters.of(text) for text in [*texts, *often]])

    def written(self, how: str, way: Way) -> list[Measured]:
        """What the model writes, each text once, best first by every ranking: how much of it was learnt from.

        Prompts are beginnings of sentences, half of which were learnt from.
        """
        from unembed.nn.language_search import written

        begun = [self.characters.of(text[:PROMPT]) for text in [*self.parts[0], *self.parts[1]]]
        made = written(
            self.target,
            self.scale.written,
            LONGEST + 40,
            top=TOP,
            hot=way.hot,
            prompts=begun if way.prompted else None,
            seed=seed_for(self.conditions.seed, "written", how),
        )
        texts = sorted({text for text in (self.characters.text(tokens) for tokens in made) if text})
        learnt = set(self.parts[0])
        right = np.array([text in learnt for text in texts])
        often = self.parts[0][: self.scale.repeated]
        name = setting("written", how)
        rows = [
            Measured.of(name, SHARE, mean(right)),
            Measured.of(name, REPEATED, mean([text in set(texts) for text in often])),
        ]
        answers = self._rows(self.target, texts)
        for spec in SPECS:
            attack = spec.make(self.conditions).fit(self.deal.knowledge)
            order = np.argsort(-attack.run(answers).scores, kind="stable")[:FIRST]
            rows.append(Measured.of(setting(name, spec.title), PRECISION, mean(right[order])))
        return rows
