"""Page one: the answer, the cards, the price, what to do, what was not tested."""

from __future__ import annotations

import re
from typing import Any

import pytest
from report_examples import around, make_finding, make_run

from unembed.report.advice import advice
from unembed.report.answer import NO_OUTSIDER, answer, cards, easiest, open_questions, untested
from unembed.report.html import render_html
from unembed.report.markdown import render_markdown
from unembed.results.schema import Coverage, DataCard, Finding, Run, Sample, Skipped, Verdict

HALF = {"texts_half_recovered": around(0.34), "content_precision": around(0.5)}


def words(id: str, **changes: Any) -> Finding:
    return make_finding(id, **{"metric": "content_f1", "secondary": HALF, **changes})


def attribute(id: str, subject: str, **changes: Any) -> Finding:
    facts: dict[str, Any] = {"game": "attribute", "metric": "balanced_accuracy", "subject": subject}
    return make_finding(id, **{**facts, **changes})


def run_of(*findings: Finding, **changes: Any) -> Run:
    plain: dict[str, Any] = {"findings": list(findings), "status": "complete", "cells": [], "utility": []}
    return make_run(**{**plain, **changes})


def leak(name: str, *ids: str) -> Verdict:
    return Verdict(level="high", sentence="It leaks.", adversary=name, findings=list(ids))


def brief(run: Run) -> str:
    page = render_html(run)
    text = page[page.index('<div class="brief">') : page.index('<section id="findings"')]
    return " ".join(re.sub(r"<[^>]+>", " ", text).split())


def test_where_only_training_data_are_told_the_answer_speaks_of_the_model() -> None:
    changes: dict[str, Any] = {"game": "membership-user", "metric": "balanced_accuracy", "section": "training"}
    learnt = make_finding("t", **changes, secondary={"found": around(0.8), "false_alarms": around(0.1)})
    verdict = leak("insider", "t")
    run = run_of(learnt, verdict=verdict)
    assert answer(run, cards(run)).startswith("This model gives away what it learnt from: ")
    both = run_of(words("w"), learnt, verdict=verdict)
    assert answer(both, cards(both)).startswith("These vectors give away much of what the texts say: ")


def test_the_answer_is_one_sentence_with_the_strongest_figures() -> None:
    run = run_of(words("w", secondary_floors={"texts_half_recovered": 0.02}), attribute("a", "topic", value=0.93))
    assert answer(run, cards(run)) == (
        "These vectors give away much of what the texts say: 34 of 100 texts give back half of their words or more "
        "(guessing: 2 of 100); and 93 of 100 texts are put to the right “topic”, every value counted "
        "alike (guessing: 10 of 100)."
    )


def test_there_are_three_cards_and_the_figure_names_the_attribute() -> None:
    read, look, infer = cards(run_of(words("w"), attribute("a", "topic", value=0.9), attribute("b", "author")))
    assert (read.title, look.title, infer.title) == (
        "Read the words",
        "Look for a secret or a word",
        "Infer an attribute",
    )
    assert infer.figure is not None
    assert infer.figure.what == "texts are put to the right “topic”, every value counted alike"
    assert infer.more == [
        "50 of 100 texts are put to the right “author”, every value counted alike (guessing: 10 of 100)"
    ]
    assert (look.figure, look.badge, look.tone) == (None, "Not tested", "unknown")
    assert "Nothing here is known to be safe" in look.said
    assert {t.id for t in read.taxa} == {"LLM08:2025", "AML.T0024.001", "LLM02:2025"}


def test_a_card_names_who_got_furthest_and_who_needs_least() -> None:
    found = [
        words("i", value=0.6),
        words("w", adversary="weights", value=0.4, secondary={"texts_half_recovered": around(0.13)}),
        words("o", adversary="outsider", value=0.2, secondary={"texts_half_recovered": around(0.02)}),
    ]
    card = cards(run_of(*found))[0]
    assert card.figure is not None
    assert card.figure.value == "34 of 100"
    assert card.who == "Somebody with part of the collection, from 2,000 pairs of text and vector"
    assert card.easiest == "outsider: 2 of 100 texts give back half of their words or more"


def test_a_word_is_looked_for_among_all_texts_and_not_where_half_of_them_hold_it() -> None:
    held = {"prevalence": around(0.03), "precision_among_first_n": around(0.24)}
    found = make_finding("k", game="keyword", metric="accuracy", value=0.64, floor_value=0.5, secondary=held)
    figure = cards(run_of(found))[1].figure
    assert figure is not None
    assert figure.clause == "24 of 100 texts picked out as mentioning a given word do mention it (guessing: 3 of 100)"


def test_secrets_that_only_come_back_in_part_are_not_said_to_be_read() -> None:
    held = {"whole_top1": around(0.002, 0.001)}
    secret = {"game": "pattern", "metric": "accuracy", "subject": "phone", "value": 0.54, "secondary": held}
    figure = cards(run_of(make_finding("p", about="encoder", **secret)))[1].figure
    assert figure is not None
    assert figure.what == (
        "parts of a secret of the form “phone” are read right; whole: fewer than 1 of 100; all made up, no text of "
        "yours holds one"
    )


@pytest.mark.parametrize(
    ("finding", "tone", "judged"),
    [
        (words("n", value=0.1), "none", "No leak found"),
        (words("n", value=0.1, status="inconclusive", level="unknown"), "inconclusive", "Inconclusive"),
        (words("n", trusted=False, status="could-not-measure", level="unknown"), "unknown", "Could not measure"),
    ],
)
def test_a_card_without_a_leak_reassures_only_where_it_was_measured(finding: Finding, tone: str, judged: str) -> None:
    card = cards(run_of(finding))[0]
    assert (card.tone, card.badge, card.figure) == (tone, judged, None)


def test_the_example_on_a_card_shows_only_words_that_were_found() -> None:
    samples = [
        Sample(target="t", truth=["v•••", "z•••••"], recovered=["v•••", "k••"], hits=[True, False]),
        Sample(target="u", truth=["z•••••"], recovered=["k••"], hits=[False]),
    ]
    shown = cards(run_of(words("w", samples=samples)))[0].example
    assert shown is not None
    assert [w.text for w in shown.named if w.fate == "hit"] == ["v•••"]
    text = brief(run_of(words("w", samples=samples)))
    assert "v•••" in text
    assert "k••" not in text
    assert "z•••••" not in text


def test_the_easiest_attacker_is_named_with_their_price() -> None:
    points = [words(f"c{n}", adversary="outsider", pairs=n, curve=True, value=0.3) for n in (50, 500)]
    run = run_of(words("o", adversary="outsider", pairs=2000), *points, words("i"), verdict=leak("outsider", "o"))
    found = easiest(run)
    assert found is not None
    assert dict(found.price) == {
        "Pairs": "2,000 texts with their vectors, made of texts of their own that they had encoded "
        "(50 are enough for a leak to show)",
        "Queries": "none besides",
        "Computing": "13 s on cpu, 8 threads, to attack 500 vectors",
        "Money": "no fee: the encoder was run on this machine",
    }
    text = brief(run)
    assert "Easiest attacker: outsider" in text
    assert "recital 26" in text
    assert "article 33" in text
    assert "Easiest attacker: outsider" in render_markdown(run)


def test_money_is_told_with_its_currency_or_not_at_all() -> None:
    options = {"price_per_million_tokens": 0.02, "currency": "EUR"}
    read = Coverage(limit=512, texts=5000, longer=0, tokens=3_000_000, unread=0)
    data = [DataCard(role="external", name="p", rows=5000, fingerprint="f", coverage=read)]
    facts: dict[str, Any] = {"verdict": leak("outsider", "o"), "encoder": {"name": "x", "remote": True}, "data": data}
    for given, told in (
        (options, "about 0.06 EUR at 0.02 EUR per million tokens"),
        ({**options, "currency": None}, "what the provider charges for 2,000 texts: not known here"),
    ):
        found = easiest(run_of(words("o", adversary="outsider"), spec={"encoder": {"options": given}}, **facts))
        assert found is not None
        assert dict(found.price)["Money"] == told


def test_with_stored_vectors_it_is_said_that_no_outsider_was_played() -> None:
    stored = [a for a in make_run().adversaries if a.name == "insider"]
    run = run_of(words("i"), adversaries=stored, verdict=leak("insider", "i"))
    assert NO_OUTSIDER in brief(run)
    assert open_questions(run)[0] == NO_OUTSIDER
    assert "1 of 1" not in brief(run)
    played = run_of(words("i"), words("o", adversary="outsider", value=0.1))
    assert NO_OUTSIDER not in brief(played)


def test_advice_follows_from_the_findings_and_promises_nothing_unmeasured() -> None:
    def told(run: Run) -> str:
        return " ".join(a.do + " " + a.why for a in advice(run))

    outside = told(run_of(words("o", adversary="outsider"), words("i")))
    assert "Don't publish or share the vectors" in outside
    assert "None was measured" in outside
    inside = told(run_of(words("o", adversary="outsider", value=0.1), words("i")))
    assert "Don't publish" not in inside
    assert "Keep texts and vectors apart" in inside
    learnt = told(run_of(words("t", section="training")))
    assert "Train again" in learnt
    assert "vectors of every chunk" not in learnt
    assert "Train again" not in inside
    none = told(run_of(words("n", value=0.1)))
    assert "Treat the vectors" not in none
    assert "no proof of safety" in none
    assert advice(run_of()) == []


def test_a_measured_defense_is_advised_with_its_cost_and_hidden_weights_only_where_they_help() -> None:
    variant = Verdict(level="low", sentence="Little is left.", variant="gaussian(0.05)")
    verdict = leak("insider", "i").model_copy(update={"variants": [variant]})
    run = run_of(words("i"), verdict=verdict, utility=make_run().utility[:2])
    (weighed,) = [a for a in advice(run) if "defenses that were measured" in a.do]
    assert weighed.why == (
        "gaussian(0.05): low exposure against somebody who knows it; costs 15.0 points of “nearest neighbours kept”."
    )
    useless = verdict.model_copy(update={"variants": [variant.model_copy(update={"level": "high"})]})
    assert [a for a in advice(run_of(words("i"), verdict=useless)) if a.do.startswith("Don't rely on the defenses")]
    for value, do in ((0.4, "Don't count on keeping"), (0.8, "Keep the model's weights private")):
        found = advice(run_of(words("i", value=0.6), words("w", adversary="weights", value=value)))
        assert [a for a in found if a.do.startswith(do)]


def test_what_was_not_tested_is_listed_once_with_its_subjects() -> None:
    def left_out(subject: str) -> Skipped:
        lacking = {"reason": "the outsider lacks: labels", "missing": ["labels"]}
        return Skipped(what="logistic", subject=subject, adversary="outsider", **lacking)

    run = run_of(words("i"), skipped=[left_out("topic"), left_out("author"), left_out("topic")])
    (row,) = untested(run)
    assert (row.what, row.subject, row.who) == ("Logistic regression", "topic, author", "An outsider with the vectors")
    assert row.reason == "needs what they lack: the sensitive attribute of some texts"


def test_filters_name_every_attacker_and_work_without_a_script() -> None:
    page = render_html(make_run())
    assert "<script" not in page
    for name in ("about", "by", "is", "with", "order"):
        assert page.count(f'name="{name}"') >= 2
        assert page.count(f'name="{name}" checked') == 1
    for control in re.findall(r'<input type="radio" name="\w+" id="([\w-]+)"', page):
        assert f"#{control}:checked" in page
    rows = re.findall(r'<details class="f tone-\w+ (by-\d+) (is-\w+) (with-\d+)', page)
    assert len(rows) == len([f for f in make_run().findings if not f.curve])


def test_technical_identity_stands_at_the_end() -> None:
    text = brief(make_run())
    for detail in ("3f1c9a7e2b", "sha256:6d1f0c5e8a", "Pooling", "Seed", "Linux"):
        assert detail not in text
        assert detail in render_html(make_run())


def test_a_resumed_audit_tells_the_time_of_all_its_measurements() -> None:
    cells = [make_run().cells[0].model_copy(update={"seconds": 300.0})]
    assert "5 min 0 s of measuring" in render_html(make_run(cells=cells, seconds=0.583, utility=[]))
    assert "took 3 min 38 s" in render_html(make_run())


def test_a_question_without_a_section_is_told_by_its_claim() -> None:
    claim = "can tell which texts hold a person's name with a balanced accuracy of 72%; 17% of all texts do"
    asked = make_finding("p", game="own", metric="accuracy", subject="a person's name", claim=claim, value=0.72)
    run = run_of(words("w"), asked)
    told = answer(run, cards(run))
    assert (
        "; and somebody can tell which texts hold a person's name with a balanced accuracy of 72% (guessing: " in told
    )
    assert "17%" not in told
