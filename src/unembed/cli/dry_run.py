"""``--dry-run``: what an audit would do, without encoding or sending anything."""

from __future__ import annotations

from typing import Any

from unembed.audit.execute import wanted_queries
from unembed.audit.plan import Plan, ask, make_plan
from unembed.audit.prepare import Sides, open_encoder, read_sides
from unembed.audit.references import takes_references
from unembed.audit.spec import AuditSpec
from unembed.cli.output import Voice, table
from unembed.encoders import build_encoder
from unembed.encoders.base import EncoderCard, is_white_box
from unembed.encoders.cache import full_card, inside
from unembed.encoders.endpoint import CallEstimate, EndpointEncoder
from unembed.errors import NothingRanError


def plan_only(spec: AuditSpec, voice: Voice) -> int:
    """Show the plan; a plan without cells is the error it would be when run."""
    sides = read_sides(spec)
    endpoint = _endpoint(spec)
    encoder = open_encoder(spec, sides) if endpoint is None else endpoint
    card = full_card(encoder) if endpoint is None else _unasked(endpoint)
    asked = ask(spec, sides)
    plan = make_plan(spec, sides, asked, card, "not encoded", white_box=is_white_box(inside(encoder)))
    if not plan.cells:
        reasons = "; ".join(dict.fromkeys(s.reason for s in plan.skipped[:4]))
        raise NothingRanError(f"nothing to run: {reasons}")
    queries = wanted_queries(spec, sides, asked, plan.cells)
    estimate = None
    if endpoint is not None:
        estimate = endpoint.estimate(_texts(sides, queries))
    _show(voice, sides, card, plan, queries, estimate, spec.references)
    voice.data(
        {
            "dry_run": True,
            "encoder": card.name,
            "texts": {"target": len(sides.target), **{k: len(v) for k, v in sides.known.items()}},
            "queries": {k: len(v) for k, v in queries.items()},
            "cells": [{"key": c.key, "label": c.identity.label} for c in plan.cells],
            "skipped": [s.model_dump() for s in plan.skipped],
            "endpoint": None
            if estimate is None
            else {"requests": estimate.requests, "tokens": estimate.tokens, "cost": estimate.cost},
        }
    )
    return 0


def _endpoint(spec: AuditSpec) -> EndpointEncoder | None:
    """The encoder, where it is an endpoint, which must not be asked anything now."""
    if spec.data.vectors is not None or spec.encoder.name.partition(":")[0] != "endpoint":
        return None
    made = build_encoder(spec.encoder.name, spec.encoder.options)
    return made if isinstance(made, EndpointEncoder) else None


def _unasked(encoder: EndpointEncoder) -> EncoderCard:
    return EncoderCard(f"endpoint:{encoder.model}", "endpoint", None, 0, False, remote=True)


def _texts(sides: Sides, queries: dict[str, list[str]]) -> list[str]:
    corpora = [sides.target, *sides.known.values()]
    return list(dict.fromkeys(t for part in (*(c.texts for c in corpora), *queries.values()) for t in part))


def _show(
    voice: Voice,
    sides: Sides,
    card: EncoderCard,
    plan: Plan,
    queries: dict[str, list[str]],
    estimate: CallEstimate | None,
    names: list[str],
) -> None:
    voice.line(f"{len(plan.cells)} measurements on {card.name}; nothing is run.")
    held = ", ".join(f"{len(v):,} {k}" for k, v in sides.known.items())
    asked = ", ".join(f"{len(v):,} by the {k}" for k, v in queries.items() if v) or "none"
    voice.line(f"Texts: {len(sides.target):,} under attack; known to adversaries: {held}; queries: {asked}.")
    if estimate is not None:
        price = "unknown (set price_per_million_tokens)" if estimate.cost is None else f"{estimate.cost:.2f}"
        voice.line(f"Endpoint: about {estimate.requests:,} requests and {estimate.tokens:,} tokens; cost {price}.")
    if names and any(takes_references(c) for c in plan.cells):
        voice.line(f"References beside the findings: {', '.join(names)}.")
    rows: list[tuple[Any, ...]] = [(n, c.identity.label) for n, c in enumerate(plan.cells, start=1)]
    voice.show(table(("", "Measurement"), rows, right=(0,)))
    if plan.skipped:
        left_out = [(s.what, s.adversary or "all", s.reason) for s in plan.skipped]
        voice.show(table(("Left out", "For", "Because"), left_out))
