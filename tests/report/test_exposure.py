"""Which keywords, attributes and numbers leak: the pages on them, from the result alone."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_examples import around, make_finding, make_run

from cell_identities import identity, made
from unembed.metrics.estimate import Estimate, wilson
from unembed.report.attributes import attributes
from unembed.report.html import render_html
from unembed.report.keywords import keywords
from unembed.report.markdown import render_markdown
from unembed.report.numbers import number
from unembed.report.ranked import FIRST, LAST, MOST_DRAWN, by_exposure, part_tone, ranking
from unembed.results.schema import CellRecord, Finding, Slice


def word(name: str, right: int, of: int = 100, floor: float | None = 0.5) -> Slice:
    return Slice(kind="keyword", name=name, estimate=wilson(right, of), floor=floor)


def group(name: str, right: int, of: int, floor: float = 0.02) -> Slice:
    return Slice(kind="class", name=name, estimate=wilson(right, of), floor=floor)


def keyword(id: str = "k", **changes: Any) -> Finding:
    facts: dict[str, Any] = {"game": "keyword", "metric": "accuracy", "value": 0.8, "floor_value": 0.51}
    slices = [word("loan", 55), word("visa", 97), word("strike", 70)]
    return make_finding(id, **{**facts, "subject": "3 keywords", "slices": slices, **changes})


def reassembly(**changes: Any) -> Finding:
    facts: dict[str, Any] = {
        "game": "reassembly",
        "metric": "recall_at_top",
        "value": 0.63,
        "floor_value": 0.3,
        "subject": "50 words",
        "secondary": {"first_word_right": around(0.41), "precision_at_top": around(0.2)},
        "secondary_floors": {"first_word_right": 0.1},
        "slices": [word("loan", 20, floor=1.0), word("visa", 90, floor=0.0)],
    }
    return make_finding("r", **{**facts, **changes})


def attribute(**changes: Any) -> Finding:
    facts: dict[str, Any] = {
        "game": "attribute",
        "metric": "balanced_accuracy",
        "value": 0.2,
        "floor_value": 0.1,
        "level": "low",
        "subject": "author",
        "slices": [group("large", 20, 200), group("small", 11, 12), group("nobody", 0, 30)],
    }
    return make_finding("a", **{**facts, **changes})


def numeric(**changes: Any) -> Finding:
    facts: dict[str, Any] = {
        "game": "number",
        "metric": "error_reduction",
        "value": 0.4,
        "floor_value": -0.01,
        "subject": "amount",
        "secondary": {"half_the_error_or_less": around(0.5), "correlation": around(0.77)},
        "slices": [Slice(kind="range", name="lowest quarter", estimate=around(-0.2, 0.1), floor=0.0)],
    }
    return make_finding("n", **{**facts, **changes})


def section(page: str, name: str) -> str:
    start = page.index(f'<section id="{name}"')
    return page[start : page.index("</section>", start)]


def test_words_stand_in_the_order_of_their_exposure_with_their_floors() -> None:
    view = keywords(make_run(findings=[keyword()]))
    assert view is not None
    (topic,) = view.asked
    (listed,) = topic.details[0].rankings
    assert [(r.name, r.value.split()[0], r.floor, r.texts) for r in listed.rows] == [
        ("visa", "97.0%", "50.0%", "100"),
        ("strike", "70.0%", "50.0%", "100"),
        ("loan", "55.0%", "50.0%", "100"),
    ]
    assert [r.tone for r in listed.rows] == ["high", "moderate", "unknown"]


def test_a_reader_is_told_of_the_most_exposed_word_in_cases_of_a_hundred() -> None:
    page = section(render_html(make_run(findings=[keyword()])), "keywords")
    assert "a given word: right in 80 [77–83] of 100 cases where half of the texts mention it." in page
    assert "Among all texts" not in page, "an old result has no figures of the store"
    assert "Whether a text mentions “visa” they tell right in 97 [92–99] of 100 cases; guessing gives 50." in page
    assert "Of 3 words, 2 are told clearly better than by guessing." in page


def test_a_reader_is_told_what_is_found_among_all_texts() -> None:
    held = {"prevalence": 0.01, "precision_among_first_n": 0.7, "looked_through_to_find_half": 0.02}
    secondary = {name: around(value, n=8000) for name, value in held.items()}
    store = Slice(kind="keyword, average precision", name="visa", estimate=around(0.6), floor=0.01)
    found = keyword(secondary=secondary, slices=[word("visa", 97), store])
    page = section(render_html(make_run(findings=[found])), "keywords")
    assert "Among all texts a word stands in 1.0% of them." in page
    assert "as many as mention the word, 70 [67–73] in 100 do" in page
    assert "to find half of all that mention it they look through 160 of 8,000." in page
    assert "Word by word, over all texts: average precision" in page


def test_a_word_that_stands_nowhere_is_not_ranked_with_the_others() -> None:
    view = keywords(make_run(findings=[keyword(slices=[word("visa", 97), word("absent", 99, floor=1.0)])]))
    assert view is not None
    there, nowhere = view.asked[0].details[0].rankings
    assert ([r.name for r in there.rows], [r.name for r in nowhere.rows]) == (["visa"], ["absent"])
    assert nowhere.rows[0].tone == "unknown"
    assert "1 word stands in none of the texts" in " ".join(view.asked[0].readers[0].further)


@pytest.mark.parametrize("n", [MOST_DRAWN, MOST_DRAWN + 1, 300])
def test_a_long_list_draws_both_ends_and_keeps_all_in_the_table(n: int) -> None:
    finding = keyword(slices=[word(f"word{i:03}", 100 * (n - i) // n) for i in range(n)])
    page = section(render_html(make_run(findings=[finding])), "keywords")
    drawn = len(re.findall(r'<div class="who">word', page))
    assert drawn == (n if n <= MOST_DRAWN else FIRST + LAST)
    assert page.count('<th scope="row">word') == n
    assert (f"{n - FIRST - LAST} more in between" in page) == (n > MOST_DRAWN)
    text = render_markdown(make_run(findings=[finding]))
    assert len(re.findall(r"^\| word", text, re.M)) == drawn
    assert (f"… {n - FIRST - LAST} more …" in text) == (n > MOST_DRAWN)


def test_a_small_group_that_is_exposed_comes_first_whatever_the_mean() -> None:
    view = attributes(make_run(findings=[attribute()]))
    assert view is not None
    (topic,) = view.classes
    (listed,) = topic.details[0].rankings
    assert [(r.name, r.texts) for r in listed.rows] == [("small", "12"), ("large", "200"), ("nobody", "30")]
    assert listed.rows[0].tone == "high"
    (reader,) = topic.readers
    assert "Most exposed is “small”: 11 of its 12 texts are recognised, while 2.0% of all other" in " ".join(
        reader.further
    )
    assert [b.name for b in reader.bars] == ["most exposed: small", "all values", "least exposed: nobody"]
    page = section(render_html(make_run(findings=[attribute()])), "attributes")
    assert page.index("small <span") < page.index("large <span") < page.index("nobody <span")
    assert 'small <span class="muted">12 texts</span>' in page


def test_a_yardstick_stands_beside_the_adversary_and_is_none_itself() -> None:
    reads = attribute(attack="mlp", value=0.9, status="yardstick", level="unknown").model_copy(update={"id": "y"})
    view = attributes(make_run(findings=[attribute(), reads]))
    assert view is not None
    (topic,) = view.classes
    (reader,) = topic.readers
    assert reader.attack == "Multi-label classifier"
    assert "For comparison, given the texts themselves: 90.0% [87.0–93.0%] (Small network)." in reader.further
    assert len(topic.details) == 1
    page = render_html(make_run(findings=[reads]))
    assert 'href="#attributes"' not in page


def test_every_column_has_a_topic_of_its_own() -> None:
    found = [attribute(), attribute(subject="topic").model_copy(update={"id": "b"})]
    view = attributes(make_run(findings=found))
    assert view is not None
    assert [t.subject for t in view.classes] == ["author", "topic"]
    assert all(len(t.readers) == 1 for t in view.classes)


def test_masked_names_stay_masked_and_can_be_told_apart() -> None:
    slices = [group("a•••• (class 1)", 9, 10), group("a•••• (class 2)", 8, 10)]
    page = render_html(make_run(findings=[attribute(slices=slices), keyword(slices=[word("d••• (keyword 7)", 90)])]))
    for shown in ("a•••• (no. 1)", "a•••• (no. 2)", "d••• (no. 7)"):
        assert shown in page
    assert "(class 1)" not in section(page, "attributes")


def test_a_listed_word_has_no_floor_of_its_own_but_the_list_has() -> None:
    cell = CellRecord(key="cell-r", identity=identity(game=made("reassembly", top=7)), status="done")
    run = make_run(findings=[reassembly()], cells=[cell])
    view = keywords(run)
    assert view is not None
    assert view.asked == []
    (topic,) = view.listed
    (listed,) = topic.details[0].rankings
    assert listed.head == ("Word", "In texts", "Named among the first")
    assert [r.name for r in listed.rows] == ["visa", "loan"]
    (reader,) = topic.readers
    assert reader.sentence.endswith("63 [60–66] are among the first 7 that are named for it.")
    assert "The very first word is right for 41 [38–44] of 100 texts (guessing: 10.0%)." in reader.further
    assert [b.floor for b in reader.bars] == ["30.0%", "10.0%", "–"]
    assert "What a text is about" in render_html(run)
    assert "What a text is about" in render_markdown(run)


def test_an_error_is_said_in_the_unit_of_the_column_where_the_result_holds_it() -> None:
    held = {**numeric().secondary, "mean_absolute_error": Estimate(26.97, 25.4, 28.4, 500)}
    finding = numeric(secondary=held, secondary_floors={"mean_absolute_error": 1051.7})
    view = attributes(make_run(findings=[finding]))
    assert view is not None
    (reader,) = view.numbers[0].readers
    assert reader.sentence == (
        "Guesses of “amount” are 26.97 [25.40–28.40] off on average; without the vectors they are 1,051.70 off."
    )
    assert "26.97%" not in render_html(make_run(findings=[finding]))


def test_numbers_are_told_as_the_error_that_is_taken_away() -> None:
    run = make_run(findings=[numeric()])
    for text in (section(render_html(run), "attributes"), render_markdown(run).replace("\\", "")):
        assert "The vectors take away 40.0% [37.0–43.0%] of the error of the best single guess for all texts." in text
        assert "Guessing without the vectors takes none of it away." in text
        assert "−20.0%" in text
    unclear = numeric(status="inconclusive", level="unknown")
    assert "too few texts to tell" in render_html(make_run(findings=[unclear]))


def test_an_attack_that_failed_its_check_shows_no_parts_and_no_comfort() -> None:
    for finding, name in ((keyword, "keywords"), (attribute, "attributes"), (numeric, "attributes")):
        poor = finding(status="could-not-measure", level="unknown", trusted=False)
        page = section(render_html(make_run(findings=[poor])), name)
        assert "not a sign of safety" in page
        assert 'class="row"' not in page
        assert "tone-none" not in page


def test_without_such_findings_there_are_no_such_sections() -> None:
    run = make_run(findings=[make_finding("i", metric="content_f1")])
    page, text = render_html(run), render_markdown(run)
    for anchor in ("keywords", "attributes"):
        assert f'id="{anchor}"' not in page
        assert f'href="#{anchor}"' not in page
    assert "looked for" not in text
    assert "another attribute" not in text


def test_each_question_points_to_the_section_that_tells_more() -> None:
    page = render_html(make_run(findings=[keyword(), attribute(), make_finding("i", metric="content_f1")]))
    findings = section(page, "findings")
    for anchor in ("reading", "keywords", "attributes"):
        assert f'<a href="#{anchor}">' in findings


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.sampled_from([0.0, 0.3, 0.5, 1.0])), min_size=1))
def test_the_order_follows_the_distance_of_the_interval_from_the_floor(
    counts: list[tuple[int, int, float]],
) -> None:
    parts = [word(f"w{i}", min(right, of), max(right, of), floor) for i, (right, of, floor) in enumerate(counts) if of]
    ordered = by_exposure(parts)
    gaps = [s.estimate.low - (s.floor or 0.0) for s in ordered]
    assert gaps == sorted(gaps, reverse=True)
    assert {s.name for s in ordered} == {s.name for s in parts}
    assert all((part_tone(s) == "unknown") == (gap <= 0) for s, gap in zip(ordered, gaps, strict=True))


def test_a_part_without_a_value_comes_last_and_is_drawn_without_a_dot() -> None:
    parts = by_exposure([word("empty", 0, 0), word("bad", 1)])
    assert [s.name for s in parts] == ["bad", "empty"]
    listed = ranking("x", ("Word", "Texts", "Result"), parts)
    assert "circle" not in listed.rows[1].drawn
    assert (listed.rows[1].value, listed.rows[1].above) == ("–", "–")


def test_an_error_in_a_unit_is_no_percentage() -> None:
    assert number(26.97, "mean_absolute_error") == "26.97"
    assert number(0.4, "error_reduction") == "40.0%"
