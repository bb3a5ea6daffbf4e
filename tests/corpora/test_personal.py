"""Personal data is found by its form, and what only looks like it is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unembed.corpora.generators.messages import generate_messages
from unembed.corpora.personal import ACCOUNT, CARD, E_MAIL, KINDS, PERSON, PHONE, holds_personal, people_in
from unembed.errors import UnknownNameError, UsageError


def _kinds(text):
    return {kind for kind, held in zip(KINDS, holds_personal([text], KINDS)[0], strict=True) if held}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("write to jo.doe+x@mail.example.org, please", E_MAIL),
        ("Call me at +1 (555) 010-9999.", PHONE),
        ("my number is 0555 0115 204", PHONE),
        ("phone: 5550123456", PHONE),
        ("pay to DE89 3704 0044 0532 0130 00 TODAY", ACCOUNT),
        ("IBAN GB82WEST12345698765432", ACCOUNT),
        ("my card 4111 1111 1111 1111 was charged", CARD),
        ("card 378282246310005.", CARD),
    ],
)
def test_what_has_the_form_is_found_and_taken_for_nothing_else(text, kind):
    assert _kinds(text) == {kind}


@pytest.mark.parametrize(
    "text",
    [
        "see you on 2024-01-13 or 13.01.2024",
        "from 1999-2004 it grew",
        "order 12345678 is late",
        "doi 10.1000/182.44",
        "host 192.168.100.200 is down",
        "4111 1111 1111 1112 is mistyped",
        "DE89 3704 0044 0532 0130 01 is mistyped",
        "me@home and @handle",
        "the rose in the garden",
    ],
)
def test_what_only_looks_like_it_is_not(text):
    assert not _kinds(text)


def test_people_are_found_by_first_names_titles_greetings_and_signatures():
    texts = [
        "Yesterday we met Maria at the lake.",
        "It was Dr. Quillon who called.",
        "Dear Zebulon, the parcel is here.",
        "All is well. Kind regards, Xanthe",
        "Nobody is named in this one.",
        "Then Zebulon and Xanthe went home.",
    ]
    assert {"maria", "quillon", "zebulon", "xanthe"} <= set(people_in(texts))
    assert holds_personal(texts, [PERSON])[:, 0].tolist() == [True, True, True, True, False, True]


def test_a_word_that_is_usually_written_small_is_no_name():
    texts = ["We saw Rose there."] + ["a rose is a rose"] * 9
    assert "rose" not in people_in(texts)


def test_invented_messages_hold_what_their_people_write():
    corpus = generate_messages(400, seed=1)
    counts = dict(zip(KINDS, holds_personal(corpus.texts, KINDS).sum(axis=0).tolist(), strict=True))
    assert counts[E_MAIL] == sum("@" in text for text in corpus.texts)
    assert counts[PHONE] > 10
    assert counts[CARD] == 0


@given(st.text(max_size=120))
def test_any_text_can_be_searched(text):
    assert holds_personal([text], KINDS).shape == (1, len(KINDS))


def test_a_form_of_ones_own():
    held = holds_personal(["K12345 came", "nobody came"], ["a staff number=K[0-9]{5}"])
    assert held[:, 0].tolist() == [True, False]
    with pytest.raises(UnknownNameError, match="kind of personal data"):
        holds_personal(["x"], ["shoe size"])
    with pytest.raises(UsageError, match="no regular expression"):
        holds_personal(["x"], ["broken=("])
