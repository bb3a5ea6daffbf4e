"""Windows and pairs that a model learnt from: what is dealt, what is left out, and which floor stands beside."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unembed.corpora.corpus import Corpus
from unembed.corpora.training import POSITION, TrainingSide
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.base import Material
from unembed.games.contexts import KIND, TENTHS, Contexts, on_one_side, tenths_of
from unembed.games.in_or_out import InOrOutGuess
from unembed.games.membership_pair import MembershipPairGame
from unembed.games.membership_window import MembershipWindowGame
from unembed.games.play import play
from unembed.games.threat import ADVERSARIES
from unembed.testing.trials import toy_trials

WORDS = [f"word{number}" for number in range(400)]


def texts_of(count, *, seed, length=9, words=WORDS):
    """Made-up texts: the first words of the list are in most, the last ones in few."""
    rng = np.random.default_rng(seed)
    chance = 1 / (1 + np.arange(len(words)))
    return [" ".join(rng.choice(words, size=length, p=chance / chance.sum())) for _ in range(count)]


def by_number(texts):
    """An encoder that can be read: the number of a text's first word in one dimension; zeros for unknown words."""
    rows = np.zeros((len(texts), 3), dtype=np.float32)
    for row, text in enumerate(texts):
        first = text.split()[0]
        if not first.startswith("un"):
            rows[row] = int("".join(filter(str.isdigit, first)) or 0) + 1, len(text.split()), 1
    return rows


def world(target, known, learnt, encode=by_number, *, groups=None, known_groups=None, columns=({}, {})):
    return Material(
        target=Corpus(target, [str(i) for i in range(len(target))], columns[0], "asked"),
        known=Corpus(known, [str(i) for i in range(len(known))], columns[1], "held"),
        target_vectors=encode(target),
        known_vectors=encode(known),
        encode=encode,
        adversary=ADVERSARIES["insider"],
        seed=3,
        groups=groups,
        known_groups=known_groups,
        training=TrainingSide.of(learnt),
    )


@pytest.fixture(scope="module")
def windows():
    target, known = texts_of(300, seed=1), texts_of(300, seed=2)
    return world(target, known, [*target[::2], *known[::2]])


def written(rows, parts=5):
    """The words that rows of ``by_number`` stand for."""
    return np.asarray(rows).reshape(len(rows), parts, -1)[:, :, 0].astype(int) - 1


def windows_in(texts, reach=2):
    """Every window as the game writes it, the word in the middle first."""
    found = set()
    for text in texts:
        numbers = [int(word[4:]) for word in text.split()]
        for place in range(reach, len(numbers) - reach):
            beside = (*numbers[place - reach : place], *numbers[place + 1 : place + reach + 1])
            found.add((numbers[place], *beside))
    return found


def test_half_of_the_windows_were_learnt_from_and_each_row_holds_its_words(windows):
    deal = MembershipWindowGame(windows=600).deal(windows)
    inside = deal.truth.inside
    assert inside.sum() == (~inside).sum() > 200
    learnt, other = (windows_in(windows.target.texts[side::2]) for side in (0, 1))
    for row, held in zip(written(deal.vectors), inside, strict=True):
        assert tuple(row) in (learnt if held else other)
        assert tuple(row) not in (other if held else learnt), "what stands on both sides is not asked about"
    for tenth in set(deal.truth.parts[KIND]):
        own = np.array([name == tenth for name in deal.truth.parts[KIND]])
        assert inside[own].sum() == (~inside[own]).sum()


def test_what_the_adversary_knows_stands_in_other_texts(windows):
    deal = MembershipWindowGame().deal(windows)
    known = windows_in(windows.known.texts)
    assert all(tuple(row) in known for row in written(deal.knowledge.vectors))
    assert deal.pairs == len(deal.knowledge.members)
    assert deal.knowledge.members.sum() * 2 == deal.pairs


def test_a_window_on_both_sides_is_left_out():
    same = "word1 word2 word3 word4 word5"
    target, known = [*texts_of(120, seed=1), same, f"{same} word9"], texts_of(120, seed=2)
    deal = MembershipWindowGame(windows=5000).deal(world(target, known, [*target[:-1:2], same, *known[::2]]))
    assert (3, 1, 2, 4, 5) not in {tuple(row) for row in written(deal.vectors)}
    assert any("because they stand in texts of both kinds" in note for note in deal.notes)


def test_windows_whose_middle_the_model_does_not_know_are_left_out_and_counted():
    def swapped(texts):
        return [text.replace("word3 ", "unknown3 ").replace("word7 ", "unknown7 ") for text in texts]

    target, known = swapped(texts_of(300, seed=1)), swapped(texts_of(300, seed=2))
    deal = MembershipWindowGame(windows=5000).deal(world(target, known, [*target[::2], *known[::2]]))
    middle = written(deal.vectors)[:, 0]
    assert (middle >= 0).all()
    assert (written(deal.vectors)[:, 1:] == -1).any(), "beside the middle such a word is zeros"
    assert any("does not know the word in the middle" in note for note in deal.notes)


def test_every_tenth_of_the_words_gives_as_many_windows_unless_places_are_drawn(windows):
    medians = {}
    for drawn in ("words", "places"):
        deal = MembershipWindowGame(windows=400, drawn=drawn).deal(windows)
        tenths = np.array([TENTHS.index(name) for name in deal.truth.parts[KIND]])
        middle = written(deal.vectors)[:, 0]
        rarest, commonest = (np.median(middle[tenths == tenth]) for tenth in (tenths.max(), tenths.min()))
        assert rarest > commonest, "rare words have high numbers"
        medians[drawn] = np.median(middle)
        slices = MembershipWindowGame().judge(deal.truth, InOrOutGuess.nobody(len(middle)), 0).slices
        assert [part.name for part in slices] == [TENTHS[tenth] for tenth in sorted(set(tenths.tolist()))]
    assert medians["words"] > 2 * medians["places"]


def test_no_more_words_are_asked_for_than_allowed(windows):
    asked = set()

    def watched(words):
        asked.update(words)
        return by_number(words)

    few = MembershipWindowGame(most_words=150).deal(replace(windows, encode=watched))
    assert len(asked) <= 150
    assert few.queries <= 150


@pytest.mark.parametrize(
    ("wrong", "message"), [({"words": 4}, "odd number"), ({"drawn": "lines"}, "'words' or 'places'")]
)
def test_windows_that_make_no_sense_are_refused(windows, wrong, message):
    with pytest.raises(UsageError, match=message):
        MembershipWindowGame(**wrong).deal(windows)


def test_what_cannot_be_asked_is_said_in_numbers(windows):
    with pytest.raises(CannotMeasureError, match="no text has 31 words in a row"):
        MembershipWindowGame(words=31).deal(windows)
    with pytest.raises(CannotMeasureError, match="knows no two neighbouring words"):
        MembershipWindowGame().deal(replace(windows, encode=lambda words: np.zeros((len(words), 3), dtype=np.float32)))
    with pytest.raises(CannotMeasureError, match="that the adversary knows, 0 were learnt from"):
        MembershipWindowGame().deal(replace(windows, training=TrainingSide.of(windows.target.texts[::2])))
    with pytest.raises(CannotMeasureError, match="--trained-on"):
        MembershipWindowGame().deal(replace(windows, training=None))


def test_held_out_texts_of_another_kind_raise_the_floor_and_leave_no_leak():
    """An encoder that learnt nothing at all: what tells the sides apart is in the texts, not in the model."""
    halves = [texts_of(200, seed=seed, words=WORDS[part]) for seed, part in ((1, slice(200)), (2, slice(200, 400)))]
    others = [texts_of(200, seed=seed, words=WORDS[part]) for seed, part in ((3, slice(200)), (4, slice(200, 400)))]
    material = world([*halves[0], *halves[1]], [*others[0], *others[1]], [*halves[0], *others[0]])
    game = MembershipWindowGame(windows=400)
    deal = game.deal(material)
    floor = game.own_floors(deal.truth, InOrOutGuess.nobody(len(deal.truth.inside)))["texts"]
    assert game.judge(deal.truth, floor, 0).point > 0.9

    class Reader:
        """Says "learnt from" where the word in the middle is of the first half."""

        facts = type("Facts", (), {"requires": frozenset()})

        def fit(self, knowledge):
            return self

        def run(self, vectors):
            said = (np.asarray(vectors)[:, 0] <= 200).astype(float)
            return InOrOutGuess(said, said)

        def get_params(self, deep=True):
            return {}

        def set_params(self, **params):
            return self

    played = play(game, Reader(), deal, 1)
    assert played.estimate.value == 1
    assert played.excess.value < 0.1
    assert {"prior", "shuffled", "random", "texts"} == set(played.floors)


def sentences(count, seed):
    return texts_of(count, seed=seed, length=5)


def test_pairs_are_neighbours_of_one_document():
    target, known = sentences(400, 1), sentences(400, 2)
    groups = [row // 10 for row in range(400)]
    learnt = [text for side in (target, known) for row, text in enumerate(side) if (row // 10) % 2 == 0]
    # A reader of rows has to know which text each vector is of.
    where = {text: row for row, text in enumerate([*target, *known])}
    told = world(target, known, learnt, lambda texts: np.array([[where[t] + 1, 1] for t in texts], dtype=np.float32))
    material = replace(told, groups=groups, known_groups=groups)
    for pairs in (1, 4):
        deal = MembershipPairGame(pairs=pairs).deal(material)
        rows = np.asarray(deal.vectors).reshape(len(deal.vectors), pairs, 2, 2)[..., 0].astype(int) - 1
        assert (rows[:, :, 1] == rows[:, :, 0] + 1).all()
        assert (rows // 10 == rows[:, :1, :1] // 10).all()
        assert ((rows[:, 0, 0] // 10 % 2 == 0) == deal.truth.inside).all()
        assert deal.queries == 0, "the vectors of texts are there"
    assert len(MembershipPairGame(pairs=4).deal(material).vectors) < 400 / 4


def test_texts_that_others_stood_between_are_no_pair():
    target, known = sentences(300, 1), sentences(300, 2)
    groups = [row // 10 for row in range(300)]
    learnt = [text for side in (target, known) for row, text in enumerate(side) if (row // 10) % 2 == 0]
    whole = world(target, known, learnt, groups=groups, known_groups=groups)
    assert len(MembershipPairGame().deal(whole).vectors) > 200
    gaps = {POSITION: [2 * row if row % 10 < 5 else 2 * (row // 10 * 10 + 5) + row % 10 for row in range(300)]}
    sampled = world(target, known, learnt, groups=groups, known_groups=groups, columns=(gaps, gaps))
    assert len(MembershipPairGame().deal(sampled).vectors) < len(MembershipPairGame().deal(whole).vectors) / 1.5


def test_without_documents_neighbours_are_sentences_of_one_text():
    def texts(seed):
        made = [f"Word{text[4:]}." for text in sentences(450, seed)]
        return [" ".join(made[row : row + 3]) for row in range(0, 450, 3)]

    target, known = texts(1), texts(2)
    asked = []

    def encode(given):
        asked.extend(given)
        return by_number([text.lower() for text in given])

    deal = MembershipPairGame().deal(world(target, known, [*target[::2], *known[::2]], encode))
    assert any("sentences of one text" in note for note in deal.notes)
    assert set(asked[-1].split()) <= set(" ".join([*target, *known]).split())
    assert deal.queries > 0
    with pytest.raises(CannotMeasureError, match="--group names the column"):
        MembershipPairGame(pairs=9).deal(world(target, known, [*target[::2], *known[::2]]))
    with pytest.raises(UsageError, match="at least 1"):
        MembershipPairGame(pairs=0).deal(world(target, known, target))


def test_the_adversary_rehearses_on_other_documents():
    deal = toy_trials("membership-pair", "leaky")
    documents = np.arange(len(deal.knowledge.members)) // 6
    knowledge = replace(deal.knowledge, documents=documents)
    held, rest = knowledge.held_back(1, most=10_000)
    assert not set(documents[held]) & set(documents[rest])
    assert len(held) + len(rest) == len(documents)
    assert len(held) == pytest.approx(len(documents) / 3, abs=6)
    small, vectors, truth = MembershipPairGame().rehearsal(knowledge, 1)
    assert len(truth.inside) == len(vectors)
    assert len(small.members) == len(small.documents) == len(small.tenths) == small.vectors.shape[0]
    with pytest.raises(CannotMeasureError, match="too few to rehearse"):
        MembershipPairGame().rehearsal(MembershipPairGame().some_pairs(knowledge, np.arange(12)), 1)


def test_examples_hold_no_text():
    deal = toy_trials("membership-window", "leaky")
    guess = InOrOutGuess.nobody(len(deal.truth.inside))
    shown = MembershipWindowGame().examples(deal.truth, guess, [0, 1, 2])
    assert {word for one in shown for word in (*one.truth, *one.recovered)} <= {"learnt from", "not learnt from"}


@given(st.lists(st.tuples(st.integers(0, 8), st.booleans()), min_size=1, max_size=60))
def test_on_one_side_is_as_sets_say(drawn):
    keys, inside = (np.array(column) for column in zip(*drawn, strict=True))
    both = set(keys[inside]) & set(keys[~inside])
    assert on_one_side(keys, inside).tolist() == [key not in both for key in keys]


@given(st.lists(st.integers(1, 30), min_size=1, max_size=80))
def test_tenths_follow_frequency_and_equal_ones_share_theirs(counts):
    frequency = np.array(counts, dtype=float)
    tenths = tenths_of(frequency, frequency)
    assert ((tenths >= 0) & (tenths <= 9)).all()
    order = np.argsort(-frequency)
    assert (np.diff(tenths[order]) >= 0).all()


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=80), st.integers(2, 60))
def test_as_many_of_either_side_are_drawn_of_every_tenth(drawn, most):
    tenths, inside = (np.array(column) for column in zip(*drawn, strict=True))
    contexts = Contexts(inside, tenths, np.arange(len(drawn)), np.arange(len(drawn)))
    rows = contexts.drawn(most, np.random.default_rng(0))
    assert len(set(rows.tolist())) == len(rows)
    for tenth in set(tenths.tolist()):
        own = rows[tenths[rows] == tenth]
        assert inside[own].sum() * 2 == len(own)
