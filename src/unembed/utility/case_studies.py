"""The two case studies of Pan, Appendix A: splice sites in genomes, and the department a description belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np

from unembed.corpora.corpus import Corpus
from unembed.corpora.published import data_file
from unembed.encoders.base import Vectors
from unembed.games.base import Detail, Scores
from unembed.metrics.classes import f1_rows, macro_recall
from unembed.metrics.estimate import estimate_of, ratio
from unembed.seeds import seed_for
from unembed.utility.base import TaskFacts
from unembed.utility.own_texts import Labelled, OwnTexts, balanced, check_texts, first_of_each, labelled, published

#: Share of the texts that is asked about.
ASKED = 0.25
#: Texts of a class without which nothing can be learnt.
FEWEST = 20
#: What the data set calls a splice site; other windows are decoys or taken at random.
SITES = frozenset({"donor", "acceptor", "EI", "IE"})
BASES = frozenset("ACGT")


class CaseStudy(OwnTexts):
    """Classes with as many texts each; a perceptron learns from three in four texts and is asked about the rest.

    Learning takes 30 epochs of 6·n·200·(d + k) floating-point operations for n vectors of d dimensions and k classes: a
    second of one core for 3,000 of 384. Encoding 4,000 short texts with MiniLM takes 13 to 20.
    """

    data: ClassVar[str]
    columns: ClassVar[tuple[str, str]]
    classes: ClassVar[int]

    texts: int = 4_000

    def examples(self, seed: int) -> Labelled:
        """Texts of the data set."""
        check_texts(self.facts.name, self.texts, FEWEST * self.classes)
        text, label = self.columns
        return self.of(published(self.data, text, [label]), seed)

    def of(self, corpus: Corpus, seed: int) -> Labelled:
        """The same of texts at hand, each text once."""
        fresh = first_of_each(corpus.texts)
        values = [self.value(corpus.texts[i], corpus.column(self.columns[1])[i]) for i in fresh]
        what = f"column '{self.columns[1]}' of {corpus.name}"
        rows, classes = balanced(values, self.classes, self.texts, seed, what)
        return labelled([corpus.texts[i] for i in fresh[rows]], [str(values[i]) for i in rows], classes, ASKED, seed)

    def value(self, text: str, label: object) -> str | None:
        """The class of a text; None: it is left out."""
        return None if label is None else str(label)

    def judge(self, examples: Labelled, vectors: Vectors, seed: int) -> Scores:
        """Accuracy; macro-F1 beside it."""
        from unembed.nn.perceptron import SigmoidPerceptron

        rest, asked = examples.folds[0]
        learner = SigmoidPerceptron(seed=seed_for(seed, "perceptron"), device="cpu")
        learner.learn(vectors[rest], examples.labels[rest], len(examples.classes))
        said, truth = learner.log_probabilities(vectors[asked]).argmax(axis=1), examples.labels[asked]
        rows = f1_rows(said, truth, len(examples.classes))
        parts = np.column_stack([said == truth, np.ones(len(truth))])
        return Scores(parts, ratio, None, lambda: Detail({"macro_f1": estimate_of(rows, macro_recall)}))

    def files(self) -> Sequence[Path]:
        """The file of the case study."""
        return [data_file(self.data)]


class SpliceSite(CaseStudy):
    """Is there a splice site in the middle of these twenty nucleotides?

    Windows of three species with decoys, and of primates, half of them with a site.
    """

    facts: ClassVar[TaskFacts] = TaskFacts(
        name="splice-site",
        title="Splice sites told from vectors",
        metric="accuracy",
        metric_meaning="share of windows of 20 nucleotides of which a perceptron of 200 sigmoid units tells from the "
        "vector whether a splice site is in the middle; half of them have one",
        requires=frozenset({"encoder"}),
        paper="pan2020",
        section="Appendix A, Figure 8a",
        departures="Windows of primates and three other species stand in for HS3D. As many windows with a site as "
        "without are learnt from, where the paper has one to ten.",
    )
    data = "splice_sites"
    columns = ("window20", "label")
    classes = 2

    def value(self, text: str, label: object) -> str | None:
        """Whether there is a site; windows with anything but nucleotides are left out."""
        if not set(text) <= BASES:
            return None
        return "site" if label in SITES else "none"


class Department(CaseStudy):
    """Which of ten departments does a description belong to?"""

    facts: ClassVar[TaskFacts] = TaskFacts(
        name="department",
        title="Departments told from vectors",
        metric="accuracy",
        metric_meaning="share of descriptions of which a perceptron of 200 sigmoid units tells from the vector which "
        "of ten departments they belong to; each has as many",
        requires=frozenset({"encoder"}),
        paper="pan2020",
        section="Appendix A, Figure 8b",
        departures="Descriptions of procedures stand in for the CMS records, their body systems for departments.",
    )
    data = "medical_procedures"
    columns = ("description", "department")
    classes = 10
