"""From word pieces to words: whole words, word pieces, SentencePiece tokens."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from unembed.attacks.inversion.pieces import PieceWords, guessable_pieces
from unembed.corpora.words import build_vocabulary
from unembed.testing.toys import LeakyEncoder


class GreedyPieces:
    """A tokenizer that cuts each word greedily into the longest pieces it knows."""

    def __init__(self, vocabulary, first="", further="##", cased=False):
        self.vocabulary = vocabulary
        self.first, self.further, self.cased = first, further, cased
        self.index = {token: i for i, token in enumerate(vocabulary)}

    def token_ids(self, texts):
        return [[i for word in (t if self.cased else t.lower()).split() for i in self.cut(word)] for t in texts]

    def cut(self, word):
        found, mark = [], self.first
        while word:
            length = next((n for n in range(len(word), 0, -1) if mark + word[:n] in self.index), 0)
            if not length:
                return [self.index["[UNK]"]] if "[UNK]" in self.index else []
            found.append(self.index[mark + word[:length]])
            word, mark = word[length:], self.further
        return found


WORD_PIECES = ["[PAD]", "[UNK]", "[CLS]", "em", "##bed", "##ding", "bed", "cat", "##s", "dog", "ing", "##ing", "a"]
WORDS = build_vocabulary(["embedding embed em bed cat cats dog dogs ing zebra"], min_count=1)


def guess(encoder, weights, vocabulary=WORDS):
    row = np.zeros((1, len(encoder.vocabulary)), dtype=np.float32)
    for token, weight in weights.items():
        row[0, encoder.vocabulary.index(token)] = weight
    found = PieceWords.of(encoder, vocabulary).guess(csr_matrix(row))
    words = {
        vocabulary.words[c]: pytest.approx(v, rel=0.15)
        for c, v in zip(found.words.indices, found.words.data, strict=True)
    }
    return words, {encoder.vocabulary[i] for i in found.pieces.indices}


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ({"cat": 0.2, "dog": 0.1}, {"cat": 0.2, "dog": 0.1}),
        ({"em": 0.12, "##bed": 0.1, "##ding": 0.3}, {"embedding": 0.1}),
        ({"em": 0.1, "##bed": 0.1}, {"embed": 0.1}),
        ({"em": 0.2, "##ding": 0.2}, {"em": 0.2}),
        ({"cat": 0.2, "##s": 0.1}, {"cats": 0.1, "cat": 0.1}),
        ({"cat": 0.11, "##s": 0.1}, {"cats": 0.1}),
        ({"cat": 0.1, "dog": 0.1, "##s": 0.2}, {"cats": 0.1, "dogs": 0.1}),
        ({"##ing": 0.5}, {}),
        ({"ing": 0.5}, {"ing": 0.5}),
        ({"[CLS]": 0.9, "[PAD]": 0.9, "[UNK]": 0.9}, {}),
        ({}, {}),
    ],
)
def test_words_from_pieces(weights, words):
    assert guess(GreedyPieces(WORD_PIECES), weights)[0] == words


def test_special_tokens_and_negative_weights_are_no_pieces():
    words, pieces = guess(GreedyPieces(WORD_PIECES), {"[CLS]": 0.9, "cat": 0.5, "dog": -0.5})
    assert pieces == {"cat"}
    assert set(words) == {"cat"}


def test_a_word_that_the_tokenizer_does_not_know_is_never_found():
    words, _ = guess(GreedyPieces(WORD_PIECES), dict.fromkeys(WORD_PIECES, 0.5))
    assert "zebra" not in words


def test_sentencepiece_tokens():
    encoder = GreedyPieces(["<s>", "</s>", "▁cat", "s", "▁dog", "▁a", "cat", "▁s"], first="▁", further="")
    assert guess(encoder, {"▁cat": 0.1, "s": 0.1, "cat": 0.4})[0] == {"cats": 0.1}
    assert guess(encoder, {"▁dog": 0.1, "▁s": 0.1})[0] == {"dog": 0.1}


def test_capitals_count_where_the_encoder_tells_them_apart():
    encoder = GreedyPieces(["cat", "Cat", "CAT", "dog", "a"], cased=True)
    assert guess(encoder, {"Cat": 0.3, "cat": 0.1})[0] == {"cat": 0.3}


def test_whole_words():
    encoder = LeakyEncoder()
    vocabulary = build_vocabulary(["apple bridge unheard"], min_count=1)
    assert guess(encoder, {"apple": 0.5, "window": 0.5}, vocabulary)[0] == {"apple": 0.5}


def test_rows_are_independent_and_keep_their_order(monkeypatch):
    monkeypatch.setattr("unembed.attacks.inversion.pieces.CHUNK", 7)
    encoder = GreedyPieces(WORD_PIECES)
    rng = np.random.default_rng(0)
    weights = rng.random((30, len(WORD_PIECES))) * (rng.random((30, len(WORD_PIECES))) < 0.5)
    spelling = PieceWords.of(encoder, WORDS)
    together = spelling.guess(csr_matrix(weights)).words.toarray()
    alone = np.vstack([spelling.guess(csr_matrix(row[None])).words.toarray() for row in weights])
    assert np.array_equal(together, alone)
    assert spelling.guess(csr_matrix((0, len(WORD_PIECES)))).words.shape == (0, len(WORDS))


def test_which_tokens_are_special():
    tokens = [
        "[CLS]",
        "[unused12]",
        "[row 7]",
        "<s>",
        "</s>",
        "<|endoftext|>",
        "<extra_id_0>",
        "[",
        "]",
        "<",
        "cat",
        "##s",
    ]
    assert guessable_pieces(tokens).tolist() == [False] * 7 + [True] * 5


@pytest.mark.slow
def test_real_word_pieces_give_back_the_words_they_came_from():
    from unembed.encoders.minilm import MiniLmEncoder

    encoder = MiniLmEncoder(device="cpu")
    text = "the embedding doesn't remember gryphons, but embeddings do leak words"
    vocabulary = build_vocabulary([text, "em gr leak bed don't"], min_count=1)
    counts = np.bincount(encoder.token_ids([text])[0], minlength=len(encoder.vocabulary))
    found = PieceWords.of(encoder, vocabulary).guess(csr_matrix(counts[None])).words
    assert {vocabulary.words[c] for c in found.indices} == set(build_vocabulary([text], min_count=1).words)
