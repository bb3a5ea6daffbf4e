"""What vectors tell without their texts: how many, how long, what repeats, which encoder; for two verbs."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unembed.cli.output import Voice
    from unembed.collections.stores import Store
    from unembed.runner.spec import DataSpec

#: Vectors at this cosine or above are near-duplicates.
ALIKE = 0.98
#: So many dead dimensions are named; the JSON document has all.
_SHOWN = 10


@dataclass(frozen=True)
class Looked:
    """What lies in a store: rows of a table for people, a document for programs."""

    rows: list[tuple[str, Any]]
    document: dict[str, Any] = field(repr=False)


def tell_alone(voice: Voice, data: DataSpec, reason: str) -> None:
    """What can be said of the vectors of an audit that has no texts, and what to add."""
    from unembed.cli.output import table

    with open_vectors_of(data.store, data.vectors, data.vectors_column, allow_remote=data.allow_remote) as store:
        found = look_into(store)
    where = "--store" if data.store is not None else "--vectors"
    by_id = " --id COLUMN" if data.store is not None else ""
    following = {
        f"{where} … --texts FILE{by_id}": "plays the insider, who holds part of texts and vectors",
        f"{where} … --texts FILE{by_id} --encoder NAME": "plays the outsider as well, who has the model that made them",
        f"unembed presence {where} … --encoder NAME --text TEXT": "tells whether a text is stored",
    }
    voice.show(table(("", "What the vectors tell"), found.rows))
    voice.show(table(("Next", "What it does"), list(following.items())))
    voice.data({"measured": False, "reason": reason, "next": list(following), **found.document})


def look_into(store: Store, *, sampled: bool = False) -> Looked:
    """What lies in a store, from all of its vectors or, in little time, from some."""
    from unembed.attacks.fingerprint import SignatureBook, identify
    from unembed.attacks.fingerprint.identify import MOST_VECTORS
    from unembed.collections.nearest import in_batches
    from unembed.collections.stores.collecting import every_vector, sampled_vectors
    from unembed.collections.survey import near_duplicates, survey

    told = store.describe()
    missing = "give them with --texts FILE --id COLUMN, or name them with ?text=COLUMN"
    if told.id is None and not told.columns:
        missing = "give them with --texts FILE, one per vector, in the same order"
    looked = Looked(
        [
            ("Store", f"{told.kind}, {told.name}"),
            ("Rows", f"{told.count:,}"),
            ("Dimensions", told.dimension or "unknown"),
            ("Metric", told.metric or "not said"),
            ("Stored as", ", ".join((told.dtype, *told.notes))),
            ("Vectors", told.vectors or "the file itself"),
            ("Ids", told.id or "row numbers"),
            ("Texts", told.text or f"none found: {missing}"),
            ("Columns", ", ".join(f"{one.name} ({one.kind})" for one in told.columns) or "none"),
        ],
        asdict(told) | {"columns": [asdict(one) for one in told.columns]},
    )
    some = sampled_vectors(store, MOST_VECTORS) if told.count else None
    if some is None or not len(some):
        return looked
    figures = survey(in_batches(some) if sampled else every_vector(store))
    repeats = near_duplicates(in_batches(some) if sampled else every_vector(store), similarity=ALIKE)
    alike = sum(map(len, repeats.groups))
    looked.document.update(
        looked_at=figures.vectors,
        normalised=figures.normalised,
        shortest=figures.shortest,
        longest=figures.longest,
        zero_vectors=figures.zeros,
        dead_dimensions=figures.dead.tolist(),
        near_duplicates={"similarity": ALIKE, "groups": len(repeats.groups), "vectors": alike},
    )
    of_all = f", of {figures.vectors:,} looked at" if figures.vectors < told.count else ""
    zeros = f"; {figures.zeros:,} are zero" if figures.zeros else ""
    named = ", ".join(map(str, figures.dead[:_SHOWN])) + (" …" if len(figures.dead) > _SHOWN else "")
    groups = "one group" if len(repeats.groups) == 1 else f"{len(repeats.groups):,} groups"
    alike_rows = f"{alike:,} vectors in {groups} at a cosine of {ALIKE} or more{of_all}"
    more = [
        ("Unit length", ("yes" if figures.normalised else "no") + of_all),
        ("Lengths", f"{figures.shortest:.4g} to {figures.longest:.4g}{zeros}"),
        ("Dead dimensions", f"{len(figures.dead):,}: {named}" if len(figures.dead) else "none"),
        ("Near-duplicates", alike_rows if repeats.groups else f"none{of_all}"),
    ]
    looked.rows.extend(more)
    if figures.zeros < figures.vectors and some.any():
        found = identify(some, SignatureBook.shipped())
        looked.document.update(
            sampled=len(some),
            encoder=found.name,
            encoder_reason=found.reason,
            candidates=[one.name for one in found.candidates],
        )
        looked.rows.append(("Encoder", f"{found.name or 'none of those known'}: {found.reason}"))
    return looked


def open_vectors_of(
    store: str | None, file: str | Path | None, column: str | None = None, *, allow_remote: bool = False
) -> Store:
    """The place of some vectors as a store: one by its address, or a file."""
    from unembed.collections.stores import Options, open_store
    from unembed.collections.stores.vector_file import VectorFileStore

    if store is not None:
        return open_store(store, allow_remote=allow_remote)
    return VectorFileStore.at(str(file), None, Options(vectors=column))
