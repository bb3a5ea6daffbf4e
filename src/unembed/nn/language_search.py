"""What a language model finds likely: every text of a form, the likeliest of them, and texts that it writes itself.

A form is a choice of tokens for each place, one where the text is fixed. Texts of a form share their beginnings, so
each is read once: the 10^6 texts that end in six digits take 111,111 steps of the model instead of ten million.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unembed.errors import CannotMeasureError, UsageError
from unembed.nn.language_model import FloatArray, LanguageModel, Reading, Tokens
from unembed.seeds import generator

#: Beginnings that are read at a time.
AT_ONCE = 4096
#: Beginnings that a search for the likeliest reads before it gives up.
MOST_READ = 1_000_000

Choices = Sequence[Sequence[int]]


def bits_of_every(model: LanguageModel, choices: Choices) -> FloatArray:
    """The log-perplexity of every text of a form; the last place changes quickest."""
    _check(choices)
    return np.concatenate(list(_walk(model, choices, 0, model.begin(), np.zeros(1))))


def _walk(model: LanguageModel, choices: Choices, place: int, at: Reading, bits: FloatArray) -> Iterator[FloatArray]:
    tokens = np.asarray(choices[place], dtype=np.int64)
    after = (bits[:, None] + model.bits_of_next(at)[:, tokens]).ravel()
    if place + 1 == len(choices):
        yield after
        return
    parents, chosen = np.repeat(np.arange(len(at)), len(tokens)), np.tile(tokens, len(at))
    for start in range(0, len(after), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        yield from _walk(model, choices, place + 1, model.read(at[parents[part]], chosen[part]), after[part])


@dataclass(frozen=True)
class Likely:
    """A text of a form, and its log-perplexity."""

    tokens: tuple[int, ...]
    bits: float


def likeliest(model: LanguageModel, choices: Choices, count: int = 1) -> list[Likely]:
    """The ``count`` likeliest texts of a form, best first: a shortest path through the tree of their beginnings.

    Bits only grow along a path, so a whole text that no open beginning undercuts is the best of all (Carlini et al.
    2019, 6). As many beginnings are read at a time as a batch holds.
    """
    _check(choices)
    found: list[Likely] = []
    open_: list[tuple[float, tuple[int, ...]]] = []
    states: dict[tuple[int, ...], Reading] = {(): model.begin()}
    heapq.heappush(open_, (0.0, ()))
    read = 0
    while open_ and len(found) < count:
        taken: list[tuple[float, tuple[int, ...]]] = []
        while open_ and len(taken) < AT_ONCE and len(found) < count:
            bits, tokens = heapq.heappop(open_)
            if len(tokens) < len(choices):
                taken.append((bits, tokens))
            elif taken:
                heapq.heappush(open_, (bits, tokens))
                break
            else:
                found.append(Likely(tokens, bits))
        read += len(taken)
        if read > MOST_READ:
            raise CannotMeasureError(f"the likeliest texts were not found among {MOST_READ:,} beginnings")
        for depth in sorted({len(tokens) for _, tokens in taken}):
            _open(model, choices, depth, [one for one in taken if len(one[1]) == depth], states, open_)
    return found


def _open(
    model: LanguageModel,
    choices: Choices,
    depth: int,
    taken: Sequence[tuple[float, tuple[int, ...]]],
    states: dict[tuple[int, ...], Reading],
    open_: list[tuple[float, tuple[int, ...]]],
) -> None:
    """Put every next token behind some beginnings of one length."""
    at = Reading.joined([states.pop(tokens) for _, tokens in taken])
    next_ = np.asarray(choices[depth], dtype=np.int64)
    bits = model.bits_of_next(at)[:, next_]
    parents, chosen = np.repeat(np.arange(len(taken)), len(next_)), np.tile(next_, len(taken))
    after = None if depth + 1 == len(choices) else model.read(at[parents], chosen)
    for row, (parent, token) in enumerate(zip(parents.tolist(), chosen.tolist(), strict=True)):
        tokens = (*taken[parent][1], token)
        heapq.heappush(open_, (taken[parent][0] + float(bits[parent, row % len(next_)]), tokens))
        if after is not None:
            states[tokens] = after[row : row + 1]


def written(
    model: LanguageModel,
    count: int,
    length: int,
    *,
    top: int = 40,
    hot: float = 1.0,
    cooling: int = 20,
    prompts: Sequence[Tokens] | None = None,
    seed: int = 0,
) -> list[list[int]]:
    """``count`` texts of at most ``length`` tokens, each token drawn among the ``top`` likeliest (Corò 3.2).

    ``hot`` is the temperature of the first token; it falls to 1 over ``cooling`` tokens, so that beginnings differ.
    With ``prompts``, each text goes on from one of them.
    """
    if min(count, length, top) < 1 or hot < 1:
        raise UsageError("texts are written with a count, a length and a 'top' of at least 1, and 'hot' of at least 1")
    rng = generator(seed, "written")
    begun = [np.zeros(0, dtype=np.int64)] if prompts is None else [np.asarray(p, dtype=np.int64) for p in prompts]
    if not begun:
        raise UsageError("there is no prompt to go on from")
    texts: list[list[int]] = []
    starts = [begun[int(i)] for i in rng.integers(len(begun), size=count)]
    for size in sorted({len(start) for start in starts}):
        alike = [start for start in starts if len(start) == size]
        for first in range(0, len(alike), AT_ONCE):
            texts += _written(model, np.stack(alike[first : first + AT_ONCE]), length, top, hot, cooling, rng)
    return texts


def _written(
    model: LanguageModel,
    prompts: NDArray[np.int64],
    length: int,
    top: int,
    hot: float,
    cooling: int,
    rng: np.random.Generator,
) -> list[list[int]]:
    """One text for each prompt; all have one length."""
    at = model.begin(len(prompts))
    for column in prompts.T:
        at = model.read(at, column)
    texts: list[list[int]] = prompts.tolist()
    going = np.arange(len(texts))
    top = min(top, model.vocabulary + 1)
    for place in range(prompts.shape[1], length):
        bits = model.bits_of_next(at)
        best = np.argpartition(bits, top - 1, axis=1)[:, :top]
        scores = -np.take_along_axis(bits, best, axis=1) * np.log(2)
        heat = 1 + (hot - 1) * max(0.0, 1 - place / max(cooling, 1))
        # The largest of scores with Gumbel noise is a draw from their softmax.
        drawn = (scores / heat + rng.gumbel(size=scores.shape)).argmax(axis=1)
        tokens = best[np.arange(len(best)), drawn]
        kept = tokens != model.vocabulary
        going, tokens, at = going[kept], tokens[kept], at[kept]
        for row, token in zip(going, tokens, strict=True):
            texts[row].append(int(token))
        if not len(going):
            break
        at = model.read(at, tokens)
    return texts


def _check(choices: Choices) -> None:
    if not choices or not all(len(place) for place in choices):
        raise UsageError("a form has at least one place, and a token for every place")
