"""Which keywords, attributes and numbers leak: the rows on them, from the result alone."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_examples import around, make_finding, make_run

from cell_identities import identity, made
from unembed.metrics.estimate import Estimate, wilson
from unembed.report.html import render_html
from unembed.report.markdown import render_markdown
from unembed.report.numbers import number
from unembed.report.parts import FIRST, LAST, MOST_DRAWN, by_exposure, part_tone, ranking
from unembed.report.questions import FindingView, questions
from unembed.results.schema import CellRecord, Finding, Run, Slice


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


def only(finding: Finding, **changes: Any) -> FindingView:
    ((view,),) = (q.findings for q in questions(make_run(findings=[finding], **changes)))
    return view


def findings_of(run: Run) -> str:
    page = render_html(run)
    start = page.index('<div class="rows">')
    return page[start : page.index("</article>", start)]


def test_words_stand_in_the_order_of_their_exposure_with_their_floors() -> None:
    (listed,) = only(keyword()).rankings
    assert [(r.name, r.value.split()[0], r.floor, r.texts) for r in listed.rows] == [
        ("visa", "97.0%", "50.0%", "100"),
        ("strike", "70.0%", "50.0%", "100"),
        ("loan", "55.0%", "50.0%", "100"),
    ]
    assert [r.tone for r in listed.rows] == ["high", "moderate", "unknown"]


def test_a_reader_is_told_of_the_most_exposed_word_in_cases_of_a_hundred() -> None:
    page = findings_of(make_run(findings=[keyword()]))
    assert "a given word: right in 80 [77–83] of 100 cases where half of the texts mention it." in page
    assert "Among all texts" not in page, "an old result has no figures of the store"
    assert "Whether a text mentions “visa” they tell right in 97 [92–99] of 100 cases; guessing gives 50." in page
    assert "Of 3 words, 2 are told clearly better than by guessing." in page


def test_a_reader_is_told_what_is_found_among_all_texts() -> None:
    held = {"prevalence": 0.01, "precision_among_first_n": 0.7, "looked_through_to_find_half": 0.02}
    secondary = {name: around(value, n=8000) for name, value in held.items()}
    store = Slice(kind="keyword, average precision", name="visa", estimate=around(0.6), floor=0.01)
    found = keyword(secondary=secondary, slices=[word("visa", 97), store])
    page = findings_of(make_run(findings=[found]))
    assert "Among all texts a word stands in 1.0% of them." in page
    assert "as many as mention the word, 70 [67–73] in 100 do" in page
    assert "to find half of all that mention it they look through 160 of 8,000." in page
    assert "Word by word, over all texts: average precision" in page


def test_a_word_that_stands_nowhere_is_not_ranked_with_the_others() -> None:
    view = only(keyword(slices=[word("visa", 97), word("absent", 99, floor=1.0)]))
    there, nowhere = view.rankings
    assert ([r.name for r in there.rows], [r.name for r in nowhere.rows]) == (["visa"], ["absent"])
    assert nowhere.rows[0].tone == "unknown"
    assert "1 word stands in none of the texts" in " ".join(view.sentences)


@pytest.mark.parametrize("n", [MOST_DRAWN, MOST_DRAWN + 1, 300])
def test_a_long_list_draws_both_ends_and_keeps_the_rest_in_a_table(n: int) -> None:
    finding = keyword(slices=[word(f"word{i:03}", 100 * (n - i) // n) for i in range(n)])
    page = findings_of(make_run(findings=[finding]))
    drawn = len(re.findall(r'<div class="who">word', page))
    assert drawn == (n if n <= MOST_DRAWN else FIRST + LAST)
    assert drawn + page.count('<th scope="row">word') == n, "every word once"
    assert (f"{n - FIRST - LAST} more in between" in page) == (n > MOST_DRAWN)
    text = render_markdown(make_run(findings=[finding]))
    assert len(re.findall(r"^\| word", text, re.M)) == drawn
    assert (f"… {n - FIRST - LAST} more …" in text) == (n > MOST_DRAWN)


def test_a_small_group_that_is_exposed_comes_first_whatever_the_mean() -> None:
    view = only(attribute())
    (listed,) = view.rankings
    assert [(r.name, r.texts) for r in listed.rows] == [("small", "12"), ("large", "200"), ("nobody", "30")]
    assert listed.rows[0].tone == "high"
    said = " ".join(view.sentences)
    assert "Most exposed is “small”: 11 of its 12 texts are recognised, while 2.0% of all other" in said
    page = findings_of(make_run(findings=[attribute()]))
    assert page.index("small <span") < page.index("large <span") < page.index("nobody <span")
    assert 'small <span class="muted">12 texts</span>' in page


def test_a_yardstick_stands_beside_the_adversary_and_is_no_leak_itself() -> None:
    reads = attribute(attack="mlp", value=0.9, status="yardstick", level="unknown").model_copy(update={"id": "y"})
    (question,) = questions(make_run(findings=[attribute(), reads]))
    own, yardstick = question.findings
    assert own.attack == "Multi-label classifier"
    assert "For comparison, given the texts themselves: 90.0% [87.0–93.0%] (Small network)." in own.sentences
    assert (yardstick.badge, yardstick.tone) == ("Yardstick, reads the texts", "unknown")
    assert "No column was named" in render_html(make_run(findings=[reads])), "page one says that nothing was tested"


def test_every_column_has_a_question_of_its_own() -> None:
    found = [attribute(), attribute(subject="topic").model_copy(update={"id": "b"})]
    asked = questions(make_run(findings=found))
    assert [q.subject for q in asked] == ["author", "topic"]
    assert [q.again for q in asked] == [False, True]
    page = render_html(make_run(findings=found))
    assert page.count("Texts that carry no name can be put back to a person.") == 1


def test_masked_names_stay_masked_and_can_be_told_apart() -> None:
    slices = [group("a•••• (class 1)", 9, 10), group("a•••• (class 2)", 8, 10)]
    page = render_html(make_run(findings=[attribute(slices=slices), keyword(slices=[word("d••• (keyword 7)", 90)])]))
    for shown in ("a•••• (no. 1)", "a•••• (no. 2)", "d••• (no. 7)"):
        assert shown in page
    assert "(class 1)" not in page


def test_a_listed_word_has_no_floor_of_its_own_but_the_list_has() -> None:
    cell = CellRecord(key="cell-r", identity=identity(game=made("reassembly", top=7)), status="done")
    view = only(reassembly(), cells=[cell])
    (listed,) = view.rankings
    assert listed.head == ("Word", "In texts", "Named among the first")
    assert [r.name for r in listed.rows] == ["visa", "loan"]
    assert view.sentences[0].endswith("63 [60–66] are among the first 7 that are named for it.")
    assert "The very first word is right for 41 [38–44] of 100 texts (guessing: 10.0%)." in view.sentences
    assert "Of 100 words they put at the top, 20 [17–23] stand in the text." in view.sentences
    assert (view.value, view.floor) == ("63.0% [60.0–66.0%]", "30.0%")


def test_an_error_is_said_in_the_unit_of_the_column_where_the_result_holds_it() -> None:
    held = {**numeric().secondary, "mean_absolute_error": Estimate(26.97, 25.4, 28.4, 500)}
    finding = numeric(secondary=held, secondary_floors={"mean_absolute_error": 1051.7})
    assert only(finding).sentences[0] == (
        "Guesses of “amount” are 26.97 [25.40–28.40] off on average; without the vectors they are 1,051.70 off."
    )
    assert "26.97%" not in render_html(make_run(findings=[finding]))


def test_numbers_are_told_as_the_error_that_is_taken_away() -> None:
    run = make_run(findings=[numeric()])
    for text in (findings_of(run), render_markdown(run).replace("\\", "")):
        assert "The vectors take away 40.0% [37.0–43.0%] of the error of the best single guess for all texts." in text
        assert "Guessing without the vectors takes none of it away." in text
        assert "−20.0%" in text
    unclear = numeric(status="inconclusive", level="unknown")
    assert "too close to tell" in render_html(make_run(findings=[unclear]))


def test_an_attack_that_failed_its_check_shows_no_parts_and_no_comfort() -> None:
    for finding in (keyword, attribute, numeric):
        page = findings_of(make_run(findings=[finding(status="could-not-measure", level="unknown", trusted=False)]))
        assert "not a sign of safety" in page
        assert '<div class="row">' not in page
        assert "tone-none" not in page


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.sampled_from([0.0, 0.3, 0.5, 1.0])), min_size=1))
def test_what_is_clearly_above_its_floor_comes_first_and_then_the_distance_counts(
    counts: list[tuple[int, int, float]],
) -> None:
    parts = [word(f"w{i}", min(right, of), max(right, of), floor) for i, (right, of, floor) in enumerate(counts) if of]
    ordered = by_exposure(parts)
    keys = [(s.estimate.low > (s.floor or 0.0), s.estimate.value - (s.floor or 0.0)) for s in ordered]
    assert keys == sorted(keys, reverse=True)
    assert {s.name for s in ordered} == {s.name for s in parts}
    assert all((part_tone(s) == "unknown") == (not clear) for s, (clear, _) in zip(ordered, keys, strict=True))


def test_a_part_without_a_value_comes_last_and_is_drawn_without_a_dot() -> None:
    parts = by_exposure([word("empty", 0, 0), word("bad", 1)])
    assert [s.name for s in parts] == ["bad", "empty"]
    listed = ranking("x", ("Word", "Texts", "Result"), parts)
    assert "circle" not in listed.rows[1].drawn
    assert (listed.rows[1].value, listed.rows[1].above) == ("–", "–")


def test_an_error_in_a_unit_is_no_percentage() -> None:
    assert number(26.97, "mean_absolute_error") == "26.97"
    assert number(0.4, "error_reduction") == "40.0%"
