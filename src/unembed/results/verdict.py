"""The verdict: one sentence, and the weakest adversary that succeeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unembed.results.schema import AdversaryCard, Finding, Level, Verdict

_RANK: dict[Level, int] = {"none": 0, "unknown": 0, "low": 1, "moderate": 2, "high": 3}
#: A stronger adversary's leak is mentioned too if its headroom is this many times the weakest one's.
MUCH_MORE = 1.5
NO_PROOF = "This is no proof of safety: it holds for these attacks, this much data and these adversaries."


def verdict(
    findings: Sequence[Finding], adversaries: Sequence[AdversaryCard], *, failed: Mapping[str | None, int] | None = None
) -> Verdict:
    """What the findings say together; ``adversaries`` come from weak to strong.

    ``failed`` are measurements that broke off, by the defense they were about (None: the vectors as they are).

    It is about the vectors as they are. Each defense has a verdict of its own, from adversaries who know it. Where one
    who does not know it finds nothing, that says nothing about safety; what they do find is a leak like any other.
    """
    lost = failed or {}
    plain = _verdict([f for f in findings if f.defense is None], adversaries, lost.get(None, 0))
    variants = []
    for name in dict.fromkeys(n for n in (*(f.defense for f in findings), *lost) if n):
        deciding = [f for f in findings if f.defense == name and (f.adaptive or f.status == "leak")]
        own = _verdict(deciding, adversaries, lost.get(name, 0))
        variants.append(own.model_copy(update={"variant": name}))
    return plain.model_copy(update={"variants": variants})


def _verdict(findings: Sequence[Finding], adversaries: Sequence[AdversaryCard], failed: int) -> Verdict:
    shown = [f for f in findings if not f.curve and not f.yardstick]
    if findings and not shown and any(f.yardstick for f in findings):
        return Verdict(
            level="unknown",
            sentence="Only yardsticks that read the texts were run: they say nothing about what the vectors give away.",
        )
    measured = [f for f in shown if f.status != "could-not-measure"]
    unmeasured = len(shown) - len(measured) + failed
    if not measured:
        return Verdict(
            level="unknown",
            sentence="Nothing could be measured, so nothing can be said about what these vectors give away.",
        )
    leaks = [f for f in measured if f.status == "leak"]
    of_encoder = _about_encoder([f for f in leaks if f.about == "encoder"])
    here = [f for f in leaks if f.about == "collection"]
    missing = f" {unmeasured} of {_measurements(len(shown) + failed)} could not be made." if unmeasured else ""
    found = _leaks(here, adversaries) if here else _no_leaks([f for f in measured if f not in leaks], unmeasured)
    return found.model_copy(update={"sentence": f"{found.sentence}{missing}{of_encoder}"})


def _leaks(leaks: Sequence[Finding], adversaries: Sequence[AdversaryCard]) -> Verdict:
    level = max((f.level for f in leaks), key=lambda v: _RANK[v])
    who = {card.name: card for card in adversaries}
    weakest = next(name for name in who if any(f.adversary == name for f in leaks))
    best = _strongest_by_question([f for f in leaks if f.adversary == weakest])
    sentence = f"{somebody(who[weakest])} {_listed(best)}."
    stronger = [f for f in leaks if f.adversary != weakest and f.headroom > MUCH_MORE * best[0].headroom]
    if stronger:
        top = max(stronger, key=_gravity)
        more = _strongest_by_question([f for f in stronger if f.adversary == top.adversary])[:2]
        sentence += f" {somebody(who[top.adversary])} {_listed(more)}."
        best = [*best, *more]
    return Verdict(level=level, sentence=sentence, adversary=weakest, findings=[f.id for f in best])


def _listed(findings: Sequence[Finding]) -> str:
    claims = [f.claim for f in findings]
    return claims[0] if len(claims) == 1 else f"{', '.join(claims[:-1])} and {claims[-1]}"


def _no_leaks(measured: Sequence[Finding], unmeasured: int) -> Verdict:
    """What is said where nothing leaks from the collection; 'none' only where each measurement states its limit."""
    if not measured:
        return Verdict(level="unknown", sentence="Nothing was measured on the texts of this collection.")
    limits = [f for f in measured if f.status == "no-leak-found" and f.detects and f.detects.size is not None]
    open_questions = [f for f in measured if f not in limits]
    if open_questions:
        return Verdict(
            level="unknown",
            sentence="No attack clearly did better than guessing on the texts of this collection, but "
            f"{len(open_questions)} of {_measurements(len(measured))} {_are(len(open_questions))} inconclusive: "
            f"{_reasons(open_questions)}. {NO_PROOF}",
            findings=[f.id for f in open_questions],
        )
    told = "; ".join(dict.fromkeys(_limit(f) for f in limits))
    return Verdict(
        level="unknown" if unmeasured else "none",
        sentence=f"No leak was found in this collection ({_measurements(len(measured))}). What would have been found: "
        f"{told}. {NO_PROOF}",
        findings=[f.id for f in limits],
    )


def _measurements(n: int) -> str:
    return f"{n} measurement{'' if n == 1 else 's'}"


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def _reasons(findings: Sequence[Finding]) -> str:
    return "; ".join(dict.fromkeys(f.reason or "it is not known how small a leak would be found" for f in findings))


def _limit(finding: Finding) -> str:
    """How small a leak would have been found, in the finding's own words."""
    size = finding.detects.size if finding.detects else None
    about = f"{finding.game}{f' ({finding.subject})' if finding.subject else ''}"
    points = "" if size is None else f"{100 * size:.3g} points "
    return f"{about}: a leak of {points}above guessing ({finding.adversary})"


def somebody(card: AdversaryCard) -> str:
    """Who can do it, by all that they hold: an outsider who may query the encoder has more than a copy."""
    held = set(card.capabilities)
    has = ["a copy of the vectors"]
    if "shadow corpus" in held or "pairs" in held:
        has.append("part of the collection")
    if "external corpus" in held:
        has.append("public text of another kind")
    if "query access" in held:
        has.append("access to the encoder")
    if "weights" in held:
        has.append("the model's weights")
    listed = has[0] if len(has) == 1 else f"{', '.join(has[:-1])} and {has[-1]}"
    return f"Somebody with {listed}"


def _strongest_by_question(findings: Sequence[Finding]) -> list[Finding]:
    """The strongest finding of every question, the gravest first."""
    best: dict[tuple[str, str | None], Finding] = {}
    for finding in findings:
        question = (finding.game, finding.subject)
        if question not in best or finding.excess.value > best[question].excess.value:
            best[question] = finding
    return sorted(best.values(), key=_gravity, reverse=True)[:3]


def _gravity(finding: Finding) -> tuple[int, float]:
    """Graver leaks first; of one level, the one that leaves least to find."""
    return _RANK[finding.level], finding.headroom


def _about_encoder(leaks: Sequence[Finding]) -> str:
    """What the encoder would give away of texts that nobody has, in sentences of their own."""
    return "".join(f" {finding.claim}" for finding in _strongest_by_question(leaks))
