"""The pattern language: what is generated is found again, field by field, and wrong formats are refused in one line."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unembed.corpora.patterns import READY, fill, own_sentences, parse_pattern, templates_from, templates_in
from unembed.corpora.patterns.checks import luhn, mod11_2, mod97
from unembed.corpora.patterns.language import ALPHABETS
from unembed.errors import UsageError
from unembed.seeds import generator


def rng(*name):
    return generator(1, "test", *name)


def parsed_or_refused(format):
    """The pattern, or None where it was refused in one line; any other error is one."""
    message = ""
    try:
        return parse_pattern(format)
    except UsageError as error:
        message = str(error)
    assert message
    assert "\n" not in message
    return None


RUNS = st.builds(lambda kind, n: f"{kind}{n}", st.sampled_from(sorted(ALPHABETS)), st.integers(1, 6))
OWN = st.builds(
    lambda letters, n: f"[{letters}]{n}", st.sampled_from(["ACGT", "a-f", "A-Z0-9", "xyz."]), st.integers(1, 4)
)
RANGES = st.builds(lambda low, more: f"{low}..{low + more}", st.integers(0, 500), st.integers(1, 20_000))
PADDED = st.builds(
    lambda width, high: f"{'1':0>{width}}..{high % 10**width + 2:0{width}d}"[:40], st.just(5), st.integers(1, 9000)
)
DATES = st.sampled_from(
    ["date", "date(%d.%m.%Y)", "date(%d/%m/%y, 1950..2009)", "date(%B %d, %Y)", "date(%m/%y, 2000..2050)"]
)
CHOICES = st.sampled_from(["one(a|b|c)", "one(red|green|blue)", "one(1|22|33)"])


@st.composite
def formats(draw):
    """Formats that must be read: fields of all kinds with fixed text between them."""
    count = draw(st.integers(1, 5))
    fields = [draw(st.one_of(RUNS, OWN, RANGES, PADDED, DATES, CHOICES)) for _ in range(count)]
    return "#".join(f"{{f{i}:{kind}}}" for i, kind in enumerate(fields)) + ("" if draw(st.booleans()) else "#end")


@settings(max_examples=60, deadline=None)
@given(formats(), st.integers(0, 1000))
def test_what_is_generated_is_found_with_the_same_fields(format, seed):
    pattern = parse_pattern(format)
    made = pattern.generate(5, np.random.default_rng(seed))
    labels = pattern.labels(made.values)
    for i, text in enumerate(made.texts):
        expected = {name: values[i] for name, values in made.values.items()}
        (found,) = pattern.find(f"« {text} »")  # words around it might be secrets of this form themselves
        assert (found.text, found.values, found.problem) == (text, expected, None)
        assert pattern.values(labels[i], range(len(pattern.parts))) == expected
        assert pattern.text(expected) == text


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from("{}:.[]()|%-?0123456789adeigmnost")), max_size=60))
def test_any_text_is_a_pattern_or_a_usage_error(text):
    pattern = parsed_or_refused(text)
    assert pattern is None or pattern.generate(2, rng("any")).texts


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(sorted(READY)), st.integers(0, 200), st.text(max_size=3), st.integers(0, 3))
def test_a_damaged_ready_format_is_a_pattern_or_a_usage_error(name, at, put_in, cut):
    format = READY[name].format
    at %= len(format)
    damaged = format[:at] + put_in + format[at + cut :]
    parsed_or_refused(damaged)


@pytest.mark.parametrize("name", sorted(READY))
def test_every_ready_pattern_is_found_again_inside_our_own_sentences(name):
    pattern = parse_pattern(name)
    made = pattern.generate(200, rng(name))
    templates = own_sentences(200, READY[name].noun, rng(name, "sentences"))
    assert len(set(templates)) > 100
    for secret, template in zip(made.texts, templates, strict=True):
        text = fill(template, secret)
        assert not re.search(r",\w|  |\ue010", text.replace(secret, "S"))
        (found,) = pattern.find(text)
        assert (found.text, found.problem) == (secret, None)
    assert pattern.generate(200, rng(name)).texts == made.texts
    assert pattern.generate(200, rng("another")).texts != made.texts


def test_check_digits_follow_published_examples():
    assert mod11_2("11010519491231002") == "X"
    assert luhn("7992739871") == "3"
    assert mod97("GB", "WEST12345698765432") == "82"
    assert mod97("DE", "370400440532013000") == "89"


@pytest.mark.parametrize("name", ["citizen-id", "iban", "card"])
def test_any_single_wrong_digit_is_found_out(name):
    pattern = parse_pattern(name)
    for text in pattern.generate(20, rng(name)).texts:
        for at in range(len(text)):
            if not text[at].isdigit():
                continue
            wrong = text[:at] + str((int(text[at]) + 1) % 10) + text[at + 1 :]
            assert all(found.problem for found in pattern.find(wrong)), "a wrong digit passed the check"


def test_wrong_check_digits_and_impossible_days_are_said_not_dropped():
    pattern = parse_pattern("citizen-id")
    problems = [o.problem for o in pattern.find("11010519491231002X, 110105194912310021 and 11010519490230002X")]
    assert problems == [None, "wrong check digit", "impossible value"]


def test_a_secret_is_no_part_of_a_longer_word_number_or_address():
    date, mail = parse_pattern("date"), parse_pattern("e-mail")
    assert [o.text for o in date.find("on 2001-02-03.")] == ["2001-02-03"]
    assert not date.find("x2001-02-03 2001-02-034 12001-02-03 2001-02-03-04")
    assert [o.text for o in mail.find("write to anna@mail.com, not to jo.anna@mail.com")] == ["anna@mail.com"]


def test_parts_are_the_sub_attacks_of_the_paper():
    pattern = parse_pattern("citizen-id")
    asked = [pattern.parts[i] for i in pattern.parts_of(pattern.asked_fields())]
    assert [(p.name, len(p.labels)) for p in asked] == [("birth.year", 110), ("birth.month", 12), ("birth.day", 31)]
    assert pattern.asked_fields(["sequence"]) == ("sequence",)
    assert len(parse_pattern("genome").parts) == 20
    assert parse_pattern("{n:1..70000}").parts[0].labels == tuple("0123456789")
    assert parse_pattern("{n:letters2-3}").parts[2].labels[-1] == "(end)"
    with pytest.raises(UsageError, match="follows from the others"):
        pattern.asked_fields(["check"])
    with pytest.raises(UsageError, match="unknown field"):
        pattern.asked_fields(["brith"])


def test_classes_that_make_no_value_give_none():
    pattern = parse_pattern("{day:date}{n:1000..5599}")
    year, month, day = (p.labels.index(v) for p, v in zip(pattern.parts, ("2001", "02", "30"), strict=False))
    assert pattern.values([year, month, day], [0, 1, 2]) is None
    assert pattern.values([9, 0, 0, 0], [3, 4, 5, 6]) is None
    assert pattern.values([1, 2, 3, 4], [3, 4, 5, 6]) == {"n": "1234"}
    assert parse_pattern("{x:[ab]1-3}").values([0, 2, 1], [0, 1, 2]) is None


def test_the_check_digit_of_a_candidate_is_known():
    pattern = parse_pattern("card")
    made = pattern.generate(5, rng("card"))
    for i in range(5):
        values = {name: v[i] for name, v in made.values.items()}
        part, implied = pattern.implied_check({k: v for k, v in values.items() if k != "check"})
        assert pattern.parts[part].labels[implied] == values["check"]
        assert pattern.implied_check({"issuer": values["issuer"]}) is None


@pytest.mark.parametrize(
    ("format", "said"),
    [
        ("citizen", "did you mean 'citizen-id'"),
        ("{a:digits}", "needs a length"),
        ("{a}", "has no kind"),
        ("{a:foo3}", "unknown kind of field 'foo3'"),
        ("{a:digits0}", "lengths go from 1 to 100"),
        ("{a:digits5-2}", "the smaller first"),
        ("{a:9..1}", "impossible"),
        ("{a:01..999}", "as many digits"),
        ("{a:digits3", "never closed"),
        ("a}b{x:digits2}", "opens nowhere"),
        ("{a:digits2}-{a:digits3}", "two fields of the pattern are named 'a'"),
        ("{A:digits2}", "can't name a field"),
        ("{c:mod11}{a:digits3}", "over nothing"),
        ("{c:luhn}", "over nothing"),
        ("{a:upper2}{c:luhn}", "can't cover 'A' of field 'a'"),
        ("x{a:digits2}{c:luhn}", "can't cover 'x' of fixed text"),
        ("{a:digits3}{c:luhn}{d:mod11}", "2 check digits"),
        ("{a:digits3}{c?:luhn}", "can't be what is asked for"),
        ("{a:letters1-3}{b:digits2}", "end of field 'a' is ambiguous"),
        ("{a:letters1-3}x{b:digits2}", "end of field 'a' is ambiguous"),
        ("{a:one(a|ab)}{b:digits2}", "end of field 'a' is ambiguous"),
        ("{a:[a-z.]1-3}", "may hold only letters and digits"),
        ("{a:date(%Q)}", "no element '%Q'"),
        ("{a:date(%Y%y)}", "once each at most"),
        ("{a:date(%d%m%y)}", "at most 100 years"),
        ("{a:date(1990..1950)}", "the earlier first"),
        ("{a:one(a)}", "chooses among 1"),
        ("{a:one(a||b)}", "neither empty"),
        ("{a:[A]3}", "alphabet of one character"),
        ("{a:[z-a]3}", "not a range of characters"),
        ("{{x}}{{y}}", "no field"),
    ],
)
def test_wrong_formats_are_refused_with_what_is_wrong(format, said):
    with pytest.raises(UsageError, match=re.escape(said)):
        parse_pattern(format)


def test_sentences_of_the_user_need_a_place_that_stands_alone():
    pattern = parse_pattern("passport")
    assert templates_from(["No {secret}!"], pattern, rng("s")) == [("No ", "!")]
    with pytest.raises(UsageError, match="sentence 2 has no place"):
        templates_from(["{secret}", "nothing"], pattern, rng("s"))
    with pytest.raises(UsageError, match="glues"):
        templates_from(["No{secret}"], pattern, rng("s"))


def test_texts_become_templates_with_every_copy_of_the_secret_taken_out():
    pattern = parse_pattern("date")
    found = templates_in(["from 2001-02-03, I repeat 2001-02-03!", "nothing", "2001-02-30"], pattern)
    assert found == [("from ", ", I repeat ", "!")]
    assert fill(found[0], "X") == "from X, I repeat X!"


@pytest.mark.parametrize(
    ("format", "size"),
    [
        ("the code is {a:digits2}-{b:[xy]2}", 400),
        ("{a:letters1-2}!", 26 + 26**2),
        ("{a:one(red|green)} {n:7..12}", 12),
        ("{n:0995..1204}", 210),
        ("{d:date(%d.%m.%Y, 2000..2001)}", 731),
        ("{d:date(%m/%y, 2000..2001)}", 24),
        ("{n:digits3}{check:luhn}", 1000),
    ],
)
def test_every_secret_of_a_format_is_told_once_and_counted(format, size):
    pattern = parse_pattern(format)
    every = list(pattern.every())
    assert pattern.size == len(every) == len(set(every)) == size
    assert set(pattern.generate(50, rng("every")).texts) <= set(every)
