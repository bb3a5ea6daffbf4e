"""What stands beside the headline of the inversion game: weighted, per text, by word frequency, class and word.

All counts rest on ``metrics.sets``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from unembed.games.base import Detail, SliceScore
from unembed.metrics import sets
from unembed.metrics.estimate import Measure, estimates_of, wilson

if TYPE_CHECKING:
    from unembed.games.inversion import InversionTruth

FREQUENCY_BANDS = ((0, 100), (100, 1000), (1000, 5000), (5000, None))
#: A band or class is shown if the targets hold so many of its words together.
LEAST_PRESENT = 20
WORDS_SHOWN = 20
SHARES = {"a_quarter": 0.25, "half": 0.5, "three_quarters": 0.75}
_STATISTICS = {"f1": sets.f1, "precision": sets.precision, "recall": sets.recall}
Counts = NDArray[np.float64]


def rarity(labels: csr_matrix) -> Counts:
    """α of Corò eq. 4.8: log((targets + 1) / (targets that hold the word + 1))."""
    held: Counts = np.asarray((labels != 0).sum(axis=0), dtype=np.float64).ravel()
    weights: Counts = np.log((labels.shape[0] + 1) / (held + 1))
    return weights


def detail(
    truth: InversionTruth,
    guess: csr_matrix,
    pieces: csr_matrix | None,
    *,
    every: Counts,
    content: Counts,
    inside: Counts,
) -> Detail:
    """Secondary metrics and slices of one guess.

    ``every`` and ``content`` are counts of all and of content words, words outside the vocabulary among those
    present; ``inside`` are the content words without those.
    """
    wanted = {"content_f1_in_vocabulary": Measure(inside, sets.f1)}
    if truth.seen is not None:
        read = sets.set_counts(truth.seen.labels, guess, columns=truth.content)
        read[:, sets.PRESENT] += truth.seen.outside[:, 1]
        wanted["content_f1_seen"] = Measure(read, sets.f1)
    for prefix, counts in (("content_", content), ("", every)):
        for name, statistic in _STATISTICS.items():
            if f"{prefix}{name}" != "content_f1":
                wanted[f"{prefix}{name}"] = Measure(counts, statistic)
            wanted[f"{prefix}{name}_per_text"] = Measure.mean(sets.per_text(counts, statistic))
    weighted = sets.set_counts(truth.labels, guess, columns=truth.content, weights=rarity(truth.labels))
    for name, statistic in _STATISTICS.items():
        wanted[f"weighted_{name}"] = Measure.mean(sets.per_text(weighted, statistic))
    share = sets.per_text(content, sets.recall)
    for name, least in SHARES.items():
        wanted[f"texts_{name}_recovered"] = Measure.mean(np.where(np.isnan(share), np.nan, share >= least - 1e-12))
    if pieces is not None and truth.pieces is not None:
        counts = sets.set_counts(truth.pieces, pieces)
        wanted |= {f"piece_{name}": Measure(counts, statistic) for name, statistic in _STATISTICS.items()}
    secondary = list(wanted)
    parts = [*_by_frequency(truth, guess), *_by_class(truth, guess)]
    for kind, name, counts in parts:
        wanted[f"{kind}/{name}"] = Measure(counts, sets.f1)
        wanted[f"{kind}/{name}/recall"] = Measure(counts, sets.recall)
    found = estimates_of(wanted, groups=truth.groups)
    slices = [SliceScore(kind, name, found[f"{kind}/{name}"]) for kind, name, _ in parts]
    slices += [SliceScore(f"{kind}, recall", name, found[f"{kind}/{name}/recall"]) for kind, name, _ in parts]
    return Detail({name: found[name] for name in secondary}, (*slices, *_by_word(truth, guess)))


def _by_frequency(truth: InversionTruth, guess: csr_matrix) -> Iterator[tuple[str, str, Counts]]:
    """Counts of the content words in each band of frequency ranks that holds enough of them."""
    size = len(truth.vocabulary.words)
    for low, high in FREQUENCY_BANDS:
        band = np.zeros(size, dtype=bool)
        band[low:high] = True
        counts = sets.set_counts(truth.labels, guess, columns=band & truth.content)
        if counts[:, sets.PRESENT].sum() >= LEAST_PRESENT:
            yield "word frequency", f"ranks {low + 1:,}–{min(high or size, size):,}", counts


def _by_class(truth: InversionTruth, guess: csr_matrix) -> Iterator[tuple[str, str, Counts]]:
    """Counts of each class of words that the targets hold enough of."""
    if truth.classes is None:
        return
    classes = np.array(truth.classes, dtype=object)
    for name in sorted(set(truth.classes) - {""}):
        counts = sets.set_counts(truth.labels, guess, columns=(classes == name) & truth.scored)
        if counts[:, sets.PRESENT].sum() >= LEAST_PRESENT:
            yield "word class", name, counts


def _by_word(truth: InversionTruth, guess: csr_matrix) -> Iterator[SliceScore]:
    """The content words most often recovered: the share of the texts with the word in which it was."""
    held = (truth.labels != 0).astype(np.int64).tocsr()
    present = np.asarray(held.sum(axis=0)).ravel()
    recovered = np.asarray(held.multiply(guess != 0).sum(axis=0)).ravel() * truth.content
    for column in np.argsort(-recovered, kind="stable")[:WORDS_SHOWN]:
        if recovered[column]:
            word = truth.vocabulary.words[int(column)]
            yield SliceScore("word", word, wilson(int(recovered[column]), int(present[column])))
