"""The conformance suites find the faults they are there for."""

from dataclasses import replace

import numpy as np
import pytest

from unembed.attacks.attribute.linear import AttributeLinear
from unembed.defenses.base import DefenseFacts
from unembed.encoders.base import EncoderCard
from unembed.params import Parametrised
from unembed.testing import check_attack, check_defense, check_encoder, check_utility, checks
from unembed.utility.base import TaskFacts
from unembed.utility.column import Column
from unembed.utility.retrieval import Retrieval


class Guesser(AttributeLinear):
    """Ignores the vectors."""

    def run(self, vectors):
        rng = np.random.default_rng(0)
        return rng.standard_normal((vectors.shape[0], 2))


class Unseeded(AttributeLinear):
    """Random on its own."""

    def run(self, vectors):
        scores = super().run(vectors)
        return scores + np.random.default_rng().standard_normal(scores.shape) * 1e-3


class Busy(AttributeLinear):
    """A constructor that computes."""

    def __init__(self, *, seed=0):
        super().__init__(seed=seed)
        self.extra = "computed"


class Contextual:
    """A vector that depends on the neighbours."""

    card = EncoderCard("contextual", "toy", digest=None, dimension=3, normalised=False)

    def encode(self, texts, *, role="document"):
        return np.array([[len(t), i, len(texts)] for i, t in enumerate(texts)], dtype=np.float32).reshape(-1, 3)


class Greedy(Parametrised):
    """A defense without facts."""

    def fit(self, vectors, owned=None):
        return self

    def transform(self, vectors, ids):
        return vectors


class Blind(Retrieval):
    """Looks at the plain vectors alone."""

    def score(self, material):
        return super().score(material.of(material.plain))


class Restless(Retrieval):
    """Other queries every time."""

    def __init__(self, *, k=10, queries=50):
        super().__init__(k=k, queries=queries)

    def score(self, material):
        return super().score(replace(material, seed=int(np.random.default_rng().integers(2**40))))


class Spoiling(Retrieval):
    """Works in the vectors it is given."""

    def score(self, material):
        material.vectors[0] = 0
        return super().score(material)


class Boasting(Column):
    """Says that plain vectors are perfect by definition."""

    facts = replace(Column.facts, plain_score=1.0)

    def __init__(self, *, column, folds=2):
        super().__init__(column=column, folds=folds)


class Particular(Retrieval):
    """Can't be made without a number."""

    def __init__(self, *, k, queries=10):
        super().__init__(k=k, queries=queries)


class Loose(Retrieval):
    """Forgets which texts belong together."""

    def score(self, material):
        return super().score(replace(material, groups=None))


class Choosy(Retrieval):
    """Scores only texts whose vector it likes."""

    def score(self, material):
        scores = super().score(material)
        liked = scores.parts[:, 0] > 0.01
        groups = material.groups and [g for g, yes in zip(material.groups, liked, strict=True) if yes]
        return replace(scores, parts=scores.parts[liked], groups=groups)


class Fragile(Retrieval):
    """Breaks on vectors without any length."""

    def score(self, material):
        scores = super().score(material)
        return replace(scores, parts=scores.parts / np.linalg.norm(material.vectors[:1].sum()))


class Title(Parametrised):
    """A task that can't score."""

    facts = TaskFacts("title", "Title", "none", "nothing")


BROKEN_TASKS = {
    Greedy: "TaskFacts",
    Title: "lacks score",
    Blind: "does not tell vectors from noise",
    Restless: "different scores",
    Spoiling: "changes the vectors",
    Boasting: "its facts say 1.0",
    Particular: "without a default",
    Loose: "loses the groups",
    Choosy: "scores other texts",
    Fragile: "NaN|no value",
}


@pytest.mark.parametrize("task", BROKEN_TASKS, ids=lambda t: t.__name__)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_a_broken_utility_task_fails(task):
    with pytest.raises(AssertionError, match=BROKEN_TASKS[task]):
        check_utility(task)


def test_an_attack_that_ignores_vectors_fails():
    with pytest.raises(AssertionError, match=r"fails its check: .* not find even the most obvious planted leak"):
        checks.attack_succeeds_on_leaky_vectors(Guesser)


def test_an_unseeded_attack_fails():
    with pytest.raises(AssertionError, match="different guesses"):
        check_attack(Unseeded)


def test_a_computing_constructor_fails():
    with pytest.raises(AssertionError, match="more than its parameters"):
        checks.constructor_stores_parameters(Busy)


def test_an_encoder_that_looks_at_neighbours_fails():
    with pytest.raises(AssertionError, match=r"two vectors|neighbours"):
        check_encoder(Contextual())


def test_a_defense_without_facts_fails():
    with pytest.raises(AssertionError, match="DefenseFacts"):
        check_defense(Greedy)


class Drawing(Parametrised):
    """Noise in the order of calls: asked twice, a record gets two."""

    facts = DefenseFacts(name="drawing", title="Noise as it comes")

    def __init__(self, *, seed=0):
        self.seed = seed

    def fit(self, vectors, owned=None):
        self.rng_ = np.random.default_rng(self.seed)
        return self

    def transform(self, vectors, ids):
        return (vectors + self.rng_.standard_normal(vectors.shape)).astype(np.float32)


def test_a_defense_whose_noise_follows_the_order_of_calls_fails():
    with pytest.raises(AssertionError, match="depends on the order of calls"):
        check_defense(Drawing)


class Neighbourly(Parametrised):
    """Cleans texts by what stands beside them, or changes vectors as well."""

    facts = DefenseFacts(name="neighbourly", title="Numbers texts as they come")

    seed: int = 0

    def fit(self, vectors, owned=None):
        return self

    def transform(self, vectors, ids):
        return vectors

    def clean(self, texts):
        return [f"{place} {text}" for place, text in enumerate(texts)]


class Twofold(Neighbourly):
    """Changes both."""

    def transform(self, vectors, ids):
        return vectors + 1

    def clean(self, texts):
        return list(texts)


class Forgetful(Neighbourly):
    """Leaves out empty texts."""

    def clean(self, texts):
        return [text for text in texts if text]


@pytest.mark.parametrize(
    ("made", "reason"),
    [(Neighbourly, "depends on the other texts"), (Twofold, "texts and vectors"), (Forgetful, "one text for each")],
)
def test_a_defense_on_texts_that_breaks_its_contract_fails(made, reason):
    with pytest.raises(AssertionError, match=reason):
        check_defense(made)
