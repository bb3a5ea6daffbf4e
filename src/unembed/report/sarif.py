"""The report as SARIF 2.1.0, which code-scanning pages read.

A rule is an attack. A result is a finding that calls for someone's eyes: a leak (``fail``), something
inconclusive (``review``) or something that could not be measured (``open``). Findings without a leak are
counted in the run's properties and make no result, because viewers show every result as an alert.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections import Counter
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from unembed.report.clean import cleaned
from unembed.report.findings import Names, about, badge, measured
from unembed.report.numbers import number, with_interval
from unembed.report.words import Taxon, taxa, taxonomy_rows
from unembed.results.schema import Finding, GameCard, RuleOutcome, Run

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"high": "error", "moderate": "warning", "low": "note", "none": "note", "unknown": "warning"}


def render_sarif(run: Run) -> str:
    """The whole log."""
    run = cleaned(run)
    games = {card.name: card for card in run.games}
    shown = [f for f in run.findings if f.status not in ("no-leak-found", "yardstick") or not f.trust.trusted]
    rules = _rules(run, games)
    index = {rule["id"]: i for i, rule in enumerate(rules)}
    outcomes: dict[str, list[RuleOutcome]] = {}
    for outcome in run.gate.outcomes if run.gate else []:
        outcomes.setdefault(outcome.finding or "", []).append(outcome)
    prints = fingerprints(run)
    where = _location(run)
    results = [_result(f, run, index, outcomes.get(f.id, []), prints[f.id], where, games.get(f.game)) for f in shown]
    lists = _taxonomies(run)
    log = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "unembed",
                        "version": run.environment.unembed,
                        "informationUri": "https://unembed.readthedocs.io",
                        "rules": rules,
                        "supportedTaxonomies": [{"name": entry["name"]} for entry in lists],
                    }
                },
                "automationDetails": {"id": f"unembed/{run.title}"},
                "invocations": [_invocation(run)],
                "taxonomies": lists,
                "results": results,
                "properties": {
                    "verdict": run.verdict.level,
                    "findings": dict(Counter(f.status for f in run.findings)),
                    "notTested": len(run.skipped),
                },
            }
        ],
    }
    return json.dumps(log, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def fingerprints(run: Run) -> dict[str, str]:
    """What stays the same for a finding from run to run, so that viewers can follow it."""
    groups: dict[str, list[Finding]] = {}
    for f in run.findings:
        parts = [f.game, f.attack, f.adversary, f.subject, f.encoder, f.defense, f.adaptive, f.metric]
        key = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]
        groups.setdefault(key, []).append(f)
    prints = {}
    for key, group in groups.items():
        for place, f in enumerate(sorted(group, key=lambda f: f.cost.pairs)):
            prints[f.id] = key if len(group) == 1 else f"{key}:{place}"
    return prints


def rule_id(game: str, attack: str) -> str:
    """The stable id of an attack's rule."""
    return f"unembed/{game}/{attack}"


def _rules(run: Run, games: dict[str, GameCard]) -> list[dict[str, Any]]:
    cards = {(card.game, card.name): card for card in run.attacks}
    keys = list(cards) + [(f.game, f.attack) for f in run.findings]
    rules = []
    for game, attack in dict.fromkeys(keys):
        card, question = cards.get((game, attack)), games.get(game)
        title = card.title if card else attack
        rule: dict[str, Any] = {
            "id": rule_id(game, attack),
            "name": attack,
            "shortDescription": {"text": title or attack},
            "fullDescription": {"text": (question.question if question else "") or title or attack},
            "defaultConfiguration": {"level": "warning"},
            "relationships": [
                {"target": _reference(entry), "kinds": ["relevant"]}
                for entry in taxa(question.tags if question else [])
            ],
            "properties": {"tags": ["security", "privacy", *dict.fromkeys(question.tags if question else [])]},
        }
        if question and question.consequence:
            rule["help"] = {"text": question.consequence}
        rules.append(rule)
    return rules


def _reference(entry: Taxon) -> dict[str, Any]:
    return {"id": entry.id, "toolComponent": {"name": entry.list}}


def _taxonomies(run: Run) -> list[dict[str, Any]]:
    lists: dict[str, list[Taxon]] = {}
    for entry, _ in taxonomy_rows(run):
        lists.setdefault(entry.list, []).append(entry)
    return [
        {
            "name": name,
            "organization": "OWASP" if "OWASP" in name else "MITRE" if "MITRE" in name else "unembed",
            "shortDescription": {"text": name},
            "taxa": [{"id": t.id, "name": t.name, "shortDescription": {"text": t.name}} for t in taxa],
        }
        for name, taxa in lists.items()
    ]


def _result(
    f: Finding,
    run: Run,
    index: dict[str, int],
    outcomes: list[RuleOutcome],
    fingerprint: str,
    where: dict[str, Any],
    card: GameCard | None,
) -> dict[str, Any]:
    kind, level = _judged(f, outcomes)
    result: dict[str, Any] = {
        "ruleId": rule_id(f.game, f.attack),
        "ruleIndex": index[rule_id(f.game, f.attack)],
        "kind": kind,
        "level": level,
        "message": {"text": _message(f, run, outcomes)},
        "locations": [where],
        "partialFingerprints": {"unembedFinding/v1": fingerprint},
        "taxa": [_reference(entry) for entry in taxa(card.tags if card else [])],
        "properties": {
            "finding": f.id,
            "status": f.status,
            "exposure": f.level,
            "adversary": f.adversary,
            "pairs": f.cost.pairs,
            "queries": f.cost.queries,
        },
    }
    if any(o.outcome == "accepted" for o in outcomes):
        reason = next(o.message for o in outcomes if o.outcome == "accepted")
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": reason}]
    return result


def _judged(f: Finding, outcomes: list[RuleOutcome]) -> tuple[str, str]:
    """Kind and level; SARIF wants level ``none`` for everything that is not a failure."""
    violated = [o.severity for o in outcomes if o.outcome == "violated"]
    if violated:
        return "fail", "error" if "error" in violated else "warning"
    if not measured(f):
        return "open", "none"
    if f.status == "inconclusive":
        return "review", "none"
    if outcomes:
        return "fail", "note"
    return "fail", _LEVELS[f.level]


def _message(f: Finding, run: Run, outcomes: list[RuleOutcome]) -> str:
    names = Names(run)
    who = f"{names.attack(f.attack)} by {names.adversary(f.adversary)}"
    on = f" ({about(f)})" if about(f) else ""
    if measured(f):
        text = (
            f"{who}{on}: {f.metric} {with_interval(f.estimate, f.metric)}, "
            f"floor {number(f.floor.value, f.metric)}. {badge(f)}."
        )
    else:
        text = f"{who}{on}: could not measure, which is not a sign of safety. {f.trust.reason}"
    said = [f"Rule {o.rule}: {o.outcome}." for o in outcomes if o.outcome != "met"]
    return " ".join([text, *said])


def _location(run: Run) -> dict[str, Any]:
    """The audit file the command names: no line of code is at fault, and that file is where to act."""
    try:
        words = shlex.split(run.command)
    except ValueError:
        words = run.command.split()
    named = next((word for word in words if word.endswith(".toml") and not word.startswith("-")), "unembed.toml")
    path = PurePath(named)
    uri = path.as_uri() if path.is_absolute() else quote(path.as_posix())
    return {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": 1}}}


def _invocation(run: Run) -> dict[str, Any]:
    failed = [cell for cell in run.cells if cell.status == "failed"]
    notes = [
        {"level": "error", "message": {"text": f"failed: {c.identity.label}: {c.error or 'no cause was recorded'}"}}
        for c in failed
    ]
    notes += [{"level": "note", "message": {"text": f"not tested: {s.what}: {s.reason}"}} for s in run.skipped]
    invocation: dict[str, Any] = {
        "executionSuccessful": run.status == "complete",
        "commandLine": run.command,
        "toolExecutionNotifications": notes,
    }
    if run.gate:
        invocation["exitCode"] = run.gate.exit_code
    return invocation
