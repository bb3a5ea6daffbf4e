"""What hides keywords: a classifier trained afresh on unseen texts loses the keywords, and keeps other words."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from unembed.corpora.words import words
from unembed.defenses.base import Owned
from unembed.defenses.chain import Chain
from unembed.defenses.ppm import Ppm
from unembed.defenses.saving import load_chain, save_chain
from unembed.defenses.subspace import Subspace
from unembed.errors import CannotMeasureError, UsageError

WIDTH, MANY = 48, 3000
KEYWORDS, OTHERS = ("apple", "river", "stone"), ("table", "cloud", "horse")
WORDS = (*KEYWORDS, *OTHERS, *(f"word{chr(97 + i)}{chr(97 + j)}" for i in range(7) for j in range(6)))


class World:
    """Texts of eight words whose vectors are the sums of their words' own, and some noise."""

    def __init__(self):
        rng = np.random.default_rng(4)
        self.of = dict(zip(WORDS, rng.standard_normal((len(WORDS), WIDTH)).astype(np.float32), strict=True))
        self.texts = [" ".join(rng.choice(WORDS, size=8, replace=False)) for _ in range(MANY)]
        self.vectors = self.encode(self.texts)
        self.columns = {"season": ["cold" if "cloud" in text else "warm" for text in self.texts]}
        self.learnt, self.known, self.asked = np.split(np.arange(MANY), [1500, 2300])

    def encode(self, texts):
        rows = np.array([np.sum([self.of[w] for w in words(text)], axis=0) for text in texts], dtype=np.float32)
        return rows + 0.3 * np.random.default_rng(len(texts)).standard_normal(rows.shape).astype(np.float32)

    def owned(self, *, encode=False):
        columns = {name: [values[row] for row in self.learnt] for name, values in self.columns.items()}
        return Owned([self.texts[row] for row in self.learnt], columns, self.encode if encode else None)

    def accuracy(self, vectors, word, *, trained_on=None, attacker="linear"):
        """Balanced accuracy of a classifier trained afresh, on texts that neither it nor the defense has seen."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.metrics import balanced_accuracy_score
        from sklearn.neural_network import MLPClassifier
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        made = {
            "linear": lambda: LogisticRegression(C=0.05, class_weight="balanced", max_iter=500),
            "mlp": lambda: MLPClassifier((64,), alpha=1.0, max_iter=60, tol=1e-3, random_state=0),
        }[attacker]()
        told = np.array([word in words(text) for text in self.texts])
        source = vectors if trained_on is None else trained_on
        rows = self.known
        if attacker == "mlp":  # it knows no weights of classes
            yes, no = (rows[told[rows] == answer] for answer in (True, False))
            rows = np.concatenate([yes, no[: len(yes)]])
        model = make_pipeline(StandardScaler(), made).fit(source[rows], told[rows])
        return balanced_accuracy_score(told[self.asked], model.predict(vectors[self.asked]))

    def mean(self, vectors, asked, **more):
        return float(np.mean([self.accuracy(vectors, word, **more) for word in asked]))

    def defended(self, defense, *, encode=False):
        fitted = defense.fit(self.vectors[self.learnt], self.owned(encode=encode))
        return np.asarray(fitted.transform(self.vectors, [str(row) for row in range(MANY)]))


@pytest.fixture(scope="module")
def world():
    return World()


def test_plain_vectors_tell_every_word(world):
    assert world.mean(world.vectors, KEYWORDS) > 0.9
    assert world.mean(world.vectors, OTHERS) > 0.9


def test_a_projection_takes_the_keywords_and_leaves_other_words(world):
    made = world.defended(Subspace(beta=3 / WIDTH, keywords=KEYWORDS))
    np.testing.assert_allclose(np.linalg.norm(made, axis=1), 1, atol=1e-5)
    assert world.mean(made, KEYWORDS) < 0.6
    assert world.mean(made, KEYWORDS, attacker="mlp") < 0.65
    assert world.mean(made, OTHERS) > 0.85
    assert world.mean(made, KEYWORDS, trained_on=world.vectors) < 0.6


def test_a_larger_share_hides_more(world):
    shares = [1 / WIDTH, 2 / WIDTH, 3 / WIDTH, 0.75]
    made = [world.defended(Subspace(beta=share, keywords=KEYWORDS)) for share in shares]
    told = [world.mean(vectors, KEYWORDS) for vectors in made]
    assert told[0] > told[1] > told[2]
    assert world.mean(made[3], OTHERS) < world.mean(made[2], OTHERS) - 0.1


def test_directions_are_orthonormal_and_as_many_as_asked_for(world):
    for encode in (False, True):
        for beta, count in ((0.01, 1), (0.25, 12), (0.9, 43)):
            fitted = Subspace(beta=beta, keywords=KEYWORDS)
            fitted.fit(world.vectors[world.learnt], world.owned(encode=encode))
            assert fitted.directions_.shape == (WIDTH, count)
            np.testing.assert_allclose(fitted.directions_.T @ fitted.directions_, np.eye(count), atol=1e-5)


def test_copies_that_differ_in_the_keyword_show_its_direction(world):
    """After the mean differences, what is left of a keyword's own vector is taken out where the encoder is at hand."""
    left = {}
    for encode in (False, True):
        fitted = Subspace(beta=6 / WIDTH, keywords=KEYWORDS)
        fitted.fit(world.vectors[world.learnt], world.owned(encode=encode))
        own = np.array([world.of[word] for word in KEYWORDS])
        left[encode] = np.linalg.norm(own - own @ fitted.directions_ @ fitted.directions_.T) / np.linalg.norm(own)
    assert left[True] < 0.9 * left[False]


def test_a_mapping_hides_more_the_less_nearness_counts(world):
    told, moved = [], []
    for nearness in (0.05, 3.0, 50.0):
        made = world.defended(Ppm(nearness=nearness, keywords=KEYWORDS))
        told.append(world.mean(made, KEYWORDS))
        moved.append(np.linalg.norm(made - world.vectors, axis=1).mean())
    assert told[0] < 0.6
    assert told[0] < told[1] - 0.03 < told[2] - 0.2
    assert moved[0] > 1.2 * moved[1]
    # Where vectors must stay, they do, and tell what they told.
    assert moved[2] < 0.1
    assert told[2] == pytest.approx(world.mean(world.vectors, KEYWORDS), abs=0.03)


def test_a_mapping_stands_up_to_adversaries_that_are_trained_afterwards(world):
    made = world.defended(Ppm(keywords=KEYWORDS))
    assert world.mean(made, KEYWORDS, attacker="mlp") < 0.68
    assert world.mean(made, KEYWORDS, trained_on=world.vectors) < 0.65
    assert world.mean(made, OTHERS) > 0.85


def test_a_mapping_hides_a_column(world):
    made = world.defended(Ppm(column="season"))
    assert world.accuracy(made, "cloud") < 0.62
    assert world.accuracy(made, "stone") > 0.85
    with pytest.raises(CannotMeasureError, match="no column"):
        world.defended(Ppm(column="none"))
    with pytest.raises(CannotMeasureError, match="two values"):
        Ppm(column="same").fit(world.vectors[:50], Owned(["a text"] * 50, {"same": ["one"] * 50}))


def test_without_keywords_frequent_words_are_hidden(world):
    made = world.defended(Subspace(beta=0.5))
    assert world.mean(made, WORDS[:6]) < world.mean(world.vectors, WORDS[:6]) - 0.1


@pytest.mark.parametrize("defense", [Subspace(keywords=KEYWORDS), Ppm(keywords=KEYWORDS, steps=20)])
def test_what_was_learnt_is_kept_without_words_of_the_texts(world, defense, tmp_path):
    chain = Chain([type(defense)(**{**defense.get_params(), "keywords": ()})])
    chain.fit(world.vectors[world.learnt], 3, world.owned())
    save_chain(chain, tmp_path / "kept")
    ids = [str(row) for row in range(MANY)]
    np.testing.assert_array_equal(
        load_chain(tmp_path / "kept").transform(world.vectors, ids), chain.transform(world.vectors, ids)
    )
    told = (tmp_path / "kept" / "defense.json").read_text()
    assert not any(word in told for word in WORDS)


@pytest.mark.parametrize(
    "wrong",
    [
        Subspace(beta=0),
        Subspace(beta=1),
        Subspace(keywords="apple"),
        Ppm(nearness=-1),
        Ppm(units=0),
        Ppm(steps=0),
        Ppm(keywords=["apple"], column="season"),
    ],
)
def test_parameters_out_of_range_are_refused(world, wrong):
    with pytest.raises(UsageError, match=wrong.facts.name):
        world.defended(wrong)


@pytest.mark.parametrize("defense", [Subspace(keywords=KEYWORDS), Ppm(keywords=KEYWORDS, steps=5)])
def test_unfit_material_is_refused(world, defense):
    vectors, owned = world.vectors[world.learnt], world.owned()
    broken = vectors.copy()
    broken[7, 1] = np.nan
    for given, held, reason in (
        (broken, owned, "NaN"),
        (csr_matrix(vectors), owned, "sparse"),
        (vectors, None, "needs the texts"),
        (vectors[:9], owned, "needs the texts"),
        (np.ones_like(vectors), owned, "all vectors are the same"),
        (vectors[:9], Owned(owned.texts[:9]), "keyword number"),
    ):
        with pytest.raises(CannotMeasureError, match=reason):
            type(defense)(**defense.get_params()).fit(given, held)
    fitted = defense.fit(vectors, owned)
    with pytest.raises(CannotMeasureError, match="dimension"):
        fitted.transform(vectors[:, :9], ["a"] * len(vectors))
