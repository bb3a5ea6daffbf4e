"""Can someone read my text: the rows on words and on names, from the result alone."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_examples import around, make_finding, make_run

from unembed.metrics.estimate import Estimate, undefined, wilson
from unembed.report.html import render_html
from unembed.report.markdown import render_markdown
from unembed.report.numbers import of_hundred
from unembed.report.parts import SHOWN, sample_view
from unembed.report.questions import FindingView, questions
from unembed.report.table import render_csv
from unembed.results.schema import Finding, Floor, Sample, Slice

SHARES = {
    "texts_a_quarter_recovered": around(0.62),
    "texts_half_recovered": around(0.37, 0.04),
    "texts_three_quarters_recovered": around(0.08),
    "content_precision": around(0.71),
}


def inversion(id: str, **changes: Any) -> Finding:
    return make_finding(id, **{"metric": "content_f1", "secondary": SHARES, **changes})


def names(id: str = "n", **changes: Any) -> Finding:
    facts: dict[str, Any] = {
        "game": "names",
        "metric": "swapped_name_recall",
        "value": 0.45,
        "floors": [
            Floor(kind="prior", estimate=around(0.03, 0.01)),
            Floor(kind="without", estimate=around(0.02, 0.01)),
        ],
        "secondary": {"original_name_recall": around(0.6), "original_name_false_alarms": around(0.1)},
        "slices": [Slice(kind="name", name="A••• (name 1)", estimate=wilson(9, 20), floor=0.05)],
    }
    return make_finding(id, **{**facts, **changes})


def only(finding: Finding) -> FindingView:
    ((view,),) = (q.findings for q in questions(make_run(findings=[finding])))
    return view


def findings_of(page: str) -> str:
    start = page.index('<div class="rows">')
    return page[start : page.index("</article>", start)]


def test_the_share_of_texts_is_said_as_people_count() -> None:
    page = findings_of(render_html(make_run(findings=[inversion("a")])))
    assert "Of 100 texts, 37 [33–41] give back half of their words or more." in page
    assert "Of 100 words the adversary names, 71 [68–74] are right." in page
    for share in ("a quarter", "half", "three quarters"):
        assert f"{share} of its words or more" in page


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (Estimate(0.37, 0.33, 0.41, 9), "37 [33–41] give"),
        (Estimate(0.01, 0.0, 0.02, 9), "1 [0–2] gives"),
        (Estimate(0.0, 0.0, 0.03, 9), "none [0–3] gives"),
        (Estimate(0.0, 0.0, 0.0, 9), "none gives"),
        (Estimate(0.002, 0.0, 0.01, 9), "fewer than 1 [0–1] gives"),
        (Estimate(0.998, 0.98, 1.0, 9), "more than 99 [98–100] give"),
        (Estimate(1.0, 0.98, 1.0, 9), "all [98–100] give"),
        (undefined(), "an unknown number give"),
    ],
)
def test_of_a_hundred(estimate: Estimate, text: str) -> None:
    assert of_hundred(estimate, "gives", "give") == text


def test_every_finding_has_one_row_the_largest_leak_first() -> None:
    found = [
        inversion("o", adversary="outsider", value=0.3),
        inversion("i1", value=0.4),
        inversion("i2", value=0.6, attack="mlp"),
        inversion("w", adversary="weights", value=0.5),
        inversion("c", value=0.2, pairs=50, curve=True),
    ]
    (question,) = questions(make_run(findings=found))
    assert [v.finding.id for v in question.findings] == ["i2", "w", "i1", "o"]
    assert [v.finding.id for v in sorted(question.findings, key=lambda v: v.order)] == ["o", "i2", "i1", "w"]
    assert [v.best for v in question.findings] == [True, False, False, False]
    page = render_html(make_run(findings=found))
    assert page.count('<details class="f ') == 4
    assert "Whoever holds more can also do what is shown for those who hold less." in page


def test_an_adversary_without_a_result_is_not_shown_as_one_who_reads_nothing() -> None:
    poor = inversion("x", status="could-not-measure", level="unknown", trusted=False)
    page = findings_of(render_html(make_run(findings=[poor])))
    assert "not a sign of safety" in page
    assert "Of 100 texts" not in page
    assert "tone-none" not in page


def test_a_result_without_shares_of_texts_still_has_its_words() -> None:
    page = findings_of(render_html(make_run(findings=[make_finding("a", metric="content_f1", value=0.5)])))
    assert "(content f1): 0.50 [0.47–0.53]" in page
    assert "Guessing without the vectors reaches 0.10" in page


def test_right_and_wrong_words_are_told_apart_in_the_order_of_confidence() -> None:
    facts: dict[str, Any] = {"target": "t", "truth": ["a•••", "b•", "•"], "recovered": ["b•", "x•", "a•••"]}
    view = sample_view(Sample(**facts, hits=[True, False, True]))
    assert [(w.text, w.fate) for w in view.named] == [("b•", "hit"), ("x•", "wrong"), ("a•••", "hit")]
    assert view.summary == "2 of 3 read back, 1 wrong"
    page = findings_of(
        render_html(make_run(findings=[inversion("a", samples=[Sample(**facts, hits=[True, False, True])])]))
    )
    for mark in ("✓", "✗", "right: ", "wrong: "):
        assert mark in page


def test_of_masked_words_that_no_attack_found_only_the_number_is_told() -> None:
    sample = Sample(target="t", truth=["a•••", "q•••••", "z••"], recovered=["a•••"], hits=[True])
    view = sample_view(sample)
    assert (view.missed, view.unseen) == ([], "2 words")
    page = render_html(make_run(findings=[inversion("a", samples=[sample])]))
    assert "q•••••" not in page
    assert "z••" not in page


@given(st.lists(st.sampled_from("abc"), max_size=40), st.lists(st.sampled_from("abcd"), max_size=60))
def test_as_many_words_are_missed_as_were_not_found(truth: list[str], said: list[str]) -> None:
    left, hits = list(truth), []
    for word in said:
        hits.append(word in left)
        if hits[-1]:
            left.remove(word)
    view = sample_view(Sample(target="t", truth=truth, recovered=said, hits=hits, masked=False))
    assert len(view.missed) == min(len(left), SHOWN)
    assert not {w.text for w in view.missed} - set(left)
    assert view.unseen == (f"and {len(left) - SHOWN} more" if len(left) > SHOWN else "")
    assert len(view.named) == min(len(said), SHOWN)
    assert bool(view.more) == (len(said) > SHOWN)


def test_a_sample_that_does_not_say_what_was_right_marks_nothing() -> None:
    view = sample_view(Sample(target="t", truth=["a"], recovered=["a", "b"], masked=False))
    assert {w.fate for w in (*view.named, *view.missed)} == {"plain"}


def test_examples_stay_closed() -> None:
    sample = Sample(target="t", truth=["a"], recovered=["a"], hits=[True], masked=False)
    page = findings_of(render_html(make_run(findings=[inversion("a", samples=[sample])])))
    assert '<details class="samples">' in page
    assert " open>" not in page
    assert "in clear" in page


def test_kinds_of_words_show_the_score_with_its_floor_and_the_share() -> None:
    slices = [
        Slice(kind="word frequency", name="ranks 1–100", estimate=around(0.5), floor=0.11),
        Slice(kind="word frequency, recall", name="ranks 1–100", estimate=around(0.4), floor=0.99),
        Slice(kind="word class", name="people", estimate=around(0.2)),
        Slice(kind="word", name="d••••• (word 4)", estimate=wilson(15, 20), floor=1.0),
    ]
    frequency, kind, words = only(inversion("a", slices=slices)).rankings
    (row,) = frequency.rows
    assert (row.value, row.floor) == ("0.50 [0.47–0.53]", "0.11")
    assert row.note == "40.0% [37.0–43.0%] come back"
    assert [(r.name, r.floor, r.note) for r in kind.rows] == [("people", "–", "")]
    (word,) = words.rows
    assert (word.name, word.texts, word.value.split()[0], word.floor) == ("d••••• (no. 4)", "20", "75.0%", "–")


def test_names_stand_beside_the_same_sentences_without_them() -> None:
    view = only(names())
    assert view.sentences[0] == "Of 100 names put into sentences where nobody expects them, 45 [42–48] come back."
    assert "In the same sentences without the name, 2 [1–3] are named all the same." in view.sentences
    assert "Of 100 names where they stood, 60 [57–63] come back." in view.sentences
    assert "In sentences without them, 10 [7–13] are named all the same." in view.sentences
    ((row,),) = (r.rows for r in view.rankings)
    assert (row.name, row.texts, row.value.split()[0], row.floor) == ("A••• (no. 1)", "20", "45.0%", "5.0%")


def test_markdown_and_csv_tell_the_shares_too() -> None:
    run = make_run(findings=[inversion("a"), inversion("c", pairs=50, curve=True, value=0.2), names()])
    text = render_markdown(run)
    assert "37 \\[33–41\\] give back half" in text
    assert "45 \\[42–48\\] come back" in text
    table = {row["id"]: row for row in csv.DictReader(io.StringIO(render_csv(run)))}
    assert float(table["a"]["texts_half_recovered"]) == 0.37
    assert (table["a"]["curve"], table["c"]["curve"]) == ("False", "True")
    assert (table["n"]["texts_half_recovered"], float(table["n"]["original_name_recall"])) == ("", 0.6)
