"""``--dry-run``: what an audit would do and take; a few texts are encoded to learn that, and nothing is sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from unembed.cli.output import Voice, table
from unembed.encoders.base import EncoderCard, is_white_box
from unembed.encoders.blocks import text_hash
from unembed.encoders.cache import blocks, full_card, inside
from unembed.encoders.endpoint import CallEstimate, EndpointEncoder
from unembed.runner.budget import seconds_for
from unembed.runner.checking import endpoint_of
from unembed.runner.execute import wanted_queries
from unembed.runner.forecast import Forecast, encoded_texts, forecast
from unembed.runner.plan import Plan, ask, make_plan
from unembed.runner.prepare import Sides, counting_learnt, open_encoder, read_sides, training_side
from unembed.runner.references import takes_references
from unembed.runner.spec import AuditSpec


def plan_only(spec: AuditSpec, voice: Voice) -> int:
    """Show the plan; a plan without cells is the error it would be when run."""
    sides = read_sides(spec)
    sides = counting_learnt(replace(sides, training=training_side(spec, sides)))
    endpoint = endpoint_of(spec)
    encoder = open_encoder(spec, sides) if endpoint is None else endpoint
    card = full_card(encoder) if endpoint is None else _unasked(endpoint)
    asked = ask(spec, sides)
    plan = make_plan(spec, sides, asked, card, "not encoded", white_box=is_white_box(inside(encoder)))
    plan.check()
    queries = wanted_queries(spec, sides, asked, plan.cells)
    estimate = currency = None
    if endpoint is not None:
        calls = _calls(encoded_texts(sides, queries), cached=not spec.run.no_cache)
        estimate, currency = endpoint.estimate(*calls), endpoint.currency
    expected = forecast(spec, sides, plan.cells, queries, encoder if endpoint is None else None)
    _show(voice, sides, card, plan, queries, spec)
    voice.line(_time(expected))
    if estimate is not None:
        voice.line(_endpoint(estimate, currency))
    _show_plan(voice, plan, spec)
    voice.data(
        {
            "dry_run": True,
            "encoder": card.name,
            "texts": {"target": len(sides.target), **{k: len(v) for k, v in sides.known.items()}},
            "queries": {k: len(v) for k, v in queries.items()},
            "cells": [{"key": c.key, "label": c.identity.label} for c in plan.cells],
            "skipped": [s.model_dump() for s in plan.skipped],
            "time": {
                "texts_to_encode": expected.to_encode,
                "trial_texts": expected.trial,
                "encoding_seconds": expected.encoding,
                "measuring_seconds": expected.measuring,
            },
            "endpoint": None
            if estimate is None
            else {
                "requests": estimate.requests,
                "tokens": estimate.tokens,
                "cost": estimate.cost,
                "currency": currency,
            },
        }
    )
    return 0


def _unasked(encoder: EndpointEncoder) -> EncoderCard:
    return EncoderCard(f"endpoint:{encoder.model}", "endpoint", None, 0, False, remote=True)


def _calls(asked: Iterator[Sequence[str]], *, cached: bool) -> Iterator[list[str]]:
    """The texts of every call that the encoder would get, if the cache holds none of them yet."""
    held: set[bytes] = set()
    for texts in asked:
        if not cached:
            yield list(texts)
            continue
        new = {key: text for text in texts if (key := text_hash(text)) not in held}
        held.update(new)
        yield from (list(block.values()) for block in blocks(new))


def _price(cost: float | None, currency: str | None) -> str:
    if cost is None:
        return "unknown (set price_per_million_tokens)"
    amount = "below 0.01" if 0 < cost < 0.01 else f"{cost:,.2f}"
    return f"{amount} {currency or 'in the currency of price_per_million_tokens'}"


def _endpoint(estimate: CallEstimate, currency: str | None) -> str:
    return (
        f"Endpoint: at least {estimate.requests:,} requests and {estimate.tokens:,} tokens, more where attacks ask as "
        f"they go; cost {_price(estimate.cost, currency)}. What the cache holds already is not sent."
    )


def _time(expected: Forecast) -> str:
    """The time in minutes, and what it rests on."""
    minutes = expected.seconds / 60
    about = (
        "less than a minute" if minutes < 1 else "about a minute" if minutes < 1.5 else f"about {minutes:,.0f} minutes"
    )
    guess = "the attacks' share is a rough guess"
    if expected.encoding is None:
        return f"Time: {about} on this machine for the attacks, a rough guess; the endpoint's comes on top."
    if not expected.to_encode:
        return f"Time: {about} on this machine, with no text to encode; {guess}."
    return (
        f"Time: {about} on this machine, from a trial of {expected.trial:,} of {expected.to_encode:,} texts to encode; "
        f"{guess}."
    )


def _show(
    voice: Voice,
    sides: Sides,
    card: EncoderCard,
    plan: Plan,
    queries: dict[str, list[str]],
    spec: AuditSpec,
) -> None:
    voice.line(f"{len(plan.cells)} measurements on {card.name}; nothing is run.")
    held = ", ".join(f"{len(v):,} {k}" for k, v in sides.known.items())
    asked = ", ".join(f"{len(v):,} by the {k}" for k, v in queries.items() if v) or "none"
    voice.line(f"Texts: {len(sides.target):,} under attack; known to adversaries: {held}; queries: {asked}.")
    if (seconds := seconds_for(spec, next(c.rows for c in sides.cards if c.role == "corpus"))) is not None:
        voice.line(f"A budget of {seconds / 60:.3g} minutes: fewer texts are used if all would take longer.")


def _show_plan(voice: Voice, plan: Plan, spec: AuditSpec) -> None:
    if spec.references and any(takes_references(c) for c in plan.cells):
        voice.line(f"References beside the findings: {', '.join(spec.references)}.")
    rows: list[tuple[Any, ...]] = [(n, c.identity.label) for n, c in enumerate(plan.cells, start=1)]
    voice.show(table(("", "Measurement"), rows, right=(0,)))
    if plan.skipped:
        left_out = [(s.what, s.adversary or "all", s.reason) for s in plan.skipped]
        voice.show(table(("Left out", "For", "Because"), left_out))
