"""The case study Medical with a defense behind the encoder: who holds which texts, and what the vectors are good for.

Two of the four defenses learn which texts hold a word. Fitted on the texts that the adversary trains on or is scored
on, they take out what those texts have by chance too, and an attack learns less than it does on any other text, down
to below guessing: the defense looks safer than it is. So the texts lie in three parts: the targets, the adversary's,
and the owner's, which defenses are fitted on and which hold no near duplicate of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from unembed.corpora.corpus import Corpus
from unembed.corpora.duplicates import remove_leaks
from unembed.corpora.splits import split_corpus
from unembed.defenses import DEFENSES
from unembed.defenses.base import Owned, digest_id
from unembed.defenses.chain import Chain
from unembed.games.base import Detail, Material, Scores
from unembed.papers.base import by_size
from unembed.papers.encoders import Encoders
from unembed.papers.pan2020_keywords import KeywordCase
from unembed.papers.pan2020_systems import texts_of
from unembed.papers.pan2020_texts import ALL, EXTERNAL, SHADOW, CaseStudy, Numbers, case_study
from unembed.papers.texts import joined, sample
from unembed.papers.usefulness import corpus_of
from unembed.seeds import seed_for
from unembed.utility.case_studies import Department
from unembed.utility.own_texts import Labelled

#: The parameter of each defense.
PARAMETERS = {"rounding": "decimals", "laplace": "epsilon", "ppm": "nearness", "subspace": "beta"}
#: Those that learn which texts hold a keyword.
SUPERVISED = ("ppm", "subspace")
#: Pairs of texts that differ in one word.
PAIRS = by_size(50, 2_000, 10_000)
#: Texts of the classification task.
CLASSIFIED = by_size(100, 2_000, 40_000)
_NUMBERS = by_size(Numbers(60, 120, 40, 40), Numbers(200, 3_000, 200, 400), Numbers(ALL, ALL, 4_000, 2_000))
_KEYWORDS = by_size(2, 10, 10)
#: Steps that a mapping is trained for at size smoke.
_FEW_STEPS = 30


Fitted = Literal["owner", "targets", "targets and pairs"]


@dataclass(frozen=True)
class Strength:
    """One defense with one value of its parameter; ``told``: the keywords it is to hide, where it hides any.

    ``fitted``: on the owner's part of the texts, or on those that are attacked, to show what that makes of the figures.
    """

    defense: str
    value: float
    told: tuple[str, ...] = ()
    fitted: Fitted = "owner"

    @property
    def setting(self) -> str:
        """The parameter and its value."""
        return f"{PARAMETERS[self.defense]} {self.value:g}"


@dataclass(frozen=True)
class OwnersCase(KeywordCase):
    """The case study in three parts, the defenses that were fitted, and the task that vectors are kept for."""

    chains: dict[tuple[str, Strength], Chain] = field(default_factory=dict, compare=False)
    judged: dict[tuple[str, Strength | None, bool], Scores] = field(default_factory=dict, compare=False)

    @cached_property
    def parts(self) -> tuple[CaseStudy, Corpus]:
        """The case study with half of its targets, and of the others what is no near duplicate of anybody's."""
        size = self.conditions.size
        whole = case_study(self.name, self.conditions, _NUMBERS[size])
        split = split_corpus(whole.target, share=0.5, seed=seed_for(self.conditions.seed, "owner"))
        owners, _ = remove_leaks(split.adversary, whole.known[SHADOW])
        notes = (
            f"{self.name}: {len(split.target):,} targets, a shadow corpus of {len(whole.known[SHADOW]):,} texts, an "
            f"external corpus of {len(whole.known[EXTERNAL]):,}, and {len(owners):,} further texts that defenses are "
            "fitted on",
        )
        keywords = whole.keywords[: _KEYWORDS[size]]
        return replace(whole, target=split.target, notes=notes, keywords=keywords), owners

    @cached_property
    def texts(self) -> CaseStudy:
        """What the adversary holds, and the targets."""
        return self.parts[0]

    @cached_property
    def task(self) -> Department:
        """The classification that the vectors are kept for, as in Figure 8."""
        return Department(texts=CLASSIFIED[self.conditions.size])

    @cached_property
    def examples(self) -> Labelled:
        """Descriptions with their departments, none of them a near duplicate of a text that defenses are fitted on."""
        seed = seed_for(self.conditions.seed, "systems")
        texts = sample(texts_of(self.conditions, Department), 8 * CLASSIFIED[self.conditions.size], seed, "classified")
        return self.task.of(remove_leaks(texts, self.parts[1])[0], seed)

    def chain(self, key: str, strength: Strength) -> Chain:
        """The fitted defense, fitted once."""
        if (key, strength) not in self.chains:
            corpus = self._learnt(strength.fitted)
            owned = Owned(corpus.texts, {}, self.encoders.cached(key).encode)
            made = Chain([self.made(strength)])
            made.fit(self.encoders.vectors(key, corpus), seed_for(self.conditions.seed, "defense"), owned, corpus.ids)
            self.chains[key, strength] = made
        return self.chains[key, strength]

    def _learnt(self, fitted: Fitted) -> Corpus:
        if fitted == "owner":
            return self.parts[1]
        target = self.texts.target
        return target if fitted == "targets" else joined([target, self.texts.known[SHADOW]], "targets and pairs")

    def made(self, strength: Strength) -> Any:
        """The defense, not fitted."""
        size = self.conditions.size
        given: dict[str, Any] = {PARAMETERS[strength.defense]: strength.value}
        if strength.defense in SUPERVISED:
            given["keywords"] = strength.told
        if strength.defense == "laplace":
            given["pairs"] = PAIRS[size]
        if strength.defense == "ppm" and size == "smoke":
            given["steps"] = _FEW_STEPS
        return DEFENSES.get(strength.defense)(**given)

    def useful(self, key: str, strength: Strength | None, told: bool = True) -> Scores:
        """How well departments are told from vectors behind a defense.

        A service that was ``told`` learns from such vectors, another one from vectors as they are.
        """
        place = (key, strength, told)
        if place not in self.judged:
            corpus = corpus_of(self.examples.texts, self.task.facts.name)
            plain = vectors = self.encoders.vectors(key, corpus)
            if strength is not None:
                vectors = self.chain(key, strength).transform(vectors, [digest_id(text) for text in corpus.texts])
            if not told:
                learnt = self.examples.folds[0][0]
                vectors = np.array(vectors)
                vectors[learnt] = plain[learnt]
            seed = seed_for(self.conditions.seed, "utility", self.task.facts.name)
            self.judged[place] = self.task.judge(self.examples, vectors, seed)
        return self.judged[place]

    def identity(self, key: str) -> dict[str, Any]:
        """What tells rows of one encoder and case study from others."""
        return {**super().identity(key), "owners": self.parts[1].fingerprint, "keywords": self.texts.keywords}


@dataclass(frozen=True)
class DefendedCase(KeywordCase):
    """The case study behind a defense; an adaptive adversary knows it and learns from vectors behind it."""

    owner: OwnersCase
    strength: Strength
    adaptive: bool

    @property
    def texts(self) -> CaseStudy:
        """Who holds which texts."""
        return self.owner.texts

    @property
    def encoders(self) -> Encoders:
        """The owner's, so that texts are encoded once."""
        return self.owner.encoders

    def material(self, key: str, knowledge: str, **less: Any) -> Material:
        """What the game deals from: defended targets, and texts of the adversary's own as it makes vectors of them."""
        plain = super().material(key, knowledge, **less)
        stored = self.owner.chain(key, self.strength)
        defended = replace(plain, target_vectors=stored.transform(plain.target_vectors, plain.target.ids))
        if not self.adaptive:
            return defended
        own = stored.with_key(seed_for(self.conditions.seed, "defense", "adversary"))
        return replace(
            defended,
            known_vectors=own.transform(plain.known_vectors, plain.known.ids),
            encode=lambda texts: own.transform(plain.encode(texts), [digest_id(text) for text in texts]),
        )

    def identity(self, key: str) -> dict[str, Any]:
        """What tells rows of one strength of a defense from others."""
        return {**self.owner.identity(key), **identity_of(self.owner, self.strength), "adaptive": self.adaptive}


def identity_of(owner: OwnersCase, strength: Strength) -> dict[str, Any]:
    """A defense as plain data."""
    made = owner.made(strength)
    told = {"name": strength.defense, "version": made.facts.version, "params": made.get_params()}
    pairs = {"pairs": True} if strength.fitted == "targets and pairs" else {}
    return {"defense": told, "on_targets": strength.fitted != "owner", **pairs}


def together(scores: Sequence[Scores]) -> Scores:
    """Answers about one keyword each, on the same targets, as one figure: the mean over the keywords."""
    right, asked = (np.hstack(parts) for parts in zip(*(np.hsplit(s.parts, 2) for s in scores), strict=True))
    return replace(scores[0], parts=np.hstack([right, asked]), work_out=Detail)


def summed(scores: Sequence[Scores]) -> Scores:
    """Figures of one task on the same texts as one: their mean."""
    return replace(scores[0], parts=np.sum([s.parts for s in scores], axis=0), work_out=Detail)
