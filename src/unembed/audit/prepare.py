"""From a spec to both sides of the games: read, de-duplicate, split, encode once, write to the work folder."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unembed.audit.spec import AuditSpec
from unembed.audit.workspace import save_corpus, save_vectors, save_vectors_in_parts
from unembed.corpora import duplicates, splits
from unembed.corpora.chunks import ORIGIN, chunk_corpus, default_overlap
from unembed.corpora.corpus import Corpus
from unembed.corpora.readers import read_corpus_with_report
from unembed.encoders import build_encoder
from unembed.encoders.base import DenseVectors, Encoder, Vectors
from unembed.encoders.cache import CachedEncoder, EmbeddingCache, full_card
from unembed.encoders.vectors import VectorsEncoder
from unembed.errors import CannotMeasureError, DataError, UsageError
from unembed.games.columns import first_of_classes
from unembed.games.threat import Adversary
from unembed.results.schema import DataCard
from unembed.seeds import seed_for

GENERATOR = "generator:"
ROWS_AT_ONCE = 8192
#: Told what goes on: (what, done, total).
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Sides:
    """The corpora of an audit, before anything is encoded."""

    target: Corpus
    known: dict[str, Corpus]
    cards: list[DataCard]
    seen: NDArray[np.int64] | None = None
    """Up to which character the encoder reads each target, where that is known and some are cut."""

    def known_to(self, adversary: Adversary) -> str:
        """Which corpus an adversary trains on."""
        return "inside" if adversary.inside else "external"


def read_sides(spec: AuditSpec) -> Sides:
    """Read, drop duplicates, split so that no near-duplicate of a target is on the adversary's side."""
    for column in spec.data.attributes:
        if column in (spec.data.group, spec.data.time):
            raise UsageError(
                f"can't split by '{column}': it is an attribute to infer, so both sides need its values; split by "
                "document or by text instead"
            )
    corpus, facts = _chunked(spec, *_read_main(spec))
    corpus, dropped = duplicates.drop_duplicates(corpus)
    facts["duplicates dropped"] = dropped.dropped
    if len(corpus) < 4:
        raise CannotMeasureError(
            f"{corpus.name}: {len(corpus)} distinct text(s) left of {dropped.rows}; an audit needs at least 4, "
            "and some hundred to say anything"
        )
    if spec.data.chunk and len(set(corpus.column(ORIGIN))) < 2:
        raise CannotMeasureError(
            f"{corpus.name}: all chunks come from one text, and they stay on one side of the split"
        )
    split = splits.split_corpus(
        corpus,
        share=spec.share,
        by=None if spec.data.time else spec.data.together,
        time=spec.data.time,
        attribute=first_of_classes(spec.data.attributes, corpus, spec.params),
        max_targets=spec.max_targets,
        seed=seed_for(spec.seed, "split"),
    )
    target = split.target
    cards = [
        DataCard(role="corpus", name=corpus.name, rows=len(corpus), fingerprint=corpus.fingerprint, facts=facts),
        DataCard(
            role="target",
            name=corpus.name,
            rows=len(target),
            fingerprint=target.fingerprint,
            facts={"groups": split.report.target_groups} if split.report.by else {},
        ),
        DataCard(
            role="adversary",
            name=corpus.name,
            rows=len(split.adversary),
            fingerprint=split.adversary.fingerprint,
            facts={
                "split by": spec.data.group or spec.data.time or "text",
                "share": spec.share,
                **_removed(split.report.leaks),
            },
        ),
    ]
    known = {"inside": split.adversary}
    if spec.data.vectors is None and not all(adversary.inside for adversary in spec.cast):
        external, card = _read_external(spec, target)
        known["external"] = external
        cards.append(card)
    return Sides(target, known, cards)


def _read_main(spec: AuditSpec) -> tuple[Corpus, dict[str, Any]]:
    data = spec.data
    if data.texts.startswith(GENERATOR):
        made = _generate(data.texts, data.max_texts or 10_000, spec.seed)
        for name in spec.columns:
            made.column(name)
        return made, {"generated": True}
    if data.vectors and data.id:
        raise UsageError("with vectors from a file, rows are matched by their order: leave the id column out")
    path = f"{data.texts}#{data.split}" if data.split else data.texts
    corpus, report = read_corpus_with_report(
        path,
        column=data.column,
        columns=spec.columns,
        id_column=data.id,
        format=data.format,
        encoding=data.encoding,
        delimiter=data.delimiter,
        max_rows=data.max_texts,
        seed=seed_for(spec.seed, "sample"),
    )
    return corpus, {
        "rows in file": report.rows,
        "empty rows skipped": report.empty,
        "sampled": report.sampled,
    }


def _chunked(spec: AuditSpec, corpus: Corpus, facts: dict[str, Any]) -> tuple[Corpus, dict[str, Any]]:
    """The corpus cut into chunks, where that was asked for."""
    size, overlap = spec.data.chunk, spec.data.chunk_overlap
    if size is None:
        return corpus, facts
    overlap = default_overlap(size) if overlap is None else overlap
    told = {"texts before chunking": len(corpus), "words per chunk": size, "words shared by neighbours": overlap}
    return chunk_corpus(corpus, size, overlap), {**facts, **told}


def _read_external(spec: AuditSpec, target: Corpus) -> tuple[Corpus, DataCard]:
    external = spec.external
    if external.texts.startswith(GENERATOR):
        corpus = _generate(external.texts, external.rows, spec.seed)
    else:
        corpus, _ = read_corpus_with_report(
            external.texts,
            column=external.column,
            max_rows=external.rows,
            seed=seed_for(spec.seed, "external"),
        )
    corpus, facts = _chunked(spec, corpus, {})
    corpus, _ = duplicates.drop_duplicates(corpus)
    corpus, leaks = duplicates.remove_leaks(corpus, target)
    if not len(corpus):
        raise CannotMeasureError(f"{corpus.name}: every text is a near-duplicate of a target")
    facts |= _removed(leaks)
    card = DataCard(role="external", name=corpus.name, rows=len(corpus), fingerprint=corpus.fingerprint, facts=facts)
    return corpus, card


def _removed(leaks: duplicates.LeakReport) -> dict[str, int]:
    """What was taken from the adversary's texts because it is a copy of a target, in a reader's words."""
    return {
        "copies of targets removed": leaks.exact,
        "disguised copies of targets removed": leaks.disguised,
        "near-duplicates of targets removed": leaks.near,
        "quotations of targets removed": leaks.quoted,
    }


def _generate(name: str, rows: int, seed: int) -> Corpus:
    from unembed.corpora.generators import GENERATORS

    make = GENERATORS.get(name.removeprefix(GENERATOR))
    made: Corpus = make(rows, seed=seed_for(seed, "generator", name))
    return made


def open_encoder(spec: AuditSpec, sides: Sides) -> Encoder:
    """The encoder of the spec, behind the cache unless that is off or the encoder can't be identified."""
    if spec.data.vectors is not None:
        return _stored_vectors(spec, sides)
    options = dict(spec.encoder.options)
    texts: Sequence[str] = [*sides.known["inside"].texts, *sides.target.texts]
    if spec.encoder.fit_on:
        texts = read_corpus_with_report(spec.encoder.fit_on)[0].texts
    return behind_cache(spec, build_encoder(spec.encoder.name, options, fit_texts=texts))


def behind_cache(spec: AuditSpec, encoder: Encoder) -> Encoder:
    """The encoder behind the cache of the spec, unless that is off or would be of no use."""
    if spec.run.no_cache or encoder.card.sparse:
        return encoder
    cache = EmbeddingCache(spec.run.cache) if spec.run.cache else EmbeddingCache()
    return CachedEncoder(encoder, cache)


def identify(encoder: Encoder, texts: Sequence[str]) -> str:
    """A key of the encoder; one that can't be identified is known by the vectors it gives here, and by its source."""
    card = full_card(encoder)
    if key := card.cache_key("document"):
        return key
    vectors = encoder.encode(texts)
    digest = hashlib.sha256(repr(card.options).encode())
    for part in (vectors,) if isinstance(vectors, np.ndarray) else (vectors.data, vectors.indices, vectors.indptr):
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def _stored_vectors(spec: AuditSpec, sides: Sides) -> Encoder:
    """The vectors of a file, one a row of the texts; another number of them would pair texts with wrong vectors."""
    stored = VectorsEncoder(spec.data.vectors, column=spec.data.vectors_column)
    rows = next(c.facts.get("rows in file", c.rows) for c in sides.cards if c.role == "corpus")
    if len(stored) != rows:
        raise DataError(
            f"{spec.data.vectors} has {len(stored)} vectors for {rows} rows of texts: there must be one a row, "
            "in the same order"
        )
    return stored


def encode_sides(sides: Sides, encoder: Encoder, work: Path, progress: Progress) -> None:
    """Encode every text of both sides once; write corpora and vectors to the work folder."""
    corpora = {"target": sides.target, **sides.known}
    for name, corpus in corpora.items():
        save_corpus(corpus, work / f"{name}.parquet")
        if isinstance(encoder, VectorsEncoder):
            _copy_rows(encoder, corpus, work / name, progress)
        else:
            save_vectors(encode_texts(encoder, corpus.texts, f"{name} texts", progress), work / name)


def encode_queries(encoder: Encoder, queries: dict[str, list[str]], work: Path, progress: Progress) -> None:
    """Encode every query once; write texts and vectors to the work folder."""
    for name, texts in queries.items():
        asked = Corpus.of(texts, name=name)
        save_corpus(asked, work / f"queries-{name}.parquet")
        if texts:
            save_vectors(
                encode_texts(encoder, texts, f"queries of the {name} adversary", progress),
                work / f"queries-{name}",
            )


def _copy_rows(stored: VectorsEncoder, corpus: Corpus, path: Path, progress: Progress) -> None:
    """Stored vectors of a corpus, whose ids are row numbers, a few at a time."""
    rows = np.array([int(i) for i in corpus.ids], dtype=np.int64)

    def parts() -> Iterator[DenseVectors]:
        for start in range(0, len(rows), ROWS_AT_ONCE):
            yield stored.vectors_for_rows(rows[start : start + ROWS_AT_ONCE])
            progress(f"{path.name} vectors", min(start + ROWS_AT_ONCE, len(rows)), len(rows))

    save_vectors_in_parts(parts(), (len(rows), stored.card.dimension), path)


def encode_texts(encoder: Encoder, texts: Sequence[str], what: str, progress: Progress) -> Vectors:
    """Encode, and tell how far it is."""
    if isinstance(encoder, CachedEncoder):
        encoder.progress = lambda done, total: progress(what, done, total)
        return encoder.encode(texts)
    progress(what, 0, len(texts))
    vectors = encoder.encode(texts)
    progress(what, len(texts), len(texts))
    return vectors
