"""What it takes to say that no leak was found: a working attack, figures that agree, a leak that would have shown."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unembed.attacks import ATTACKS
from unembed.corpora.corpus import Corpus
from unembed.errors import CannotMeasureError, UnknownNameError
from unembed.games.attribute import AttributeGame
from unembed.games.base import Material, Queries
from unembed.games.calibration import found_at_all
from unembed.games.levels import level_of
from unembed.games.number import NumberGame
from unembed.games.planting import CannotPlantError
from unembed.games.play import Check, play, status_of
from unembed.games.repeats import luck_of_pairs, widened
from unembed.games.rounds import MOST_NOISE, check_guess, play_round, strongest_elsewhere
from unembed.games.threat import ADVERSARIES
from unembed.metrics.classes import top_k_hits
from unembed.metrics.estimate import Estimate
from unembed.params import Parametrised
from unembed.testing.toys import toy_game, toy_material


def dealt(vectors, values, known, game=None):
    """A game about the column ``a``: the first rows are the adversary's, the others are asked about."""
    sides = [
        Corpus.of([f"text {i}" for i in range(len(part))], a=list(part)) for part in (values[:known], values[known:])
    ]
    rows = np.asarray(vectors, dtype=np.float32)
    game = game or AttributeGame(column="a")
    return game, game.deal(
        Material(
            target=sides[1],
            known=sides[0],
            target_vectors=rows[known:],
            known_vectors=rows[:known],
            encode=lambda texts: rows[: len(texts)],
            adversary=ADVERSARIES["insider"],
            seed=0,
        )
    )


def split(texts, vectors, known):
    """The first texts are the adversary's, the others are asked about."""
    return Material(
        target=Corpus.of(texts[known:]),
        known=Corpus.of(texts[:known]),
        target_vectors=vectors[known:],
        known_vectors=vectors[:known],
        encode=lambda asked: vectors[: len(asked)],
        adversary=ADVERSARIES["insider"],
        seed=0,
    )


def label(n, rng):
    return np.array([f"v{y}" for y in rng.integers(0, 2, n)])


class Answers(Parametrised):
    """An attack made of two functions: what it keeps of its knowledge, and what it answers."""

    facts = ATTACKS.get("attribute/portfolio").facts

    def __init__(self, *, keep=None, answer=None, seed=0):
        self.keep = keep
        self.answer = answer
        self.seed = seed

    def fit(self, knowledge):
        self.kept_ = self.keep(knowledge) if self.keep else None
        self.classes_ = len(knowledge.classes)
        return self

    def run(self, vectors):
        return self.answer(self.kept_, vectors, self.classes_)


def not_a_number(kept, vectors, classes):
    return np.full((len(vectors), classes), np.nan)


def guessing(kept, vectors, classes):
    return np.random.default_rng(0).standard_normal((len(vectors), classes))


def remembers(knowledge):
    return {row.tobytes(): int(y) for row, y in zip(knowledge.vectors, knowledge.labels, strict=True)}


def look_up(kept, vectors, classes):
    return np.eye(classes)[[kept.get(row.tobytes(), 0) for row in np.ascontiguousarray(vectors)]]


class TestPortfolio:
    """Leaks that a plain linear model misses, and leaks that it finds."""

    rng = np.random.default_rng(0)
    noise = rng.standard_normal((1600, 96)) @ np.diag(np.linspace(0.2, 3, 96))
    side = rng.integers(0, 2, 1600)

    def read(self, vectors, attack="attribute/portfolio", known=600):
        _, deal = dealt(vectors, [f"v{y}" for y in self.side], known)
        guess = ATTACKS.get(attack)(seed=1).fit(deal.knowledge).run(deal.vectors)
        return float((guess.argmax(axis=1) == deal.truth.labels).mean()), deal

    def test_a_label_that_stands_in_one_coordinate_is_read(self):
        vectors = self.noise.copy()
        vectors[:, 40] = (2 * self.side - 1) * vectors[:, 40].std()
        assert self.read(vectors)[0] > 0.99

    def test_a_label_in_the_distance_from_the_centre_is_read(self):
        vectors = self.noise * np.where(self.side, 1.5, 1.0)[:, None]
        assert self.read(vectors)[0] > 0.95

    def test_an_exclusive_or_of_two_coordinates_is_read(self):
        vectors = self.noise.copy()
        one = np.sign(vectors[:, 3])
        vectors[:, 7] = np.abs(vectors[:, 7]) * one * (2 * self.side - 1)
        assert self.read(vectors)[0] > 0.9

    @pytest.mark.parametrize("rotated", [False, True])
    @pytest.mark.parametrize("attack", ["attribute/linear", "attribute/portfolio"])
    def test_it_is_not_behind_plain_logistic_regression_whichever_way_the_space_is_turned(self, attack, rotated):
        vectors = self.noise.copy()
        vectors[:, 5] += 1.3 * self.side * vectors[:, 5].std()
        if rotated:
            vectors = vectors @ np.linalg.qr(np.random.default_rng(1).standard_normal((96, 96)))[0]
        accuracy, deal = self.read(vectors, attack)
        plain = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        plain.fit(deal.knowledge.vectors, deal.knowledge.labels)
        assert accuracy >= plain.score(deal.vectors, deal.truth.labels) - 0.02

    def test_numbers_that_bend_are_read(self):
        numbers = self.rng.gamma(2, 10, 1200)
        vectors = self.noise[:1200].copy()
        vectors[:, 9] = np.log(numbers) + 0.1 * self.rng.standard_normal(1200)
        game, deal = dealt(vectors, list(numbers), 600, NumberGame(column="a"))
        played = play_round(game, ATTACKS.get("number/portfolio")(seed=0), deal, 0)
        assert played.scores.point > 0.6

    def test_counts_of_hashed_words_are_looked_up(self):
        """Buckets of words: a look-up of columns is chosen and reads more than the linear network of the paper."""
        rng = np.random.default_rng(3)
        words = [f"word{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(150)]
        texts = [" ".join(rng.choice(words, size=12, replace=False)) for _ in range(700)]
        bucket = {w: int(rng.integers(0, 100)) for w in words}
        vectors = np.zeros((700, 100), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.split():
                vectors[row, bucket[word]] += 1
        stuff = split(texts, vectors, 400)
        game = toy_game("inversion")
        deal = game.deal(stuff)
        read = {
            name: game.judge(deal.truth, ATTACKS.get(name)(seed=0).fit(deal.knowledge).run(deal.vectors), 0).point
            for name in ("inversion/portfolio", "inversion/mlc")
        }
        assert read["inversion/portfolio"] > 0.5
        assert read["inversion/portfolio"] > read["inversion/mlc"]

    def test_words_of_vectors_without_any_are_guessed_by_their_frequency(self):
        """With few pairs a reader of noise would fall clearly behind guessing and look broken."""
        rng = np.random.default_rng(4)
        words = [f"word{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(200)]
        share = 1 / np.arange(2, 202)
        texts = [" ".join(rng.choice(words, size=10, replace=False, p=share / share.sum())) for _ in range(450)]
        noise = rng.standard_normal((450, 64)).astype(np.float32)
        stuff = split(texts, noise, 150)
        game, attack = toy_game("inversion"), ATTACKS.get("inversion/portfolio")(seed=0)
        played = play_round(game, attack, game.deal(stuff), 0)
        assert attack.chosen_ == "frequencies of the words"
        assert played.excess.low <= 0 <= played.excess.high


class TestBrokenAttacks:
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((600, 24)).astype(np.float32)
    values = label(600, rng)

    def test_nan_is_never_right(self):
        assert not top_k_hits(np.full((3, 2), np.nan), np.array([0, 1, 1]), 1).any()

    def test_answers_of_nan_are_refused(self):
        game, deal = dealt(self.vectors, self.values, 300)
        with pytest.raises(CannotMeasureError, match="NaN"):
            play(game, Answers(answer=not_a_number), deal, 0)

    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    def test_answers_that_are_no_numbers_are_refused(self, bad):
        with pytest.raises(CannotMeasureError):
            check_guess(np.array([[0.0, bad]]))

    @pytest.mark.parametrize("calibrate", [False, True])
    def test_a_memory_of_the_training_vectors_is_not_trusted(self, calibrate):
        game, deal = dealt(self.vectors, self.values, 300)
        played = play(game, Answers(keep=remembers, answer=look_up), deal, 0, calibrate=calibrate)
        assert not played.check.passed
        assert status_of(played)[0] == "could-not-measure"

    def test_clearly_below_guessing_is_broken_not_safe(self):
        game, deal = dealt(self.vectors, self.values, 300)
        played = play(game, ATTACKS.get("attribute/linear")(seed=0), deal, 0)
        low = replace(played, excess=Estimate(-0.2, -0.25, -0.15, 300), check=Check(True, ""), contrary=())
        assert status_of(low)[0] == "could-not-measure"


class TestNoLeakFound:
    rng = np.random.default_rng(2)
    vectors = rng.standard_normal((2400, 32)).astype(np.float32)
    values = label(2400, rng)

    def safe(self, **how):
        game, deal = dealt(self.vectors, self.values, 1200)
        return play(game, ATTACKS.get("attribute/portfolio")(quick=True, seed=0), deal, 0, **how)

    def test_it_says_how_small_a_leak_would_have_been_found(self):
        played = self.safe(calibrate=True)
        status, level, reason = status_of(played)
        assert (status, level) == ("no-leak-found", "none")
        assert played.detection.size <= 0.2
        assert f"{played.detection.size:g}" in reason

    def test_without_calibration_it_is_inconclusive(self):
        assert status_of(self.safe())[0] == "inconclusive"

    def test_other_figures_must_agree(self):
        played = replace(self.safe(calibrate=True), contrary=("top5_accuracy",))
        assert status_of(played)[0] == "inconclusive"

    def test_an_adversary_without_the_words_can_not_tell(self):
        played = replace(self.safe(calibrate=True), doubt="its text is too unlike")
        assert status_of(played) == ("inconclusive", "unknown", "its text is too unlike")

    def test_a_planted_leak_of_the_stated_size_is_found_by_another_hand(self):
        """Planted here, not by the game: shifts along a random direction, as large as the size that is said."""
        from scipy.stats import norm

        size = self.safe(calibrate=True).detection.size
        found = 0
        for seed in range(6):
            rng = np.random.default_rng(seed)
            side = rng.integers(0, 2, 2400)
            direction = rng.standard_normal(32)
            direction /= np.linalg.norm(direction)
            told = (2 * side - 1) * norm.ppf(0.5 + size) + rng.standard_normal(2400)
            vectors = self.vectors + np.outer(told - self.vectors @ direction, direction)
            game, deal = dealt(vectors, [f"v{y}" for y in side], 1200)
            played = play(game, ATTACKS.get("attribute/portfolio")(quick=True, seed=seed), deal, seed)
            found += status_of(played)[0] == "leak"
        assert found >= 5


@pytest.mark.parametrize("name", ["attribute", "number", "keyword", "inversion"])
def test_a_leak_that_hides_nothing_is_found_in_every_game_that_plants(name):
    game = toy_game(name)
    deal = game.deal(toy_material(known=300, targets=150))
    attack = ATTACKS.get(f"{name}/portfolio")(seed=0)
    assert found_at_all(game, attack, deal, 0)
    blind = replace(
        deal, vectors=deal.vectors * 0, knowledge=replace(deal.knowledge, vectors=deal.knowledge.vectors * 0)
    )
    with pytest.raises(CannotPlantError):
        found_at_all(game, attack, blind, 0)


def test_planting_leaves_the_deal_as_it_was():
    game = toy_game("attribute")
    deal = game.deal(toy_material(known=200, targets=100))
    before = deal.vectors.copy(), deal.knowledge.vectors.copy()
    planted = game.plant(deal.knowledge, deal.vectors, deal.truth, "rotated", 0.3, np.random.default_rng(0))
    assert np.array_equal(deal.vectors, before[0])
    assert np.array_equal(deal.knowledge.vectors, before[1])
    assert planted.vectors.shape == deal.vectors.shape


def test_the_size_of_a_planted_leak_is_what_an_ideal_reader_scores():
    """A reader told the direction scores the size: the codes are far enough apart, and no further."""
    rng = np.random.default_rng(0)
    values = label(8000, rng)
    game, deal = dealt(rng.standard_normal((8000, 8)), values, 4000)
    planted = game.plant(deal.knowledge, deal.vectors, deal.truth, "axis", 0.2, rng)
    moved = np.argmax(
        [abs(np.corrcoef(planted.vectors[:, c], deal.truth.labels)[0, 1]) for c in range(planted.vectors.shape[1])]
    )
    right = (planted.vectors[:, moved] > np.median(planted.vectors[:, moved])) == (deal.truth.labels == 1)
    assert abs(max(right.mean(), 1 - right.mean()) - 0.7) < 0.03


class TestFloors:
    def test_few_random_vectors_serve_many_targets(self):
        """An attack is asked about no more than some hundred random vectors, and each target gets an answer."""
        asked = []

        class Counts(Answers):
            def run(self, vectors):
                asked.append(len(vectors))
                return super().run(vectors)

        rng = np.random.default_rng(5)
        game, deal = dealt(rng.standard_normal((1500, 8)), label(1500, rng), 300)
        played = play_round(game, Counts(answer=guessing), deal, 0)
        assert asked == [1200, MOST_NOISE]
        assert len(played.floors["random"].parts) == 1200

    def test_the_strongest_of_many_equal_floors_is_not_flattered(self):
        """Three coins: the strongest of them by its own result would be above one half."""
        rng = np.random.default_rng(0)
        game, deal = dealt(rng.standard_normal((400, 4)), label(400, rng), 200)
        chosen, best = [], []
        for _ in range(60):
            coins = [game.judge(deal.truth, rng.random((200, 2)), 0) for _ in range(3)]
            chosen.append(strongest_elsewhere(coins, rng).point)
            best.append(max(c.point for c in coins))
        assert abs(np.mean(chosen) - 0.5) < 0.015
        assert np.mean(best) > 0.52


class TestLuck:
    rng = np.random.default_rng(4)
    vectors = rng.standard_normal((500, 64))
    side = rng.integers(0, 2, 500)

    def luck(self, vectors):
        game, deal = dealt(vectors, [f"v{y}" for y in self.side], 100)
        attack = ATTACKS.get("attribute/linear")(seed=0)
        return luck_of_pairs(game, attack.fit(deal.knowledge), deal, 5, 0)

    def test_few_pairs_make_a_result_a_matter_of_luck(self):
        leaky = self.vectors + 0.15 * (2 * self.side - 1)[:, None]
        assert self.luck(leaky) > 0

    def test_it_widens_both_ends_and_stays_a_share(self):
        estimate = Estimate(0.95, 0.92, 0.97, 100)
        wide = widened(estimate, 0.05, 5)
        assert wide.low < estimate.low
        assert estimate.high < wide.high <= 1
        assert widened(estimate, None, 5) == estimate


def test_queries_of_floors_and_planted_leaks_are_not_the_adversarys():
    """Only what the attack asks while it learns and answers for the targets is its cost."""

    class Asking(Answers):
        def run(self, vectors):
            self.kept_(["one text"])
            return np.tile([1.0, 0.0], (len(vectors), 1))

    game, deal = dealt(np.random.default_rng(0).standard_normal((60, 4)), label(60, np.random.default_rng(0)), 30)
    door = Queries(lambda texts: np.zeros((len(texts), 4), dtype=np.float32))
    played = play_round(game, Asking(keep=lambda knowledge: door), replace(deal, door=door), 0)
    assert played.queries == 1
    assert door.count > 1


@pytest.mark.parametrize(
    ("value", "floor", "level"),
    [(0.545, 0.5, "low"), (0.625, 0.5, "moderate"), (0.75, 0.5, "high"), (0.26, 0.02, "high"), (0.2, 0.03, "high")],
)
def test_levels_mean_the_same_for_two_classes_and_for_fifty(value, floor, level):
    assert level_of(value, floor) == level


def test_a_number_has_no_multiple_of_chance():
    assert level_of(0.15, 0.001, ratio=False) == "low"


def test_texts_laid_open_make_a_leak_grave():
    assert level_of(0.1, 0.05, exposed=0.3) == "high"


def test_an_unknown_candidate_is_named():
    game = toy_game("attribute")
    deal = game.deal(toy_material(known=100, targets=50))
    with pytest.raises(UnknownNameError, match="candidate"):
        ATTACKS.get("attribute/portfolio")(only="linnear, C=1").fit(deal.knowledge)


def test_vectors_that_take_no_planting_are_not_called_safe():
    """More keywords than dimensions: nothing can be planted, so nothing shows that a leak would have been found."""
    game = toy_game("attribute")
    deal = game.deal(toy_material(known=200, targets=100))
    flat = replace(
        deal, vectors=deal.vectors * 0, knowledge=replace(deal.knowledge, vectors=deal.knowledge.vectors * 0)
    )
    played = play(game, ATTACKS.get("attribute/portfolio")(quick=True, seed=0), flat, 0, calibrate=True)
    status, _, reason = status_of(played)
    assert status == "could-not-measure"
    assert "planted" in reason


def test_an_adversary_that_lacks_the_words_leaves_the_question_open():
    """Public text of another kind: most words of the targets are not in it, so that reading none says nothing."""
    stuff = toy_material(known=200, targets=100)
    other = Corpus.of([f"{text} nothing{i % 3}" for i, text in enumerate(stuff.target.texts)])
    strange = replace(stuff, known=Corpus.of([f"word{i % 7} other{i % 5} apple" for i in range(200)]), target=other)
    noise = np.random.default_rng(0).standard_normal((300, 48)).astype(np.float32)
    game = toy_game("inversion")
    deal = game.deal(replace(strange, known_vectors=noise[:200], target_vectors=noise[200:]))
    assert deal.doubt
    status, _, reason = status_of(play(game, ATTACKS.get("inversion/portfolio")(seed=0), deal, 0, calibrate=True))
    assert (status, reason) == ("inconclusive", deal.doubt)


def test_the_luck_of_too_few_pairs_is_not_known():
    """A keyword with two training texts loses one kind when a part of them is left out: no figure, and no failure."""
    game = toy_game("keyword")
    deal = game.deal(toy_material(known=200, targets=100))
    rows = tuple(
        own[np.r_[np.flatnonzero(y)[:1], np.flatnonzero(~y)[:9]]]
        for own, y in zip(deal.knowledge.rows, deal.knowledge.labels, strict=True)
    )
    few = replace(deal.knowledge, rows=rows, labels=tuple(np.arange(10) == 0 for _ in rows))
    attack = ATTACKS.get("keyword/svm")(seed=0)
    assert luck_of_pairs(game, attack, replace(deal, knowledge=few), 5, 0) is None
