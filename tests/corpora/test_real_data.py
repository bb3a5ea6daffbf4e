"""Readers and splits on the real data sets; only counts are looked at."""

import os
from pathlib import Path

import pytest

from unembed.corpora import read_corpus_with_report, split_corpus

DATA = Path(os.environ.get("UNEMBED_DATA") or Path(__file__).parents[3] / "shared" / "data")

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not DATA.is_dir(), reason="the real data sets are not here: set UNEMBED_DATA"),
]


def test_a_table_of_sentences_is_read_and_split_by_document():
    path = DATA / "medical_sentences.parquet"
    if not path.is_file():
        pytest.skip(f"{path.name} is not among the data sets")
    corpus, report = read_corpus_with_report(path, columns=["doc_id", "specialty"])
    assert report.text_column == "sentence"
    assert report.rows == report.kept + report.empty
    split = split_corpus(corpus, by="doc_id", attribute="specialty", seed=1)
    assert not set(split.adversary.columns["doc_id"]) & set(split.target.columns["doc_id"])
    assert split.report.shared_classes >= 2
