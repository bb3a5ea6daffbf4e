"""The sentence on what the encoder read: numbers, number and person, and what to do."""

import pytest
from report_examples import make_run

from unembed.report.coverage import advice, sentence
from unembed.report.html import render_html
from unembed.report.markdown import render_markdown
from unembed.results.schema import Coverage, DataCard


def run_with(*coverages, **data):
    roles = ("target", "adversary", "external")
    cards = [
        DataCard(role=role, name="t", rows=c.texts, fingerprint="f", coverage=c)
        for role, c in zip(roles, coverages, strict=False)
    ]
    return make_run(data=cards, spec={"seed": 0, "data": data})


def coverage(longer, texts=250, unread=0, tokens=1000, **more):
    return Coverage(**{"limit": 256, "texts": texts, "longer": longer, "tokens": tokens, "unread": unread, **more})


def test_both_sides_of_the_collection_are_added_up_and_public_texts_are_not():
    run = run_with(coverage(200, unread=500), coverage(237, unread=460), coverage(9, texts=9))
    assert sentence(run) == (
        "The encoder reads the first 256 tokens of a text. 437 of 500 texts (87 %) are longer; "
        "48 % of all tokens were never seen."
    )
    assert advice(run) == "--chunk 150 splits them as a retrieval system would."
    for page in (render_html(run), render_markdown(run)):
        assert "437 of 500 texts (87 %) are longer" in page
        assert "splits them as a retrieval system would" in page


@pytest.mark.parametrize(
    ("found", "data", "told"),
    [
        (coverage(0), {}, "tokens of a text; none of the 250 texts is longer."),
        (coverage(0), {"chunk": 150}, "tokens of a chunk; none of the 250 chunks is longer."),
        (coverage(1, unread=1), {}, "1 of 250 texts (under 1 %) is longer; under 1 % of all tokens were never seen."),
        (coverage(249, unread=999), {}, "249 of 250 texts (over 99 %) are longer; over 99 % of all tokens"),
        (coverage(25, unread=100, kept="last"), {}, "The encoder reads the last 256 tokens of a text. 25 of"),
        (coverage(25, limit=None), {}, "is not known. 25 of 250 texts (10 %) have more than 200 words."),
    ],
)
def test_wording(found, data, told):
    assert told in sentence(run_with(found, **data))


def test_nothing_is_said_where_nothing_was_cut_or_nobody_knows_and_texts_are_short():
    for run in (make_run(), run_with(coverage(0, limit=None))):
        assert sentence(run) is None
        assert advice(run) is None
        assert "tokens of a" not in render_html(run)
    assert advice(run_with(coverage(0))) is None


def test_chunks_that_are_too_long_should_be_smaller():
    assert advice(run_with(coverage(3, unread=9), chunk=400)) == "A smaller --chunk would let it read them whole."
    assert advice(run_with(coverage(3, unread=9, limit=8192))).startswith("--chunk 300 ")
    assert advice(run_with(coverage(3, unread=9, limit=12))).startswith("--chunk 10 ")
