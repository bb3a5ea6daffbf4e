"""Rows of experiments that ask what vectors are good for: a utility task on the texts of one encoder."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from unembed.corpora.corpus import Corpus
from unembed.papers.base import Conditions, Measured
from unembed.papers.encoders import Encoders
from unembed.papers.tables import HEADLINE, Names, Row
from unembed.seeds import seed_for
from unembed.utility.own_texts import Labelled, OwnTexts


def corpus_of(texts: Sequence[str], name: str) -> Corpus:
    """Texts of a task as a corpus, to be encoded or fitted on."""
    return Corpus.of(texts, name=name)


def scored(
    conditions: Conditions,
    task: OwnTexts,
    examples: Labelled,
    encoders: Encoders,
    key: str,
    setting: str,
    names: Names,
    **more: Any,
) -> Row:
    """A row of one task and encoder: the figures in ``names``, each beside what guessing gives.

    All classes have as many texts, so guessing is right once in as many times as there are classes.
    """
    corpus = corpus_of(examples.texts, task.facts.name)
    identity: Mapping[str, Any] = {
        **encoders.identity(key),
        "task": task.facts.name,
        "version": task.facts.version,
        "params": task.get_params(),
        "data": corpus.fingerprint,
        "fit": encoders.fit.fingerprint,
        **more,
    }

    def measure() -> list[Measured]:
        vectors = encoders.vectors(key, corpus)
        started = time.perf_counter()
        scores = task.judge(examples, vectors, seed_for(conditions.seed, "utility", task.facts.name))
        found = {HEADLINE: scores.estimate(), **scores.secondary}
        seconds = round(time.perf_counter() - started, 2)
        floor = 1 / len(examples.classes)
        return [
            Measured.of(setting, printed, found[ours], floor=floor, seconds=seconds) for ours, printed in names.items()
        ]

    return Row(setting, identity, measure)
