"""Can someone read my text: the pages on inversion and on names, from the result alone."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_examples import around, make_finding, make_run

from unembed.metrics.estimate import Estimate, undefined, wilson
from unembed.report.html import render_html
from unembed.report.inversion import reading
from unembed.report.markdown import render_markdown
from unembed.report.numbers import of_hundred
from unembed.report.people import people
from unembed.report.samples import SHOWN, sample_view
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


def section(page: str) -> str:
    start = page.index('<section id="reading"')
    return page[start : page.index("</section>", start)]


def test_the_share_of_texts_is_said_as_people_count() -> None:
    page = section(render_html(make_run(findings=[inversion("a")])))
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


def test_more_knowledge_never_looks_like_less_danger() -> None:
    found = [inversion("i", value=0.6), inversion("w", adversary="weights", value=0.4, attack="sparse-coding")]
    view = reading(make_run(findings=found))
    assert view is not None
    said = {r.attack: " ".join(r.further) for r in view.readers}
    assert {attack for attack, text in said.items() if "which reads more" in text} == {"sparse-coding"}
    found[1] = inversion("w", adversary="weights", value=0.7, attack="sparse-coding")
    view = reading(make_run(findings=found))
    assert view is not None
    assert not any("which reads more" in " ".join(r.further) for r in view.readers)


def test_the_strongest_adversary_comes_first_with_the_best_attack() -> None:
    found = [
        inversion("o", adversary="outsider", value=0.3),
        inversion("i1", value=0.4),
        inversion("i2", value=0.6, attack="mlp"),
        inversion("c", value=0.2, pairs=50, curve=True),
    ]
    view = reading(make_run(findings=found))
    assert view is not None
    assert [r.who for r in view.readers] == ["Somebody with part of the collection", "An outsider with the vectors"]
    assert [r.attack for r in view.readers] == ["Small network", "Multi-label classifier"]
    assert len(view.rows) == 3


def test_an_adversary_without_a_result_is_not_shown_as_one_who_reads_nothing() -> None:
    poor = inversion("x", status="could-not-measure", level="unknown", trusted=False)
    page = section(render_html(make_run(findings=[poor])))
    assert "not a sign of safety" in page
    assert "Of 100 texts" not in page
    assert "tone-none" not in page


def test_a_result_without_shares_of_texts_still_has_a_page() -> None:
    page = section(render_html(make_run(findings=[make_finding("a", metric="content_f1", value=0.5)])))
    assert "(content f1): 0.50 [0.47–0.53]" in page
    assert "Guessing without the vectors reaches 0.10" in page


def test_without_inversion_and_names_there_is_no_such_section() -> None:
    page = render_html(make_run(findings=[make_finding("k", game="keyword", metric="accuracy")]))
    assert 'id="reading"' not in page
    assert 'href="#reading"' not in page
    assert "Can someone read" not in render_markdown(make_run(findings=[make_finding("k", game="keyword")]))


def test_right_wrong_and_missed_words_are_told_apart_in_the_order_of_confidence() -> None:
    sample = Sample(target="t", truth=["a•••", "b•", "c••"], recovered=["b•", "x•", "a•••"], hits=[True, False, True])
    view = sample_view(sample)
    assert [(w.text, w.fate) for w in view.named] == [("b•", "hit"), ("x•", "wrong"), ("a•••", "hit")]
    assert [w.text for w in view.missed] == ["c••"]
    assert view.summary == "2 of 3 read back, 1 wrong"
    page = section(render_html(make_run(findings=[inversion("a", samples=[sample])])))
    for mark in ("✓", "✗", "right: ", "wrong: ", 'class="missed"'):
        assert mark in page


@given(st.lists(st.sampled_from("abc"), max_size=6), st.lists(st.sampled_from("abcd"), max_size=60))
def test_of_masked_words_that_look_alike_as_many_are_missed_as_were_not_found(
    truth: list[str], said: list[str]
) -> None:
    left, hits = list(truth), []
    for word in said:
        hits.append(word in left)
        if hits[-1]:
            left.remove(word)
    view = sample_view(Sample(target="t", truth=truth, recovered=said, hits=hits))
    assert sorted(w.text for w in view.missed) == sorted(left)
    assert len(view.named) == min(len(said), SHOWN)
    assert bool(view.more) == (len(said) > SHOWN)


def test_a_sample_that_does_not_say_what_was_right_marks_nothing() -> None:
    view = sample_view(Sample(target="t", truth=["a"], recovered=["a", "b"]))
    assert {w.fate for w in (*view.named, *view.missed)} == {"plain"}


def test_examples_in_clear_stay_closed_and_masked_ones_are_open() -> None:
    def drawn(masked: bool) -> str:
        sample = Sample(target="t", truth=["a"], recovered=["a"], hits=[True], masked=masked)
        return section(render_html(make_run(findings=[inversion("a", samples=[sample])])))

    assert '<details class="samples" open>' in drawn(True)
    assert '<details class="samples">' in drawn(False)
    assert "in clear" in drawn(False)


def test_kinds_of_words_show_the_score_with_its_floor_and_the_share() -> None:
    slices = [
        Slice(kind="word frequency", name="ranks 1–100", estimate=around(0.5), floor=0.11),
        Slice(kind="word frequency, recall", name="ranks 1–100", estimate=around(0.4), floor=0.99),
        Slice(kind="word class", name="names", estimate=around(0.2)),
        Slice(kind="word", name="d••••• (word 4)", estimate=wilson(15, 20), floor=1.0),
    ]
    view = reading(make_run(findings=[inversion("a", slices=slices)]))
    assert view is not None
    (details,) = view.details
    frequency, kind = details.parts
    assert [(b.value, b.floor) for b in frequency.bars] == [("0.50 [0.47–0.53]", "0.11")]
    assert frequency.bars[0].note == "40.0% [37.0–43.0%] of them come back"
    assert [(b.name, b.floor, b.note) for b in kind.bars] == [("names", "–", "")]
    (row,) = details.words
    assert (row.word, row.present, row.recovered) == ("d•••••", "20", "15")
    page = section(render_html(make_run(findings=[inversion("a", slices=slices)])))
    assert "99" not in re.sub(r'aria-label="[^"]*"|[xy12]+="[^"]*"|<svg.*?</svg>', "", page)


def test_names_stand_beside_the_same_sentences_without_them() -> None:
    view = people(make_run(findings=[names()]))
    assert view is not None
    (who,) = view.readers
    assert who.sentence == "Of 100 names put into sentences where nobody expects them, 45 [42–48] come back."
    assert "In the same sentences without the name, 2 [1–3] are named all the same." in who.further
    assert [(b.value, b.floor) for b in who.bars] == [("45.0% [42.0–48.0%]", "2.0%"), ("60.0% [57.0–63.0%]", "10.0%")]
    assert [(r.word, r.present, r.recovered, r.floor) for r in view.details[0].rows] == [("A•••", "20", "9", "5.0%")]
    page = section(render_html(make_run(findings=[names()])))
    assert "People&#39;s names" in page or "People's names" in page


def test_markdown_and_csv_tell_the_shares_too() -> None:
    run = make_run(findings=[inversion("a"), inversion("c", pairs=50, curve=True, value=0.2), names()])
    text = render_markdown(run)
    assert "## Can someone read my text?" in text
    assert "37 \\[33–41\\] give back half" in text
    assert "45 \\[42–48\\] come back" in text
    table = {row["id"]: row for row in csv.DictReader(io.StringIO(render_csv(run)))}
    assert float(table["a"]["texts_half_recovered"]) == 0.37
    assert (table["a"]["curve"], table["c"]["curve"]) == ("False", "True")
    assert (table["n"]["texts_half_recovered"], float(table["n"]["original_name_recall"])) == ("", 0.6)
