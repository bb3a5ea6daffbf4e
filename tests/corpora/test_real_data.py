"""Readers and splits on the real data sets; only counts are looked at."""

import os
from pathlib import Path

import pytest

from altered_copies import make_twins
from unembed.corpora import Corpus, drop_duplicates, read_corpus_with_report, remove_leaks, split_corpus

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


#: Of a random half of 4,000 texts, the largest share that may be removed as copies of 500 of the others.
SPARED = {
    ("news_agnews_test", "text"): 0.02,
    ("medical_procedures", "description"): 0.05,
    ("airline_sentences", "sentence"): 0.01,
    ("clinton_emails", "text"): 0.05,
}


@pytest.mark.parametrize(("name", "column"), SPARED)
def test_ordinary_texts_stay_and_twins_among_them_do_not(name, column):
    path = DATA / f"{name}.parquet"
    if not path.is_file():
        pytest.skip(f"{path.name} is not among the data sets")
    corpus, _ = read_corpus_with_report(path, column=column, max_rows=4_000, seed=0)
    split = split_corpus(drop_duplicates(corpus)[0], max_targets=500, seed=1)
    assert split.report.leaks.removed <= SPARED[name, column] * split.report.leaks.rows

    long = [text for text in split.target.texts if len(text.split()) >= 20][:150]
    kinds = ("soft hyphen", "quote in an equally long reply", "10 % of words changed", "half an excerpt")
    for kind in kinds if len(long) >= 100 else ():  # descriptions of medical codes are too short for an excerpt
        twins = make_twins(kind, long, long[1:] + long[:1])
        kept, _ = remove_leaks(Corpus.of(twins + split.adversary.texts), split.target)
        assert sum(int(row) < len(twins) for row in kept.ids) <= 0.02 * len(twins)
