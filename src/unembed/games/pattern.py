"""The pattern game: can a secret of known form be read back, part by part and whole? (Pan V)

The adversary knows the format (Pan, assumption 3a) and so makes its own secrets, alone or inside sentences, and has
them encoded. It says of each vector how likely every class of every part is: the year, the month and the day of a
birth date, the digits of an account. The vectors asked about are those of texts of the collection that hold a valid
secret, or of secrets the challenger writes down itself where the collection has none.

The headline is the share of parts read right at the first attempt. Whole secrets, which Pan's Table II prints last,
stand beside it: they are a product over parts, so of long secrets (20 nucleotides) none comes back whole even where
most positions do, and as a headline they would show safety where there is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from unembed.corpora.corpus import Corpus
from unembed.corpora.patterns.carriers import ALONE, Template, fill, own_sentences, templates_from, templates_in
from unembed.corpora.patterns.language import parse_pattern
from unembed.corpora.patterns.pattern import Occurrence, Pattern
from unembed.corpora.patterns.ready import READY
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.asking import Audited, Options, Question, Refused
from unembed.games.base import Deal, Example, IntArray, Material, Scores
from unembed.games.claims import Figures
from unembed.games.facts import GameFacts
from unembed.games.pattern_ranking import FloatArray, best_wholes
from unembed.games.pattern_scores import score_pattern
from unembed.games.rows import hold_back, stack_rows
from unembed.games.threat import Adversary, Capability
from unembed.params import Parametrised, Params
from unembed.seeds import generator

#: With fewer texts that hold a secret the collection is not asked about, and gives no sentences to the adversary.
FEWEST_FOUND = 20
FEWEST_PAIRS = 20
TARGETS = ("auto", "found", "planted")
CARRIERS = ("auto", "alone", "sentences")


@dataclass(frozen=True)
class PatternKnowledge:
    """Vectors of known secrets with the class of every part; ``asked`` are the parts that count."""

    vectors: Vectors
    labels: IntArray
    pattern: Pattern
    asked: IntArray


@dataclass(frozen=True)
class PatternTruth:
    """The class of every asked part of every target."""

    labels: IntArray
    pattern: Pattern
    asked: IntArray
    groups: Sequence[object] | None = None


@dataclass(frozen=True)
class PatternGuess:
    """Log-probabilities of the classes of all asked parts, side by side, and the likeliest wholes, best first."""

    scores: FloatArray
    wholes: IntArray

    def __getitem__(self, rows: NDArray[np.int64]) -> PatternGuess:
        return PatternGuess(self.scores[rows], self.wholes[rows])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Both as one table."""
        table = np.hstack([self.scores, self.wholes.reshape(len(self.wholes), -1)])
        return table if dtype is None else table.astype(dtype)


def sizes_of(pattern: Pattern, parts: Sequence[int] | IntArray) -> list[int]:
    """How many classes some parts have."""
    return [len(pattern.parts[int(i)].labels) for i in parts]


def by_part(table: Any, sizes: Sequence[int]) -> list[Any]:
    """Columns that lie side by side, one table per part."""
    ends = np.cumsum([0, *sizes])
    return [table[:, a:b] for a, b in pairwise(ends)]


class PatternOptions(Options):
    """Secrets of which form the pattern game asks for; without a format it is not played."""

    quick: ClassVar[Mapping[str, object]] = {"pairs": 1500}
    flags: ClassVar[Mapping[str, str]] = {"formats": "pattern"}

    formats: list[str] = Field(default_factory=list, description="names of ready patterns, or formats")
    sentences: list[str] = Field(default_factory=list, description="sentences round a secret, with {secret} in them")
    pairs: int = Field(default=4000, ge=20, description="secrets the adversary makes up and has encoded")

    def lacking(self) -> str | None:
        """A format."""
        return None if self.formats else "the form of the secret: add --pattern NAME or FORMAT"

    @model_validator(mode="after")
    def _formats_parse(self) -> PatternOptions:
        for format in self.formats:
            try:
                parse_pattern(format)
            except UsageError as error:
                raise ValueError(str(error)) from error
        if self.sentences and not self.formats:
            raise ValueError("sentences go with a pattern")
        return self


class PatternGame(Parametrised):
    """Deals vectors of secrets of one form; judges what is read of each part."""

    Options: ClassVar[type[Options]] = PatternOptions
    facts: ClassVar[GameFacts] = GameFacts(
        name="pattern",
        question="Can a number or code of known form be read back from a vector?",
        metric="part_accuracy",
        metric_meaning="share of the secret's parts (a year, a month, a digit) that are read right at the first "
        "attempt",
        consequence="Numbers that were never meant to leave the text, such as birth dates, accounts or phone numbers, "
        "can be read off the vectors, in part or whole. Treat the vectors as if they held them.",
        tags=("OWASP LLM08:2025", "MITRE ATLAS AML.T0024.001"),
        version=2,
        set_by=(("pattern", "--pattern"),),
        section="secrets",
    )

    pattern: str = "citizen-id"
    ask: Sequence[str] = ()
    targets: str = "auto"
    carrier: str = "auto"
    sentences: Sequence[str] = ()
    pairs: int = 4000
    planted: int = 500

    @classmethod
    def for_audit(cls, audited: Audited) -> Iterator[Question | Refused]:
        """One question per format; of stored vectors only what stands in the texts can be asked about.

        Where the targets come from is settled here, so that everything is encoded beforehand.
        """
        options = audited.said("pattern", PatternOptions)
        if not options.formats:
            yield Refused("pattern", "no pattern was named (--pattern NAME or FORMAT)")
        for format in dict.fromkeys(options.formats):
            settings: Params = {"pattern": format, "pairs": options.pairs, "sentences": options.sentences}
            settings |= audited.given("pattern")
            if settings.get("targets", "auto") == "auto":
                settings["targets"] = "found" if _holding(format, audited.target) >= FEWEST_FOUND else "planted"
            if settings["targets"] == "planted" and not audited.can_encode:
                yield Refused(
                    f"pattern {format}",
                    f"fewer than {FEWEST_FOUND} target texts hold such a secret, and without the encoder none can be "
                    "written down and encoded",
                )
            else:
                yield Question(cls(**settings))

    def seat(self, adversary: Adversary, known: Corpus, others: Sequence[Adversary]) -> Adversary | str:
        """Whoever attacks a pattern knows its format (Pan, assumption 3a): formats of numbers are public.

        Texts of the collection in which no secret stands give their holder nothing that an outsider lacks.
        """
        beside = adversary.inside and not all(other.inside for other in others)
        if self.targets == "planted" and beside and not _holding(self.pattern, known):
            return "the secrets are made up and the collection holds none, so the result would be the outsider's"
        return replace(adversary, capabilities=adversary.capabilities | {Capability.FORMAT})

    @staticmethod
    def claim(found: Figures) -> str:
        """What the adversary can do, in words."""
        value, floor = f"{found.estimate.value:.0%}", f"{found.floor.value:.0%}"
        if found.about == "collection":
            return f"can read {value} of the parts of a secret of the form '{found.subject}' (guessing: {floor})"
        whole = found.secondary.get("whole_top1")
        wholes = "" if whole is None else f", {whole.value:.1%} of the whole secrets"
        return (
            f"No text holds a secret of the form '{found.subject}'; of texts that did, this encoder would give away "
            f"{value} of the parts{wholes} (guessing: {floor})."
        )

    @property
    def subject(self) -> str | None:
        """The pattern, and what is asked of it where that is said."""
        inside = " in sentences" if self.carrier == "sentences" or self.sentences else ""
        asked = f" ({', '.join(self.ask)})" if self.ask else ""
        return f"{self.pattern}{asked}{inside}"

    def queries(self, known: Corpus, adversary: Adversary, seed: int) -> list[str]:
        """The adversary's own secrets; where the challenger writes some down, those are encoded with them."""
        pattern = self._checked()
        asked = self._made(pattern, known, adversary, seed)[0]
        if self.targets != "planted":
            return asked
        return [*asked, *self._planted(pattern, self._templates(pattern, known, seed), set(asked), seed)[0]]

    def _checked(self) -> Pattern:
        """The pattern, once the parameters make sense."""
        pattern = parse_pattern(self.pattern)
        pattern.asked_fields(self.ask)
        for name, value, known in (("targets", self.targets, TARGETS), ("carrier", self.carrier, CARRIERS)):
            if value not in known:
                raise UsageError(f"{name} of the game 'pattern' is one of {', '.join(known)}, not '{value}'")
        if self.sentences and self.carrier == "alone":
            raise UsageError("sentences are given, but the carrier is 'alone': leave one out")
        if min(self.pairs, self.planted) < 1:
            raise UsageError("pairs and planted of the game 'pattern' must be at least 1")
        return pattern

    def _templates(self, pattern: Pattern, known: Corpus, seed: int) -> list[Template]:
        """Texts that can hold a secret.

        The user's sentences; else, with carrier "auto", those of the adversary's texts that hold one; else the secret
        alone, our own sentences, or where it is not known how the targets look as many of both.
        """
        rng = generator(seed, "pattern", "templates")
        if self.sentences:
            return templates_from(self.sentences, pattern, rng)
        held = templates_in(known.texts, pattern) if self.carrier == "auto" else []
        if len(held) >= FEWEST_FOUND:
            return held
        if self.carrier == "alone" or (self.carrier == "auto" and self.targets == "planted"):
            return [ALONE]
        count = max(self.pairs, self.planted)
        noun = READY[self.pattern].noun if self.pattern in READY else "number"
        return own_sentences(count, noun, rng) + ([ALONE] * count if self.carrier == "auto" else [])

    def _made(
        self, pattern: Pattern, known: Corpus, adversary: Adversary, seed: int
    ) -> tuple[list[str], dict[str, list[str]]]:
        """Texts with secrets the adversary made up, each once, and their values; none for who can't query."""
        if Capability.QUERIES not in adversary.capabilities:
            return [], {f.name: [] for f in pattern.fields}
        return _written(pattern, self._templates(pattern, known, seed), self.pairs, generator(seed, "pattern", "pairs"))

    def _planted(
        self, pattern: Pattern, templates: list[Template], taken: set[str], seed: int
    ) -> tuple[list[str], dict[str, list[str]]]:
        """Texts with secrets the challenger made up, none of which the adversary has."""
        rng = generator(seed, "pattern", "planted")
        texts, values = _written(pattern, templates, self.planted, rng)
        free = [i for i, text in enumerate(texts) if text not in taken]
        return [texts[i] for i in free], {name: [v[i] for i in free] for name, v in values.items()}

    def deal(self, material: Material) -> Deal[PatternKnowledge, PatternTruth]:
        """Vectors with known secrets for the adversary; vectors of other secrets to attack."""
        pattern, seed = self._checked(), material.seed
        asked = pattern.parts_of(pattern.asked_fields(self.ask))
        notes: list[str] = []
        rows, found = _valid(pattern, material.target.texts, notes, "targets")
        planted = self.targets == "planted" or (self.targets == "auto" and len(rows) < FEWEST_FOUND)
        if self.targets == "found" and len(rows) < FEWEST_FOUND:
            raise CannotMeasureError(
                f"{len(rows)} of {len(material.target)} target texts hold a valid secret of this form, at least "
                f"{FEWEST_FOUND} are needed" + "".join(f"; {note}" for note in notes)
            )
        known_rows, known = _valid(pattern, material.known.texts, notes, "texts of the adversary")
        made, values = self._made(pattern, material.known, material.adversary, seed)
        groups: Sequence[object] | None = None
        if planted:
            notes.append(f"{len(rows)} target texts hold such a secret: the challenger wrote some down itself")
            templates = self._templates(pattern, material.known, seed)
            taken = {*made, *(material.known.texts[i] for i in known_rows)}
            texts, secret = self._planted(pattern, templates, taken, seed)
            if len(texts) < FEWEST_FOUND:
                raise CannotMeasureError(
                    f"{len(texts)} secrets are left that the adversary did not make up as well: the pattern has too "
                    "few values; lower pairs"
                )
            vectors, labels = material.challenge(texts), pattern.labels(secret)
            rows = np.full(len(texts), -1, dtype=np.int64)
        else:
            vectors, labels = material.target_vectors[rows], pattern.labels(_columns(pattern, found))
            groups = None if material.groups is None else [material.groups[int(i)] for i in rows]
            targets = {material.target.texts[int(i)] for i in rows}
            keep = [i for i, text in enumerate(made) if text not in targets]
            made, values = [made[i] for i in keep], {name: [v[i] for i in keep] for name, v in values.items()}
        if len(made) + len(known_rows) < FEWEST_PAIRS:
            raise CannotMeasureError(
                f"the adversary has {len(made) + len(known_rows)} secrets of this form with their vectors: it needs "
                f"{FEWEST_PAIRS}, its own texts hold {len(known_rows)}"
            )
        parts = [(material.known_vectors[known_rows], pattern.labels(_columns(pattern, known)))] if known else []
        parts += [(material.encode(made), pattern.labels(values))] if made else []
        notes.append(f"the adversary trains on {len(made):,} secrets of its own and {len(known_rows):,} of its texts")
        return Deal(
            PatternKnowledge(stack_rows([v for v, _ in parts]), np.concatenate([y for _, y in parts]), pattern, asked),
            vectors,
            PatternTruth(labels[:, asked], pattern, asked, groups),
            pairs=len(known_rows),
            queries=len(made),
            notes=tuple(notes),
            rows=rows,
            about_encoder=planted,
        )

    def judge(self, truth: PatternTruth, guess: PatternGuess, seed: int) -> Scores:
        """Share of parts read right; whole secrets, first five guesses, fields and parts beside it."""
        scores = by_part(guess.scores, sizes_of(truth.pattern, truth.asked))
        return score_pattern(truth.pattern, truth.asked, truth.labels, scores, guess.wholes, truth.groups)

    def prior_guess(self, knowledge: PatternKnowledge, n: int) -> PatternGuess:
        """The most frequent classes of the adversary's secrets, for every target."""
        tables = []
        for part in knowledge.asked:
            size = len(knowledge.pattern.parts[int(part)].labels)
            counts = np.bincount(knowledge.labels[:, part], minlength=size) + 0.5 - 1e-6 * np.arange(size)
            tables.append(np.log(counts / counts.sum())[None])
        whole = best_wholes(tables)
        return PatternGuess(np.repeat(np.hstack(tables), n, axis=0), np.repeat(whole, n, axis=0))

    def some_pairs(self, knowledge: PatternKnowledge, kept: IntArray) -> PatternKnowledge:
        """The same adversary with some of its pairs."""
        return replace(knowledge, vectors=knowledge.vectors[kept], labels=knowledge.labels[kept])

    def rehearsal(self, knowledge: PatternKnowledge, seed: int) -> tuple[PatternKnowledge, Vectors, PatternTruth]:
        """Up to 500 of the secrets held back."""
        held, rest = hold_back(len(knowledge.labels), seed)
        truth = PatternTruth(knowledge.labels[held][:, knowledge.asked], knowledge.pattern, knowledge.asked)
        return self.some_pairs(knowledge, rest), knowledge.vectors[held], truth

    def examples(self, truth: PatternTruth, guess: PatternGuess, rows: Sequence[int]) -> list[Example]:
        """Part by part, as ``birth.year=1987``: what is there, and the first guess of the whole."""

        def said(classes: IntArray) -> list[str]:
            parts = (truth.pattern.parts[int(i)] for i in truth.asked)
            return [f"{part.name}={part.labels[int(c)]}" for part, c in zip(parts, classes, strict=True)]

        return [Example(int(r), said(truth.labels[r]), said(guess.wholes[r, 0])) for r in rows]


def _written(
    pattern: Pattern, templates: list[Template], n: int, rng: np.random.Generator
) -> tuple[list[str], dict[str, list[str]]]:
    """Texts with fresh secrets, each text once, and the values of their fields."""
    made = pattern.generate(n, rng)
    places = rng.integers(len(templates), size=n)
    texts = [fill(templates[int(at)], secret) for at, secret in zip(places, made.texts, strict=True)]
    first = list({text: i for i, text in reversed(list(enumerate(texts)))}.values())[::-1]
    return [texts[i] for i in first], {name: [v[i] for i in first] for name, v in made.values.items()}


def _valid(pattern: Pattern, texts: Sequence[str], notes: list[str], whose: str) -> tuple[IntArray, list[Occurrence]]:
    """Rows that hold a valid secret, and the first one of each; what is left out is counted in the notes."""
    rows, found, several = [], [], 0
    problems = {"wrong check digit": 0, "impossible value": 0}
    for row, text in enumerate(texts):
        places = pattern.find(text)
        valid = [o for o in places if o.problem is None]
        for place in places:
            if place.problem is not None:
                problems[place.problem] += 1
        if valid:
            rows.append(row)
            found.append(valid[0])
            several += len({o.text for o in valid}) > 1
    for problem, count in problems.items():
        if count:
            notes.append(f"{count:,} secret(s) in {whose} left out: {problem}")
    if several:
        notes.append(f"{several:,} of the {whose} hold more than one such secret: the first counts")
    return np.array(rows, dtype=np.int64), found


def _columns(pattern: Pattern, found: Sequence[Occurrence]) -> dict[str, list[str]]:
    return {field.name: [o.values[field.name] for o in found] for field in pattern.fields}


def _holding(format: str, texts: Corpus) -> int:
    """How many texts hold a valid secret."""
    pattern = parse_pattern(format)
    return sum(any(o.problem is None for o in pattern.find(text)) for text in texts.texts)
