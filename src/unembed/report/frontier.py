"""Leak against usefulness, a row and a mark per variant: the same in every report, made from the run alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

from markupsafe import Markup

from unembed.frontier.points import Point, pareto, points_of
from unembed.frontier.target import LEAK, Choice, Target
from unembed.metrics.estimate import Estimate
from unembed.report import svg
from unembed.report.numbers import MISSING, number
from unembed.results.schema import Finding, Run

HEADING: Final = "Which defense, at what price?"
LEAD: Final = (
    "What still leaks to somebody who knows the defense, beside what is lost. The leak is the strongest attack's "
    "excess over guessing as a share of what is possible above guessing, for the question that gives away most; the "
    "loss belongs to the use that suffers most."
)
TRAP: Final = (
    "The figure for somebody who does not know the defense stands beside it because it is what is often reported. It "
    "says nothing about safety: whoever takes the vectors can learn how they were made."
)
HEAD: Final = ("Vectors", "Leaks", "Unaware", "Lost", "Of", "Bytes", "µs", "Unbeaten")
_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 680, 400, 56, 46, 34, 20


def shown(run: Run) -> bool:
    """Whether there is anything to weigh: a defense, and a use."""
    return any(f.defense for f in run.findings) and any(u.variant for u in run.utility)


def rows(run: Run) -> list[tuple[str, ...]]:
    """One row per variant."""
    points = points_of(run)
    best = {p.variant for p in pareto(points)}
    return [_row(point, point.variant in best) for point in points]


def flat_rows(run: Run) -> list[dict[str, Any]]:
    """The same for programs, numbers unrounded."""
    points = points_of(run)
    best = {p.variant for p in pareto(points)}
    return [
        {
            "variant": p.variant,
            "leak": p.leak.value,
            "leak_low": p.leak.low,
            "leak_high": p.leak.high,
            "question": question(p.leading) if p.leading else None,
            "unaware_leak": p.unaware.value,
            "loss": p.loss.value,
            "loss_low": p.loss.low,
            "loss_high": p.loss.high,
            "use": p.worst_use.task if p.worst_use else None,
            "stored_bytes": p.cost.stored_bytes if p.cost else None,
            "dimension": p.cost.dimension if p.cost else None,
            "microseconds": p.cost.transform_seconds * 1e6 if p.cost else None,
            "pareto": p.variant in best,
            "saved": p.cost.saved if p.cost else None,
            **{f"{question(f)}.{f.metric}": f.estimate.value for f in p.strongest},
            **{f"{u.task}.{u.metric}": u.estimate.value for u in p.uses if not u.error},
        }
        for p in points
    ]


def stops(run: Run) -> list[tuple[str, ...]]:
    """For each variant what each question still gives away, as printed: the figure, and what guessing scores."""
    points = points_of(run)
    asked = list(dict.fromkeys(question(f) for p in points for f in p.strongest))
    head = ("Vectors", *asked)
    body = []
    for p in points:
        told = {question(f): f for f in p.strongest}
        cells = (
            f"{number(f.estimate.value, f.metric)} (guessing {number(f.floor.value, f.metric)})"
            if (f := told.get(name)) is not None
            else MISSING
            for name in asked
        )
        body.append((p.variant or "plain", *cells))
    return [head, *body]


def question(finding: Finding) -> str:
    """A question in words: the game and what it asks about."""
    return f"{finding.game} ({finding.subject})" if finding.subject else finding.game


def sentence(choice: Choice, targets: Sequence[Target], max_loss: float | None) -> str:
    """What the search answers, in one sentence."""
    limits = [str(t) for t in targets] + ([f"loss <= {max_loss:g}"] if max_loss is not None else [])
    asked = " and ".join(limits)
    if choice.point is None:
        return f"No answer for {asked}: {choice.why}."
    what = choice.point.variant or "the vectors as they are"
    if not choice.met:
        return f"No defense meets {asked}. The nearest is {what}, which misses it by {choice.missed_by:.3g}."
    if choice.point.variant is None:
        return f"No defense is needed for {asked}: {choice.why}."
    point = choice.point
    figures = [(t, t.figure(point)) for t in targets]
    reached = ", ".join(f"{t.game} {e.value:.3f} [{e.low:.3f}–{e.high:.3f}]" for t, e in figures if t.game != LEAK)
    reached = f" ({reached})" if reached else ""
    return (
        f"{what} meets {asked}{reached}. To somebody who knows it the question that gives away most leaks "
        f"{_share(point.leak)} of what is possible above guessing; the use that suffers most loses "
        f"{_share(point.loss)}."
    )


def chart(run: Run) -> Markup:
    """Leak upwards, loss to the right, a cross of both intervals per variant, the Pareto set joined."""
    points = [p for p in points_of(run) if p.known]
    front = sorted(pareto(points), key=lambda p: p.loss.value)
    most = _ceiling(p.leak.high for p in points)
    widest = _ceiling(p.loss.high for p in points)

    def x(value: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * min(max(value, 0.0), widest) / widest

    def y(value: float) -> float:
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - min(max(value, 0.0), most) / most)

    parts = [*_axes(x, y, widest, most)]
    if len(front) > 1:
        way = " ".join(f"{x(p.loss.value):.1f},{y(p.leak.value):.1f}" for p in front)
        parts.append(svg.element("polyline", points=way, class_="front"))
    for number_, point in enumerate(points):
        here = point in front
        parts += _mark(x, y, point, "best" if here else "rest")
        if here or point.variant is None:
            name = point.variant or "plain"
            left = x(point.loss.value) > _WIDTH * 0.7
            shift = -10 if left else 10
            lift = -8 if number_ % 2 else 16
            parts.append(
                svg.text(
                    x(point.loss.value) + shift, y(point.leak.value) + lift, name, anchor="end" if left else "start"
                )
            )
    return svg.element(
        "svg",
        *parts,
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        width="100%",
        class_="frontier",
        role="img",
        aria_label=f"What leaks against what is lost, for {len(points)} variants of the vectors",
    )


def _ceiling(values: Iterable[float]) -> float:
    """The next round number above all values, so that a scale ends where people expect it."""
    largest = max(values, default=1.0)
    return next((end for end in (0.1, 0.2, 0.4, 0.6, 0.8) if largest <= end), 1.0)


def _axes(x: Any, y: Any, widest: float, most: float) -> list[Markup]:
    parts = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        across, up = share * widest, share * most
        parts.append(svg.line(x(0), y(up), x(widest), y(up), class_="grid"))
        parts.append(svg.text(x(0) - 8, y(up) + 4, f"{up * 100:.0f}%", anchor="end", class_="tick"))
        parts.append(
            svg.text(x(across), _HEIGHT - _BOTTOM + 18, f"{across * 100:.0f}%", anchor="middle", class_="tick")
        )
    parts.append(svg.text(x(widest / 2), _HEIGHT - 6, "lost of the use that suffers most", anchor="middle"))
    parts.append(svg.text(x(0) - 40, 14, "leaks, of what is possible above guessing", class_="said"))
    return parts


def _mark(x: Any, y: Any, point: Point, kind: str) -> list[Markup]:
    loss, leak = point.loss, point.leak
    told = f"{point.variant or 'plain'}: leaks {_share(leak)}, loses {_share(loss)}"
    return [
        svg.line(x(loss.low), y(leak.value), x(loss.high), y(leak.value), class_=f"whisker {kind}"),
        svg.line(x(loss.value), y(leak.low), x(loss.value), y(leak.high), class_=f"whisker {kind}"),
        svg.dot(x(loss.value), y(leak.value), 5.0, svg.element("title", told), class_=f"dot {kind}"),
    ]


def _row(point: Point, best: bool) -> tuple[str, ...]:
    cost = point.cost
    plain_bytes = "" if cost is None else f"{cost.stored_bytes:,.0f}"
    return (
        point.variant or "plain",
        _with_interval(point.leak) + (f" ({question(point.leading)})" if point.leading else ""),
        MISSING if math.isnan(point.unaware.value) else _share(point.unaware),
        "0%" if point.variant is None else _with_interval(point.loss),
        "" if point.worst_use is None or point.variant is None else point.worst_use.task,
        plain_bytes,
        "" if cost is None else f"{cost.transform_seconds * 1e6:.1f}",
        "could not measure" if point.unmeasured else "yes" if best else "",
    )


def _share(estimate: Estimate) -> str:
    return MISSING if math.isnan(estimate.value) else f"{max(0.0, estimate.value) * 100:.1f}%"


def _with_interval(estimate: Estimate) -> str:
    if math.isnan(estimate.value):
        return MISSING
    low, high = max(0.0, estimate.low) * 100, max(0.0, estimate.high) * 100
    return f"{_share(estimate)} [{low:.1f}–{high:.1f}]"
