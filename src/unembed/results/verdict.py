"""The verdict: one sentence, and the weakest adversary that succeeds."""

from __future__ import annotations

from collections.abc import Sequence

from unembed.results.schema import Finding, Level, Verdict

_RANK: dict[Level, int] = {"none": 0, "unknown": 0, "low": 1, "moderate": 2, "high": 3}
#: A stronger adversary's leak is told too when it is so many times as grave as the weakest one's.
MUCH_MORE = 1.5
_WHO = {
    "outsider": "Somebody who only holds a copy of the vectors and public text",
    "insider": "Somebody who holds the vectors and part of the collection",
    "weights": "Somebody who holds the vectors, part of the collection and the model",
}


def verdict(findings: Sequence[Finding], order: Sequence[str]) -> Verdict:
    """What the findings say together; ``order`` lists the adversaries from weak to strong."""
    shown = [f for f in findings if f.defense is None and not f.curve and not f.yardstick]
    if findings and not shown and any(f.yardstick for f in findings):
        return Verdict(
            level="unknown",
            sentence="Only yardsticks that read the texts were run: they say nothing about what the vectors give away.",
        )
    measured = [f for f in shown if f.status != "could-not-measure"]
    leaks = [f for f in measured if f.status == "leak"]
    if not measured:
        return Verdict(
            level="unknown",
            sentence="Nothing could be measured, so nothing can be said about what these vectors give away.",
        )
    if not leaks:
        open_questions = [f for f in measured if f.status == "inconclusive"]
        tail = "This is no proof of safety: it holds for these attacks, this much data and these adversaries."
        if open_questions:
            return Verdict(
                level="unknown",
                sentence=f"No attack clearly did better than guessing, but {len(open_questions)} of {len(measured)} "
                f"measurements are too imprecise to tell; use more texts. {tail}",
                findings=[f.id for f in open_questions],
            )
        return Verdict(level="none", sentence=f"None of {len(measured)} attacks did better than guessing. {tail}")
    level = max((f.level for f in leaks), key=lambda v: _RANK[v])
    weakest = next(a for a in order if any(f.adversary == a for f in leaks))
    best = _strongest_by_question([f for f in leaks if f.adversary == weakest])
    claims = [_claim(f) for f in best]
    listed = claims[0] if len(claims) == 1 else ", ".join(claims[:-1]) + " and " + claims[-1]
    sentence = f"{_WHO.get(weakest, f'The {weakest}')} {listed}."
    stronger = [f for f in leaks if f.adversary != weakest and f.headroom > MUCH_MORE * best[0].headroom]
    if stronger:
        top = max(stronger, key=lambda f: f.headroom)
        sentence += f" {_WHO.get(top.adversary, f'The {top.adversary}')} {_claim(top)}."
        best = [*best, top]
    return Verdict(level=level, sentence=sentence, adversary=weakest, findings=[f.id for f in best])


def _strongest_by_question(findings: Sequence[Finding]) -> list[Finding]:
    """The strongest finding of every question, the gravest first."""
    best: dict[tuple[str, str | None], Finding] = {}
    for finding in findings:
        question = (finding.game, finding.subject)
        if question not in best or finding.excess.value > best[question].excess.value:
            best[question] = finding
    return sorted(best.values(), key=lambda f: -f.headroom)[:3]


def _claim(finding: Finding) -> str:
    """One finding as the end of a sentence."""
    value, floor = f"{finding.estimate.value:.0%}", f"{finding.floor.value:.0%}"
    if finding.game == "inversion" and "content_recall" in finding.secondary:
        back, right = finding.secondary["content_recall"].value, finding.secondary["content_precision"].value
        return f"can read back {back:.0%} of the meaningful words of a text ({right:.0%} of those they name are right)"
    if finding.game == "keyword":
        return f"can tell for {value} of texts whether a given word occurs in them (guessing: {floor})"
    if finding.game == "reassembly":
        return (
            f"can name {value} of the listed words of a text among their first guesses (the same list for all: {floor})"
        )
    if finding.game == "number":
        return f"can guess '{finding.subject}' with {value} less error than the best guess without vectors"
    if finding.game == "pattern":
        return f"can read {value} of the parts of a secret of the form '{finding.subject}' (guessing: {floor})"
    if finding.game == "attribute":
        return f"can tell '{finding.subject}' right for {value} of texts (guessing: {floor})"
    if finding.game == "fingerprint":
        return f"can tell from a single vector which encoder made it ({value} right against others, guessing: {floor})"
    return f"scores {value} in '{finding.game}' (guessing: {floor})"
