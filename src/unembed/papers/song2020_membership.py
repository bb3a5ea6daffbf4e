"""Song and Raghunathan 2020, Figures 4 and 5: which windows, pairs and books was the model trained on? (section 6.4)

The paper draws curves over the frequency of words and prints no number. Of windows it says that the advantage is below
0.1 where the word in the middle is frequent, rises to roughly 0.3 as it gets rarer, and is least for FastText; of
sentences, that it stays below 0.1 for pairs and reaches 0.3 for books. Its two sentence encoders were not published.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unembed.corpora.corpus import Corpus
from unembed.corpora.training import TrainingSide
from unembed.encoders.base import DenseVectors, Encoder, Vectors, WhiteBoxEncoder
from unembed.errors import CannotMeasureError
from unembed.games.base import Deal, Material
from unembed.games.contexts import KIND, TENTHS, ContextGame, ContextKnowledge, ContextTrials
from unembed.games.membership_pair import MembershipPairGame
from unembed.games.membership_window import MembershipWindowGame
from unembed.games.threat import ADVERSARIES
from unembed.papers.base import Conditions, Measured, by_size
from unembed.papers.datasets import read
from unembed.papers.encoders import RECIPES, Encoders, Recipe
from unembed.papers.library import facts_of
from unembed.papers.tables import HEADLINE, AttackSpec, Names, Row, Table, played, refused, setting
from unembed.papers.texts import sample_documents
from unembed.seeds import generator, seed_for

ContextDeal = Deal[ContextKnowledge, ContextTrials]

ADVANTAGE = "advantage"
#: Of all contexts, and of the contexts of one tenth by frequency.
FIGURES: Names = {
    ADVANTAGE: ADVANTAGE,
    HEADLINE: "balanced accuracy",
    "auc": "AUC",
    "found_at_1_percent_false_alarms": "TPR at 1 % FPR",
    "found_at_0.1_percent_false_alarms": "TPR at 0.1 % FPR",
}
OF_A_TENTH: Names = {ADVANTAGE: ADVANTAGE, "auc": "AUC"}
#: The share of the documents, of those learnt from and of the others, whose contexts the adversary has with labels.
LABELLED = 0.1
TEXTS_ALONE = "texts alone, no model"
WINDOW_ATTACKS = (
    AttackSpec("Algorithm 4", "membership/window-similarity", {}),
    AttackSpec("ours", "membership/window-reader", {}),
)
PLAIN = AttackSpec("Algorithm 5", "membership/pair-similarity", {})
LEARNED = AttackSpec("Algorithm 5, learned", "membership/learned-similarity", {})
PAIR_ATTACKS = (PLAIN, LEARNED, AttackSpec("ours", "membership/pair-reader", {}))
ABSENT = {
    "LSTM dual encoder": "the paper's LSTM dual encoder was not published and none is trained here yet",
    "Transformer dual encoder": "the paper's Transformer dual encoder was not published and none is trained here yet",
}
#: Asks a table for words that it has no row for, too.
FOREIGN = "-foreign"
FEW = {"dimension": 16, "epochs": 2, "min_count": 2}


@dataclass(frozen=True)
class Halves:
    """Documents of which a model learnt half, and of either half the part that the adversary has with labels."""

    corpus: Corpus
    learnt: NDArray[np.bool_]
    known: NDArray[np.bool_]

    @classmethod
    def of(cls, corpus: Corpus, labelled: float, seed: int) -> Halves:
        """Whole documents, drawn at random; the halves are the same whatever share of them is labelled."""
        homes = np.unique(corpus.column("document"), return_inverse=True)[1]
        order = generator(seed, "halves").permutation(int(homes.max()) + 1)
        place = order % 2, order // 2  # which half, and where in it
        return cls(corpus, (place[0] == 0)[homes], (place[1] < labelled * len(order) / 2)[homes])

    def fit(self) -> Corpus:
        """What the model learns from."""
        return self.corpus.select(np.flatnonzero(self.learnt))

    def material(self, vectors: Vectors, encode: Callable[[Sequence[str]], Vectors], seed: int) -> Material:
        """What a game deals from; ``vectors`` are those of the whole corpus."""
        asked, held = np.flatnonzero(~self.known), np.flatnonzero(self.known)
        target, known = self.corpus.select(asked), self.corpus.select(held)
        return Material(
            target=target,
            known=known,
            target_vectors=vectors[asked],
            known_vectors=vectors[held],
            encode=encode,
            adversary=ADVERSARIES["insider"],
            seed=seed,
            groups=target.column("document"),
            known_groups=known.column("document"),
            training=TrainingSide.of(self.fit().texts),
        )


def text_row(name: str, conditions: Conditions, deal: Callable[[], ContextDeal], identity: Mapping[str, Any]) -> Row:
    """A classifier that reads the words of the contexts and never asks the model: what it tells is no leak."""

    def measure() -> list[Measured]:
        truth = deal().truth
        if truth.by_text is None:
            raise CannotMeasureError("the texts of the contexts are not known")
        scores = ContextGame().judge(truth, truth.by_text, seed_for(conditions.seed, "texts"))
        found = {**scores.secondary, HEADLINE: scores.estimate()}
        return [Measured.of(name, printed, found[ours]) for ours, printed in FIGURES.items()]

    return Row(name, {**identity, "reads": "bag of words"}, measure)


class Figure4(Table):
    """Windows of five words against tables of word vectors, by the frequency of the word in the middle."""

    facts = facts_of("song2020/figure4")
    recipes: ClassVar[dict[str, Recipe]] = {
        "word2vec": Recipe("word2vec", "word2vec"),
        "fasttext": Recipe("FastText", "fasttext"),
        "fasttext-foreign": Recipe("FastText, any word", "fasttext"),
        "glove": Recipe("GloVe", "glove"),
    }
    known: ClassVar[tuple[str, ...]] = tuple(recipes)
    encoders = by_size(("word2vec",), tuple(recipes), tuple(recipes))
    #: Sentences, windows asked about, windows that the adversary has with labels.
    amounts = by_size((900, 400, 400), (120_000, 20_000, 10_000), (None, 40_000, 20_000))

    def rows(self, conditions: Conditions, encoders: Sequence[str]) -> tuple[list[Row], Sequence[str]]:
        """Every table and attack, on all windows and on those of each tenth alone."""
        sentences, windows, labelled = self.amounts[conditions.size]
        halves = Halves.of(_articles(conditions, sentences), LABELLED, conditions.seed)
        game = MembershipWindowGame(windows=windows, labelled=labelled, most_words=10**7)
        study = _Study(conditions, halves, Encoders(conditions, halves.fit(), recipes=self._recipes(conditions)))
        rows: list[Row] = []
        for key in encoders:
            deal = partial(study.windows, game, key)
            identity = study.identity(key)
            if not rows:
                rows.append(text_row(TEXTS_ALONE, conditions, deal, identity))
            for spec in WINDOW_ATTACKS:
                name = setting(spec.title, self.recipes[key].title)
                rows.append(played(conditions, spec, game, deal, name, FIGURES, identity))
                # Of words that it has not seen too many occur once: they are in no tenth.
                for number in range(0 if key.endswith(FOREIGN) else len(TENTHS)):
                    rows.append(
                        played(
                            conditions,
                            spec,
                            game,
                            partial(_of_tenth, game, deal, number),
                            setting(name, f"tenth {TENTHS[number]}"),
                            OF_A_TENTH,
                            {**identity, "tenth": number},
                            series=f"{self.recipes[key].title} · {spec.title}",
                            x=10.0 * (number + 1),
                        )
                    )
        return rows, study.notes("articles")

    def _recipes(self, conditions: Conditions) -> dict[str, Recipe]:
        if conditions.size != "smoke":
            return self.recipes
        few: dict[str, dict[str, Any]] = {
            "glove": {"dimension": 16, "iterations": 2, "min_count": 2},
            "fasttext": {**FEW, "buckets": 500},
            "fasttext-foreign": {**FEW, "buckets": 500},
        }
        return {key: replace(made, options=few.get(key, FEW)) for key, made in self.recipes.items()}


class Figure5(Table):
    """Neighbouring sentences, in pairs and in runs of fifty, against sentence encoders, by frequency of their words."""

    facts = facts_of("song2020/figure5")
    recipes: ClassVar[dict[str, Recipe]] = {
        "word2vec": RECIPES["word2vec"],
        "doc2vec": RECIPES["doc2vec"],
        "lsa-tfidf": Recipe("reduced bag of words", "lsa", {"base": "tfidf", "components": 300}, takes_language=True),
    }
    known: ClassVar[tuple[str, ...]] = tuple(recipes)
    encoders = by_size(("lsa-tfidf",), tuple(recipes), tuple(recipes))
    #: Sentences of each book, pairs in a run that stands for a book, runs asked about at most.
    amounts = by_size((20, 4, 400), (200, 50, 8_000), (None, 50, 20_000))

    def rows(self, conditions: Conditions, encoders: Sequence[str]) -> tuple[list[Row], Sequence[str]]:
        """Every encoder and attack on pairs and on books."""
        each, run, most = self.amounts[conditions.size]
        books = _books(conditions, each)
        usual, more = (Halves.of(books, share, conditions.seed) for share in (LABELLED, 0.5))
        factory = Encoders(conditions, usual.fit(), recipes=self._recipes(conditions))
        studies = [_Study(conditions, halves, factory) for halves in (usual, more)]
        levels = {"pair": 1, "book": run}
        rows: list[Row] = []
        for key in encoders:
            for level, pairs in levels.items():
                game = MembershipPairGame(pairs=pairs, runs=most, labelled=most)
                deals = [partial(study.pairs, game, key) for study in studies]
                identity = studies[0].identity(key)
                if key == encoders[0]:
                    rows.append(text_row(setting(TEXTS_ALONE, level), conditions, deals[0], identity))
                for spec in PAIR_ATTACKS:
                    name = setting(spec.title, self.recipes[key].title, level)
                    series = f"{self.recipes[key].title}, {level} · {spec.title}"
                    names = {**FIGURES, **{f"{KIND}/{tenth}": tenth for tenth in TENTHS}}
                    row = played(conditions, spec, game, deals[0], name, names, identity)
                    rows.append(replace(row, measure=partial(_with_tenths, row, series)))
                for spec in (PLAIN, LEARNED):
                    name = setting(spec.title, self.recipes[key].title, level, "half of the books labelled")
                    rows.append(played(conditions, spec, game, deals[1], name, FIGURES, studies[1].identity(key)))
        if not conditions.encoders:
            absent = [(spec.title, model, level) for model in ABSENT for level in levels for spec in (PLAIN, LEARNED)]
            rows += [refused(setting(*row), ABSENT[row[1]]) for row in absent]
        return rows, studies[0].notes("books")

    def _recipes(self, conditions: Conditions) -> dict[str, Recipe]:
        if conditions.size != "smoke":
            return self.recipes
        few: dict[str, dict[str, Any]] = {
            "doc2vec": {**FEW, "sample": 0.0},
            "lsa-tfidf": {"base": "tfidf", "components": 16},
        }
        return {key: replace(made, options=few.get(key, FEW)) for key, made in self.recipes.items()}


class _Study:
    """What one figure is measured on; holds the deal of one encoder and game at a time."""

    def __init__(self, conditions: Conditions, halves: Halves, factory: Encoders) -> None:
        self.conditions, self.halves, self.factory = conditions, halves, factory
        self._held: tuple[object, ContextDeal] | None = None

    def identity(self, key: str) -> dict[str, Any]:
        """What changes a row beside attack and game."""
        known = int(self.halves.known.sum())
        return {**self.factory.identity(key), "data": self.halves.corpus.fingerprint, "labelled texts": known}

    def windows(self, game: MembershipWindowGame, key: str) -> ContextDeal:
        """Windows for a table; of words with a vector of their own, unless it is to be asked for any."""
        encoder = self.factory.encoder(key)
        encode = encoder.encode if key.endswith(FOREIGN) else partial(_of_vocabulary, encoder)
        nothing = np.zeros((len(self.halves.corpus), 0), dtype=np.float32)
        return self._dealt(game, key, nothing, encode)

    def pairs(self, game: MembershipPairGame, key: str) -> ContextDeal:
        """Pairs, or runs of pairs, for a sentence encoder."""
        vectors = self.factory.vectors(key, self.halves.corpus)
        return self._dealt(game, key, vectors, self.factory.encoder(key).encode)

    def notes(self, documents: str) -> tuple[str, ...]:
        """How many texts there are."""
        halves = self.halves
        homes = np.asarray(halves.corpus.column("document"))
        count, learnt, known = (len(set(homes[rows])) for rows in (slice(None), halves.learnt, halves.known))
        return (
            f"{len(homes):,} sentences of {count:,} {documents}; the models learnt from {learnt:,} of them",
            f"labels of {known:,} {documents} are known to the adversary, half of them learnt from",
        )

    def _dealt(
        self,
        game: MembershipWindowGame | MembershipPairGame,
        key: str,
        vectors: Vectors,
        encode: Callable[[Sequence[str]], Vectors],
    ) -> ContextDeal:
        place = (key, tuple(game.get_params().items()))
        if self._held is None or self._held[0] != place:
            self._held = None
            material = self.halves.material(vectors, encode, seed_for(self.conditions.seed, "deal"))
            self._held = (place, game.deal(material))
        return self._held[1]


def _of_tenth(game: ContextGame, deal: Callable[[], ContextDeal], number: int) -> ContextDeal:
    """The attack carried out on the windows of one tenth alone, with a threshold of its own."""
    whole = deal()
    truth = whole.truth
    rows = np.flatnonzero([name == TENTHS[number] for name in truth.parts[KIND]])
    groups = None if truth.groups is None else [truth.groups[int(row)] for row in rows]
    by_text = None if truth.by_text is None else truth.by_text[rows]
    knowledge = game.some_pairs(whole.knowledge, np.flatnonzero(whole.knowledge.tenths == number))
    some = ContextTrials(truth.inside[rows], groups, by_text=by_text)
    return replace(whole, knowledge=knowledge, vectors=whole.vectors[rows], truth=some, rows=None)


def _with_tenths(row: Row, series: str) -> list[Measured]:
    """The figures of a row; the advantage on each tenth has a name and a place on the axis of its own."""
    figures = []
    for found in row.measure():
        if found.metric in TENTHS:
            place, name = 10.0 * (TENTHS.index(found.metric) + 1), setting(found.setting, f"tenth {found.metric}")
            found = replace(found, setting=name, metric=ADVANTAGE, series=series, x=place)
        figures.append(found)
    return figures


def _of_vocabulary(encoder: Encoder, words: Sequence[str]) -> DenseVectors:
    """Vectors of words; zeros for those that a table has no row for, also where it could make one up."""
    assert isinstance(encoder, WhiteBoxEncoder)
    known = set(encoder.vocabulary)
    vectors = np.array(encoder.encode(words), dtype=np.float32)
    vectors[[word not in known for word in words]] = 0
    return vectors


def _articles(conditions: Conditions, count: int | None) -> Corpus:
    """Sentences of an encyclopedia with the column ``document``, in whole articles."""
    if conditions.size == "smoke":
        return _invented(conditions, 900, documents=900)
    whole = read(conditions, "wikipedia_sentences", "sentence", ["source", "article_id"])
    homes = [f"{source} {number}" for source, number in zip(*whole.columns.values(), strict=True)]
    corpus = Corpus(whole.texts, whole.ids, {"document": homes}, whole.name)
    return sample_documents(corpus, count, conditions.seed)


def _books(conditions: Conditions, each: int | None) -> Corpus:
    """Sentences of novels in order with the column ``document``, the first ``each`` of every book."""
    if conditions.size == "smoke":
        return _invented(conditions, 2_400, documents=120)
    whole = read(conditions, "books_by_author", "sentence", ["author", "title"])
    homes = [f"{author}: {title}" for author, title in zip(*whole.columns.values(), strict=True)]
    seen: dict[str, int] = {}
    kept = []
    for row, home in enumerate(homes):
        seen[home] = seen.get(home, 0) + 1
        if each is None or seen[home] <= each:
            kept.append(row)
    return Corpus(whole.texts, whole.ids, {"document": homes}, whole.name).select(kept)


def _invented(conditions: Conditions, count: int, documents: int) -> Corpus:
    """Made-up messages, as many for each document: enough to show that an experiment runs."""
    from unembed.corpora.generators.messages import generate_messages

    made = generate_messages(count, authors=documents, seed=conditions.seed)
    homes = [f"invented {row % documents}" for row in range(count)]
    return Corpus(made.texts, made.ids, {"document": homes}, "invented messages")
