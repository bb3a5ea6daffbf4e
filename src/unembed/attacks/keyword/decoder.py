"""The decoder baseline (Pan, Appendix F): write the text, then look for the keyword in it.

An LSTM gets the vector as its first state and learns the adversary's texts word by word, each word given the true ones
before it; from the vectors under attack it writes greedily. The paper found it no better than a coin: what it
writes is fluent and about something else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unembed.attacks.base import AttackFacts
from unembed.corpora.substitution import contains_keyword
from unembed.corpora.words import build_vocabulary, words
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.keyword import KeywordGuess, KeywordKnowledge
from unembed.games.threat import Capability
from unembed.nn.device import pick_device
from unembed.nn.features import InputRows, Standardiser
from unembed.nn.trained import Trained
from unembed.seeds import seed_for

if TYPE_CHECKING:
    import torch

WRITTEN_AT_ONCE = 512


class KeywordDecoder(Trained):
    """Writes the text behind each vector and looks for the keywords in it."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="keyword/decoder",
        game="keyword",
        title="Keyword inference by writing the text",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS}),
        cost="minutes",
        paper="pan2020",
        section="Appendix F",
        departures="The paper calls its decoder bidirectional; what is written word by word has no later words to "
        "read, so the LSTM runs forward only. It writes words of the adversary's texts instead of the model's own "
        "tokens; a linear map makes the first state where the vector has another width. Inputs are standardised.",
        default=False,
    )

    units: int = 128
    embedding: int = 64
    vocabulary_size: int = 5000
    max_words: int = 30
    epochs: int = 20
    learning_rate: float = 4e-3

    def fit(self, knowledge: KeywordKnowledge) -> Self:
        """Learn to write the adversary's own texts from their vectors."""
        import torch

        from unembed.attacks.keyword.text_decoder import MARKS, TextDecoder

        if len(knowledge.texts) != knowledge.vectors.shape[0]:
            raise CannotMeasureError(
                "keyword/decoder learns to write the adversary's texts and was given none: deal them as "
                "KeywordKnowledge.texts"
            )
        if self.max_words < 1:
            raise UsageError("max_words of keyword/decoder must be at least 1")
        self.device_ = pick_device(self.device)
        self.keywords_ = knowledge.keywords
        self.words_ = build_vocabulary(knowledge.texts, size=self.vocabulary_size, min_count=1).words
        numbers = {word: i + MARKS for i, word in enumerate(self.words_)}
        texts = torch.from_numpy(_numbered(knowledge.texts, numbers, self.max_words)).to(self.device_)
        self.scaler_ = Standardiser().fit(knowledge.vectors)
        inputs = InputRows(self.scaler_, knowledge.vectors, None, self.device_)
        start = torch.Generator().manual_seed(seed_for(self.seed, "weights") % 2**32)
        model = TextDecoder(self.scaler_.width, len(numbers) + MARKS, self.units, self.embedding, start)
        model.to(self.device_)

        def loss_of(rows: NDArray[np.int64]) -> torch.Tensor:
            return model.loss(inputs[rows], texts[torch.from_numpy(rows).to(self.device_)])

        self._train(model, loss_of, len(texts))
        return self

    def write(self, vectors: Vectors) -> list[str]:
        """The texts, as far as the decoder can write them."""
        import torch

        from unembed.attacks.keyword.text_decoder import MARKS

        texts: list[str] = []
        for start in range(0, int(vectors.shape[0]), WRITTEN_AT_ONCE):
            inputs = self.scaler_.transform(vectors[start : start + WRITTEN_AT_ONCE])
            written = self.model_.write(torch.from_numpy(inputs).to(self.device_), self.max_words)
            texts += [" ".join(self.words_[i - MARKS] for i in row if i >= MARKS) for row in written]
        return texts

    def run(self, vectors: Vectors) -> KeywordGuess:
        """One where the keyword stands in what was written, minus one where not."""
        return np.where(contains_keyword(self.write(vectors), self.keywords_), 1.0, -1.0)


def _numbered(texts: tuple[str, ...], numbers: dict[str, int], most: int) -> NDArray[np.int64]:
    """Texts as rows of numbers between the marks of start and end; longer ones are cut and do not end."""
    from unembed.attacks.keyword.text_decoder import END, FILL, START, UNKNOWN

    rows = np.full((len(texts), most + 2), FILL, dtype=np.int64)
    longest = 1
    for row, text in enumerate(texts):
        found = [numbers.get(word, UNKNOWN) for word in words(text)]
        line = [START, *found[:most], *([END] if len(found) <= most else [])]
        rows[row, : len(line)] = line
        longest = max(longest, len(line))
    return rows[:, :longest]
