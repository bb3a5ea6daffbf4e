"""Corò 2022, Tables 5.6 and 5.7: names read back, also where they were put into other people's sentences.

Names are those of real people in the news, chosen by how often they occur, and never shown: the rows say "name 1".
English news are used, because they are tagged with the politicians and bankers they are about, as the thesis's were
about ministers; in the Italian stand-in no name occurs often enough.

The adversary holds texts of both domains, because the swapped-in names of Table 5.7 must be among its words; the
thesis's cross-domain texts held all of them. The floor of each figure is what the attack says of the same sentence
without the name. Per-name figures can't be laid beside the printed ones, which are of other people: only means can.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from unembed.corpora.corpus import Corpus
from unembed.corpora.names import find_names
from unembed.corpora.words import is_content_word, words
from unembed.errors import CannotMeasureError
from unembed.games.names import NamesGame, NameTable
from unembed.games.rounds import play_round
from unembed.metrics.estimate import Estimate, wilson
from unembed.papers.base import Conditions, Measured, by_size
from unembed.papers.coro2022_words import SENTENCE, WORDS, msp, training_note
from unembed.papers.datasets import read
from unembed.papers.encoders import RECIPES, Encoders
from unembed.papers.library import facts_of
from unembed.papers.tables import Row, Table
from unembed.papers.texts import CROSS, IN, Amounts, Texts, coro_texts, joined, sample
from unembed.seeds import seed_for

RECALL = "recall of the name"
ORIGINAL, SWAPPED = "names as they stood", "names put in their place"


@dataclass(frozen=True)
class _Names:
    """The names of a run, by falling number of sentences under attack, and their sentences."""

    asked: tuple[str, ...]
    put_in: tuple[str, ...]
    target: Corpus


def _by_frequency(counts: Counter[str]) -> list[str]:
    """Words by falling frequency; of words as frequent as each other the order of sets must not decide."""
    return sorted(counts, key=lambda word: (-counts[word], word))


class _NameTable(Table):
    """What both tables share."""

    known: ClassVar[tuple[str, ...]] = ("hashing", "tfidf", *SENTENCE)
    encoders = by_size(("hashing",), ("minilm",), ("minilm",))
    foreign: ClassVar[bool]
    asked: ClassVar[int] = 4
    put_in: ClassVar[int] = 10
    amounts = by_size(Amounts(500, 300, 200), Amounts(6_000, 8_000, 20_000), Amounts(None, 200_000, 50_000))

    def rows(self, conditions: Conditions, encoders: Sequence[str]) -> tuple[list[Row], Sequence[str]]:
        """One row for each encoder, which holds the whole table."""
        texts = coro_texts(conditions, self.amounts[conditions.size], "en")
        names = self._names(conditions, texts)
        both = joined([texts.known[IN], texts.known[CROSS]], "both domains")
        factory = Encoders(conditions, texts.fit, texts.language, texts.known[CROSS])
        note = (
            f"{len(names.asked)} names in {len(names.target):,} sentences under attack; the adversary holds "
            f"{len(both):,} texts of both domains"
        )
        rows = [self._row(factory, texts, both, names, key) for key in encoders]
        return rows, (note, training_note(conditions.size))

    def _names(self, conditions: Conditions, texts: Texts) -> _Names:
        near, far = listed_names(conditions)
        known = Counter(w for part in texts.known.values() for t in part.texts for w in set(words(t)))
        held = [frozenset(words(text)) for text in texts.target.texts]
        common = Counter(w for found in held for w in found if w in near)
        usable = [w for w in _by_frequency(common) if known[w] >= 2]
        asked = tuple(usable[: self.asked])
        if len(asked) < 2:
            raise CannotMeasureError("fewer than two names stand in the sentences under attack and in the adversary's")
        others = [w for w in _by_frequency(known) if w in far and known[w] >= 2]
        rows = [row for row, found in enumerate(held) if found & set(asked)]
        return _Names(asked, tuple(others[: self.put_in]) if self.foreign else (), texts.target.select(rows))

    def _row(self, factory: Encoders, texts: Texts, both: Corpus, names: _Names, key: str) -> Row:
        conditions = factory.conditions
        spec = msp(conditions.size)
        game = NamesGame(
            names=names.asked,
            swap_in=names.put_in,
            swaps=len(names.put_in) if self.foreign else self.asked - 1,
            min_targets=1,
            max_names=self.asked,
            per_name=10 if conditions.size == "smoke" else 300,
            vocabulary_size=WORDS + 500,
            language=texts.language,
        )

        def measure() -> list[Measured]:
            if self.foreign and not names.put_in:
                raise CannotMeasureError("no name of the other domain is among the adversary's words")
            seed = seed_for(conditions.seed, "play", key)
            deal = game.deal(factory.material(key, names.target, both, "insider", seed))
            got = play_round(game, spec.make(conditions), deal, seed)
            without = game.own_floors(deal.truth, got.guess)["without"]
            tables = (NamesGame.table(deal.truth, got.guess), NamesGame.table(deal.truth, without))
            return _figures(RECIPES[key].title, names, *tables, round(got.fit_seconds + got.run_seconds, 2))

        identity = {
            **factory.identity(key),
            **spec.identity(),
            "data": f"{texts.fingerprint}-{names.target.fingerprint[:12]}",
            "names": [len(names.asked), len(names.put_in)],
        }
        return Row(f"{RECIPES[key].title} · {SWAPPED}", identity, measure)


def _figures(title: str, names: _Names, found: NameTable, floor: NameTable, seconds: float) -> list[Measured]:
    """The two means, then one figure for each pair of names, which are numbered."""
    number = {name: i for i, name in enumerate((*names.asked, *names.put_in), start=1)}

    def figure(setting: str, estimate: Estimate, at_floor: Estimate) -> Measured:
        return Measured.of(f"{title} · {setting}", RECALL, estimate, floor=at_floor.value, seconds=seconds)

    same = [pair for pair in found.cells if pair[0] == pair[1]]
    other = [pair for pair in found.cells if pair[0] != pair[1]]
    figures = [
        figure(kind, _pooled(found, pairs), _pooled(floor, pairs))
        for kind, pairs in ((ORIGINAL, same), (SWAPPED, other))
        if pairs
    ]
    for before, after in sorted(found.cells, key=lambda pair: (number[pair[1]], number[pair[0]])):
        how = "as it stood" if before == after else f"put for name {number[before]}"
        setting = f"name {number[after]} ({found.training[after]:,} training texts), {how}"
        figures.append(figure(setting, found.cells[before, after], floor.cells[before, after]))
    return figures


def _pooled(table: NameTable, pairs: Sequence[tuple[str, str]]) -> Estimate:
    cells = [table.cells[pair] for pair in pairs]
    return wilson(sum(round(c.value * c.n) for c in cells), sum(c.n for c in cells))


def listed_names(conditions: Conditions) -> tuple[frozenset[str], frozenset[str]]:
    """Last names of people the news are tagged with, and last names in Wikipedia, found by the first names before."""
    if conditions.size == "smoke":
        return _invented_names(conditions)
    news = read(conditions, "news_reuters21578", "text", ["people"])
    tagged = {words(person.replace("-", " "))[-1] for people in news.column("people") for person in people}
    near = frozenset(w for w in find_names(news.texts, sorted(tagged)) if w in tagged and _usable(w))
    first = frozenset(w for name in read(conditions, "first_names", "first_name").texts for w in words(name))
    wiki = sample(read(conditions, "wikipedia_sentences", "sentence"), 60_000, 0, "names").texts
    return near, _last_names(wiki, first) - near


def _last_names(texts: Sequence[str], first: frozenset[str]) -> frozenset[str]:
    """Words that stand after a first name at least half of the time, and are never written in lower case."""
    total: Counter[str] = Counter()
    after: Counter[str] = Counter()
    for text in texts:
        found = words(text)
        total.update(found)
        after.update(w for before, w in pairwise(found) if before in first)
    written = find_names(texts, sorted(first))
    return frozenset(w for w in written if w not in first and _usable(w) and after[w] >= max(3, total[w] / 2))


def _usable(word: str) -> bool:
    return len(word) > 3 and is_content_word(word)


def _invented_names(conditions: Conditions) -> tuple[frozenset[str], frozenset[str]]:
    from unembed.corpora.generators.messages import generate_messages

    made = generate_messages(1_500, authors=150, seed=conditions.seed)
    counts = Counter(
        words(text[start:end])[-1]
        for text, spans in zip(made.texts, made.column("secrets"), strict=True)
        for kind, start, end in spans
        if kind == "name" and words(text[start:end])
    )
    listed = [w for w, _ in counts.most_common()]
    return frozenset(listed[::2]), frozenset(listed[1::2])


class Table56(_NameTable):
    """Names of the same domain, put into each other's sentences."""

    facts = facts_of("coro2022/table5.6")
    foreign: ClassVar[bool] = False


class Table57(_NameTable):
    """Names of another domain, put into sentences where they do not belong."""

    facts = facts_of("coro2022/table5.7")
    foreign: ClassVar[bool] = True
