"""Collections in files: texts in any format that can be read, and beside them a file of vectors, row by row."""

from __future__ import annotations

from unembed.collections.base import Collection, Wanted
from unembed.corpora.readers import read_corpus_with_report
from unembed.encoders.vectors import VectorsEncoder
from unembed.errors import DataError, NoTextsError, UsageError
from unembed.seeds import seed_for


def open_files(wanted: Wanted) -> Collection:
    """Texts of a file or folder; with ``vectors``, their vectors at the same rows of another file."""
    if wanted.vectors and not wanted.place:
        raise NoTextsError(
            "no attack can be judged without texts, so nothing was measured: add --texts FILE with one text per "
            "vector, in the same order"
        )
    if wanted.vectors and wanted.id:
        raise UsageError("with vectors from a file, rows are matched by their order: leave the id column out")
    corpus, report = read_corpus_with_report(
        f"{wanted.place}#{wanted.split}" if wanted.split else wanted.place,
        column=wanted.column,
        columns=list(wanted.columns),
        id_column=wanted.id,
        format=wanted.format,
        encoding=wanted.encoding,
        delimiter=wanted.delimiter,
        max_rows=wanted.max_rows,
        seed=seed_for(wanted.seed, wanted.purpose),
    )
    facts = {"rows in file": report.rows, "empty rows skipped": report.empty, "sampled": report.sampled}
    if wanted.vectors is None:
        return Collection(corpus, facts)
    stored = VectorsEncoder(wanted.vectors, column=wanted.vectors_column)
    if len(stored) != report.rows:
        raise DataError(
            f"{wanted.vectors} has {len(stored)} vectors for {report.rows} rows of texts: there must be one per row, "
            "in the same order"
        )
    return Collection(corpus, facts, stored, can_encode=False)
