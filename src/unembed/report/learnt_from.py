"""Can it be told what the model learnt from: whose texts, from how much of them, at which false-alarm rate?"""

from __future__ import annotations

import math

from unembed.games.in_or_out import RATES
from unembed.report.findings import against_floor
from unembed.report.numbers import count, number, of_hundred, with_interval
from unembed.report.parts import Ranking, ranking, slices
from unembed.report.sections import Figure, Section, hundred
from unembed.results.schema import Finding, Run

_FOUND, _ALARMS = "found", "false_alarms"


def _figure(run: Run, finding: Finding) -> Figure:
    """Those who are recognised, and how many others are taken for them."""
    found, alarms = finding.secondary.get(_FOUND), finding.secondary.get(_ALARMS)
    value = finding.estimate.value
    if found is None or alarms is None or math.isnan(found.value):
        return Figure(hundred(value), "answers are right on whether the model learnt from something", "", value)
    told = f"taking {hundred(alarms.value)} others for them"
    return Figure(hundred(found.value), "of those that the model learnt from are recognised", told, value)


def _sentences(run: Run, finding: Finding) -> list[str]:
    held = finding.secondary
    right = of_hundred(finding.estimate, "of", "of")
    said = [f"They tell what the model learnt from: right in {right} 100 cases where it learnt from half."]
    said.append(against_floor(finding))
    said.append(f"They prepared on {count(finding.cost.pairs)} {finding.cost.learns_from}.")
    if (advantage := held.get("advantage")) is not None:
        said.append(f"True minus false alarms (the advantage): {with_interval(advantage, 'share')}.")
    for rate, name in RATES.items():
        estimate = held.get(name)
        if estimate is None or math.isnan(estimate.value):
            said.append(f"What they recognise at {number(rate, 'share')} false alarms so few cases can't show.")
        else:
            among = f"Where {number(rate, 'share')} of the others are taken for them"
            said.append(f"{among}, {of_hundred(estimate, 'is', 'are')} recognised of 100.")
    return said


def _rankings(finding: Finding) -> list[Ranking]:
    """Each kind of parts in its own order: by how many texts somebody has, by how rare the words are."""
    kinds = dict.fromkeys(s.kind for s in finding.slices)
    note = "True minus false alarms: 0 is guessing."
    return [
        ranking(f"By {kind}", (kind.capitalize(), "Cases", "Advantage"), slices(finding, kind), note=note)
        for kind in kinds
    ]


SECTIONS: dict[str, Section] = {
    "training": Section(
        "training",
        _figure,
        _sentences,
        "Somebody has texts and asks the model, or its vectors, whether it learnt from them. That a person's texts "
        "were used can itself be a secret, and it shows that the model keeps more than it should.",
        rankings=_rankings,
    ),
}
