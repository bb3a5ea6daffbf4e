"""Song and Raghunathan 2020, Figures 4 and 5: which windows, pairs and books was the model trained on? (section 6.4)

The paper draws curves over the frequency of words and prints no number. Of windows it says that the advantage is below
0.1 where the word in the middle is frequent, rises to roughly 0.3 as it gets rarer, and is least for FastText; of
sentences, that it stays below 0.1 for pairs and reaches 0.3 for books. Its two sentence encoders were not published.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from unembed.errors import CannotMeasureError
from unembed.games.contexts import KIND, TENTHS, ContextGame, ContextTrials
from unembed.games.membership_pair import MembershipPairGame
from unembed.games.membership_window import MembershipWindowGame
from unembed.papers.base import Conditions, Measured, by_size
from unembed.papers.encoders import RECIPES, Encoders, Recipe
from unembed.papers.learnt_halves import FOREIGN, ContextDeal, Halves, Study, articles, books
from unembed.papers.library import facts_of
from unembed.papers.tables import HEADLINE, AttackSpec, Names, Row, Table, played, refused, setting
from unembed.seeds import seed_for

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
OURS = AttackSpec("ours", "membership/pair-reader", {})
ABSENT = {
    "LSTM dual encoder": "the paper's LSTM dual encoder was not published and none is trained here yet",
    "Transformer dual encoder": "the paper's Transformer dual encoder was not published and none is trained here yet",
}
FEW = {"dimension": 16, "epochs": 2, "min_count": 2}


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


def tenths(
    conditions: Conditions,
    spec: AttackSpec,
    game: ContextGame,
    deal: Callable[[], ContextDeal],
    name: str,
    identity: Mapping[str, Any],
    series: str,
) -> list[Row]:
    """The attack carried out on the contexts of each tenth by frequency separately."""
    return [
        played(
            conditions,
            spec,
            game,
            partial(_of_tenth, game, deal, number),
            setting(name, f"tenth {tenth}"),
            OF_A_TENTH,
            {**identity, "tenth": number},
            series=series,
            x=10.0 * (number + 1),
        )
        for number, tenth in enumerate(TENTHS)
    ]


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
        halves = Halves.of(articles(conditions, sentences), LABELLED, conditions.seed)
        game = MembershipWindowGame(windows=windows, labelled=labelled, most_words=10**7)
        study = Study(conditions, halves, Encoders(conditions, halves.fit(), recipes=self._recipes(conditions)))
        rows: list[Row] = []
        for key in encoders:
            deal = partial(study.windows, game, key)
            identity = study.identity(key)
            if not rows:
                rows.append(text_row(TEXTS_ALONE, conditions, deal, identity))
            for spec in WINDOW_ATTACKS:
                name = setting(spec.title, self.recipes[key].title)
                rows.append(played(conditions, spec, game, deal, name, FIGURES, identity))
                if not key.endswith(FOREIGN):  # too many of the words that it has not seen occur once
                    series = f"{self.recipes[key].title} · {spec.title}"
                    rows += tenths(conditions, spec, game, deal, name, identity, series)
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
    brief = by_size({"epochs": 2, "min_steps": 10}, {}, {})

    def rows(self, conditions: Conditions, encoders: Sequence[str]) -> tuple[list[Row], Sequence[str]]:
        """Every encoder and attack on pairs and on books."""
        each, run, most = self.amounts[conditions.size]
        texts = books(conditions, each)
        usual, more = (Halves.of(texts, share, conditions.seed) for share in (LABELLED, 0.5))
        factory = Encoders(conditions, usual.fit(), recipes=self._recipes(conditions))
        studies = [Study(conditions, halves, factory) for halves in (usual, more)]
        levels = {"pair": 1, "book": run}
        learned = AttackSpec("Algorithm 5, learned", "membership/learned-similarity", self.brief[conditions.size])
        rows: list[Row] = []
        for key in encoders:
            for level, pairs in levels.items():
                game = MembershipPairGame(pairs=pairs, runs=most, labelled=most)
                deals = [partial(study.pairs, game, key) for study in studies]
                identity = studies[0].identity(key)
                if key == encoders[0]:
                    rows.append(text_row(setting(TEXTS_ALONE, level), conditions, deals[0], identity))
                for spec in (PLAIN, learned, OURS):
                    name = setting(spec.title, self.recipes[key].title, level)
                    series = f"{self.recipes[key].title}, {level} · {spec.title}"
                    if pairs == 1:
                        rows.append(played(conditions, spec, game, deals[0], name, FIGURES, identity))
                        rows += tenths(conditions, spec, game, deals[0], name, identity, series)
                        continue
                    names = {**FIGURES, **{f"{KIND}/{tenth}": tenth for tenth in TENTHS}}
                    row = played(conditions, spec, game, deals[0], name, names, identity)
                    rows.append(replace(row, measure=partial(_with_tenths, row, series)))
                for spec in (PLAIN, learned):
                    name = setting(spec.title, self.recipes[key].title, level, "half of the books labelled")
                    rows.append(played(conditions, spec, game, deals[1], name, FIGURES, studies[1].identity(key)))
        if not conditions.encoders:
            absent = [(spec.title, model, level) for model in ABSENT for level in levels for spec in (PLAIN, learned)]
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


def _of_tenth(game: ContextGame, deal: Callable[[], ContextDeal], number: int) -> ContextDeal:
    """The contexts of one tenth alone, on both sides: the attack has a threshold of its own there."""
    whole = deal()
    truth = whole.truth
    rows = np.flatnonzero([name == TENTHS[number] for name in truth.parts.get(KIND, ())])
    groups = None if truth.groups is None else [truth.groups[int(row)] for row in rows]
    by_text = None if truth.by_text is None else truth.by_text[rows]
    held = np.flatnonzero(whole.knowledge.tenths == number)
    if not len(rows) or len(set(whole.knowledge.members[held].tolist())) < 2:
        raise CannotMeasureError(f"too few contexts are in tenth {TENTHS[number]} by frequency")
    knowledge = game.some_pairs(whole.knowledge, held)
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
