"""Single attacks on two arrays: fit, predict, and a finding with floors, interval, trust and status."""

import numpy as np
import pytest

import unembed
from unembed.attacks import ATTACKS
from unembed.attacks.base import AttackFacts
from unembed.encoders.bag_of_words import HashingEncoder
from unembed.errors import CannotMeasureError, DataError, UnknownNameError, UsageError
from unembed.games.threat import Capability
from unembed.params import Parametrised


@pytest.fixture(scope="module")
def counts(texts):
    """Vectors that hide nothing: hashed counts of words."""
    return HashingEncoder(features=256).encode(texts).toarray()


WORDS = [
    "apple",
    "bridge",
    "candle",
    "doctor",
    "engine",
    "flood",
    "garden",
    "hammer",
    "island",
    "jacket",
    "kettle",
    "lemon",
]


@pytest.fixture(scope="module")
def plain():
    """Texts of four words out of twelve, and vectors with a direction for each word."""
    rng = np.random.default_rng(5)
    held = np.stack([rng.permutation(12) < 4 for _ in range(300)])
    texts = [" ".join(np.array(WORDS)[row]) for row in held]
    return (held + 0.1 * rng.standard_normal((300, 12))).astype(np.float32), texts


def test_words_come_back_with_confidences(plain):
    X, texts = plain
    said = unembed.attack("inversion/portfolio", seed=1).fit(X[:200], texts[:200]).predict(X[200:])
    assert len(said) == 100
    for words in said:
        assert [c for _, c in words] == sorted((c for _, c in words), reverse=True)
    exact = [{word for word, _ in words} == set(text.split()) for words, text in zip(said, texts[200:], strict=True)]
    assert np.mean(exact) > 0.8


def test_the_committee_reads_words_with_and_without_its_encoder(counts, texts):
    settings = {"members": 1, "epochs": 2, "min_steps": 20, "rescoring_pairs": 10}
    alone = unembed.attack("inversion/committee", **settings).fit(counts[:100], texts[:100])
    asking = unembed.attack("inversion/committee", encoder=dense_hashing, **settings).fit(counts[:100], texts[:100])
    for reader in (alone, asking):
        words = reader.predict(counts[100:110])
        assert len(words) == 10
        assert all(0 <= c <= 1 for row in words for _, c in row)


def dense_hashing(texts):
    return HashingEncoder(features=256).encode(texts).toarray()


@pytest.mark.parametrize("name", ["attribute/linear", "attribute/portfolio"])
def test_labels_come_back_as_they_were_given(name, vectors, topics):
    numbered = {t: 10 * i for i, t in enumerate(sorted(set(topics)))}
    labels = [numbered[t] for t in topics]
    told = unembed.attack(name).fit(vectors[:160], labels[:160])
    said = told.predict(vectors[160:])
    assert said.dtype.kind == "i"
    assert (said == labels[160:]).mean() > 0.5
    scores = told.confidences(vectors[160:])
    assert (np.array(told.classes_)[scores.argmax(axis=1)] == said).all()


def test_numbers_come_back(vectors):
    numbers = vectors[:, 0] * 10 + 50
    said = unembed.attack("number/ridge").fit(vectors[:160], numbers[:160]).predict(vectors[160:])
    assert np.abs(said - numbers[160:]).mean() < 5
    with pytest.raises(UsageError, match="no scores"):
        unembed.attack("number/ridge").fit(vectors, numbers).confidences(vectors)


@pytest.mark.parametrize("name", ["keyword/svm", "keyword/portfolio", "keyword/mlp"])
def test_keywords_are_told(name, plain):
    X, texts = plain
    one = unembed.attack(name).fit(X[:200], texts[:200], keyword="flood")
    said = one.predict(X[200:])
    assert said.dtype == bool
    assert (said == ["flood" in text for text in texts[200:]]).mean() > 0.9
    two = unembed.attack(name).fit(X[:200], texts[:200], keyword=["flood", "lemon"])
    assert two.predict(X[200:]).shape == two.confidences(X[200:]).shape == (100, 2)
    assert two.classes_ == ("flood", "lemon")
    with pytest.raises(UsageError, match="Give keyword="):
        unembed.attack(name).fit(X, texts)


def test_keywords_are_put_into_texts_where_the_encoder_can_be_asked(counts, texts):
    asked = unembed.attack("keyword/svm", encoder=dense_hashing).fit(counts[:160], texts[:160], keyword="volcano")
    assert asked.predict(dense_hashing(["There is a volcano in my garden.", "There is a printer."])).tolist()[0]


class Reader(Parametrised):
    """Reads the texts themselves."""

    facts = AttackFacts(
        name="attribute/reader",
        game="attribute",
        title="A reader",
        requires=frozenset({Capability.TEXTS, Capability.LABELS}),
        cost="seconds",
    )
    seed: int = 0

    def fit(self, knowledge):
        self.of_ = {text.split()[0]: label for text, label in zip(knowledge.vectors, knowledge.labels, strict=True)}
        self.classes_ = len(knowledge.classes)
        return self

    def run(self, vectors):
        return np.eye(self.classes_)[[self.of_.get(text.split()[0], 0) for text in vectors]]


def test_an_attack_that_reads_texts_is_given_texts():
    texts, labels = ["red one", "blue two", "red three", "blue four"], ["r", "b", "r", "b"]
    assert unembed.attack(Reader).fit(texts, labels).predict(["blue sky", "red sea"]).tolist() == ["b", "r"]
    with pytest.raises(UsageError, match="reads texts in place of vectors"):
        unembed.attack(Reader).fit(np.zeros((4, 2)), labels)


@pytest.mark.parametrize("name", [n for n in ATTACKS if ATTACKS.get(n).facts.game in ("pattern", "fingerprint")])
def test_an_attack_that_arrays_are_not_enough_for_says_how_else(name, counts, texts):
    with pytest.raises(UsageError, match=r"unembed\.audit\(|encoder="):
        unembed.attack(name).fit(counts, texts)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda X, y: unembed.attack("attribute/liner"), UnknownNameError, "attribute/linear"),
        (lambda X, y: unembed.attack("attribute/linear", depth=3), UnknownNameError, "parameter of AttributeLinear"),
        (lambda X, y: unembed.attack("attribute/linear").predict(X), UsageError, "call fit"),
        (lambda X, y: unembed.attack("attribute/linear").fit(X, y[:-1]), DataError, "240 rows for 239 answers"),
        (lambda X, y: unembed.attack("attribute/linear").fit(X, y, colour=1), UnknownNameError, "argument 'colour'"),
        (lambda X, y: unembed.attack("attribute/linear").fit(X, y).predict(X[:, :3]), DataError, "3 dimensions"),
        (lambda X, y: unembed.attack("inversion/mlc").fit(X, range(240)), DataError, "give a list of strings"),
        (lambda X, y: unembed.attack("inversion/relaxation").fit(X, y), UsageError, "needs weights"),
        (lambda X, y: unembed.attack("fingerprint/classifier").fit(X, y), UsageError, r"unembed\.audit"),
    ],
)
def test_wrong_use_is_one_clear_error(call, kind, message, vectors, topics):
    with pytest.raises(kind, match=message) as caught:
        call(vectors, topics)
    assert "\n" not in str(caught.value)


def test_a_finding_from_two_arrays(vectors, topics):
    finding = unembed.measure("attribute/linear", vectors, topics, repeats=0)
    assert finding.status == "leak"
    assert {floor.kind for floor in finding.floors} == {"prior", "shuffled", "random"}
    assert finding.excess.low > 0.1
    assert finding.trust.trusted
    nothing = unembed.measure("attribute/linear", np.random.default_rng(1).standard_normal(vectors.shape), topics)
    assert nothing.status != "leak"


def test_a_finding_is_that_of_an_audit_on_the_same_rows(texts, vectors, topics, small):
    alone = unembed.measure("attribute/linear", vectors, topics, texts=texts, repeats=0, calibrate=False)
    audit = unembed.audit(texts, vectors, attributes={"label": topics}, **small)
    assert alone.estimate == audit.findings[0].estimate


def test_a_finding_about_words_and_keywords(counts, texts):
    words = unembed.measure("inversion/mlc", counts, texts, params={"epochs": 8}, repeats=0, calibrate=False)
    assert words.game == "inversion"
    assert words.status == "leak"
    looked = unembed.measure("keyword/svm", counts, texts, keyword="please", repeats=0, calibrate=False)
    assert next(s.name for s in looked.slices) == "please"


def test_an_attack_through_the_encoder_is_measured_with_it(texts, counts):
    settings = {"members": 1, "epochs": 2, "min_steps": 20, "rescoring_pairs": 10}
    found = unembed.measure("inversion/committee", counts, texts, encoder=dense_hashing, params=settings)
    assert found.cost.queries > 0
    with pytest.raises(CannotMeasureError, match="different orders"):
        unembed.measure("inversion/committee", counts[::-1], texts, encoder=dense_hashing, params=settings)


def test_what_can_not_be_measured_says_why(vectors):
    with pytest.raises(DataError, match="at least 2 are needed"):
        unembed.measure("attribute/linear", vectors, ["same"] * len(vectors))
    with pytest.raises(CannotMeasureError, match="'keyword/svm' could not be measured: keyword number 1 occurs in 0"):
        unembed.measure("keyword/svm", vectors, [f"text number {i}" for i in range(240)], keyword="volcano")
