"""Rows of an experiment, one after the other: measured once, kept, and never lost to a kill."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from unembed._version import __version__
from unembed.errors import DataError, UnembedError, place_of
from unembed.papers.base import Conditions, ExperimentFacts, Measured, Reproduction, Unmeasured
from unembed.papers.machine import device_name
from unembed.results.sealed import BrokenSealError, seal, unseal
from unembed.writing import write_atomically

#: Goes up whenever the protocols change what a row means; part of every row's identity.
PROTOCOL = 1


@dataclass(frozen=True)
class Cell:
    """Some figures of one setting that are measured together.

    ``identity`` names everything that changes them (data, encoder, attack and its parameters), as plain data.
    """

    setting: str
    identity: Mapping[str, Any]
    measure: Callable[[], Sequence[Measured]]


def run_cells(
    facts: ExperimentFacts, cells: Sequence[Cell], conditions: Conditions, notes: Sequence[str] = ()
) -> Reproduction:
    """Measure what is not kept yet; a row that fails is reported with its reason and the rest goes on.

    Every row is set beside what the paper prints for its setting, but for those of size ``smoke``: they are measured
    on invented text.
    """
    rows: list[Measured] = []
    unmeasured: list[Unmeasured] = []
    devices: dict[str, None] = {}
    with _threads(conditions.threads):
        for done, cell in enumerate(cells):
            if conditions.progress:
                conditions.progress("rows", done, len(cells))
            kept = _Kept(facts, cell, conditions)
            found = kept.read()
            if found is None:
                try:
                    found = list(cell.measure())
                except UnembedError as error:
                    unmeasured.append(Unmeasured(cell.setting, str(error)))
                    continue
                except Exception as error:  # one broken row must not cost the hours spent on the others
                    # Its message may quote texts.
                    unmeasured.append(Unmeasured(cell.setting, f"{type(error).__name__} in {place_of(error)}"))
                    continue
                kept.write(found)
            devices[kept.device] = None
            rows += [replace(row, published=_published(facts, row, conditions)) for row in found]
    if conditions.progress and cells:
        conditions.progress("rows", len(cells), len(cells))
    return Reproduction(tuple(rows), tuple(notes), tuple(unmeasured), tuple(devices))


def _published(facts: ExperimentFacts, row: Measured, conditions: Conditions) -> float | None:
    """What the paper prints for a row, unless the row says which other figure it answers to."""
    if conditions.size == "smoke":
        return None
    return facts.printed(row.setting, row.metric) if row.published is None else row.published


class _Kept:
    """The file of one cell under the folder of the run."""

    def __init__(self, facts: ExperimentFacts, cell: Cell, conditions: Conditions) -> None:
        identity = {
            "experiment": facts.name,
            "setting": cell.setting,
            "size": conditions.size,
            "seed": conditions.seed,
            "protocol": PROTOCOL,
            "version": __version__,
            **cell.identity,
        }
        text = json.dumps(identity, sort_keys=True, default=str)
        self.identity = json.loads(text)
        key = hashlib.sha256(text.encode()).hexdigest()[:24]
        self.device = device_name(conditions.device)
        self.path: Path | None = None if conditions.folder is None else conditions.folder / "rows" / f"{key}.json"

    def read(self) -> list[Measured] | None:
        if self.path is None or not self.path.is_file():
            return None
        try:
            document = unseal(self.path.read_bytes())
        except BrokenSealError as error:
            raise DataError(f"{self.path} can't be used: {error}; delete it and run again") from error
        if document["identity"] != self.identity:
            raise DataError(f"{self.path} holds other rows than its name says: delete it and run again")
        self.device = str(document["device"])
        return [Measured(**row) for row in document["rows"]]

    def write(self, rows: Sequence[Measured]) -> None:
        if self.path is not None:
            document = {"identity": self.identity, "device": self.device, "rows": [asdict(row) for row in rows]}
            write_atomically(self.path, seal(document))


@contextmanager
def _threads(count: int | None) -> Iterator[None]:
    if count is None:
        yield
        return
    from importlib.util import find_spec

    from threadpoolctl import threadpool_limits

    if find_spec("torch") is not None:
        import torch

        torch.set_num_threads(count)
    with threadpool_limits(limits=count):
        yield
