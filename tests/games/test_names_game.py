"""The game of names: who is asked about, what is dealt, how it is judged."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from unembed.attacks import ATTACKS
from unembed.corpora.corpus import Corpus
from unembed.corpora.words import words
from unembed.encoders import build_encoder
from unembed.errors import CannotMeasureError, UsageError
from unembed.games import GAMES
from unembed.games.base import Material
from unembed.games.names import ORIGINAL, SWAPPED, WITHOUT, NamesGame
from unembed.games.play import play, status_of
from unembed.games.threat import ADVERSARIES
from unembed.metrics.estimate import wilson
from unembed.testing.toys import TOY_WORDS, LeakyEncoder

NAMES = ("Anna", "Bruno", "Carla Valdi", "Dario")


def sentences(n, seed, names=NAMES):
    rng = np.random.default_rng(seed)
    found = []
    for i in range(n):
        picked = [TOY_WORDS[j] for j in rng.choice(len(TOY_WORDS), 3, replace=False)]
        found.append(" ".join([*picked[:2], *([names[(i // 2) % len(names)]] if i % 2 == 0 else []), picked[2]]))
    return found


def material(known, target, encoder=None, **changes):
    encoder = encoder or LeakyEncoder()
    known, target = Corpus.of(known), Corpus.of(target)
    return Material(
        target, known, encoder.encode(target.texts), encoder.encode(known.texts), encoder.encode,
        ADVERSARIES["insider"], 0, **changes,
    )  # fmt: skip


@pytest.fixture
def stuff():
    return material(sentences(600, 1, ("Anna", "Bruno", "Carla Valdi", "Dario", "Elio")), sentences(160, 2))


def perfect(truth):
    """The name that is in each sentence and no other word."""
    rows = np.flatnonzero(truth.kind != WITHOUT)
    shape = (len(truth.kind), len(truth.vocabulary))
    return csr_matrix((np.ones(len(rows), dtype=np.float32), (rows, truth.name[rows])), shape=shape)


def value(scores):
    return float(scores.statistic(scores.parts.sum(axis=0)))


class TestDeal:
    def test_each_sentence_is_dealt_as_it_is_swapped_and_without(self, stuff):
        encoded = []
        watched = Material(**{**vars(stuff), "encode": lambda t: (encoded.extend(t), LeakyEncoder().encode(t))[1]})
        deal = NamesGame(names=NAMES, swaps=2).deal(watched)
        truth = deal.truth
        originals = np.flatnonzero(truth.kind == ORIGINAL)
        assert np.array_equal(deal.vectors[originals], stuff.target_vectors[deal.rows[originals]])
        assert len(encoded) == len(set(encoded))
        assert (truth.kind == SWAPPED).sum() == 2 * len(originals)
        assert (truth.kind[truth.without] == WITHOUT).all()
        assert (deal.rows[truth.without] == deal.rows).all()

    def test_vectors_are_those_of_the_changed_sentences(self, stuff):
        deal = NamesGame(names=("Anna", "Bruno", "Dario"), swaps=3).deal(stuff)
        encoder, truth = LeakyEncoder(), deal.truth
        for i, kind in enumerate(truth.kind):
            before, after = (truth.vocabulary.words[c[i]] for c in (truth.before, truth.name))
            kept = [w for w in words(stuff.target.texts[deal.rows[i]]) if w != before]
            expected = kept if kind == WITHOUT else [*kept, after]
            assert np.allclose(deal.vectors[i], encoder.encode([" ".join(expected)])[0], atol=1e-5)

    def test_a_name_is_never_put_where_it_already_is(self, stuff):
        deal = NamesGame(names=NAMES, swaps=9).deal(stuff)
        swapped = deal.truth.kind == SWAPPED
        assert (deal.truth.name[swapped] != deal.truth.before[swapped]).all()

    def test_other_names_can_be_put_in(self, stuff):
        deal = NamesGame(names=NAMES, swap_in=["Elio"], swaps=5).deal(stuff)
        swapped = deal.truth.kind == SWAPPED
        assert {deal.truth.vocabulary.words[c] for c in deal.truth.name[swapped]} == {"elio"}

    def test_the_most_frequent_names_are_asked_about(self, stuff):
        deal = NamesGame(names=(*NAMES, "Zeno"), max_names=2).deal(stuff)
        assert len(set(deal.truth.before.tolist())) == 2
        assert "2 of 5 names" in deal.notes[0]
        assert "1 in fewer than 5 targets" in deal.notes[0]

    def test_at_most_so_many_sentences_a_name(self, stuff):
        deal = NamesGame(names=NAMES, per_name=7).deal(stuff)
        originals = deal.truth.before[deal.truth.kind == ORIGINAL]
        assert np.unique(originals, return_counts=True)[1].max() == 7

    def test_the_same_seed_deals_the_same(self, stuff):
        one, two = (NamesGame(names=NAMES, swaps=1).deal(stuff) for _ in range(2))
        assert np.array_equal(one.vectors, two.vectors)
        assert np.array_equal(one.truth.name, two.truth.name)

    def test_sparse_vectors_are_dealt_too(self):
        texts = sentences(120, 3)
        encoder = build_encoder("tfidf", {}, fit_texts=texts)
        deal = NamesGame(names=NAMES).deal(material(texts, sentences(60, 4), encoder))
        assert deal.vectors.shape[0] == len(deal.truth.kind)

    def test_changed_sentences_are_defended_like_the_targets(self, stuff):
        deal = NamesGame(names=NAMES).deal(
            Material(**{**vars(stuff), "encode_target": lambda t: LeakyEncoder().encode(t) * 0})
        )
        assert (deal.vectors[deal.truth.kind != ORIGINAL] == 0).all()

    @pytest.mark.parametrize(
        ("params", "error", "message"),
        [
            ({}, UsageError, "--names FILE"),
            ({"names": ["Zeno"]}, CannotMeasureError, "of 1 names 0 stand in 5 targets"),
            ({"names": ["Anna"]}, CannotMeasureError, "second name"),
            ({"names": ["Anna"], "swap_in": ["Zeno"]}, CannotMeasureError, "second name"),
            ({"names": NAMES, "swaps": 0}, UsageError, "at least 1"),
            ({"names": ["Anna", "??"]}, UsageError, "a letter"),
        ],
    )
    def test_names_that_can_not_be_asked_about(self, stuff, params, error, message):
        with pytest.raises(error, match=message) as caught:
            NamesGame(**params).deal(stuff)
        assert "Anna" not in str(caught.value)

    def test_a_name_the_adversary_never_read_is_an_error_not_a_zero(self):
        with pytest.raises(CannotMeasureError, match="among the adversary's words"):
            NamesGame(names=NAMES).deal(material(["apple bridge", "apple bridge"], sentences(100, 0)))


class TestJudge:
    def test_a_perfect_guess_finds_every_name_and_its_floor_none(self, stuff):
        game = NamesGame(names=NAMES)
        truth = game.deal(stuff).truth
        scores = game.judge(truth, perfect(truth), 0)
        assert value(scores) == 1
        assert scores.secondary["original_name_recall"].value == 1
        assert scores.secondary["original_name_false_alarms"].value == 0
        assert scores.secondary["replaced_name_said"].value == 0
        assert value(game.judge(truth, game.own_floors(truth, perfect(truth))["without"], 0)) == 0

    def test_whoever_says_every_name_has_no_excess(self, stuff):
        game = NamesGame(names=NAMES)
        truth = game.deal(stuff).truth
        everything = csr_matrix(np.ones((len(truth.kind), len(truth.vocabulary)), dtype=np.float32))
        assert value(game.judge(truth, everything, 0)) == 1
        assert value(game.judge(truth, game.own_floors(truth, everything)["without"], 0)) == 1

    def test_names_have_slices_with_their_floor_and_wilson_intervals(self, stuff):
        game = NamesGame(names=NAMES)
        truth = game.deal(stuff).truth
        slices = game.judge(truth, perfect(truth), 0).slices
        assert {(s.kind, s.name) for s in slices} == {("name", n) for n in ("anna", "bruno", "valdi", "dario")}
        assert all(s.floor == 0 and s.estimate.method == "wilson" for s in slices)

    def test_documents_are_drawn_together(self, stuff):
        game = NamesGame(names=NAMES)
        grouped = Material(**{**vars(stuff), "groups": [i // 16 for i in range(160)]})
        truth = game.deal(grouped).truth
        half = perfect(truth).multiply(np.arange(len(truth.kind))[:, None] % 2).tocsr()
        scores = game.judge(truth, half, 0)
        assert {s.estimate.method for s in scores.slices} == {"cluster jackknife"}
        never = scores.secondary["replaced_name_said"]
        assert (never.value, never.method) == (0, "cluster jackknife")
        assert wilson(0, 10).high <= never.high < 0.5, "there are ten documents, and none has a hit"

    def test_the_table_has_originals_on_its_diagonal(self, stuff):
        game = NamesGame(names=NAMES, swaps=9)
        truth = game.deal(stuff).truth
        table = game.table(truth, perfect(truth))
        assert table.before == table.after == ("anna", "bruno", "dario", "valdi")
        assert len(table.cells) == 16
        assert all(e.value == 1 for e in table.cells.values())
        assert table.training["anna"] == int(truth.vocabulary.document_counts[truth.vocabulary.index["anna"]])

    def test_examples_hold_names_only(self, stuff):
        game = NamesGame(names=NAMES)
        truth = game.deal(stuff).truth
        everything = csr_matrix(np.ones((len(truth.kind), len(truth.vocabulary)), dtype=np.float32))
        rows = [int(np.flatnonzero(truth.kind == k)[0]) for k in (SWAPPED, WITHOUT)]
        swapped, without = game.examples(truth, everything, rows)
        assert len(swapped.truth) == 1
        assert without.truth == []
        assert set(swapped.recovered) <= {"anna", "bruno", "valdi", "dario"}

    def test_the_prior_says_the_name_most_texts_hold(self, stuff):
        game = NamesGame(names=NAMES)
        knowledge = game.deal(stuff).knowledge
        said = game.prior_guess(knowledge, 3)
        counts = {n: knowledge.vocabulary.document_counts[knowledge.vocabulary.index[n]] for n in ("anna", "valdi")}
        assert said.nnz == 3
        assert knowledge.vocabulary.document_counts[said.indices[0]] >= max(counts.values())


@pytest.mark.parametrize("attack", ["inversion/mlc", "inversion/mlp"])
def test_inversion_attacks_play_it(stuff, attack):
    assert GAMES.get("names").facts.played_by == ATTACKS.get(attack).facts.game
    game = NamesGame(names=NAMES, swaps=2)
    played = play(game, ATTACKS.get(attack)(seed=0), game.deal(stuff), 0)
    assert set(played.floors) == {"prior", "shuffled", "random", "without"}
    assert played.check.passed
    assert status_of(played)[0] == "leak"
    assert played.floors["without"].value < played.estimate.value
