"""What each defense of an audit costs beside usefulness, and the fitted defenses themselves where they are kept."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from unembed.defenses.chain import Chain
from unembed.defenses.saving import save_chain
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError
from unembed.results.identity import digest_of
from unembed.results.schema import VariantCost
from unembed.runner.defended import by_variant, owners_chain
from unembed.runner.folder import RunFolder
from unembed.runner.plan import Cell
from unembed.runner.workspace import load_corpus, load_vectors
from unembed.sealed import seal
from unembed.strict import Strict
from unembed.writing import write_atomically

_FILE, _FOLDER = "variants.json", "defenses"
#: Vectors that are defended to take the time, and how often.
_ROWS, _TURNS = 2000, 3


class VariantFile(Strict):
    """The file of what the defenses of a run cost, and what it was made of."""

    key: str
    costs: list[VariantCost]


def kept_variants(folder: RunFolder, cells: Sequence[Cell], *, keep: bool) -> list[VariantCost] | None:
    """The costs as an earlier run left them; None where they are of something else, or a defense is not there."""
    kept = folder.read_sealed(folder.path / _FILE, VariantFile)
    if kept is None or kept.key != _key(cells, keep):
        return None
    whole = all(cost.saved is None or (folder.path / cost.saved).is_dir() for cost in kept.costs)
    return kept.costs if whole else None


def measure_variants(folder: RunFolder, cells: Sequence[Cell], work: Path, *, keep: bool) -> list[VariantCost]:
    """What each defense costs; with ``keep`` it is left in the run folder as it was fitted."""
    plain, ids = load_vectors(work / "target")[:_ROWS], load_corpus(work / "target.parquet").ids[:_ROWS]
    costs = []
    for name, identity in by_variant(cells).items():
        try:
            chain = owners_chain(identity, work)
            cost = _cost(name, chain, plain, ids)
        except CannotMeasureError:
            continue  # every cell of this variant says so itself
        if keep:
            place = f"{_FOLDER}/{digest_of([made.model_dump(mode='json') for made in identity.transforms])}"
            save_chain(chain, folder.path / place, told={"called": name, "seed": identity.seed})
            cost = cost.model_copy(update={"saved": place})
        costs.append(cost)
    write_atomically(folder.path / _FILE, seal(VariantFile(key=_key(cells, keep), costs=costs)))
    return costs


def _key(cells: Sequence[Cell], keep: bool) -> str:
    told = [
        [identity.seed, identity.encoder, identity.target_fingerprint, *(m.model_dump(mode="json") for m in made)]
        for identity in by_variant(cells).values()
        if (made := identity.transforms)
    ]
    return digest_of([told, keep])


def _cost(name: str, chain: Chain, plain: Vectors, ids: Sequence[str]) -> VariantCost:
    from threadpoolctl import threadpool_limits

    taken = []
    with threadpool_limits(limits=1):
        for _ in range(_TURNS):
            began = time.perf_counter()
            made = chain.transform(plain, ids)
            taken.append(time.perf_counter() - began)
    dimension = int(plain.shape[1])
    return VariantCost(
        variant=name,
        dimension=int(made.shape[1]),
        stored_bytes=chain.stored_bytes(dimension),
        plain_bytes=4.0 * dimension,
        transform_seconds=min(taken) / max(1, len(ids)),
        notes=chain.notes,
    )
