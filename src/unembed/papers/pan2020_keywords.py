"""Pan 2020, section VI and Appendix E: keyword inference with and without knowledge, absent keywords, reassembly.

The paper's figures print no numbers; those given in its text are set beside the rows they belong to. Of the paper's
encoders BERT-base (first token) is available; the other seven are listed as not measured where figures are printed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar

from unembed.games.base import Deal, Material
from unembed.games.keyword import KeywordGame
from unembed.games.reassembly import ReassemblyGame
from unembed.papers.base import Conditions, Size, by_size
from unembed.papers.encoders import RECIPES, Encoders
from unembed.papers.library import facts_of
from unembed.papers.pan2020_texts import EXTERNAL, NUMBERS, SHADOW, CaseStudy, case_study
from unembed.papers.tables import HEADLINE, AttackSpec, Names, Row, Table, played, refused, setting
from unembed.papers.texts import sample
from unembed.seeds import seed_for

BERT = RECIPES["bert-first"].title
ENCODERS = by_size(
    ("tfidf",), ("minilm",), ("bert-first", "bert-mean", "minilm", "bge", "use-lite", "lsa-tfidf", "doc2vec", "tfidf")
)
SVM = AttackSpec("SVM", "keyword/svm", {})
MLP = AttackSpec("MLP", "keyword/mlp", {})
DANN = AttackSpec("DANN", "keyword/dann", {})
OURS = AttackSpec("aligned (ours)", "keyword/aligned", {})
AVERAGE, WORST = "accuracy", "accuracy of the best epoch"
#: Figures over the whole store, beside those on balanced test sets: the game's name and ours in a table.
AT_REAL_SHARE = {
    "average_precision": "average precision over all texts",
    "precision_among_first_n": "precision among the first n texts",
}
#: The paper's other encoders.
ABSENT = ("Transformer-XL", "XLNet", "GPT", "GPT-2", "RoBERTa", "XLM", "ERNIE 2.0")


KEYWORD_NAMES = {HEADLINE: AVERAGE, "best_epoch_accuracy": WORST, **AT_REAL_SHARE}


@dataclass(frozen=True)
class KeywordCase:
    """One case study and the encoders that vectors of its texts are made with."""

    conditions: Conditions
    name: str

    @cached_property
    def texts(self) -> CaseStudy:
        """Who holds which texts."""
        return case_study(self.name, self.conditions)

    @cached_property
    def encoders(self) -> Encoders:
        """Encoders that learn from all but the targets."""
        return Encoders(self.conditions, self.texts.fit)

    def game(self, knowledge: str, samples: int | None = None, **more: Any) -> KeywordGame:
        """The game of keywords; an outsider puts them into its own texts."""
        most = NUMBERS[self.conditions.size].samples if samples is None else samples
        given = {"keywords": self.texts.keywords, "samples": most, "place": self.place(knowledge), **more}
        return KeywordGame(**given)

    def place(self, knowledge: str) -> str | None:
        """The word in whose place an outsider puts keywords."""
        return self.texts.place if knowledge == EXTERNAL else None

    def deal(self, key: str, knowledge: str, game: Any, **less: Any) -> Deal[Any, Any]:
        """The game's deal; ``known`` and ``targets`` take less of either side."""
        found: Deal[Any, Any] = game.deal(self.material(key, knowledge, **less))
        return found

    def material(self, key: str, knowledge: str, **less: Any) -> Material:
        """What the game deals from."""
        target = sample(self.texts.target, less.get("targets"), 0, "targets")
        known = less.get("known", self.texts.known[knowledge])
        adversary = {SHADOW: "insider", EXTERNAL: "outsider"}[knowledge]
        seed = seed_for(self.conditions.seed, "deal", self.name)
        return self.encoders.material(key, target, known, adversary, seed)

    def cut(self, spec: AttackSpec) -> AttackSpec:
        """The attack; at size smoke neural ones are cut short."""
        if self.conditions.size == "smoke" and spec.name in ("keyword/mlp", "keyword/dann"):
            return replace(spec, params={**spec.params, "epochs": 3, "min_steps": 30})
        return spec

    def row(
        self,
        key: str,
        knowledge: str,
        spec: AttackSpec,
        game: Any,
        setting: str,
        names: Names = KEYWORD_NAMES,
        less: Mapping[str, Any] | None = None,
        **place: Any,
    ) -> Row:
        """One attack on one deal."""
        given = dict(less or {})
        identity = {
            **self.identity(key),
            "knowledge": knowledge,
            "less": {k: getattr(v, "fingerprint", v) for k, v in given.items()},
        }
        dealt = partial(self.deal, key, knowledge, game, **given)
        return played(self.conditions, self.cut(spec), game, dealt, setting, names, identity, **place)

    def identity(self, key: str) -> dict[str, Any]:
        """What tells rows of one encoder and case study from others."""
        return {**self.encoders.identity(key), "data": self.texts.fingerprint}


class KeywordTable(Table):
    """What the experiments on keywords share."""

    known: ClassVar[tuple[str, ...]] = tuple(RECIPES)
    encoders: ClassVar[Mapping[Size, tuple[str, ...]]] = ENCODERS
    study: ClassVar[str] = "Medical"

    def rows(self, conditions: Conditions, encoders: Sequence[str]) -> tuple[list[Row], Sequence[str]]:
        """The rows of every encoder in one case study."""
        case = KeywordCase(conditions, self.study)
        return [row for key in encoders for row in self.rows_of(case, key)], case.texts.notes

    def rows_of(self, case: KeywordCase, key: str) -> list[Row]:
        """The rows of one encoder."""
        raise NotImplementedError


class _Figure6(KeywordTable):
    """One case study, five attacks: two with a shadow corpus, three without, and ours."""

    def rows_of(self, case: KeywordCase, key: str) -> list[Row]:
        """The attacks with a shadow corpus, then those without."""
        plan = [(SHADOW, s) for s in (SVM, MLP, OURS)] + [(EXTERNAL, s) for s in (SVM, MLP, DANN, OURS)]
        title = RECIPES[key].title
        return [
            case.row(key, knowledge, spec, case.game(knowledge), setting(spec.title, title, knowledge))
            for knowledge, spec in plan
        ]


class Figure6b(_Figure6):
    """Airline: ten cities."""

    study: ClassVar[str] = "Airline"
    facts = facts_of("pan2020/figure6b")


class Figure6f(_Figure6):
    """Medical: ten body words."""

    facts = facts_of("pan2020/figure6f")


class Table3(KeywordTable):
    """Five keywords that stand in no target: how often the attack rightly says no."""

    facts = facts_of("pan2020/table3")

    def rows(self, conditions: Conditions, encoders: Sequence[str]) -> tuple[list[Row], Sequence[str]]:
        """Both case studies, the paper's attack and ours."""
        rows: list[Row] = []
        notes: list[str] = []
        for study in ("Medical", "Airline"):
            case = KeywordCase(conditions, study)
            notes += case.texts.notes
            game = case.game(EXTERNAL, keywords=case.texts.absent(5, conditions.seed), absent=True, asked=500)
            for key in encoders:
                for spec, name in ((DANN, study), (OURS, f"{study}, {OURS.title}")):
                    rows.append(case.row(key, EXTERNAL, spec, game, setting(name, RECIPES[key].title, EXTERNAL)))
            if not conditions.encoders:
                reason = "this encoder's weights are not available"
                rows += [refused(setting(study, model, EXTERNAL), reason) for model in ABSENT]
        return rows, notes


WORD_NAMES = {
    HEADLINE: "share of the text's words in the top ten",
    "balanced_word_accuracy": "accuracy",
    "first_word_right": "first word right",
    "precision_at_top": "share of the top ten in the text",
    "average_precision": "average precision",
}


class Table5(KeywordTable):
    """Fifty frequent words of the domain, ranked for every vector."""

    facts = facts_of("pan2020/table5")

    def rows_of(self, case: KeywordCase, key: str) -> list[Row]:
        """The paper's attack, a linear machine and ours."""
        size = case.conditions.size
        words = ReassemblyGame(propose=15 if size == "smoke" else 50).listed(case.texts.known[SHADOW])
        samples = min(NUMBERS[size].samples, 1_000)
        game = ReassemblyGame(keywords=words, samples=samples, place=case.place(EXTERNAL))
        title = RECIPES[key].title
        return [
            case.row(key, EXTERNAL, spec, game, setting(spec.title, title, EXTERNAL), WORD_NAMES)
            for spec in (SVM, DANN, OURS)
        ]
