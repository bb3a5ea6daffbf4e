"""Reading a collection for questions about what the encoder learnt from: texts of both kinds, neighbours together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from unembed.collections import Collection, Wanted, open_collection
from unembed.corpora import splits
from unembed.corpora.corpus import Corpus
from unembed.corpora.training import POSITION
from unembed.errors import UsageError
from unembed.runner.spec import AuditSpec
from unembed.seeds import generator


def with_learnt(spec: AuditSpec, collection: Collection) -> tuple[Corpus, dict[str, Any]]:
    """The collection with as many texts that the encoder learnt from, where a question is about those.

    What was read as the collection is then what was held out; a text in both counts as learnt from, wherever it stands.
    Stored vectors are those of their own texts: such a collection stays as it is.
    """
    corpus, facts, place = collection.corpus, dict(collection.facts), learnt_from(spec)
    if place is None or not spec.asks_of_training or collection.stored is not None:
        return corpus, facts
    wanted = replace(place, columns=tuple(spec.columns), max_rows=len(corpus), seed=spec.seed, purpose="training")
    learnt = (_in_whole_groups(wanted, spec.data.group) if spec.data.group else open_collection(wanted)).corpus
    ids = [f"learnt from, {one}" for one in learnt.ids]
    columns = {name: [*values, *learnt.column(name)] for name, values in corpus.columns.items() if name in spec.columns}
    before, behind = _positions(corpus), _positions(learnt)
    columns[POSITION] = [*before, *(max(before, default=0) + 2 + row for row in behind)]
    joined = Corpus([*corpus.texts, *learnt.texts], [*corpus.ids, *ids], columns, corpus.name)
    return joined, {**facts, "joined by texts of the training side": len(learnt)}


def opened(spec: AuditSpec, wanted: Wanted) -> Collection:
    """The collection of the spec; in whole groups where a question is about what was learnt from."""
    if not spec.asks_of_training or spec.data.group is None or wanted.store is not None or wanted.vectors is not None:
        return open_collection(wanted)
    return _in_whole_groups(wanted, spec.data.group)


def _in_whole_groups(wanted: Wanted, group: str) -> Collection:
    """Texts of a file; of more than are wanted whole groups are drawn, so that neighbours stay side by side."""
    whole = open_collection(replace(wanted, max_rows=None))
    if wanted.max_rows is None or len(whole.corpus) <= wanted.max_rows:
        return whole
    rng = generator(wanted.seed, wanted.purpose, "groups")
    rows = splits.whole_groups([str(value) for value in whole.corpus.column(group)], wanted.max_rows, rng)
    return replace(whole, corpus=whole.corpus.select(rows), facts={**whole.facts, "sampled": True})


def _positions(corpus: Corpus) -> list[int]:
    """Where each text stood: at the row that is its id, else as they come."""
    rows = all(one.isdecimal() for one in corpus.ids)
    return [int(one) if rows else row for row, one in enumerate(corpus.ids)]


def learnt_from(spec: AuditSpec) -> Wanted | None:
    """Where the texts lie that the encoder learnt from, if a place of their own is named."""
    if spec.training is not None and spec.encoder.fit_on:
        raise UsageError("--trained-on and --fit-on both say what the encoder learns from: leave one of them out")
    if spec.training is not None:
        return Wanted(spec.training.texts, spec.training.column)
    return Wanted(spec.encoder.fit_on) if spec.encoder.fit_on else None
