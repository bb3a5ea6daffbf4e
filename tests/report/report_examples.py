"""A realistic run, made up from head to foot: no text in it comes from a data set."""

from __future__ import annotations

import math
from typing import Any

from cell_identities import identity
from unembed.games import GAMES
from unembed.metrics.estimate import Estimate, undefined, wilson
from unembed.results.schema import (
    AdversaryCard,
    AttackCard,
    CellRecord,
    Cost,
    DataCard,
    Detects,
    Environment,
    Finding,
    Floor,
    GameCard,
    GateResult,
    RuleOutcome,
    Run,
    Sample,
    Skipped,
    Slice,
    Trust,
    UtilityScore,
    Verdict,
)


def around(value: float, half: float = 0.03, n: int = 500) -> Estimate:
    return Estimate(value, max(-1.0, value - half), min(1.0, value + half), n)


def make_finding(id: str, **changes: Any) -> Finding:
    value, floor = changes.pop("value", 0.5), changes.pop("floor_value", 0.1)
    trusted = changes.pop("trusted", True)
    pairs = changes.pop("pairs", 2000)
    gap = value - floor
    facts: dict[str, Any] = {
        "id": id,
        "cell": f"cell-{id}",
        "game": "inversion",
        "attack": "mlc",
        "adversary": "insider",
        "encoder": "all-MiniLM-L6-v2",
        "metric": "f1",
        "estimate": around(value),
        "floors": [
            Floor(kind="prior", estimate=around(floor, 0.01)),
            Floor(kind="shuffled", estimate=around(floor * 0.7, 0.01)),
            Floor(kind="random", estimate=around(floor * 0.4, 0.01)),
        ],
        "floor": around(floor, 0.01),
        "excess": around(gap),
        "headroom": max(0.0, gap / (1 - floor)),
        "status": "leak" if gap > 0.03 else "no-leak-found",
        "level": "high" if gap > 0.3 else "moderate" if gap > 0.15 else "low" if gap > 0.03 else "none",
        "reason": "the attack does clearly better with the vectors than without them",
        "trust": Trust(trusted=trusted, reason="the attack succeeds on the vectors under attack"),
        "cost": Cost(
            capabilities=["vectors", "pairs"],
            pairs=pairs,
            queries=0,
            targets=500,
            fit_seconds=12.3,
            run_seconds=0.4,
        ),
        "seed": 7,
    }
    if facts["status"] == "no-leak-found":
        facts |= {
            "reason": "a leak of 0.05 above guessing would have been found",
            "trust": Trust(trusted=trusted, reason="the attack finds leaks planted into these vectors"),
            "detects": Detects(size=0.05, kinds=["axis", "rotated"], tried={"0.05": [10, 10], "0.03": [7, 8]}),
        }
    facts.update(changes)
    if facts["game"] in GAMES:
        facts.setdefault("section", GAMES.get(facts["game"]).facts.section)
    return Finding(**facts)


KEYWORDS = [
    "diabetes",
    "lawyer",
    "invoice",
    "refund",
    "password",
    "pregnant",
    "union",
    "visa",
    "loan",
    "strike",
]


def make_findings() -> list[Finding]:
    curve = [
        make_finding(f"inv-{pairs}", value=value, floor_value=0.12, pairs=pairs, curve=pairs < 2000)
        for pairs, value in ((100, 0.19), (500, 0.33), (2000, 0.48))
    ]
    best = make_finding(
        "inv-8000",
        value=0.58,
        floor_value=0.12,
        pairs=8000,
        secondary={
            "precision": around(0.61),
            "recall": around(0.55),
            "content_precision": around(0.61),
            "texts_a_quarter_recovered": wilson(390, 500),
            "texts_half_recovered": wilson(255, 500),
            "texts_three_quarters_recovered": wilson(61, 500),
        },
        slices=[
            Slice(kind="frequency band", name=name, estimate=around(value, 0.05), floor=floor)
            for name, value, floor in (("common", 0.71, 0.3), ("medium", 0.52, 0.06), ("rare", 0.31, 0.01))
        ]
        + [
            Slice(kind="word class", name="names", estimate=around(0.2, 0.05), floor=0.01),
            Slice(kind="word class, recall", name="names", estimate=around(0.15, 0.05), floor=0.02),
            Slice(kind="word", name="r█████ (word 6)", estimate=wilson(31, 40)),
        ],
        samples=[
            Sample(target="t-0017", truth=["d███████", "a█████████"], recovered=["d███████", "—"]),
            Sample(target="t-0060", truth=["l███", "v███"], recovered=["l███", "s█████"], hits=[True, False]),
            Sample(target="t-0112", truth=["r█████", "i██████"], recovered=["r█████", "i██████"]),
        ],
        notes=["targets of one document are drawn together"],
    )
    keyword: dict[str, Any] = {"game": "keyword", "attack": "shallow", "metric": "accuracy"}
    attribute: dict[str, Any] = {
        "game": "attribute",
        "attack": "logistic",
        "metric": "top-1 accuracy",
        "subject": "author",
    }
    return [
        *curve,
        best,
        make_finding("inv-out", adversary="outsider", value=0.13, floor_value=0.12, pairs=5000),
        make_finding(
            "inv-noise",
            value=0.25,
            floor_value=0.12,
            pairs=8000,
            defense="gaussian(0.05)",
            adaptive=True,
        ),
        make_finding(
            "kw-in",
            **keyword,
            value=0.87,
            floor_value=0.52,
            subject="ten keywords",
            slices=[
                Slice(kind="keyword", name=word, estimate=around(0.95 - 0.03 * i, 0.04), floor=0.5 + 0.01 * i)
                for i, word in enumerate(KEYWORDS)
            ],
        ),
        make_finding(
            "nm-in",
            game="names",
            metric="swapped_name_recall",
            value=0.41,
            floor_value=0.04,
            floors=[
                Floor(kind="prior", estimate=around(0.04, 0.01)),
                Floor(kind="without", estimate=around(0.02, 0.01)),
            ],
            secondary={
                "original_name_recall": around(0.55),
                "original_name_false_alarms": around(0.12),
                "replaced_name_said": around(0.06),
            },
            slices=[Slice(kind="name", name="A███ (name 1)", estimate=wilson(9, 20), floor=0.0)],
            samples=[Sample(target="t-0031", truth=["A███"], recovered=["A███"], hits=[True])],
        ),
        make_finding("kw-out", **keyword, adversary="outsider", value=0.53, floor_value=0.52, subject="ten keywords"),
        make_finding(
            "at-in",
            **attribute,
            value=0.34,
            floor_value=0.08,
            slices=[
                Slice(kind="class", name=f"author {i:02}", estimate=around(0.6 - 0.025 * i, 0.06), floor=0.05)
                for i in range(20)
            ],
        ),
        make_finding(
            "at-out",
            **attribute,
            adversary="outsider",
            value=0.11,
            floor_value=0.08,
            status="inconclusive",
            level="unknown",
            reason="the headline is at guessing, but other figures are clearly above it: classes recognised",
            contrary=["classes_recognised"],
        ),
        make_finding(
            "at-net",
            **{**attribute, "attack": "mlp"},
            estimate=undefined(),
            excess=undefined(),
            headroom=math.nan,
            status="could-not-measure",
            level="unknown",
            reason="the attack finds no leak planted into these vectors, so its result says nothing about safety",
            trust=Trust(
                trusted=False,
                reason="the attack finds no leak planted into these vectors, so its result says nothing about safety",
            ),
            detects=Detects(size=None, kinds=[], blind=["axis", "rotated"], tried={"0.6": [0, 2]}),
        ),
    ]


def make_score(variant: str | None, **changes: Any) -> UtilityScore:
    facts: dict[str, Any] = {
        "task": "retrieval",
        "title": "Nearest neighbours kept",
        "params": {"k": 10},
        "variant": variant,
        "metric": "recall_at_k",
        "metric_meaning": "share of the nearest neighbours that are still among the nearest",
        "estimate": Estimate(1.0, 1.0, 1.0, 400, method="by definition"),
        "seed": 7,
        "seconds": 0.2,
    }
    return UtilityScore(**{**facts, **changes})


def make_run(**changes: Any) -> Run:
    facts: dict[str, Any] = {
        "title": "Support tickets, all-MiniLM-L6-v2",
        "command": "unembed audit tickets.toml --seed 7",
        "created_at": "2026-03-02T09:14:05Z",
        "finished_at": "2026-03-02T09:17:43Z",
        "seconds": 218.4,
        "status": "partial",
        "spec_given": {"corpus": "tickets.csv", "seed": 7},
        "spec": {"corpus": "tickets.csv", "seed": 7},
        "environment": Environment(
            unembed="0.1.0",
            python="3.11.9",
            platform="Linux x86_64",
            packages={"numpy": "2.1.0", "torch": "2.6.0", "scikit-learn": "1.6.0"},
            threads=8,
            device="cpu",
        ),
        "encoder": {
            "dimension": 384,
            "name": "all-MiniLM-L6-v2",
            "revision": "3f1c9a7e2b",
            "normalised": True,
            "max_tokens": 256,
            "pooling": "mean",
            "licence": "Apache-2.0",
        },
        "data": [
            DataCard(
                role="corpus",
                name="tickets.csv",
                rows=12480,
                fingerprint="sha256:6d1f0c5e8a",
                facts={"duplicates_removed": 312, "near_duplicates_grouped": 87, "split_by": "document"},
            ),
            DataCard(role="target", name="tickets.csv", rows=500, fingerprint="sha256:1b22fe09cc"),
            DataCard(role="adversary", name="tickets.csv", rows=8000, fingerprint="sha256:93ad41b0ee"),
            DataCard(role="external", name="bundled public text", rows=5000, fingerprint="sha256:aa01bb02cc"),
        ],
        "adversaries": [
            AdversaryCard(
                name="outsider",
                title="An outsider with the vectors",
                description="Holds a copy of the vectors and public text of another kind, and can have text "
                "encoded by the same model. Has never seen a text of this collection.",
                capabilities=["vectors", "query access", "external corpus"],
            ),
            AdversaryCard(
                name="insider",
                title="Somebody with part of the collection",
                description="Holds the vectors, and for another part of the collection also the texts.",
                capabilities=["vectors", "query access", "shadow corpus", "pairs", "labels"],
            ),
            AdversaryCard(
                name="weights",
                title="Somebody with part of the collection and the model's weights",
                description="As the insider, and can also run and take apart the model itself.",
                capabilities=["vectors", "query access", "shadow corpus", "pairs", "labels", "weights"],
            ),
        ],
        "utility": [
            make_score(None, notes=["scored on 400 of 500 texts"]),
            make_score("gaussian(0.05)", estimate=around(0.85), loss=around(0.15)),
            make_score("broken", estimate=undefined(), loss=undefined(), error="there are 3 vectors for 500 texts"),
        ],
        "games": [
            GameCard(
                name="inversion",
                question="Which words of a text can be read back from its vector?",
                metric="f1",
                metric_meaning="agreement between the words read back and the words of the text",
                consequence="Whoever holds the vectors holds part of the texts. Treat a copy of the "
                "vector store as a copy of the documents: same access rules, same retention.",
                tags=["OWASP LLM08:2025", "MITRE ATLAS AML.T0024.001"],
            ),
            GameCard(
                name="keyword",
                question="Can one tell whether a given word stands in a text?",
                metric="accuracy",
                metric_meaning="share of texts for which the presence of the word is told correctly",
                consequence="Single facts, such as an illness, can be looked for across all vectors at once.",
                tags=["LLM08:2025"],
            ),
            GameCard(
                name="names",
                question="Can a person's name be read back?",
                metric="swapped_name_recall",
                metric_meaning="share of the names put into other sentences that are among the recovered words",
                consequence="Whoever holds the vectors can tell whom a text is about.",
                tags=["LLM08:2025"],
            ),
            GameCard(
                name="attribute",
                question="Can one tell who wrote a text?",
                metric="top-1 accuracy",
                metric_meaning="share of texts whose author is named first",
                consequence="Texts that carry no name can be put back to a person.",
                tags=["LLM08:2025"],
            ),
        ],
        "attacks": [
            _attack("mlc", "inversion", "Multi-label classifier", "Song and Raghunathan 2020", "section 3.3"),
            _attack("shallow", "keyword", "Shallow classifier", "Pan et al. 2020", "section 4"),
            _attack("logistic", "attribute", "Logistic regression", "Song and Raghunathan 2020", "section 6"),
            _attack("mlp", "attribute", "Small network", None, None),
        ],
        "cells": [
            CellRecord(key="0f3a", identity=identity(), status="done", seconds=9.0),
            CellRecord(
                key="77bd",
                identity=identity(attack="greedy", adversary="outsider"),
                status="failed",
                error="out of memory while fitting: lower batch_size",
                traceback='Traceback (most recent call last):\n  File "x.py", line 1\nMemoryError',
            ),
        ],
        "findings": make_findings(),
        "skipped": [
            Skipped(
                what="white-box inversion",
                adversary="insider",
                reason="the adversary can't look into the encoder",
                missing=["weights"],
            ),
            Skipped(what="membership", reason="the corpus has no user column"),
        ],
        "verdict": Verdict(
            level="high",
            sentence="Somebody who holds part of this collection and a copy of the vectors can read back "
            "more than half of the words of the other texts; without the vectors it would be one in eight.",
            adversary="insider",
            findings=["inv-8000"],
        ),
    }
    facts.update(changes)
    return Run(**facts)


def _attack(name: str, game: str, title: str, paper: str | None, section: str | None) -> AttackCard:
    return AttackCard(
        name=name,
        game=game,
        title=title,
        paper=paper,
        section=section,
        departures=None,
        requires=["vectors", "pairs"],
        cost="seconds",
    )


def make_gate() -> GateResult:
    return GateResult(
        passed=False,
        exit_code=1,
        outcomes=[
            RuleOutcome(
                rule="no-inversion",
                finding="inv-8000",
                outcome="violated",
                message="excess 0.460 [0.430–0.490] is above the limit 0.2",
            ),
            RuleOutcome(
                rule="keywords",
                finding="kw-out",
                outcome="met",
                message="excess 0.010 [-0.020–0.040] stays within the limit 0.1",
            ),
            RuleOutcome(
                rule="authors",
                finding="at-net",
                outcome="could-not-measure",
                message="not trusted: the attack finds no leak planted into these vectors",
            ),
            RuleOutcome(
                rule="keywords",
                finding=None,
                outcome="not-applicable",
                severity="warning",
                message="baseline entry (game keyword; reviewed) expired on 2026-01-01",
            ),
        ],
    )
