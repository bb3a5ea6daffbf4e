"""Pan et al. 2020, Figure 8: what the vectors of the two case studies are good for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from unembed.corpora.corpus import Corpus
from unembed.papers.base import Conditions, by_size
from unembed.papers.datasets import read
from unembed.papers.encoders import RECIPES, Encoders
from unembed.papers.library import facts_of
from unembed.papers.tables import HEADLINE, Names, Row, Table, setting
from unembed.papers.usefulness import corpus_of, scored
from unembed.seeds import generator, seed_for
from unembed.utility.case_studies import CaseStudy, Department, SpliceSite

NAMES: Names = {HEADLINE: "accuracy", "macro_f1": "macro-F1"}
TEXTS = by_size(200, 800, 40_000)
#: The paper's names of its two systems.
SYSTEMS: dict[str, type[CaseStudy]] = {"Genome": SpliceSite, "Medical": Department}


class Figure8(Table):
    """Splice sites and departments, told by a perceptron from the vectors of each encoder."""

    facts = facts_of("pan2020/figure8")
    known: ClassVar[tuple[str, ...]] = (
        *("bert-first", "bert-mean", "minilm", "bge", "use-lite"),
        *("lsa-tfidf", "tfidf", "hashing"),
    )
    encoders = by_size(
        ("hashing",),
        ("bert-first", "bert-mean", "minilm", "bge", "tfidf"),
        ("bert-first", "bert-mean", "minilm", "bge", "use-lite", "lsa-tfidf", "tfidf"),
    )

    def rows(self, conditions: Conditions, encoders: Sequence[str]) -> tuple[list[Row], Sequence[str]]:
        """Both systems with every encoder."""
        seed = seed_for(conditions.seed, "systems")
        texts = {name: texts_of(conditions, task) for name, task in SYSTEMS.items()}
        rows: list[Row] = []
        notes = []
        for name, make in SYSTEMS.items():
            task = make(texts=TEXTS[conditions.size])
            examples = task.of(texts[name], seed)
            known = Encoders(conditions, corpus_of(examples.learnt, "texts that are learnt from"))
            rows += [
                scored(conditions, task, examples, known, key, setting(name, RECIPES[key].title), NAMES)
                for key in encoders
            ]
            learnt, asked = (len(rows) for rows in examples.folds[0])
            notes.append(
                f"{name}: {learnt:,} texts are learnt from and {asked:,} asked about, of "
                f"{len(examples.classes)} classes with as many texts each"
            )
        return rows, notes


def texts_of(conditions: Conditions, task: type[CaseStudy]) -> Corpus:
    """The texts of a system with their labels; at size smoke invented ones."""
    text, label = task.columns
    if conditions.size != "smoke":
        return read(conditions, task.data, text, [label])
    if task is Department:
        from unembed.corpora.generators.public_text import generate_public_text

        made = generate_public_text(2_000, seed=conditions.seed)
        return Corpus(made.texts, made.ids, {label: made.column("topic")}, "invented statements")
    rng = generator(conditions.seed, "windows")
    made_up = ["".join(rng.choice(list("ACGT"), 20)) for _ in range(400)]
    return Corpus.of(
        made_up, name="invented windows", **{label: ["donor" if "GT" in w[8:12] else "N" for w in made_up]}
    )
