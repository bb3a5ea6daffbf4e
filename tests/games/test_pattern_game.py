"""The pattern game: whose secrets are asked about, what the adversary gets, and how a guess is judged."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unembed.corpora.corpus import Corpus
from unembed.corpora.patterns import parse_pattern
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.base import Material
from unembed.games.pattern import PatternGame, PatternGuess, by_part, sizes_of
from unembed.games.pattern_ranking import best_products, best_wholes, possible_wholes
from unembed.games.threat import ADVERSARIES, Adversary, Capability
from unembed.seeds import generator
from unembed.testing.toys import LeakyEncoder

DATE = "{day:date(%d/%m/%Y, 1990..1999)}"


def world(target, known=("nothing here",) * 30, adversary=ADVERSARIES["insider"], **changes):
    encoder = LeakyEncoder()
    target, known = Corpus.of(list(target)), Corpus.of(list(known))
    return Material(
        target,
        known,
        encoder.encode(target.texts),
        encoder.encode(known.texts),
        encoder.encode,
        adversary,
        0,
        **changes,
    )


def dates(n, seed, around="it was {} then"):
    return [around.format(t) for t in parse_pattern(DATE).generate(n, generator(seed, "dates")).texts]


def perfect(truth):
    sizes = sizes_of(truth.pattern, truth.asked)
    scores = np.full((len(truth.labels), sum(sizes)), -9.0)
    for i, table in enumerate(by_part(scores, sizes)):
        table[np.arange(len(table)), truth.labels[:, i]] = 0.0
    return PatternGuess(scores, best_wholes(by_part(scores, sizes)))


def value(scores):
    return float(scores.statistic(scores.parts.sum(axis=0)))


class TestDeal:
    def test_texts_of_the_collection_that_hold_a_secret_are_asked_about(self):
        texts = ["no secret", *dates(40, 1), "on 31/02/1994"]
        deal = PatternGame(pattern=DATE, pairs=100).deal(world(texts))
        assert list(deal.rows) == list(range(1, 41))
        assert np.array_equal(deal.vectors, LeakyEncoder().encode(texts)[1:41])
        assert any("1 secret(s) in targets left out: impossible value" in note for note in deal.notes)
        assert deal.queries == len(deal.knowledge.labels)

    def test_wrong_check_digits_are_counted_and_said(self):
        good = parse_pattern("card").generate(30, generator(0, "cards")).texts
        bad = [t[:-1] + str((int(t[-1]) + 1) % 10) for t in good[:7]]
        deal = PatternGame(pattern="card", pairs=50).deal(world(good + bad))
        assert len(deal.rows) == 30
        assert "7 secret(s) in targets left out: wrong check digit" in deal.notes
        with pytest.raises(CannotMeasureError, match="7 secret"):
            PatternGame(pattern="card", targets="found").deal(world(bad))

    def test_where_there_are_none_the_challenger_writes_some_and_the_adversary_has_none_of_them(self):
        encoded = []
        game = PatternGame(pattern="date", pairs=3000, planted=200)
        material = world(["nothing"] * 30)
        watched = Material(**{**vars(material), "encode_target": lambda t: (encoded.extend(t), material.encode(t))[1]})
        deal = game.deal(watched)
        made = game.queries(material.known, material.adversary, material.seed)
        assert set(deal.rows) == {-1}
        assert len(encoded) == len(deal.truth.labels) > 150
        assert not set(encoded) & set(made)

    def test_planted_secrets_are_announced_so_that_nothing_is_encoded_later(self):
        game = PatternGame(pattern="iban", targets="planted", carrier="sentences", pairs=60, planted=40)
        material = world(["nothing"] * 30)
        table = set(game.queries(material.known, material.adversary, material.seed))

        def from_table(texts):
            assert set(texts) <= table
            return LeakyEncoder().encode(texts)

        deal = game.deal(Material(**{**vars(material), "encode": from_table}))
        assert deal.queries == 60
        assert len(deal.truth.labels) == 40

    def test_the_insider_puts_its_own_secrets_into_its_own_texts(self):
        game = PatternGame(pattern=DATE, pairs=200)
        material = world(dates(50, 1), dates(40, 2))
        made = game.queries(material.known, material.adversary, material.seed)
        assert all(text.startswith("it was ") and text.endswith(" then") for text in made)
        deal = game.deal(material)
        assert deal.pairs == 40
        assert deal.queries + deal.pairs == len(deal.knowledge.labels)
        assert not set(made) & set(material.known.texts) or deal.queries < 200

    def test_without_queries_the_pairs_are_those_of_the_adversarys_texts(self):
        held = Adversary("insider", "", "", frozenset({Capability.VECTORS, Capability.PAIRS}))
        deal = PatternGame(pattern=DATE).deal(world(dates(50, 1), dates(40, 2), held))
        assert (deal.pairs, deal.queries) == (40, 0)
        with pytest.raises(CannotMeasureError, match="its own texts hold 0"):
            PatternGame(pattern=DATE).deal(world(dates(50, 1), adversary=held))

    def test_groups_follow_the_targets(self):
        texts = ["none", *dates(30, 1)]
        deal = PatternGame(pattern=DATE, pairs=50).deal(world(texts, groups=[f"d{i // 2}" for i in range(31)]))
        assert deal.truth.groups == [f"d{i // 2}" for i in range(1, 31)]

    @pytest.mark.parametrize(
        ("params", "said"),
        [
            ({"pattern": "citizen"}, "citizen-id"),
            ({"ask": ["brith"]}, "unknown field"),
            ({"ask": ["check"]}, "follows from the others"),
            ({"targets": "some"}, "targets"),
            ({"carrier": "bag"}, "carrier"),
            ({"pairs": 0}, "at least 1"),
            ({"carrier": "alone", "sentences": ["{secret}"]}, "leave one out"),
            ({"sentences": ["nothing"]}, "no place"),
        ],
    )
    def test_parameters_that_make_no_sense_are_refused(self, params, said):
        with pytest.raises(UsageError, match=said):
            PatternGame(**params).deal(world(["x"] * 30))

    def test_a_pattern_with_too_few_values_cannot_be_measured(self):
        with pytest.raises(CannotMeasureError, match="too few"):
            PatternGame(pattern="{x:one(a|b)}", targets="planted").deal(world(["x"] * 30))


class TestJudge:
    def deal(self, **params):
        return PatternGame(pattern="citizen-id", targets="planted", pairs=50, planted=60, **params).deal(
            world(["x"] * 9)
        )

    def test_a_perfect_guess_is_right_everywhere(self):
        deal, game = self.deal(ask=("birth", "sequence")), PatternGame()
        scores = game.judge(deal.truth, perfect(deal.truth), 0)
        assert value(scores) == 1
        assert scores.secondary["whole_top1"].value == 1
        assert {s.name for s in scores.slices if s.kind == "field"} == {"birth", "sequence"}
        assert all(s.estimate.value == 1 for s in scores.slices)

    def test_one_wrong_part_spoils_the_whole_and_not_the_other_parts(self):
        deal, game = self.deal(), PatternGame()
        guess = perfect(deal.truth)
        month = by_part(guess.scores, sizes_of(deal.truth.pattern, deal.truth.asked))[1]
        month[np.arange(60), (deal.truth.labels[:, 1] + 1) % 12] = 1.0
        worse = PatternGuess(guess.scores, best_wholes(by_part(guess.scores, [110, 12, 31])))
        scores = game.judge(deal.truth, worse, 0)
        assert value(scores) == pytest.approx(2 / 3)
        assert scores.secondary["whole_top1"].value == 0
        assert scores.secondary["whole_top5"].value == 1
        named = {(s.kind, s.name): s.estimate.value for s in scores.slices}
        assert (named["part", "birth.month"], named["part_top5", "birth.month"], named["part", "birth.day"]) == (
            0,
            1,
            1,
        )

    def test_the_prior_is_near_chance(self):
        deal, game = self.deal(), PatternGame()
        guess = game.prior_guess(deal.knowledge, 60)
        assert guess.scores.shape == (60, 153)
        assert value(game.judge(deal.truth, guess, 0)) < 0.15

    def test_examples_name_each_part_so_that_equal_digits_are_not_mixed_up(self):
        deal, game = self.deal(), PatternGame()
        (example,) = game.examples(deal.truth, perfect(deal.truth), [3])
        assert [w.partition("=")[0] for w in example.truth] == ["birth.year", "birth.month", "birth.day"]
        assert example.truth == example.recovered


class TestRanking:
    @settings(max_examples=40, deadline=None)
    @given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.integers(1, 7), st.integers(0, 999))
    def test_best_products_are_those_of_all_combinations(self, sizes, k, seed):
        rng = np.random.default_rng(seed)
        tables = [rng.standard_normal((3, size)) for size in sizes]
        chosen, totals = best_products(tables, k)
        for row in range(3):
            every = sorted((-sum(t[row, c] for t, c in zip(tables, combination, strict=True)))
                           for combination in itertools.product(*map(range, sizes)))  # fmt: skip
            assert np.allclose(-totals[row], every[:k])
            assert len({tuple(c) for c in chosen[row]}) == len(chosen[row])

    def test_impossible_days_are_passed_over_and_the_check_digit_decides(self):
        pattern = parse_pattern("{day:date(%m%d)}")
        month, day = np.full((1, 12), -9.0), np.full((1, 31), -9.0)
        month[0, 1], day[0, 30], day[0, 27] = 0, 0, -1
        first = possible_wholes([month, day], pattern, pattern.parts_of(["day"]), None)[0, 0]
        assert pattern.values(first, [0, 1]) == {"day": "0228"}
        pattern = parse_pattern("{a:digits1}{b:digits1}{check:luhn}")
        tables = [np.full((1, 10), -9.0) for _ in range(2)]
        tables[0][0, 3], tables[1][0, 5], tables[1][0, 6] = 0, 0, -0.1
        check = np.full((1, 10), -5.0)
        check[0, int(pattern.text({"a": "3", "b": "6"})[-1])] = 0
        assert list(possible_wholes(tables, pattern, np.array([0, 1]), check)[0, 0]) == [3, 6]
        assert list(possible_wholes(tables, pattern, np.array([0, 1]), None)[0, 0]) == [3, 5]
