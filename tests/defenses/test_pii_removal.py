"""Personal data are taken out of texts before they are encoded, in a chain and in an audit."""

import socket
from importlib.util import find_spec

import numpy as np
import pytest

from unembed.corpora.personal import E_MAIL, KINDS, PHONE, holds_personal, personal_spans
from unembed.defenses.base import CleansTexts
from unembed.defenses.chain import Chain
from unembed.defenses.pii_removal import PiiRemoval
from unembed.defenses.rounding import Rounding
from unembed.errors import CannotMeasureError, UnembedError, UsageError
from unembed.results.identity import Made
from unembed.runner.defended import CleanedRecipe
from unembed.runner.execute import audit
from unembed.runner.spec import build_spec

TEXTS = {
    "Write to anna.rossi@example.org today.": "Write to [e-mail address] today.",
    "Please call +44 20 7946 0018 or 030 1234 5678 now.": "Please call [phone number] or [phone number] now.",
    "Pay to DE89 3704 0044 0532 0130 00 by Friday.": "Pay to [account number] by Friday.",
    "The card 4111 1111 1111 1111 was refused.": "The card [card number] was refused.",
    "Maria Schmidt met Dr. Weber there.": "[person's name] met Dr. [person's name] there.",
    "Nothing of the kind, in 2024-05-17 and 1.2.3.4.": "Nothing of the kind, in 2024-05-17 and 1.2.3.4.",
    "": "",
}


def test_each_kind_is_replaced_by_its_name_and_the_rest_is_left():
    assert PiiRemoval().clean(list(TEXTS)) == list(TEXTS.values())


def test_only_the_kinds_that_are_named_are_removed():
    text = "anna.rossi@example.org, order AB-1234, call +44 20 7946 0018"
    made = PiiRemoval(kinds=[E_MAIL, r"an order=AB-\d+"]).clean([text])
    assert made == ["[e-mail address], order [order], call +44 20 7946 0018"]


def test_spans_do_not_overlap_and_agree_with_what_texts_are_said_to_hold():
    text = "Card 4111 1111 1111 1111 and DE89370400440532013000, tel. 030 1234 5678."
    spans = personal_spans(text)
    assert [text[start:end] for start, end, _ in spans] == [
        "4111 1111 1111 1111",
        "DE89370400440532013000",
        "030 1234 5678",
    ]
    for kind in KINDS[:4]:
        assert holds_personal([text], [kind])[0, 0] == any(found == kind for *_, found in spans)


def test_cleaned_texts_hold_nothing_that_the_same_rules_find():
    cleaned = PiiRemoval().clean(list(TEXTS))
    assert not holds_personal(cleaned, KINDS).any()


@pytest.mark.parametrize("wrong", [{"engine": "other"}, {"kinds": []}, {"kinds": "a phone number"}, {"kinds": ["x=["]}])
def test_parameters_out_of_range_are_refused(wrong):
    with pytest.raises(UnembedError):
        PiiRemoval(**wrong).clean(["a text"])


def test_what_changes_texts_stands_first():
    chain = Chain([PiiRemoval(kinds=[PHONE]), PiiRemoval(kinds=[E_MAIL]), Rounding()])
    assert chain.clean(["a@example.org +44 20 7946 0018"]) == ["[e-mail address] [phone number]"]
    assert isinstance(PiiRemoval(), CleansTexts)
    assert not isinstance(Rounding(), CleansTexts)
    late = Chain([Rounding(), PiiRemoval()])
    for use in (lambda: late.clean(["a text"]), lambda: late.fit(np.eye(3, dtype=np.float32), 0)):
        with pytest.raises(UsageError, match="must come before"):
            use()


@pytest.mark.skipif(find_spec("presidio_analyzer") is None, reason="the extra 'pii' is not installed")
def test_presidio_finds_forms_without_a_network(monkeypatch):
    def refuse(*_args, **_kwargs):
        raise AssertionError("a connection was asked for")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    made = PiiRemoval(engine="presidio").clean(
        [
            "Write to anna.rossi@example.org today.",
            "Please call +44 20 7946 0018 now.",
            "Pay to DE89370400440532013000 by Friday.",
            "The card 4111 1111 1111 1111 was refused.",
            "It came from 192.168.7.21, and nothing else.",
            "Nothing at all.",
        ]
    )
    assert made == [
        "Write to [e-mail address] today.",
        "Please call [phone number] now.",
        "Pay to [account number] by Friday.",
        "The card [card number] was refused.",
        "It came from [address of a machine], and nothing else.",
        "Nothing at all.",
    ]
    with pytest.raises(UsageError, match="own engine"):
        PiiRemoval(engine="presidio", kinds=[PHONE]).clean(["a text"])


@pytest.fixture(scope="module")
def texts_with_numbers(tmp_path_factory):
    """Half of the texts hold a phone number, which their words don't tell."""
    rng = np.random.default_rng(3)
    table = ["text"]
    subjects = ("boat", "garden", "kitchen", "bicycle", "window", "ladder", "camera", "jacket", "mirror", "basket")
    for row in range(400):
        one, two = rng.choice(subjects, 2)
        called = f"call +44 20 79{rng.integers(10, 99)} 00{rng.integers(10, 99)}" if row % 2 else "write a letter"
        table.append(f"number {rng.integers(10_000)} about the {one} and the {two} please {called} soon")
    place = tmp_path_factory.mktemp("numbers") / "texts.csv"
    place.write_text("\n".join(table))
    return place


def given(place, folder, **more):
    return {
        "data": {"texts": str(place), "column": "text"},
        "encoder": {"name": "lsa", "components": 24},
        "games": ["personal"],
        "attacks": ["keyword/svm"],
        "adversaries": ["insider"],
        "references": [],
        "calibrate": False,
        "repeats": 0,
        "threads": 1,
        "utility": ["retrieval"],
        "run": {"folder": str(folder), "no_cache": True},
        **more,
    }


def test_an_audit_encodes_cleaned_texts(texts_with_numbers, tmp_path):
    kinds = [r"a plea=please (?:call \+[\d ]*\d|write a letter) soon"]
    everything, nothing = {"name": "pii-removal", "kinds": kinds}, {"name": "pii-removal", "kinds": ["x=zzzz"]}
    run, _ = audit(build_spec(given(texts_with_numbers, tmp_path / "run", defenses=[everything, nothing])))
    found = {(f.defense and ("plea=" in f.defense), f.adaptive): f for f in run.findings}
    # Which texts hold a number is still asked of the texts as they were.
    assert found[None, None].status == "leak"
    assert found[1, True].status != "leak"
    assert found[1, False].status != "leak"
    assert found[0, True].estimate == found[None, None].estimate
    scores = {u.variant and ("plea=" in u.variant): u.estimate.value for u in run.utility}
    assert scores[1] < 1
    assert scores[0] == 1


def test_stored_vectors_without_their_encoder_can_not_be_cleaned(tmp_path):
    made = Made(name="pii-removal", called="pii-removal", version=1, params={})
    with pytest.raises(CannotMeasureError, match="changes texts"):
        CleanedRecipe((made,), "target", tmp_path).make(tmp_path)


def test_a_defense_on_texts_behind_another_one_is_refused_before_any_work(texts_with_numbers, tmp_path):
    wrong = given(texts_with_numbers, tmp_path / "run", defenses=[[{"name": "rounding"}, {"name": "pii-removal"}]])
    with pytest.raises(UsageError, match="must come before"):
        audit(build_spec(wrong))
