"""A language model of LSTM layers: trained on sequences of numbers, asked what it gives a sequence and what comes next.

Tokens are numbers below ``vocabulary``: words, characters, whatever the caller cuts texts into. Every sequence is read
from a mark of its start; its end is learnt too, so that the model can write, and is no part of what is measured.

A token costs 6 · (8 · layers · units · units + units · vocabulary) operations to learn from, a third of that to score.
Sequences of a batch are packed, so filling up costs nothing, and the limit is the speed of matrix products.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unembed.errors import CannotMeasureError, UsageError
from unembed.nn.device import pick_device
from unembed.nn.trained import Trained
from unembed.params import Params

if TYPE_CHECKING:
    import torch

    from unembed.nn.language_network import LanguageNetwork

#: A text as numbers of its tokens.
Tokens: TypeAlias = "Sequence[int] | NDArray[np.integer[Any]]"
IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
#: Told after every epoch: the model as it is, and how many epochs it has learnt.
Told = Callable[["LanguageModel", int], object]
#: Numbers that are held at a time for the scores of tokens; and tokens that are read at a time.
MOST_SCORES, MOST_READ = 2**24, 2**15
_FILE = "model.safetensors"


class LanguageModel(Trained):
    """Learns to say the next token; ``dropout`` lies between its layers, and gradients reach ``reach`` tokens back.

    On a CPU a seed gives the same model again with as many threads; on a GPU the same but for rounding.
    """

    vocabulary: int
    units: int = 200
    layers: int = 2
    embedding: int | None = None
    dropout: float = 0.0
    reach: int = 100
    epochs: int = 10
    min_steps: int = 0

    def fit(self, sequences: Sequence[Tokens], told: Told | None = None) -> Self:
        """Learn from sequences; an empty one teaches nothing but an end."""
        from torch.nn import functional

        from unembed.nn.language_network import LanguageNetwork

        self._check()
        pieces = list(self._pieces(sequences))
        if not pieces:
            raise CannotMeasureError("there is no sequence for the language model to learn from")
        self._start()
        network = LanguageNetwork(self.vocabulary, self.units, self.layers, self.embedding, self.dropout)
        self.model_: LanguageNetwork = network.to(self.device_)

        def loss_of(rows: IntArray) -> torch.Tensor:
            inputs, targets = packed([pieces[int(row)] for row in rows], self.device_)
            return functional.cross_entropy(self.model_.scores(self.model_.read(inputs)[0].data), targets)

        def tell(epoch: int, _: int) -> None:
            if told is not None:
                self.model_.eval()
                told(self, epoch)

        self._train(self.model_, loss_of, len(pieces), progress=tell)
        return self

    def log_perplexity(self, sequences: Sequence[Tokens]) -> FloatArray:
        """Of each sequence, in bits: −log2 of the probability that the model gives it (Corò, Definition 3.1.1)."""
        return np.array([bits.sum() for bits in self.bits(sequences)])

    def bits(self, sequences: Sequence[Tokens]) -> list[FloatArray]:
        """−log2 of the probability of each token, given those before it."""
        from torch.nn import functional

        def of(scores: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
            return functional.cross_entropy(scores, targets, reduction="none")

        return [row[:-1].astype(np.float64) / np.log(2) for row in self._answered(sequences, of)]

    def perplexity(self, sequences: Sequence[Tokens]) -> float:
        """Of all tokens together: 2 to the mean of their bits."""
        every = np.concatenate(self.bits(sequences))
        if not len(every):
            raise CannotMeasureError("there is no token to measure a perplexity on")
        return float(2 ** every.mean())

    def next_words(self, sequences: Sequence[Tokens]) -> list[IntArray]:
        """The likeliest token after each token of a sequence; the end of a text is no answer."""

        def of(scores: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
            return scores[:, : self.vocabulary].argmax(dim=1)

        return [row[1:].astype(np.int64) for row in self._answered(sequences, of)]

    def begin(self, count: int = 1) -> Reading:
        """Where the model stands before the first token of ``count`` texts."""
        import torch

        marks = torch.full((count, 1), self.vocabulary, device=self.device_)
        with torch.no_grad():
            outputs, state = self._network.read(marks)
        return Reading(outputs[:, 0], *state)

    def read(self, before: Reading, tokens: Tokens) -> Reading:
        """Where it stands after one more token of each text."""
        import torch

        numbers = torch.as_tensor(np.asarray(tokens, dtype=np.int64), device=self.device_)
        with torch.no_grad():
            outputs, state = self._network.read(numbers[:, None], (before.hidden, before.cell))
        return Reading(outputs[:, 0], *state)

    def bits_of_next(self, reading: Reading) -> NDArray[np.float32]:
        """−log2 of the probability of every token, and last of the end, for each text: ``[texts, vocabulary + 1]``."""
        import torch

        with torch.no_grad():
            said = torch.log_softmax(self._network.scores(reading.outputs), dim=1) / -float(np.log(2))
        bits: NDArray[np.float32] = said.cpu().numpy()
        return bits

    def save(self, place: Path) -> None:
        """Write the weights into a folder."""
        from safetensors.torch import save_file

        save_file({name: t.contiguous() for name, t in self._network.state_dict().items()}, place / _FILE)

    def load(self, place: Path) -> Self:
        """Read what ``save`` of a model with the same parameters wrote."""
        from safetensors.torch import load_file

        from unembed.nn.language_network import LanguageNetwork

        self._check()
        self.device_ = pick_device(self.device)
        network = LanguageNetwork(self.vocabulary, self.units, self.layers, self.embedding, self.dropout)
        network.load_state_dict(load_file(place / _FILE))
        self.model_ = network.to(self.device_).eval()
        return self

    @property
    def identity(self) -> Params:
        """What decides the weights beside the sequences: the parameters, without the device."""
        return {"model": "lstm", "version": 1, **{k: v for k, v in self.get_params().items() if k != "device"}}

    @property
    def _network(self) -> LanguageNetwork:
        network: LanguageNetwork = self.model_.eval()
        return network

    def _check(self) -> None:
        for name in ("vocabulary", "units", "layers", "reach", "epochs"):
            if getattr(self, name) < 1:
                raise UsageError(f"'{name}' of a language model is at least 1, not {getattr(self, name)}")
        if not 0 <= self.dropout < 1:
            raise UsageError(f"'dropout' of a language model lies from 0 to below 1, not {self.dropout}")

    def _marked(self, sequences: Sequence[Tokens]) -> Iterator[IntArray]:
        """Each sequence between marks of its start and its end, which have the number after the last token."""
        mark = np.array([self.vocabulary], dtype=np.int64)
        for sequence in sequences:
            tokens = np.asarray(sequence, dtype=np.int64)
            if len(tokens) and not 0 <= tokens.min() <= tokens.max() < self.vocabulary:
                raise UsageError(f"a token of a sequence is none of the {self.vocabulary:,} that the model knows")
            yield np.concatenate([mark, tokens, mark])

    def _pieces(self, sequences: Sequence[Tokens]) -> Iterator[IntArray]:
        """Sequences cut after ``reach`` tokens to say; the last of a piece is read again by the next."""
        for whole in self._marked(sequences):
            for start in range(0, len(whole) - 1, self.reach):
                yield whole[start : start + self.reach + 1]

    def _answered(
        self, sequences: Sequence[Tokens], of: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
    ) -> list[NDArray[Any]]:
        """What ``of`` makes of the scores at every place, the end among them; sequences of like length together."""
        import torch

        whole = list(self._marked(sequences))
        order = sorted(range(len(whole)), key=lambda row: -len(whole[row]))
        found: dict[int, NDArray[Any]] = {}
        step = max(1, MOST_SCORES // (self.vocabulary + 1))
        with torch.no_grad():
            for rows in _in_batches(order, [len(w) for w in whole]):
                inputs, targets = packed([whole[row] for row in rows], self.device_)
                outputs = self._network.read(inputs)[0].data
                parts = [
                    of(self._network.scores(outputs[start : start + step]), targets[start : start + step])
                    for start in range(0, len(targets), step)
                ]
                padded, lengths = torch.nn.utils.rnn.pad_packed_sequence(
                    inputs._replace(data=torch.cat(parts)), batch_first=True
                )
                values = padded.cpu().numpy()
                found |= {row: values[i, : int(lengths[i])] for i, row in enumerate(rows)}
        return [found[row] for row in range(len(whole))]


@dataclass(frozen=True)
class Reading:
    """Where a model stands in some texts: what its last layer says there, and the states of all layers."""

    outputs: torch.Tensor
    hidden: torch.Tensor
    cell: torch.Tensor

    def __len__(self) -> int:
        return len(self.outputs)

    def __getitem__(self, rows: NDArray[np.int64] | NDArray[np.bool_] | slice) -> Reading:
        return Reading(self.outputs[rows], self.hidden[:, rows], self.cell[:, rows])

    @classmethod
    def joined(cls, parts: Sequence[Reading]) -> Reading:
        """Several, one below the other."""
        import torch

        return cls(
            torch.cat([part.outputs for part in parts]),
            torch.cat([part.hidden for part in parts], dim=1),
            torch.cat([part.cell for part in parts], dim=1),
        )


def packed(sequences: Sequence[IntArray], device: torch.device) -> tuple[Any, torch.Tensor]:
    """Marked sequences as what is read and what is to be said of it, both packed in one order."""
    import torch
    from torch.nn.utils import rnn

    lengths = np.array([len(s) - 1 for s in sequences])
    table = np.zeros((len(sequences), int(lengths.max()) + 1), dtype=np.int64)
    for row, sequence in enumerate(sequences):
        table[row, : len(sequence)] = sequence
    numbers, counts = torch.from_numpy(table).to(device), torch.from_numpy(lengths)
    inputs, targets = (
        rnn.pack_padded_sequence(part, counts, batch_first=True, enforce_sorted=False)
        for part in (numbers[:, :-1], numbers[:, 1:])
    )
    return inputs, targets.data


def _in_batches(order: Sequence[int], lengths: Sequence[int]) -> Iterator[list[int]]:
    """Rows in their order, as many at a time as hold ``MOST_READ`` tokens, at least one."""
    batch: list[int] = []
    held = 0
    for row in order:
        if batch and held + lengths[row] > MOST_READ:
            yield batch
            batch, held = [], 0
        batch.append(row)
        held += lengths[row]
    if batch:
        yield batch
