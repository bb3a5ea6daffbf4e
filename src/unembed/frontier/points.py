"""A run as points: for each defense how much still leaks to who knows it, and how much usefulness is lost."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from unembed.metrics.estimate import Estimate, undefined
from unembed.results.schema import Finding, Run, UtilityScore, VariantCost

NOTHING_LOST = Estimate(0.0, 0.0, 0.0, 0, method="by definition")


@dataclass(frozen=True, eq=False)
class Point:
    """One variant of the vectors.

    ``leak`` is what the strongest attack reads above guessing, as a share of all that there is above it, for the
    question that gives away most, by adversaries who know the defense: they can also do what one would do who does not.
    ``loss`` belongs to the use that suffers most, as a share of what plain vectors score in it. ``unaware`` is the
    same leak to adversaries who do not know the defense.
    """

    variant: str | None
    leak: Estimate
    leading: Finding | None
    unaware: Estimate
    loss: Estimate
    worst_use: UtilityScore | None
    strongest: tuple[Finding, ...] = ()
    uses: tuple[UtilityScore, ...] = ()
    cost: VariantCost | None = None
    unmeasured: int = 0

    @property
    def known(self) -> bool:
        """Whether both sides of the trade were measured."""
        return not self.unmeasured and math.isfinite(self.leak.value) and math.isfinite(self.loss.value)


def points_of(run: Run) -> list[Point]:
    """The vectors as they are, then every variant, in the order in which they were measured."""
    names = dict.fromkeys(r.identity.defense for r in run.cells)
    return [_point(run, name) for name in sorted(names, key=lambda name: name is not None)]


def pareto(points: Sequence[Point]) -> list[Point]:
    """The points that no other one beats: less leak at no more loss, or less loss at no more leak."""
    return unbeaten([p for p in points if p.known], lambda point: point.leak.value)


def unbeaten(points: Sequence[Point], leak: Callable[[Point], float]) -> list[Point]:
    """The same by another figure of what leaks."""
    places = {p: (leak(p), p.loss.value) for p in points}

    def beaten(own: tuple[float, float]) -> bool:
        return any(one[0] <= own[0] and one[1] <= own[1] and one != own for one in places.values())

    return [p for p, own in places.items() if not beaten(own)]


def exposure(finding: Finding) -> Estimate:
    """The excess over guessing as a share of what is possible above guessing."""
    room = 1 - finding.floor.value
    if not room > 0 or math.isnan(finding.excess.value):
        return undefined(finding.excess.n)
    excess = finding.excess
    return replace(excess, value=excess.value / room, low=excess.low / room, high=excess.high / room)


def strongest_by_question(findings: Iterable[Finding]) -> list[Finding]:
    """The largest figure for each question, whoever reached it and with whichever attack."""
    best: dict[tuple[str, str | None], Finding] = {}
    for one in findings:
        held = best.get((one.game, one.subject))
        if held is None or not held.estimate.value >= one.estimate.value:
            best[one.game, one.subject] = one
    return list(best.values())


def _point(run: Run, variant: str | None) -> Point:
    own = [f for f in run.findings if f.defense == variant and not f.curve and not f.yardstick]
    measured = [f for f in own if f.status != "could-not-measure"]
    strongest = strongest_by_question(measured)
    leading = max(strongest, key=lambda f: exposure(f).value, default=None)
    unaware = [exposure(f) for f in strongest_by_question(f for f in measured if f.adaptive is False)]
    uses = tuple(u for u in run.utility if u.variant == variant)
    plain = {(u.task, str(u.params)): u for u in run.utility if u.variant is None}
    losses = [(_share_lost(u, plain[u.task, str(u.params)]), u) for u in uses]
    loss, worst = max(losses, key=lambda pair: _or_most(pair[0].value), default=(undefined(), None))
    failed = [r for r in run.cells if r.status == "failed" and r.identity.defense == variant]
    deciding = [r for r in failed if r.identity.adaptive is not False]
    return Point(
        variant=variant,
        leak=undefined() if leading is None else exposure(leading),
        leading=leading,
        unaware=max(unaware, key=lambda e: e.value, default=undefined()),
        loss=NOTHING_LOST if variant is None else loss,
        worst_use=worst,
        strongest=tuple(strongest),
        uses=uses,
        cost=next((c for c in run.variants if c.variant == variant), None),
        unmeasured=len(deciding)
        + sum(f.adaptive is not False for f in own)
        - sum(f.adaptive is not False for f in measured),
    )


def _share_lost(defended: UtilityScore, plain: UtilityScore) -> Estimate:
    """The loss as a share of the score of the plain vectors."""
    loss, whole = defended.loss, plain.estimate.value
    if defended.error is not None or loss is None or not whole > 0:
        return undefined()
    return replace(loss, value=loss.value / whole, low=loss.low / whole, high=loss.high / whole)


def _or_most(value: float) -> float:
    """What could not be measured counts as lost."""
    return math.inf if math.isnan(value) else value
