"""From a spec to both sides of the games: read, de-duplicate, split, encode once, write to the work folder."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unembed.artifacts import Artifacts
from unembed.collections import Collection, Stored, Wanted, open_collection
from unembed.corpora import duplicates, splits
from unembed.corpora.chunks import ORIGIN, chunk_corpus, default_overlap
from unembed.corpora.corpus import Corpus
from unembed.corpora.training import TrainingSide
from unembed.defenses.base import digest_id
from unembed.encoders import build_encoder, must_be_fitted, new_encoder
from unembed.encoders.base import DenseVectors, Encoder, EncoderCard, Vectors
from unembed.encoders.cache import CachedEncoder, EmbeddingCache, full_card
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.columns import first_of_classes
from unembed.games.threat import Adversary
from unembed.results.schema import DataCard
from unembed.runner.apart import safe_encoder
from unembed.runner.spec import AuditSpec
from unembed.runner.workspace import save_corpus, save_vectors, save_vectors_in_parts
from unembed.seeds import generator, seed_for

#: How many texts of a side the encoder itself was trained on, on its card.
LEARNT = "texts the encoder learnt from"
#: That only some of the texts were used, on the card of the collection.
BUDGET = "budget"
#: The part of the collection that insiders hold.
INSIDE = "inside"
#: The part of the collection that defenses learn from which learn what to hide.
OWNER = "owner"
#: Public text of another kind, which outsiders hold.
EXTERNAL = "external"
ROWS_AT_ONCE = 8192
#: Told what goes on: (what, done, total).
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Given:
    """What a caller hands over as objects in the place of names; only the process that has them can use them."""

    collection: Collection | None = None
    encoder: Encoder | None = None


@dataclass(frozen=True)
class Sides:
    """The corpora of an audit, before anything is encoded."""

    target: Corpus
    known: dict[str, Corpus]
    cards: list[DataCard]
    stored: Stored | None = None
    """The vectors of both sides, where the collection came with them."""
    can_encode: bool = True
    training: TrainingSide | None = None
    """Which texts the encoder itself learnt from, where that is known."""
    looks_like: str | None = None
    """The encoder that stored vectors look like, where none was named and one is known that fits."""
    seen: NDArray[np.int64] | None = None
    """Up to which character the encoder reads each target, where that is known and some are cut."""
    encoder: Encoder | None = None
    """The encoder, where it was given as an object."""

    def known_to(self, adversary: Adversary) -> str:
        """Which corpus an adversary trains on."""
        return INSIDE if adversary.inside else EXTERNAL


@dataclass(frozen=True)
class Texts:
    """The collection as it was read: cut into chunks where asked, without duplicates."""

    corpus: Corpus
    facts: dict[str, Any]
    stored: Stored | None
    can_encode: bool
    encoder: Encoder | None = None

    def sample(self, count: int, seed: int, why: str) -> Texts:
        """So many of the texts, drawn evenly; ``why`` is the sentence that says so on their card."""
        rows = np.sort(generator(seed, "budget").permutation(len(self.corpus))[:count])
        return replace(self, corpus=self.corpus.select(rows), facts={**self.facts, BUDGET: why})


def read_sides(spec: AuditSpec) -> Sides:
    """Read the collection and split it."""
    return split_sides(spec, read_texts(spec))


def read_texts(spec: AuditSpec, given: Given | None = None) -> Texts:
    """Read, cut into chunks, drop duplicates."""
    for column in spec.data.attributes:
        if column in (spec.data.group, spec.data.time):
            raise UsageError(
                f"can't split by '{column}': it is an attribute to infer, so both sides need its values; split by "
                "document or by text instead"
            )
    given = given or Given()
    collection = given.collection or open_collection(wanted_of(spec))
    corpus, facts = _with_learnt(spec, collection.corpus, dict(collection.facts))
    corpus, facts = _chunked(spec, corpus, facts)
    corpus, dropped = duplicates.drop_duplicates(corpus)
    facts["duplicates dropped"] = dropped.dropped
    if len(corpus) < 4:
        raise CannotMeasureError(
            f"{corpus.name}: {len(corpus)} distinct text(s) left of {dropped.rows}; an audit needs at least 4, "
            "and some hundred to say anything"
        )
    can_encode = collection.can_encode or (given.collection is None and spec.asks_encoder)
    return Texts(corpus, facts, collection.stored, can_encode, given.encoder)


def split_sides(spec: AuditSpec, texts: Texts) -> Sides:
    """Split so that no near-duplicate of a target is on the adversary's side."""
    corpus = texts.corpus
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
        DataCard(role="corpus", name=corpus.name, rows=len(corpus), fingerprint=corpus.fingerprint, facts=texts.facts),
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
    known = {INSIDE: split.adversary}
    if spec.keeps_owners_part:
        known = dict(zip((INSIDE, OWNER), _apart(split.adversary, spec.data.together), strict=True))
        own = known[OWNER]
        cards[-1] = cards[-1].model_copy(update={"rows": len(known[INSIDE]), "fingerprint": known[INSIDE].fingerprint})
        cards.append(DataCard(role="owner", name=own.name, rows=len(own), fingerprint=own.fingerprint))
    if texts.can_encode and not all(adversary.inside for adversary in spec.cast):
        external, card = _read_external(spec, target)
        known[EXTERNAL] = external
        cards.append(card)
    looks_like = None
    if texts.stored is not None and not texts.can_encode:
        looks_like = _looks_like(texts.stored, [*target.ids, *split.adversary.ids])
    return Sides(target, known, cards, texts.stored, texts.can_encode, looks_like=looks_like, encoder=texts.encoder)


def _apart(corpus: Corpus, by: str | None) -> tuple[Corpus, Corpus]:
    """Two halves of the adversary's texts, the texts of one group in the same; the same texts in the same half always.

    A defense that learns what to hide learns it from the second, which then nobody holds.
    """
    kept_together = corpus.texts if by is None else [str(value) for value in corpus.column(by)]
    second = np.array([int(digest_id(one), 16) % 2 == 0 for one in kept_together])
    halves = corpus.select(np.flatnonzero(~second)), corpus.select(np.flatnonzero(second))
    if not all(len(half) for half in halves):
        raise CannotMeasureError(
            f"{corpus.name}: {len(corpus)} text(s) of the adversary can't be cut in two, one part for the adversary "
            "and one for the defense to learn from"
        )
    return halves


def _looks_like(stored: Stored, ids: Sequence[str]) -> str | None:
    """The known encoder that made some vectors, by nothing but the vectors."""
    from unembed.attacks.fingerprint import identify as identify_encoder
    from unembed.attacks.fingerprint.identify import ENOUGH_VECTORS, MOST_VECTORS

    if len(ids) < ENOUGH_VECTORS:
        return None
    return identify_encoder(stored.vectors_for(ids[:MOST_VECTORS])).name


def wanted_of(spec: AuditSpec) -> Wanted:
    """What the audit wants of the collection under audit."""
    data = spec.data
    return Wanted(
        place=data.texts or "",
        column=data.column,
        columns=tuple(spec.columns),
        id=data.id,
        format=data.format,
        encoding=data.encoding,
        delimiter=data.delimiter,
        split=data.split,
        max_rows=data.max_texts,
        vectors=data.vectors,
        vectors_column=data.vectors_column,
        store=data.store,
        allow_remote=data.allow_remote,
        seed=spec.seed,
    )


def _with_learnt(spec: AuditSpec, corpus: Corpus, facts: dict[str, Any]) -> tuple[Corpus, dict[str, Any]]:
    """The collection with as many texts that the encoder learnt from, where a question is about those.

    What was read as the collection is then what was held out; a text in both counts as learnt from, wherever it stands.
    """
    place = _learnt_from(spec)
    if place is None or not spec.asks_of_training:
        return corpus, facts
    wanted = replace(place, columns=tuple(spec.columns), max_rows=len(corpus), seed=spec.seed, purpose="training")
    learnt = open_collection(wanted).corpus
    ids = [f"learnt from, {one}" for one in learnt.ids]
    columns = {name: [*values, *learnt.column(name)] for name, values in corpus.columns.items() if name in spec.columns}
    joined = Corpus([*corpus.texts, *learnt.texts], [*corpus.ids, *ids], columns, corpus.name)
    return joined, {**facts, "joined by texts of the training side": len(learnt)}


def _learnt_from(spec: AuditSpec) -> Wanted | None:
    """Where the texts lie that the encoder learnt from, if a place of their own is named."""
    if spec.training is not None:
        return Wanted(spec.training.texts, spec.training.column)
    return Wanted(spec.encoder.fit_on) if spec.encoder.fit_on else None


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
    wanted = Wanted(external.texts, external.column, max_rows=external.rows, seed=spec.seed, purpose="external")
    corpus, facts = _chunked(spec, open_collection(wanted).corpus, {})
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


def open_encoder(
    spec: AuditSpec, sides: Sides, artifacts: Artifacts | None = None, deadline: float | None = None
) -> Encoder:
    """The encoder of the spec, behind the cache unless that is off or the encoder can't be identified.

    What is fitted is kept among the ``artifacts`` of the run, where there are any.
    """
    if sides.stored is not None and not sides.can_encode:
        return OnlyStored(sides.stored.card)
    name, options, texts = spec.encoder.name, spec.encoder.options, learning_texts(spec, sides)
    if sides.encoder is not None:
        # A copy learns: the caller's object stays as it was given.
        given = copy(sides.encoder) if must_be_fitted(sides.encoder) else sides.encoder
        return behind_cache(spec, build_encoder(given, fit_texts=texts))
    return behind_cache(spec, safe_encoder(name, options, texts, artifacts, spec.run.cell_timeout, deadline))


def learning_texts(spec: AuditSpec, sides: Sides) -> Sequence[str]:
    """What an encoder that must be fitted learns from: a file of its own, or the collection."""
    if spec.encoder.fit_on:
        return open_collection(Wanted(spec.encoder.fit_on)).corpus.texts
    own = sides.known[OWNER].texts if OWNER in sides.known else ()
    return [*sides.known[INSIDE].texts, *own, *sides.target.texts]


def training_side(spec: AuditSpec, sides: Sides) -> TrainingSide | None:
    """Which texts the encoder learnt from: as the user says, or those it is fitted on here; None: nobody knows."""
    if spec.training is not None:
        return TrainingSide.of(open_collection(Wanted(spec.training.texts, spec.training.column)).corpus.texts)
    if not sides.can_encode:
        return None
    if not must_be_fitted(sides.encoder or new_encoder(spec.encoder.name, spec.encoder.options)):
        return None
    return TrainingSide.of(learning_texts(spec, sides))


def counting_learnt(sides: Sides) -> Sides:
    """The sides with how many of their texts the encoder learnt from on their cards, where that is known."""
    training = sides.training
    if training is None:
        return sides
    texts = {"target": sides.target.texts, "adversary": sides.known[INSIDE].texts}
    learnt = {role: int(training.holds(held).sum()) for role, held in texts.items()}
    cards = [
        card.model_copy(update={"facts": {**card.facts, LEARNT: learnt[card.role]}}) if card.role in learnt else card
        for card in sides.cards
    ]
    return replace(sides, cards=cards)


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


@dataclass(frozen=True)
class OnlyStored:
    """In the place of an encoder that is not at hand: what is known of the vectors it made."""

    card: EncoderCard

    def encode(self, texts: Sequence[str], *, role: str = "document") -> Vectors:
        """Refused."""
        raise CannotMeasureError("not applicable: the encoder can't be asked, only its stored vectors are there")


def encode_sides(sides: Sides, encoder: Encoder, work: Path, progress: Progress) -> None:
    """Encode every text of both sides once; write corpora and vectors to the work folder."""
    corpora = {"target": sides.target, **sides.known}
    for name, corpus in corpora.items():
        save_corpus(corpus, work / f"{name}.parquet")
        if sides.stored is not None and name != EXTERNAL:
            _copy_stored(sides.stored, corpus, work / name, progress)
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


def _copy_stored(stored: Stored, corpus: Corpus, path: Path, progress: Progress) -> None:
    """Stored vectors of a corpus, a few at a time."""

    def parts() -> Iterator[DenseVectors]:
        for start in range(0, len(corpus), ROWS_AT_ONCE):
            yield stored.vectors_for(corpus.ids[start : start + ROWS_AT_ONCE])
            progress(f"{path.name} vectors", min(start + ROWS_AT_ONCE, len(corpus)), len(corpus))

    save_vectors_in_parts(parts(), (len(corpus), stored.card.dimension), path)


def encode_texts(encoder: Encoder, texts: Sequence[str], what: str, progress: Progress) -> Vectors:
    """Encode, and tell how far it is."""
    if isinstance(encoder, CachedEncoder):
        encoder.progress = lambda done, total: progress(what, done, total)
        return encoder.encode(texts)
    progress(what, 0, len(texts))
    vectors = encoder.encode(texts)
    progress(what, len(texts), len(texts))
    return vectors
