"""Splits keep groups whole, time in order, classes shared, and targets out of the adversary's hands."""

import datetime
from dataclasses import asdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unembed.corpora import Corpus, near_duplicates, split_corpus
from unembed.corpora.generators.messages import generate_messages
from unembed.errors import DataError, UnknownNameError, UsageError


def numbered(n, **columns):
    return Corpus.of([f"alpha{i} beta{i} gamma{i} delta{i}" for i in range(n)], **columns)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 6), min_size=2, max_size=40).filter(lambda g: len(set(g)) > 1),
    st.floats(0.05, 0.95),
    st.integers(0, 5),
)
def test_no_group_is_on_both_sides_and_no_row_is_lost(groups, share, seed):
    split = split_corpus(numbered(len(groups), g=groups), share=share, by="g", seed=seed)
    mine, theirs = set(split.adversary.columns["g"]), set(split.target.columns["g"])
    assert mine
    assert theirs
    assert not mine & theirs
    assert sorted(map(int, split.adversary.ids + split.target.ids)) == list(range(len(groups)))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_the_share_is_kept(share):
    split = split_corpus(numbered(400), share=share, seed=1)
    assert len(split.adversary) == round(400 * share)
    groups = [i // 4 for i in range(400)]
    by_group = split_corpus(numbered(400, g=groups), share=share, by="g", seed=1)
    assert len(by_group.adversary) == pytest.approx(400 * share, abs=4)


def test_the_seed_decides():
    corpus = numbered(100)
    first = split_corpus(corpus, seed=1)
    assert first.adversary.ids == split_corpus(corpus, seed=1).adversary.ids
    assert first.adversary.ids != split_corpus(corpus, seed=2).adversary.ids


@pytest.mark.parametrize(
    "days",
    [
        [f"2024-01-{i + 1:02d}" for i in range(20)],
        [datetime.date(2024, 1, i + 1) for i in range(20)],
        [datetime.datetime(2024, 1, i + 1, tzinfo=datetime.UTC) for i in range(20)],
        list(range(20)),
        [f"{i}.5" for i in range(20)],
    ],
)
def test_a_split_by_time_gives_the_earlier_part_unless_told(days):
    corpus = numbered(20, day=days)
    early = split_corpus(corpus, time="day", share=0.25)
    assert [int(i) for i in early.adversary.ids] == list(range(5))
    late = split_corpus(corpus, time="day", share=0.25, later=True)
    assert [int(i) for i in late.adversary.ids] == list(range(15, 20))


def test_the_same_moment_is_never_on_both_sides():
    corpus = numbered(10, day=[1, 1, 1, 1, 1, 1, 2, 2, 2, 2])
    split = split_corpus(corpus, time="day", share=0.3)
    assert not set(split.adversary.columns["day"]) & set(split.target.columns["day"])


def test_rows_without_group_or_time_are_on_neither_side():
    corpus = numbered(6, g=["a", "b", None, "a", "b", None], day=[1, 2, None, 4, 5, 6])
    assert split_corpus(corpus, by="g").report.skipped == 2
    assert split_corpus(corpus, time="day").report.skipped == 1


def test_documents_are_split_while_authors_are_shared():
    corpus = generate_messages(800, seed=1, authors=10)
    split = split_corpus(corpus, share=0.3, by="document", attribute="author", seed=1)
    assert not set(split.adversary.columns["document"]) & set(split.target.columns["document"])
    assert set(split.adversary.columns["author"]) == set(split.target.columns["author"])
    assert split.report.shared_classes == 10


def test_near_duplicates_of_targets_leave_the_adversary():
    base = [f"the quick brown fox number {i} jumps over the lazy dog again today" for i in range(40)]
    corpus = Corpus.of(base + [b + " really" for b in base])
    split = split_corpus(corpus, seed=3)
    assert split.report.leaks.near > 0
    assert len(near_duplicates(split.adversary.texts, split.target.texts)[0]) == 0
    assert split.report.adversary == len(split.adversary)


def test_the_report_is_plain_data():
    import json

    report = split_corpus(numbered(10, g=[0, 1] * 5), by="g").report
    assert json.loads(json.dumps(asdict(report)))["leaks"]["exact"] == 0
    assert (report.adversary_groups, report.target_groups) == (1, 1)


BAD = {
    "share": (numbered(10), {"share": 1.0}, "share"),
    "both": (numbered(4, g=[1, 2, 3, 4]), {"by": "g", "time": "g"}, "not both"),
    "later": (numbered(4), {"later": True}, "time="),
    "column": (numbered(4, g=[1, 2, 3, 4]), {"by": "gg"}, "unknown column"),
    "attribute": (numbered(4, g=[1, 2, 3, 4]), {"by": "g", "attribute": "g"}, "can't split by 'g'"),
    "one group": (numbered(4, g=[1, 1, 1, None]), {"by": "g"}, r"has 1 group\(s\)"),
    "one row": (numbered(1), {}, "too few"),
    "one moment": (numbered(3, t=[1, 1, 1]), {"time": "t"}, "1 distinct time"),
    "time beyond any float": (numbered(2, t=[1, 10**400]), {"time": "t"}, "row 2 is not a date"),
    "no dates": (numbered(3, t=["2024-01-01", "soon", "later"]), {"time": "t"}, "row 2 is not a date"),
    "all the same text": (Corpus.of(["one two three four"] * 6), {}, "nothing is left"),
    "group decides attribute": (
        numbered(4, g=[1, 1, 2, 2], a=["x", "x", "y", "y"]),
        {"by": "g", "attribute": "a"},
        "split by another column",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_split_that_means_nothing_is_refused(name):
    corpus, options, message = BAD[name]
    with pytest.raises((DataError, UsageError, UnknownNameError), match=message):
        split_corpus(corpus, **options)


def test_targets_can_be_sampled_before_duplicates_are_looked_for():
    corpus = Corpus.of([f"text number {i} about thing {i * 7}" for i in range(100)])
    whole, some = split_corpus(corpus, seed=3), split_corpus(corpus, seed=3, max_targets=10)
    assert len(some.target) == 10
    assert set(some.target.ids) <= set(whole.target.ids)
    assert set(some.adversary.ids) >= set(whole.adversary.ids)
