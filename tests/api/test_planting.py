"""Canaries through the front door: planted by one call, measured by another, with any function of texts."""

import numpy as np
import pytest

import unembed
from unembed.errors import CannotMeasureError, UsageError

FORMAT = "my locker code is {code:digits4}"


def knows(canaries, *, times):
    """A model that knows by heart what was planted at least so often, and finds all else equally unlikely."""
    learnt = {c.text for c in canaries if c.times >= times}

    def log_perplexity(texts):
        spread = [int(text[-4:]) * 7919 % 9973 / 9973 for text in texts]
        return [0.0 if text in learnt else 20 + part for text, part in zip(texts, spread, strict=True)]

    return log_perplexity


def test_what_is_known_by_heart_has_all_bits_and_the_rest_little():
    planted = unembed.canaries(FORMAT, times=(0, 1, 16), each=2)
    assert len(planted.texts) == 2 * 17
    assert sorted(c.times for c in planted) == [0, 0, 1, 1, 16, 16]
    found = unembed.exposure(knows(planted, times=16), planted)
    by_heart, others = ([one for one in found if (one.canary.times == 16) == wanted] for wanted in (True, False))
    assert all(one.bits.value == one.most == one.bits.low for one in by_heart), "exact: all texts were asked about"
    assert all(one.bits.value < 8 for one in others)
    assert one_line(found[0]) in repr(found)
    frame = found.to_frame("pandas")
    assert list(frame["times"]) == [0, 0, 1, 1, 16, 16]
    assert set(frame["method"]) == {"exact rank"}


def one_line(one):
    return f"planted {one.canary.times} times: {one.bits.value:.1f} of {one.most:.1f} bits"


def test_beyond_a_sample_it_says_at_least():
    planted = unembed.canaries("{a:one(red|green)} code {code:digits9}", times=(0, 8))
    found = unembed.exposure(lambda texts: [0.0 if t == planted[1].text else 5 + hash_of(t) for t in texts], planted,
                             samples=500)  # fmt: skip
    assert found[1].bits.low == pytest.approx(np.log2(500 / 3.69), abs=0.01)
    assert found[1].bits.high == found[1].most == pytest.approx(np.log2(2e9))
    assert "at least 7.1, probably" in repr(found)


def hash_of(text):
    return sum(map(ord, text)) % 97 / 97


def test_the_same_arguments_give_the_same_canaries_again():
    first, again, other = (unembed.canaries([FORMAT, "pin {code:digits6}"], each=3, seed=s) for s in (1, 1, 2))
    assert [c.text for c in first] == [c.text for c in again] != [c.text for c in other]
    assert first.texts == again.texts
    assert len({c.text for c in first}) == len(first) == 15
    assert {c.format for c in first} == {FORMAT, "pin {code:digits6}"}
    assert sum(text == first[-1].text for text in first.texts) == first[-1].times == 64


@pytest.mark.parametrize(
    ("formats", "options", "said"),
    [
        ("code {code:digits3-6}", {}, "runs of one length"),
        ("just text", {}, "unknown pattern"),
        ([], {}, "need a format"),
        (FORMAT, {"times": (-1,)}, "0 or more"),
        (FORMAT, {"each": 0}, "at least one"),
        ("pin {code:digits1}", {"each": 5}, "fewer than the 25"),
    ],
)
def test_canaries_that_can_not_be_made_are_one_line(formats, options, said):
    with pytest.raises(UsageError, match=said):
        unembed.canaries(formats, **options)


@pytest.mark.parametrize(
    ("answers", "error", "said"),
    [
        (lambda texts: [1.0], UsageError, "one number for each"),
        (lambda texts: [float("nan")] * len(texts), CannotMeasureError, "not finite"),
        (lambda texts: np.zeros((len(texts), 2)), UsageError, "one number for each"),
    ],
)
def test_a_function_that_gives_no_number_per_text_is_refused(answers, error, said):
    with pytest.raises(error, match=said):
        unembed.exposure(answers, unembed.canaries(FORMAT))


def test_samples_are_at_least_one():
    planted = unembed.canaries(FORMAT)
    with pytest.raises(UsageError, match="samples"):
        unembed.exposure(knows(planted, times=1), planted, samples=0)
