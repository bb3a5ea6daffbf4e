"""Readers: csv, tsv, JSON lines, parquet, plain text, folders of shards and saved Hugging Face data sets."""

from unembed.corpora.readers.load import ReadReport, iter_rows, read_corpus, read_corpus_with_report, read_ids
from unembed.corpora.readers.options import FORMATS, MAX_CELL

__all__ = ["FORMATS", "MAX_CELL", "ReadReport", "iter_rows", "read_corpus", "read_corpus_with_report", "read_ids"]
