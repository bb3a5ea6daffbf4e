"""What a user asks of a defense: limits on what leaks, and on what may be lost; and which defense meets them best."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from unembed.errors import CannotMeasureError, UsageError
from unembed.frontier.points import Point, unbeaten
from unembed.metrics.estimate import Estimate, undefined
from unembed.results.schema import Run

#: The name of the leak that points are drawn by, which is of no single game.
LEAK = "leak"
_FORM = re.compile(
    r"\s*(?P<game>[a-z][a-z0-9-]*)(?:\((?P<subject>[^)]+)\))?(?:\.(?P<metric>[a-z0-9_]+))?\s*<=?\s*(?P<most>[0-9.eE+-]+)\s*"
)


@dataclass(frozen=True)
class Target:
    """A limit on one figure: a question, perhaps its subject, perhaps another metric than the headline."""

    game: str
    most: float
    subject: str | None = None
    metric: str | None = None

    def __str__(self) -> str:
        subject = f"({self.subject})" if self.subject else ""
        metric = f".{self.metric}" if self.metric else ""
        return f"{self.game}{subject}{metric} <= {self.most:g}"

    def figure(self, point: Point) -> Estimate:
        """The figure at this point: the largest of those that the target names."""
        return self._found(point)[0]

    def _found(self, point: Point) -> tuple[Estimate, float]:
        """The figure, and what guessing reaches in it."""
        if self.game == LEAK:
            return point.leak, 0.0
        known: list[tuple[Estimate, float]] = []
        for one in point.strongest:
            if one.game != self.game or self.subject not in (None, one.subject):
                continue
            named = self.metric if self.metric not in (None, one.metric) else None
            found = one.estimate if named is None else one.secondary.get(named)
            if found is not None and not math.isnan(found.value):
                known.append((found, one.floor.value if named is None else one.secondary_floors.get(named, 0.0)))
        return max(known, key=lambda pair: pair[0].high, default=(undefined(), math.nan))

    def on_a_sample(self, small: Point, whole: Point) -> Target:
        """The limit that means as much on a sample: as far between guessing and the vectors as they are.

        Both points are those vectors, measured on the sample and on all texts. With fewer texts less is read of every
        variant, so that many would meet the limit there that don't meet it in the end.
        """
        (here, blind), (there, blind_there) = self._found(small), self._found(whole)
        room, room_there = here.value - blind, there.value - blind_there
        if not (room > 0 and room_there > 0):
            return self
        return replace(self, most=blind + (self.most - blind_there) * room / room_there)

    def missed_by(self, point: Point) -> float:
        """By how much the safe end of the interval misses the limit; 0 where it is met."""
        high = self.figure(point).high
        return math.inf if math.isnan(high) or not point.known else max(0.0, high - self.most)


def read_target(text: str) -> Target:
    """``inversion.content_f1 <= 0.2``, ``attribute(author) <= 0.1``, ``leak <= 0.2``."""
    found = _FORM.fullmatch(text)
    try:
        most = float(found["most"]) if found else math.nan
    except ValueError:
        most = math.nan
    if found is None or not 0 <= most <= 1:
        raise UsageError(
            f"can't read the target '{text}': expected GAME.METRIC <= LIMIT with a limit from 0 to 1, such as "
            "'inversion.content_f1 <= 0.2', 'attribute(author) <= 0.3' or 'leak <= 0.2'"
        )
    return Target(found["game"], most, found["subject"], found["metric"])


def check_targets(targets: Sequence[Target], point: Point, run: Run) -> None:
    """Refuse a target that names nothing that was measured, before anything is concluded from its absence."""
    for target in targets:
        if target.game == LEAK or not math.isnan(target.figure(point).value):
            continue
        if not point.strongest:
            raise CannotMeasureError(f"the target '{target}' can't be held against anything: {_why(run)}")
        games = sorted({f"{f.game}({f.subject})" if f.subject else f.game for f in point.strongest})
        metrics = sorted({m for f in point.strongest if f.game == target.game for m in (f.metric, *f.secondary)})
        known = ", ".join(metrics if metrics else games)
        raise UsageError(f"the target '{target}' is about nothing that is measured here; there is: {known}")


def _why(run: Run) -> str:
    """Why nothing is known of the vectors as they are."""
    doubted = [f.reason for f in run.findings if f.defense is None and f.status == "could-not-measure"]
    failed = [c.error for c in run.cells if c.identity.defense is None and c.error]
    return next(iter([*failed, *doubted]), "nothing was measured of the vectors as they are")


@dataclass(frozen=True)
class Choice:
    """The point that meets all limits at the least price; or the nearest miss, with how far it is off."""

    point: Point | None
    missed_by: float = 0.0
    why: str = ""

    @property
    def met(self) -> bool:
        """Whether all limits are met."""
        return self.point is not None and self.missed_by == 0


def choose(points: Sequence[Point], targets: Sequence[Target], max_loss: float | None) -> Choice:
    """The least loss that meets every limit at the safe end of its interval.

    With a limit on the loss alone it is the least leak. Among equals fewer stored bytes win.
    """
    known = [p for p in points if p.known]
    if not known:
        return Choice(None, math.inf, "no defense could be measured")
    missed = {id(p): max([t.missed_by(p) for t in targets] + [_lost_too_much(p, max_loss)]) for p in known}
    meeting = [p for p in known if missed[id(p)] == 0]
    if not meeting:
        nearest = min(known, key=lambda p: missed[id(p)])
        return Choice(nearest, missed[id(nearest)], "no defense meets every limit")
    best = min(meeting, key=_by_loss if targets else _by_leak)
    return Choice(best)


def _lost_too_much(point: Point, max_loss: float | None) -> float:
    return 0.0 if max_loss is None else max(0.0, point.loss.high - max_loss)


def _by_loss(point: Point) -> tuple[float, float, float]:
    return point.loss.value, point.leak.value, _bytes(point)


def _by_leak(point: Point) -> tuple[float, float, float]:
    return point.leak.value, point.loss.value, _bytes(point)


def _bytes(point: Point) -> float:
    return point.cost.stored_bytes if point.cost else math.inf


def layers(points: Sequence[Point], targets: Sequence[Target] = ()) -> list[list[Point]]:
    """The Pareto set, then that of the rest, and so on; what was not measured comes last.

    Where there are targets, what they name counts instead of the question that gives away most: a defense may be the
    best there is against one question and do nothing against another.
    """
    over = {p: _leak_for(p, targets) for p in points}
    rest, found = [p for p in points if p.known and not math.isnan(over[p])], []
    lost = [p for p in points if p not in rest]
    while rest:
        front = unbeaten(rest, over.__getitem__)
        found.append(front)
        rest = [p for p in rest if p not in front]
    return [*found, lost] if lost else found


def _leak_for(point: Point, targets: Sequence[Target]) -> float:
    """How far a point lies above the target that it misses by most; without targets its leak."""
    return max((t.figure(point).value - t.most for t in targets), default=point.leak.value)
