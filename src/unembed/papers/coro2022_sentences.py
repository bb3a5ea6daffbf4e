"""Corò 2022: inversion of sentences (Table 5.2), with [EOS] among the words (A.1), over the number of pairs (5.1)."""

from __future__ import annotations

from typing import ClassVar

from unembed.audit.curve import log_spaced
from unembed.games.inversion import InversionGame
from unembed.papers.base import Conditions, ExperimentFacts, Measured, Reproduction, Size
from unembed.papers.cells import Cell, run_cells
from unembed.papers.coro import (
    AMOUNTS,
    ENGLISH,
    ITALIAN,
    METRICS,
    MODELS,
    SENTENCE,
    ContentDeals,
    msp,
    printed,
    row_name,
    training_note,
)
from unembed.papers.lab import Lab, pick_encoders
from unembed.papers.scoring import AttackSpec, attempt, coro_metrics, rows_of
from unembed.papers.stand_ins import CROSS, IN, Amounts, Sides, coro_sides, sample
from unembed.seeds import seed_for

ALL = tuple(dict.fromkeys((*MODELS, *SENTENCE)))
#: Points of the curve over the number of pairs.
POINTS: dict[Size, int] = {"smoke": 2, "small": 4, "full": 7}
MEANS = (
    "figures are means over texts (eq. 4.6 to 4.8) of content words of the adversary's vocabulary; of the cross-domain "
    "adversary only words that both adversaries know count"
)
IN_DOMAIN = {
    "tfidf": (94.37, 87.05, 89.05, 94.27, 84.73, 87.34),
    "hashing": (94.72, 87.27, 89.33, 94.15, 84.86, 87.21),
    "lsa-tfidf": (62.00, 61.80, 59.40, 57.99, 55.20, 53.48),
    "lsa-hashing": (59.25, 58.31, 56.42, 55.42, 51.79, 50.67),
    "doc2vec": (49.51, 55.10, 49.56, 54.23, 55.65, 52.55),
    "minilm": (41.53, 45.47, 41.36, 41.55, 42.04, 39.58),
}
CROSS_DOMAIN = {
    "tfidf": (90.31, 83.79, 85.20, 91.85, 80.74, 84.10),
    "hashing": (91.81, 83.89, 86.15, 92.52, 80.77, 84.49),
    "lsa-tfidf": (74.20, 67.52, 68.78, 71.78, 61.37, 63.70),
    "lsa-hashing": (71.13, 65.12, 65.97, 68.56, 58.91, 60.79),
    "doc2vec": (52.72, 54.84, 51.21, 57.05, 55.44, 53.90),
    "minilm": (41.14, 41.77, 39.53, 41.27, 38.17, 37.50),
}


def sentence_cell(
    facts: ExperimentFacts,
    deals: ContentDeals,
    conditions: Conditions,
    key: str,
    domain: str,
    spec: AttackSpec,
    name: str,
) -> Cell:
    """One attack on the sentences of one encoder by one adversary."""

    def measure() -> list[Measured]:
        attack = spec.make(conditions)
        deal = deals.deal(key, domain)
        seed = seed_for(conditions.seed, "play", key, domain, name)
        scored = None if domain == IN else deals.scored(domain)
        metrics = coro_metrics(deal.truth, seed, scored=scored)
        return rows_of(metrics, attempt(InversionGame(), attack, deal, seed), setting=name)

    return Cell(name, {**deals.lab.identity(key), **spec.identity(), "data": deals.sides.fingerprint}, measure)


class Table52:
    """Six vectorisers, two adversaries."""

    language: ClassVar[str] = "it"
    facts: ClassVar[ExperimentFacts] = ExperimentFacts(
        name="coro2022/table5.2",
        paper="coro2022",
        title="Inversion of sentences by vectoriser",
        section="Table 5.2, section 5.2.1",
        published=(*printed(IN, IN_DOMAIN), *printed(CROSS, CROSS_DOMAIN)),
        departures=ITALIAN,
        headline="F1",
    )
    encoders: ClassVar[dict[Size, tuple[str, ...]]] = {
        "smoke": ("tfidf", "hashing"),
        "small": ("hashing", "lsa-tfidf", "doc2vec", "minilm"),
        "full": tuple(MODELS),
    }
    amounts: ClassVar[dict[Size, Amounts]] = AMOUNTS

    def run(self, conditions: Conditions) -> Reproduction:
        """Measure every row that the machine has the encoder for."""
        chosen = pick_encoders(conditions.encoders, self.encoders[conditions.size], ALL)
        sides = coro_sides(conditions, self.amounts[conditions.size], self.language)
        deals = ContentDeals(Lab(conditions, sides.fit, sides.language, sides.known[CROSS]), sides)
        spec = msp(conditions.size)
        cells = [
            sentence_cell(self.facts, deals, conditions, key, domain, spec, row_name(key, domain))
            for key in chosen
            for domain in (IN, CROSS)
        ]
        return run_cells(self.facts, cells, conditions, (*sides.notes, MEANS, training_note(conditions.size)))


class Table52English(Table52):
    """The same in English, where the sentence encoder speaks the language of the texts."""

    language: ClassVar[str] = "en"
    facts: ClassVar[ExperimentFacts] = ExperimentFacts(
        name="coro2022/table5.2-english",
        paper="coro2022",
        title="Inversion of sentences by vectoriser, English",
        section="Table 5.2, section 5.2.1",
        published=Table52.facts.published,
        departures=ENGLISH,
        headline="F1",
    )


class TableA1:
    """With [EOS] among the words to predict: fewer false words, far fewer right ones."""

    facts: ClassVar[ExperimentFacts] = ExperimentFacts(
        name="coro2022/tableA.1",
        paper="coro2022",
        title="[EOS] among the words to predict",
        section="Appendix A.1 and Table A.1",
        published=(
            *printed(IN, {"minilm": (64.05, 18.75, 27.20)}, METRICS[:3], "with [EOS]"),
            *printed(IN, {"minilm": (41.53, 45.47, 41.36)}, METRICS[:3], "without [EOS]"),
        ),
        departures=f"{ITALIAN} Table A.1 shows sentences with what came back; no text is shown here, the appendix's "
        "figures stand for it.",
        headline="F1",
    )

    def run(self, conditions: Conditions) -> Reproduction:
        """Both forms on the same vectors."""
        usual = ("hashing",) if conditions.size == "smoke" else ("minilm",)
        chosen = pick_encoders(conditions.encoders, usual, ALL)
        sides = coro_sides(conditions, AMOUNTS[conditions.size], "it")
        deals = ContentDeals(Lab(conditions, sides.fit, sides.language, sides.known[CROSS]), sides)
        cells = [
            sentence_cell(
                self.facts, deals, conditions, key, IN, msp(conditions.size, eos=eos), row_name(key, IN, form)
            )
            for key in chosen
            for form, eos in (("without [EOS]", "never"), ("with [EOS]", "always"))
        ]
        return run_cells(self.facts, cells, conditions, (*sides.notes, MEANS, training_note(conditions.size)))


class Figure51:
    """Recovery over the number of pairs, for the encoder that gives away most and for the one that gives least."""

    facts: ClassVar[ExperimentFacts] = ExperimentFacts(
        name="coro2022/figure5.1",
        paper="coro2022",
        title="Recovery over the number of pairs",
        section="Figure 5.1, section 5.2.4",
        published=(),
        departures=f"{ITALIAN} The figure prints no numbers; its right ends are the in-domain rows of Table 5.2.",
        headline="F1",
        axis="pairs the adversary holds",
    )
    encoders: ClassVar[dict[Size, tuple[str, ...]]] = {
        "smoke": ("hashing",),
        "small": ("hashing", "minilm"),
        "full": ("hashing", "minilm"),
    }

    def run(self, conditions: Conditions) -> Reproduction:
        """One point for each number of pairs, spaced by factors."""
        chosen = pick_encoders(conditions.encoders, self.encoders[conditions.size], ALL)
        sides = coro_sides(conditions, AMOUNTS[conditions.size], "it")
        deals = ContentDeals(Lab(conditions, sides.fit, sides.language, sides.known[CROSS]), sides)
        cells = [
            self._cell(deals, sides, conditions, key, pairs)
            for key in chosen
            for pairs in pair_counts(len(sides.known[IN]), POINTS[conditions.size])
        ]
        return run_cells(self.facts, cells, conditions, (*sides.notes, MEANS, training_note(conditions.size)))

    def _cell(self, deals: ContentDeals, sides: Sides, conditions: Conditions, key: str, pairs: int) -> Cell:
        name = row_name(key, IN, f"{pairs:,} pairs")
        # The thesis doubles the epochs here, to make up for the fewer pairs.
        spec = msp(conditions.size, pairs)
        spec = AttackSpec(spec.title, spec.name, {**spec.params, "epochs": 2 * spec.params["epochs"]})

        def measure() -> list[Measured]:
            attack = spec.make(conditions)
            known = sample(sides.known[IN], pairs, conditions.seed, "pairs")
            deal = deals.deal(key, IN, known)
            seed = seed_for(conditions.seed, "play", key, pairs)
            metrics = coro_metrics(deal.truth, seed, weighted=False)
            got = attempt(InversionGame(), attack, deal, seed)
            return rows_of(metrics, got, setting=name, series=row_name(key, IN), x=float(pairs))

        identity = {**deals.lab.identity(key), **spec.identity(), "data": sides.fingerprint, "pairs": pairs}
        return Cell(name, identity, measure)


def pair_counts(most: int, points: int) -> list[int]:
    """Numbers of pairs from a hundredth of the most (and at least 100) to the most, each the same factor apart."""
    return log_spaced(most, points, least=max(100, most // 100))
