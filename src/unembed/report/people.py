"""Are people's names read back? The findings of the game of names, beside the same sentences without the name."""

from __future__ import annotations

from dataclasses import dataclass

from unembed.metrics.estimate import Estimate
from unembed.report.inversion import WordRow, word_row
from unembed.report.numbers import of_hundred
from unembed.report.readers import Bar, Reader, against_floor, by_adversary, rank, reader, share_bar, title
from unembed.report.samples import SampleView, sample_view
from unembed.report.view import Names, measured, tone
from unembed.results.schema import Finding, Run

SECTION = "people"


@dataclass(frozen=True)
class NameDetails:
    """Names one by one, and samples, of one finding."""

    title: str
    rows: list[WordRow]
    samples: list[SampleView]
    masked: bool


@dataclass(frozen=True)
class People:
    """The section: who reads names, and which."""

    readers: list[Reader]
    details: list[NameDetails]


def people(run: Run) -> People | None:
    """The section of a run, or None if no names were asked for."""
    found = [f for f in run.findings if f.section == SECTION and not f.curve]
    if not found:
        return None
    names = Names(run)
    groups = by_adversary(found, run)
    ordered = sorted((f for group in groups for f in group if measured(f)), key=lambda f: -rank(f))
    return People(
        [reader(group[0], names, _sentences, _bars) for group in groups],
        [
            NameDetails(
                title(f, names),
                [word_row(s) for s in f.slices if s.kind == "name"],
                [sample_view(s) for s in f.samples],
                all(s.masked for s in f.samples),
            )
            for f in ordered
            if f.slices or f.samples
        ],
    )


def without(finding: Finding) -> Estimate | None:
    """How often the name is said of the same sentence without it."""
    return next((f.estimate for f in finding.floors if f.kind == "without"), None)


def _sentences(finding: Finding) -> list[str]:
    put = of_hundred(finding.estimate, "comes", "come")
    said = [f"Of 100 names put into sentences where nobody expects them, {put} back.", against_floor(finding)]
    if (bare := without(finding)) is not None:
        said.append(f"In the same sentences without the name, {of_hundred(bare, 'is', 'are')} named all the same.")
    if (original := finding.secondary.get("original_name_recall")) is not None:
        said.append(f"Of 100 names where they stood, {of_hundred(original, 'comes', 'come')} back.")
    return said


def _bars(finding: Finding) -> list[Bar]:
    colour, bare = tone(finding), without(finding)
    bars = [share_bar("put where nobody expects it", finding.estimate, bare.value if bare else None, colour)]
    held = finding.secondary
    if (original := held.get("original_name_recall")) is not None:
        alarms = held.get("original_name_false_alarms")
        bars.append(share_bar("where it stood", original, alarms.value if alarms else None, colour))
    if (replaced := held.get("replaced_name_said")) is not None:
        bars.append(share_bar("taken out and still named", replaced, None, colour))
    return bars
