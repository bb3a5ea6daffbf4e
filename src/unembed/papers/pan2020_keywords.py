"""Pan 2020, section VI and Appendix E: keyword inference with and without knowledge, absent keywords, reassembly.

Figures print no numbers; those that the text gives stand beside the rows they belong to. BERT-base (first token) is the
paper's encoder; its seven others are not at hand and are listed as not measured where the paper prints their figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from unembed.errors import CannotMeasureError
from unembed.games.keyword import KeywordGame
from unembed.games.play import Play, play
from unembed.games.reassembly import ReassemblyGame
from unembed.metrics.estimate import Estimate
from unembed.papers.base import Conditions, ExperimentFacts, Measured, Published, Reproduction, Size
from unembed.papers.cells import Cell, run_cells
from unembed.papers.lab import RECIPES, Lab, pick_encoders
from unembed.papers.pan_worlds import EXTERNAL, NUMBERS, SHADOW, PanDeals, world
from unembed.papers.scoring import AttackSpec
from unembed.seeds import seed_for

BERT = RECIPES["bert-first"].title
ENCODERS: dict[Size, tuple[str, ...]] = {
    "smoke": ("tfidf",),
    "small": ("minilm",),
    "full": ("bert-first", "bert-mean", "minilm", "bge", "use-lite", "lsa-tfidf", "doc2vec", "tfidf"),
}
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
CORPORA = (
    "Procedure descriptions stand in for the CMS records and sentences of airline reviews for the Skytrax ones; the "
    "external corpus is restaurant sentences with 'salad', in whose place keywords are put. Of the texts without a "
    "keyword half hold another one, the rest a random word. Accuracy is measured on the paper's balanced test sets; "
    "average precision, and precision among the first n texts where n hold the word, over all targets."
)
#: The paper's other encoders.
ABSENT = ("Transformer-XL", "XLNet", "GPT", "GPT-2", "RoBERTa", "XLM", "ERNIE 2.0")


def setting(attack: str, encoder: str, knowledge: str) -> str:
    """The name of a row."""
    return f"{attack} · {encoder} · {knowledge}"


def rows_of(name: str, played: Play, names: dict[str, str], **more: Any) -> list[Measured]:
    """The headline and the secondary figures in ``names`` (ours to the paper's), with what was published for them."""
    found: list[tuple[str, Estimate, float | None]] = [(names["headline"], played.estimate, played.floor.value)]
    for ours, printed in names.items():
        if ours in played.scores.secondary:
            found.append((printed, played.scores.secondary[ours], played.floor_secondary.get(ours)))
    return [
        Measured(
            name,
            metric,
            estimate.value,
            estimate.low,
            estimate.high,
            estimate.n,
            floor=floor,
            seconds=round(played.fit_seconds + played.run_seconds, 2),
            # Above a floor of 1 (Table III) nothing can lie, so no check of the attack can be passed there.
            trusted=played.check.passed or played.floor.value == 1,
            **more,
        )
        for metric, estimate, floor in found
    ]


KEYWORD_NAMES = {"headline": AVERAGE, "best_epoch_accuracy": WORST, **AT_REAL_SHARE}


def brief(spec: AttackSpec, size: Size) -> AttackSpec:
    """Neural attacks cut short at size smoke."""
    short = size == "smoke" and spec.name in ("keyword/mlp", "keyword/dann")
    return replace(spec, params={**spec.params, "epochs": 3, "min_steps": 30}) if short else spec


class KeywordRows:
    """What the experiments share: a world, deals, one cell for each attack, encoder and knowledge."""

    facts: ClassVar[ExperimentFacts]
    worlds: ClassVar[tuple[str, ...]] = ("Medical",)

    def deals(self, conditions: Conditions, name: str) -> PanDeals:
        """The deals of one case study."""
        texts = world(name, conditions, NUMBERS[conditions.size])
        return PanDeals(Lab(conditions, texts.fit), texts)

    def cell(
        self,
        deals: PanDeals,
        key: str,
        knowledge: str,
        spec: AttackSpec,
        game: Any,
        name: str,
        *,
        names: dict[str, str] = KEYWORD_NAMES,
        less: dict[str, Any] | None = None,
        **more: Any,
    ) -> Cell:
        """One attack on one deal."""
        conditions = deals.lab.conditions

        def measure() -> list[Measured]:
            deal = deals.deal(key, knowledge, game, **(less or {}))
            seed = seed_for(conditions.seed, "play", name)
            return rows_of(name, play(game, spec.make(conditions), deal, seed), names, **more)

        identity = {
            **deals.lab.identity(key),
            **spec.identity(),
            "data": deals.world.fingerprint,
            "knowledge": knowledge,
            "game": {**game.get_params(), "place": None, "version": game.facts.version},
            "less": {k: getattr(v, "fingerprint", v) for k, v in (less or {}).items()},
        }
        return Cell(name, identity, measure)

    def encoders(self, conditions: Conditions) -> tuple[str, ...]:
        """Those asked for, else those of the size."""
        return pick_encoders(conditions.encoders, ENCODERS[conditions.size], tuple(RECIPES))

    def missing(self, names: Sequence[str], metric_of: str) -> list[Cell]:
        """Rows of the paper whose encoder is not at hand."""

        def refuse() -> list[Measured]:
            raise CannotMeasureError("this encoder's weights are not at hand")

        return [Cell(setting(metric_of, name, EXTERNAL), {"absent": name}, refuse) for name in names]


class _Figure6(KeywordRows):
    """One case study, five attacks: two with a shadow corpus, three without, and ours."""

    def run(self, conditions: Conditions) -> Reproduction:
        """Measure every row that the machine has the encoder for."""
        deals = self.deals(conditions, self.worlds[0])
        numbers = NUMBERS[conditions.size]
        plan = [(SHADOW, s) for s in (SVM, MLP, OURS)] + [(EXTERNAL, s) for s in (SVM, MLP, DANN, OURS)]
        cells = []
        for key in self.encoders(conditions):
            for knowledge, spec in plan:
                game = KeywordGame(keywords=deals.world.keywords, samples=numbers.samples)
                name = setting(spec.title, RECIPES[key].title, knowledge)
                cells.append(self.cell(deals, key, knowledge, brief(spec, conditions.size), game, name))
        return run_cells(self.facts, cells, conditions, deals.world.notes)


class Figure6b(_Figure6):
    """Airline: ten cities."""

    worlds = ("Airline",)
    facts: ClassVar[ExperimentFacts] = ExperimentFacts(
        name="pan2020/figure6b",
        paper="pan2020",
        title="Keyword inference on Airline, ten cities",
        section="Figure 6(a, b), section VI-D",
        published=(
            Published(setting("MLP", "GPT", SHADOW), AVERAGE, 0.95),
            Published(setting("DANN", "GPT", EXTERNAL), AVERAGE, 0.75),
        ),
        departures=f"{CORPORA} The figure prints no numbers; the text says 'over 95 %' and '75 %' for GPT and GPT-2.",
        headline=AVERAGE,
    )


class Figure6f(_Figure6):
    """Medical: ten body words."""

    facts: ClassVar[ExperimentFacts] = ExperimentFacts(
        name="pan2020/figure6f",
        paper="pan2020",
        title="Keyword inference on Medical, ten body words",
        section="Figure 6(e, f), section VI-D",
        published=(
            Published(setting("MLP", BERT, SHADOW), AVERAGE, 0.99),
            Published(setting("DANN", BERT, EXTERNAL), AVERAGE, 0.75),
            Published(setting("MLP", "XLNet", EXTERNAL), AVERAGE, 0.560),
            Published(setting("DANN", "XLNet", EXTERNAL), AVERAGE, 0.601),
            Published(setting("DANN", "XLNet", EXTERNAL), WORST, 0.691),
        ),
        departures=f"{CORPORA} The figure prints no numbers; the text says 'over 99 %' and 'over 75 %' for BERT.",
        headline=AVERAGE,
    )


def _table3() -> tuple[Published, ...]:
    printed = {
        BERT: (1.000, 0.860, 0.999, 0.891),
        "Transformer-XL": (0.667, 0.555, 0.907, 0.807),
        "XLNet": (0.974, 0.951, 0.994, 0.974),
        "GPT": (0.996, 0.974, 0.998, 0.987),
        "GPT-2": (0.998, 0.973, 0.995, 0.981),
        "RoBERTa": (0.996, 0.992, 0.998, 0.996),
        "XLM": (0.948, 0.907, 0.959, 0.925),
        "ERNIE 2.0": (0.965, 0.862, 0.964, 0.922),
    }
    return tuple(
        Published(setting(name, encoder, EXTERNAL), metric, value)
        for encoder, values in printed.items()
        for name, two in (("Medical", values[:2]), ("Airline", values[2:]))
        for metric, value in zip((WORST, AVERAGE), two, strict=True)
    )


class Table3(KeywordRows):
    """Five keywords that stand in no target: how often the attack rightly says no."""

    facts: ClassVar[ExperimentFacts] = ExperimentFacts(
        name="pan2020/table3",
        paper="pan2020",
        title="Keywords that never occur in the target",
        section="Table III, section VI-D",
        published=_table3(),
        departures=f"{CORPORA} Five words of the external corpus that no target holds. Saying no to everything is "
        "right every time here, so the floor is 1: the table counts false alarms and shows no leak by itself.",
        headline=AVERAGE,
    )

    def run(self, conditions: Conditions) -> Reproduction:
        """Both case studies, the paper's attack and ours."""
        cells, notes = [], []
        for name in ("Medical", "Airline"):
            deals = self.deals(conditions, name)
            notes += list(deals.world.notes)
            words = deals.world.absent(5, conditions.seed)
            for key in self.encoders(conditions):
                for spec in (DANN, OURS):
                    title = name if spec is DANN else f"{name}, {spec.title}"
                    samples = NUMBERS[conditions.size].samples
                    game = KeywordGame(keywords=words, samples=samples, absent=True, asked=500)
                    row = setting(title, RECIPES[key].title, EXTERNAL)
                    cells.append(self.cell(deals, key, EXTERNAL, brief(spec, conditions.size), game, row))
            if not conditions.encoders:
                cells += self.missing(ABSENT, name)
        return run_cells(self.facts, cells, conditions, notes)


WORD_NAMES = {
    "headline": "share of the text's words in the top ten",
    "balanced_word_accuracy": "accuracy",
    "first_word_right": "first word right",
    "precision_at_top": "share of the top ten in the text",
    "average_precision": "average precision",
}


class Table5(KeywordRows):
    """Fifty frequent words of the domain, ranked for every vector."""

    facts: ClassVar[ExperimentFacts] = ExperimentFacts(
        name="pan2020/table5",
        paper="pan2020",
        title="Semantic reassembly with fifty words",
        section="Table V, Appendix E",
        published=(Published(setting("DANN", BERT, EXTERNAL), "accuracy", 0.77),),
        departures=f"{CORPORA} The fifty words are the most frequent telling words of the shadow corpus, since the "
        "paper does not list its own; the adversary trains on the external corpus. The paper prints five lists; here "
        "all lists are scored against their texts, and none is shown. Accuracy is the mean over words of the shares of "
        "right answers on texts with and without the word.",
        headline=WORD_NAMES["headline"],
    )

    def run(self, conditions: Conditions) -> Reproduction:
        """The paper's attack, a linear machine and ours."""
        deals = self.deals(conditions, "Medical")
        count = 50 if conditions.size != "smoke" else 15
        words = ReassemblyGame(propose=count).listed(deals.world.known[SHADOW])
        samples = min(NUMBERS[conditions.size].samples, 1_000)
        cells = []
        for key in self.encoders(conditions):
            for spec in (SVM, DANN, OURS):
                game = ReassemblyGame(keywords=words, samples=samples)
                name = setting(spec.title, RECIPES[key].title, EXTERNAL)
                attack = brief(spec, conditions.size)
                cells.append(self.cell(deals, key, EXTERNAL, attack, game, name, names=WORD_NAMES))
        return run_cells(self.facts, cells, conditions, deals.world.notes)
