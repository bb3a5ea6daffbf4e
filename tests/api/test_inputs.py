"""Whatever holds texts can be audited; what can't be is refused in one clear line."""

import numpy as np
import pytest

import unembed
from unembed.errors import DataError, UnknownNameError, UsageError

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
datasets = pytest.importorskip("datasets")


@pytest.fixture
def figures(texts, topics, vectors, small):
    """The findings on plain lists."""
    return shown(unembed.audit(texts, vectors, attributes={"topic": topics}, **small))


def shown(run):
    return [(f.cell, f.estimate, f.excess, f.status) for f in run.findings]


def frame(kind, texts, topics, vectors):
    import pyarrow

    columns = {"text": texts, "topic": topics, "n": list(range(len(texts))), "embedding": list(vectors)}
    if kind == "pandas":
        return pandas.DataFrame(columns)
    columns["embedding"] = vectors.tolist()
    if kind == "polars":
        return polars.DataFrame(columns)
    if kind == "arrow":
        return pyarrow.table(columns)
    return datasets.Dataset.from_dict(columns)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "datasets"])
def test_a_table_gives_the_findings_of_plain_lists(kind, texts, topics, vectors, small, figures):
    table = frame(kind, texts, topics, vectors)
    for attributes in ("topic", ["topic"]):
        run = unembed.audit(table, vectors, attributes=attributes, **small)
        assert shown(run) == figures
    of_column = unembed.audit(table, "embedding", attributes="topic", **small)
    assert of_column.findings[0].estimate == figures[0][1]


@pytest.mark.parametrize("make", [list, tuple, np.array, pandas.Series, polars.Series], ids=lambda m: m.__name__)
def test_any_sequence_of_texts_will_do(make, texts, topics, vectors, small, figures):
    assert shown(unembed.audit(make(texts), vectors, attributes={"topic": make(topics)}, **small)) == figures


def test_any_array_of_vectors_will_do(texts, topics, vectors, small, figures):
    import torch

    assert shown(unembed.audit(texts, torch.tensor(vectors), attributes={"topic": topics}, **small)) == figures
    listed = unembed.audit(texts, vectors.tolist(), attributes={"topic": topics}, **small)
    assert listed.findings[0].estimate.value > 0.5


def test_values_without_a_name_are_labels(texts, topics, vectors, small):
    assert unembed.audit(texts, vectors, attributes=topics, **small).findings[0].subject == "label"
    series = pandas.Series(topics, name="subject line")
    assert unembed.audit(texts, vectors, attributes=series, **small).findings[0].subject == "subject line"


def test_a_collection_can_be_audited(texts, topics, vectors, small):
    collection = unembed.open_collection("generator:messages", rows=240, seed=1)
    run = unembed.audit(collection, encoder={"name": "hashing", "features": 64}, attributes="topic", **small)
    assert run.findings[0].subject == "topic"
    assert run.result.data[0].rows <= 240


def test_groups_stay_on_one_side(messages, vectors, small):
    documents = messages.columns["document"]
    run = unembed.audit(messages.texts, vectors, None, {"topic": messages.columns["topic"]}, documents, **small)
    split = next(card for card in run.result.data if card.role == "adversary")
    assert split.facts["split by"] == "group"


def test_ids_name_the_targets(texts, topics, vectors, small):
    names = [f"m{i}" for i in range(len(texts))]
    run = unembed.audit(texts, vectors, attributes=topics, ids=names, **small)
    assert {s.target[0] for s in run.findings[0].samples} == {"m"}
    table = pandas.DataFrame({"text": texts, "name": names, "topic": topics})
    same = unembed.audit(table, vectors, attributes="topic", ids="name", **small)
    assert {s.target[0] for s in same.findings[0].samples} == {"m"}


def test_missing_texts_are_left_out_with_their_vectors(texts, topics, vectors, small):
    holes = [None if i % 10 == 0 else text for i, text in enumerate(texts)]
    run = unembed.audit(pandas.Series(holes), vectors, attributes={"topic": topics}, **small)
    assert run.result.data[0].facts["empty rows skipped"] == 24
    assert run.findings[0].status == "leak"


BAD = {
    "a string": (lambda t, v: {"texts": "once upon a time"}, UsageError, "texts is one string"),
    "nothing": (lambda t, v: {"texts": []}, DataError, "no texts"),
    "None": (lambda t, v: {"texts": None}, UsageError, "texts: expected"),
    "numbers": (lambda t, v: {"texts": [1, 2, 3, 4]}, DataError, "row 0: a value of type int"),
    "only blanks": (lambda t, v: {"texts": ["", " "] * 4}, DataError, "all 8 texts are empty"),
    "fewer vectors": (lambda t, v: {"vectors": v[:-1]}, DataError, "239 vectors for 240 texts"),
    "NaN": (lambda t, v: {"vectors": np.where(np.arange(240)[:, None] == 7, np.nan, v)}, DataError, "row 7: NaN"),
    "ragged": (lambda t, v: {"vectors": [[1.0, 2.0], [1.0]] * 120}, DataError, "different lengths"),
    "one vector": (lambda t, v: {"vectors": v[0]}, DataError, r"shape \(12,\)"),
    "words as vectors": (lambda t, v: {"vectors": [["a"]] * 240}, DataError, "real numbers"),
    "fewer labels": (lambda t, v: {"attributes": {"topic": ["a"]}}, DataError, "1 values for 240 texts"),
    "same ids": (lambda t, v: {"ids": ["same"] * 240}, DataError, "rows 0 and 1 have the same id"),
    "no table": (lambda t, v: {"attributes": "topic"}, UsageError, "which has no columns"),
    "no column": (
        lambda t, v: {"texts": pandas.DataFrame({"text": t, "topic": t}), "attributes": "topik"},
        UnknownNameError,
        "did you mean 'topic'",
    ),
    "which column": (lambda t, v: {"texts": pandas.DataFrame({"a": t, "b": t})}, UsageError, "which column"),
    "splits": (
        lambda t, v: {"texts": datasets.DatasetDict(train=datasets.Dataset.from_dict({"text": t}))},
        UsageError,
        r"texts\['train'\]",
    ),
    "no such option": (lambda t, v: {"max_target": 5}, UnknownNameError, "max_targets"),
    "no encoder": (lambda t, v: {"vectors": None, "encoder": 5}, UsageError, "has no method encode"),
    "chunks of vectors": (lambda t, v: {"chunk": 20}, UsageError, "leave chunk out"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_clear_error(case, texts, topics, vectors, small):
    change, kind, message = BAD[case]
    call = {"texts": texts, "vectors": vectors, "attributes": {"topic": topics}, **change(texts, vectors)}
    with pytest.raises(kind, match=message) as caught:
        unembed.audit(**call, **small)
    assert "\n" not in str(caught.value)
    assert "once upon" not in str(caught.value)
