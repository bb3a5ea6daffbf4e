"""``unembed.defend`` and ``unembed.load_defense``: a search for a defense, and the defense as an object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unembed.api.auditing import prepared
from unembed.api.progress import Progress
from unembed.api.run import Chart, Run
from unembed.api.tables import framed
from unembed.defenses.saving import load_chain, read_told, save_chain
from unembed.errors import UsageError
from unembed.frontier.defend import Frontier as Found
from unembed.frontier.defend import Round, Wish
from unembed.frontier.defend import defend as search
from unembed.frontier.points import Point
from unembed.frontier.target import Target, read_target


class Defense:
    """A fitted defense: what stands between an encoder and a store.

    Attributes:
        name: What findings and reports call it.
        folder: Where it was loaded from.
    """

    def __init__(self, folder: Path, *, own_code: bool = False) -> None:
        self.folder = folder
        self._chain = load_chain(folder, own_code=own_code)
        told = read_told(folder)
        self.name = str(told["told"].get("called") or " + ".join(self._chain.names))

    def __repr__(self) -> str:
        return f"<unembed.Defense: {self.name}>"

    def transform(self, vectors: Any, ids: Sequence[object]) -> NDArray[np.float32]:
        """Defended vectors, one per row.

        Args:
            vectors: One row per record, as the encoder made them.
            ids: The records' ids. What is random follows from them and from the key: the same record always gets the
                same vector, on any machine and in any order.
        """
        rows = np.asarray(vectors, dtype=np.float32)
        if rows.ndim != 2:
            raise UsageError(f"expected one row per record, not an array of {rows.ndim} dimension(s)")
        if len(ids) != len(rows):
            raise UsageError(f"there are {len(ids)} ids for {len(rows)} vectors")
        made: NDArray[np.float32] = np.asarray(self._chain.transform(rows, [str(one) for one in ids]))
        return made

    def inverse(self, vectors: Any, ids: Sequence[object]) -> NDArray[np.float32]:
        """The vectors as they came, for a defense that its owner can undo."""
        rows = np.asarray(vectors, dtype=np.float32)
        made: NDArray[np.float32] = np.asarray(self._chain.inverse(rows, [str(one) for one in ids]))
        return made

    def save(self, folder: str | Path) -> Path:
        """Write it into another folder, key included; the folder is the owner's alone."""
        save_chain(self._chain, Path(folder), told=read_told(self.folder)["told"])
        return Path(folder)


def load_defense(folder: str | Path, *, own_code: bool = False) -> Defense:
    """A defense that ``unembed defend`` or ``Defense.save`` wrote.

    Args:
        folder: Where it lies. A folder that was cut short or altered is refused.
        own_code: Also load a defense that is a Python file of yours; its code runs.
    """
    return Defense(Path(folder).expanduser(), own_code=own_code)


class Frontier:
    """What a search for a defense found.

    Attributes:
        run: The audit of the settings that were left at the end.
    """

    def __init__(self, found: Found, targets: Sequence[Target], max_loss: float | None) -> None:
        self.run = Run(found.run, found.folder)
        self._found, self._targets, self._max_loss = found, targets, max_loss

    @property
    def met(self) -> bool:
        """Whether a defense, or none, meets every limit; False where none was given."""
        return self._found.choice is not None and self._found.choice.met

    @property
    def sentence(self) -> str:
        """The answer in words."""
        from unembed.report.frontier import sentence

        if self._found.choice is None:
            front = ", ".join(p.variant or "plain" for p in self._found.front)
            return f"Not beaten by any other in both respects: {front}."
        return sentence(self._found.choice, self._targets, self._max_loss)

    @property
    def points(self) -> list[Point]:
        """Every variant that was measured to the end, plain vectors first."""
        return self._found.points

    @property
    def front(self) -> list[Point]:
        """The variants that no other one beats in both respects."""
        return self._found.front

    @property
    def rounds(self) -> list[Round]:
        """What was tried on samples before, which settings went on, and how long it took."""
        return self._found.rounds

    @property
    def defense(self) -> Defense | None:
        """The chosen defense; None where no limit was given, none is needed, or none meets it."""
        place = self._found.defense
        return None if place is None else load_defense(place, own_code=True)

    def __repr__(self) -> str:
        return f"<unembed.Frontier: {self.sentence}>"

    def _repr_html_(self) -> str:
        return str(self.plot())

    def to_frame(self, library: str | None = None) -> Any:
        """A data frame with a row per variant: leak, loss, bytes, microseconds, every figure, intervals."""
        from unembed.report.frontier import flat_rows

        return framed(flat_rows(self._found.run), library)

    def plot(self) -> Chart:
        """Leak against loss as a picture."""
        from unembed.report.frontier import chart

        return Chart(str(chart(self._found.run)))

    def report(self, path: str | Path) -> Path:
        """Write a report, as ``Run.report`` does."""
        return self.run.report(path)


def defend(
    texts: Any,
    vectors: Any = None,
    encoder: Any = None,
    attributes: Any = None,
    groups: Any = None,
    *,
    folder: str | Path,
    target: str | Sequence[str] = (),
    max_utility_loss: float | None = None,
    full_grid: bool = False,
    progress: bool | Progress | None = None,
    **more: Any,
) -> Frontier:
    """Find the defense that brings a leak under a limit at the least loss of usefulness.

    Args:
        texts: As for ``unembed.audit``, and so are ``vectors``, ``encoder``, ``attributes``, ``groups``.
        vectors: As for ``unembed.audit``.
        encoder: As for ``unembed.audit``.
        attributes: As for ``unembed.audit``.
        groups: As for ``unembed.audit``.
        folder: Keeps what is measured, and the chosen defense with its key.
        target: What may still leak, such as ``"inversion.content_f1 <= 0.2"``, ``"attribute(author) <= 0.3"`` or
            ``"leak <= 0.2"``; several must all hold.
        max_utility_loss: What may be lost of any use, as a share of what plain vectors score.
        full_grid: Measure every setting on all texts.
        progress: As for ``unembed.audit``.
        more: As for ``unembed.audit``; ``defenses`` names what is tried, ``utility`` what must be kept.
    """
    targets = tuple(read_target(one) for one in ([target] if isinstance(target, str) else target))
    if max_utility_loss is not None and not 0 <= max_utility_loss <= 1:
        raise UsageError(f"max_utility_loss is a share from 0 to 1, not {max_utility_loss}")
    settings: Mapping[str, Any] = {"attributes": attributes, "groups": groups, **more}
    with prepared(texts, vectors, encoder, folder=folder, progress=progress, **settings) as ready:
        found = search(
            ready.spec,
            Wish(targets, max_utility_loss, full_grid),
            spec_given=ready.shown,
            command=ready.command.replace("unembed.audit", "unembed.defend", 1),
            progress=ready.tell,
            given=ready.given_for,
        )
    return Frontier(found, targets, max_utility_loss)
