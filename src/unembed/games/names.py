"""The game of names: can a person's name be read back, also where it does not belong? (Corò 5.2.3)

Each sentence with a listed name is asked about as it stands, with other names in the place of that one, and
without it. Context can't give away a name that was put into a sentence where nobody expects it, so the headline
counts the swapped ones. The floor is how often the same name is said of the same sentence without it.

The adversary knows what an inversion adversary knows and says what it says, so the attacks are the same. Only
the last word of a name is scored, as in the thesis.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse
from scipy.sparse import vstack as sparse_vstack

from unembed.corpora.corpus import Corpus
from unembed.corpora.swapping import remove_name, scored_word, swap_name
from unembed.corpora.words import Vocabulary, words
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.asking import Audited, Options, PlainGame, Question, Refused
from unembed.games.base import Deal, Detail, Example, IntArray, Material, Scores, SliceScore
from unembed.games.claims import Figures
from unembed.games.facts import GameFacts
from unembed.games.inversion import InversionGuess, InversionKnowledge, knowledge_of, pairs_of, words_of
from unembed.games.listed_names import NamesOptions, listed_names
from unembed.games.rows import hold_back
from unembed.games.threat import Adversary
from unembed.metrics.estimate import Estimate, mean, ratio, wilson
from unembed.seeds import generator

ORIGINAL, SWAPPED, WITHOUT = 0, 1, 2


@dataclass(frozen=True)
class NamesTruth:
    """One entry per vector: what was done to the sentence, which name is in it, which one was there before.

    Names are columns of the vocabulary. ``without`` is the row of the same sentence without its name (-1: there is
    none); ``groups`` are entries that belong together: the variants of one sentence, or the texts of one document.
    """

    vocabulary: Vocabulary
    kind: IntArray
    name: IntArray
    before: IntArray
    without: IntArray
    groups: Sequence[object]
    documents: bool = False
    """Whether the groups are documents: then not even two sentences are independent."""

    @property
    def asked(self) -> NDArray[np.bool_]:
        """The vectors the headline counts: swapped names, or all where none was swapped (the rehearsal)."""
        swapped: NDArray[np.bool_] = self.kind == SWAPPED
        return swapped if swapped.any() else self.kind == ORIGINAL


@dataclass(frozen=True)
class NameTable:
    """How often each name comes back, by the name it replaced (Corò Tables 5.6 and 5.7).

    ``cells[(before, after)]``; where both are the same name the sentence is as it was. ``training`` is the number
    of the adversary's texts that hold a name.
    """

    before: tuple[str, ...]
    after: tuple[str, ...]
    cells: dict[tuple[str, str], Estimate]
    training: dict[str, int]


class NamesGame(PlainGame):
    """Deals sentences with names, with other names in their place, and without; judges which names come back."""

    Options: ClassVar[type[Options]] = NamesOptions
    facts: ClassVar[GameFacts] = GameFacts(
        name="names",
        question="Can a person's name be read back, also where it does not belong?",
        metric="swapped_name_recall",
        metric_meaning="share of the names put into sentences of other people that are among the recovered words",
        consequence="Whoever holds the vectors can tell whom a text is about. Treat the vectors as personal data "
        "of the people named in the texts.",
        tags=("OWASP LLM08:2025", "MITRE ATLAS AML.T0024.001"),
        version=2,
        attacks_of="inversion",
        private_params=("names", "swap_in"),
        private_slices=("name",),
        set_by=(("names", "--names"),),
        section="people",
    )

    names: Sequence[str] = ()
    swap_in: Sequence[str] = ()
    swaps: int = 3
    min_targets: int = 5
    max_names: int = 20
    per_name: int = 100
    vocabulary_size: int = 20_000
    min_count: int = 2
    language: str = "en"

    @classmethod
    def for_audit(cls, audited: Audited) -> Iterator[Question | Refused]:
        """One question about all names of the list."""
        if audited.said("names", NamesOptions).file is None:
            yield Refused("names", "no list of names was given (--names FILE)")
        elif not audited.can_encode:
            yield Refused(
                "names", "the vectors come from a file: without the encoder no other name can be put into a sentence"
            )
        else:
            yield Question(cls(names=listed_names(audited), **audited.given("names")))

    def seat(self, adversary: Adversary, known: Corpus, others: Sequence[Adversary]) -> Adversary | str:
        """Whoever has no word for any of the names could not say them, whatever the vectors give away."""
        if adversary.inside or self.known_to(known.texts):
            return adversary
        return "the public texts this adversary trains on contain none of the names, so it could not say them"

    @staticmethod
    def claim(found: Figures) -> str:
        """What the adversary can do, in words."""
        return (
            f"can read back {found.estimate.value:.0%} of the names that were put into other people's sentences "
            f"(guessing: {found.floor.value:.0%})"
        )

    def deal(self, material: Material) -> Deal[InversionKnowledge, NamesTruth]:
        """Sentences that hold a name the adversary's vocabulary has, their swapped variants, and those without."""
        knowledge, door = knowledge_of(material, self.vocabulary_size, self.min_count, self.language)
        index = knowledge.vocabulary.index
        held = [frozenset(words(text)) for text in material.target.texts]
        names, notes = self._chosen(held, index)
        pool = names if not self.swap_in else {w: n for w, n in _by_word(self.swap_in).items() if w in index}
        if not set(pool) - set(names) and len(names) < 2:
            raise CannotMeasureError(
                "swapping needs a second name that is among the adversary's words: add names, or swap_in"
            )
        entries: list[tuple[int, int, str, str, str]] = []
        sentences = 0
        for name, full in names.items():
            holding = np.array([row for row, found in enumerate(held) if name in found], dtype=np.int64)
            rng = generator(material.seed, "names", name)
            for row in np.sort(rng.permutation(holding)[: self.per_name]):
                text = material.target.texts[row]
                variants = self._variants(text, held[row], (name, full), pool, rng)
                entries += [(int(row), kind, after, name, changed) for kind, after, changed in variants]
                sentences += bool(variants)
        if not any(kind == SWAPPED for _, kind, _, _, _ in entries):
            raise CannotMeasureError("no other name can be put into the sentences with a name: add names, or swap_in")
        truth = _truth(entries, index, knowledge.vocabulary, material.groups)
        return Deal(
            knowledge,
            _vectors(material, entries),
            truth,
            pairs=len(material.known),
            queries=0,
            notes=(*notes, f"{sentences:,} sentences, {int(truth.asked.sum()):,} with a swapped name"),
            rows=np.array([row for row, *_ in entries], dtype=np.int64),
            door=door,
        )

    def known_to(self, texts: Sequence[str]) -> bool:
        """Whether an adversary with these texts has a word for any of the names."""
        wanted = _by_word([*self.names, *self.swap_in])
        counts = Counter(word for text in texts for word in words(text) if word in wanted)
        return any(count >= self.min_count for count in counts.values())

    def _chosen(self, held: Sequence[frozenset[str]], index: dict[str, int]) -> tuple[dict[str, str], tuple[str, ...]]:
        """The names asked about, by falling number of targets, and what was left out."""
        if not self.names:
            raise UsageError("the game of names needs names: give a file with one per line (--names FILE)")
        if min(self.swaps, self.min_targets, self.max_names, self.per_name) < 1:
            raise UsageError("swaps, min_targets, max_names and per_name of the game 'names' must be at least 1")
        given = _by_word(self.names)
        counts = {word: sum(word in found for found in held) for word in given}
        common = [w for w in given if counts[w] >= self.min_targets]
        usable = sorted((w for w in common if w in index), key=lambda w: (-counts[w], w))
        if not usable:
            raise CannotMeasureError(
                f"of {len(given)} names {len(common)} stand in {self.min_targets} targets or more, and none of those "
                "is among the adversary's words: give other names, more texts, or lower min_targets"
            )
        chosen = usable[: self.max_names]
        note = (
            f"{len(chosen)} of {len(given)} names; left out: {len(given) - len(common)} in fewer than "
            f"{self.min_targets} targets, {len(common) - len(usable)} not among the adversary's words, "
            f"{len(usable) - len(chosen)} over the limit of {self.max_names}"
        )
        return {w: given[w] for w in chosen}, (note,)

    def _variants(
        self,
        text: str,
        held: frozenset[str],
        name: tuple[str, str],
        pool: dict[str, str],
        rng: np.random.Generator,
    ) -> list[tuple[int, str, str]]:
        """(kind, name in it, text): the sentence, its swapped variants, and last the one without the name."""
        word, full = name
        bare = remove_name(text, full)
        if not words(bare) or word in words(bare):
            return []
        others = [w for w in pool if w not in held]
        drawn = rng.permutation(len(others))[: self.swaps]
        swapped = [(SWAPPED, others[i], swap_name(text, full, pool[others[i]])) for i in np.sort(drawn)]
        return [(ORIGINAL, word, text), *swapped, (WITHOUT, word, bare)]

    def judge(self, truth: NamesTruth, guess: InversionGuess, seed: int) -> Scores:
        """Share of the asked vectors whose name was said; the originals and false alarms beside it."""
        said = _said(words_of(guess))
        rows = np.flatnonzero(truth.asked)
        hits = said(rows, truth.name[rows])

        def work_out() -> Detail:
            return self._detail(truth, said)

        parts = np.stack([hits, np.ones(len(rows))], axis=1).astype(np.float64)
        return Scores(parts, ratio, [truth.groups[int(i)] for i in rows], work_out)

    def _detail(self, truth: NamesTruth, said: Said) -> Detail:
        def rate(rows: IntArray, hits: NDArray[np.bool_]) -> Estimate:
            """Wilson's interval where the vectors come from different sentences, else the jackknife over them."""
            groups = [truth.groups[int(i)] for i in rows]
            if not truth.documents and len(set(groups)) == len(rows):
                return wilson(int(hits.sum()), len(rows))
            return mean(hits, groups=groups)

        secondary: dict[str, Estimate] = {}
        original = np.flatnonzero(truth.kind == ORIGINAL)
        secondary["original_name_recall"] = rate(original, said(original, truth.name[original]))
        bare = original[truth.without[original] >= 0]
        if len(bare):
            secondary["original_name_false_alarms"] = rate(bare, said(truth.without[bare], truth.name[bare]))
        swapped = np.flatnonzero(truth.kind == SWAPPED)
        if len(swapped):
            secondary["replaced_name_said"] = rate(swapped, said(swapped, truth.before[swapped]))
        slices = []
        asked = np.flatnonzero(truth.asked)
        for column in sorted(set(truth.name[asked]), key=lambda c: truth.vocabulary.words[c]):
            rows = asked[truth.name[asked] == column]
            bare = truth.without[rows]
            floor = float(said(bare, truth.name[rows]).mean()) if (bare >= 0).all() else None
            estimate = rate(rows, said(rows, truth.name[rows]))
            slices.append(SliceScore("name", truth.vocabulary.words[column], estimate, floor))
        return Detail(secondary, tuple(slices))

    def own_floors(self, truth: NamesTruth, guess: InversionGuess) -> dict[str, InversionGuess]:
        """ "without": what the attack says of the same sentence when the name is not in it."""
        return {"without": guess[np.where(truth.without >= 0, truth.without, np.arange(len(truth.without)))]}

    def prior_guess(self, knowledge: InversionKnowledge, n: int) -> InversionGuess:
        """One name for all: the one that stands in most of the adversary's texts."""
        counts = {w: int(knowledge.vocabulary.document_counts[c]) for w, c in self._columns(knowledge).items()}
        shape = (n, len(knowledge.vocabulary))
        if not counts:
            return csr_matrix(shape, dtype=np.float32)
        column = knowledge.vocabulary.index[max(sorted(counts), key=lambda w: counts[w])]
        confidence = counts[knowledge.vocabulary.words[column]] / max(knowledge.vocabulary.texts, 1)
        where = (np.arange(n), np.full(n, column))
        return csr_matrix((np.full(n, confidence, dtype=np.float32), where), shape=shape)

    def rehearsal(self, knowledge: InversionKnowledge, seed: int) -> tuple[InversionKnowledge, Vectors, NamesTruth]:
        """A third of the pairs whose text holds one of the names, held back; up to 500."""
        columns = np.array(sorted(self._columns(knowledge).values()), dtype=np.int64)
        naming = np.unique(knowledge.labels[:, columns].nonzero()[0])
        chosen, _ = hold_back(len(naming), seed)
        held = naming[chosen]
        rest = np.setdiff1d(np.arange(knowledge.labels.shape[0]), held)
        rows, which = knowledge.labels[held][:, columns].nonzero()
        name, kind = columns[which], np.full(len(rows), ORIGINAL, dtype=np.int64)
        truth = NamesTruth(knowledge.vocabulary, kind, name, name, np.full(len(rows), -1), [int(r) for r in held[rows]])
        return pairs_of(knowledge, rest), knowledge.vectors[held[rows]], truth

    def some_pairs(self, knowledge: InversionKnowledge, kept: IntArray) -> InversionKnowledge:
        """The same adversary with some of its pairs."""
        return pairs_of(knowledge, kept)

    def _columns(self, knowledge: InversionKnowledge) -> dict[str, int]:
        index = knowledge.vocabulary.index
        return {w: index[w] for w in _by_word([*self.names, *self.swap_in]) if w in index}

    def examples(self, truth: NamesTruth, guess: InversionGuess, rows: Sequence[int]) -> list[Example]:
        """The name in the sentence, and the names that were said, most confident first."""
        guess, listed = words_of(guess), set(truth.name.tolist())
        found = []
        for row in rows:
            said = guess[row]
            order = np.argsort(-said.data, kind="stable")
            recovered = [truth.vocabulary.words[c] for c in said.indices[order] if int(c) in listed]
            there = [] if truth.kind[row] == WITHOUT else [truth.vocabulary.words[truth.name[row]]]
            found.append(Example(int(row), there, recovered))
        return found

    @staticmethod
    def table(truth: NamesTruth, guess: InversionGuess) -> NameTable:
        """Recovery by (name before, name after), with the originals on the diagonal."""
        said, names = _said(words_of(guess)), truth.vocabulary.words
        rows = np.flatnonzero(truth.kind != WITHOUT)
        hits = said(rows, truth.name[rows])
        pairs = list(zip(truth.before[rows].tolist(), truth.name[rows].tolist(), strict=True))
        cells = {}
        for pair in sorted(set(pairs)):
            at = np.array([p == pair for p in pairs])
            cells[names[pair[0]], names[pair[1]]] = wilson(int(hits[at].sum()), int(at.sum()))
        before = tuple(sorted({a for a, _ in cells}))
        after = tuple(sorted({b for _, b in cells}))
        counts = truth.vocabulary.document_counts
        return NameTable(before, after, cells, {w: int(counts[truth.vocabulary.index[w]]) for w in after})


Said = Callable[[IntArray, IntArray], NDArray[np.bool_]]


def _said(guess: csr_matrix) -> Said:
    """Whether a guess names one column for each of some rows."""

    def said(rows: IntArray, columns: IntArray) -> NDArray[np.bool_]:
        return np.asarray(guess[rows, columns]).ravel() != 0 if len(rows) else np.zeros(0, dtype=bool)

    return said


def _by_word(names: Sequence[str]) -> dict[str, str]:
    """Scored word → name; of two names that end in the same word the first."""
    found: dict[str, str] = {}
    for name in names:
        found.setdefault(scored_word(name), name)
    return found


def _truth(
    entries: Sequence[tuple[int, int, str, str, str]],
    index: dict[str, int],
    vocabulary: Vocabulary,
    documents: Sequence[object] | None,
) -> NamesTruth:
    kind = np.array([k for _, k, *_ in entries], dtype=np.int64)
    # A sentence's variants end with the one without the name.
    ends = np.flatnonzero(kind == WITHOUT)
    groups: list[object] = [row if documents is None else documents[row] for row, *_ in entries]
    return NamesTruth(
        vocabulary,
        kind,
        np.array([index[after] for _, _, after, _, _ in entries], dtype=np.int64),
        np.array([index[before] for _, _, _, before, _ in entries], dtype=np.int64),
        ends[np.searchsorted(ends, np.arange(len(kind)))].astype(np.int64),
        groups,
        documents is not None,
    )


def _vectors(material: Material, entries: Sequence[tuple[int, int, str, str, str]]) -> Vectors:
    """The originals' stored vectors, and those of the changed sentences, each encoded once."""
    changed = list(dict.fromkeys(text for _, kind, _, _, text in entries if kind != ORIGINAL))
    where = {text: i for i, text in enumerate(changed)}
    fresh = material.challenge(changed)
    n = int(material.target_vectors.shape[0])
    at = np.array([row if kind == ORIGINAL else n + where[text] for row, kind, _, _, text in entries], dtype=np.int64)
    if issparse(fresh):
        return csr_matrix(sparse_vstack([material.target_vectors, fresh]))[at]
    used, place = np.unique(at[at < n], return_inverse=True)
    kept = np.asarray(material.target_vectors[used])
    rows = np.where(at < n, 0, len(used) + at - n)
    rows[at < n] = place
    return np.concatenate([kept, np.asarray(fresh, dtype=kept.dtype)])[rows]
