"""Telling a small group of high scores from the bulk, when nobody says how small it is.

The scores of a keyword over a store are those of texts without it, the bulk, and of those with it, which may be one
in five hundred or one in two. The bulk is measured by its lower half, where texts with the word hardly reach, as
Efron (2004) fits an empirical null; its tail is Student's, because texts about something near the word score higher
than a normal tail allows. The other group is where the adversary's own held-back texts with the word are. What
remains is how large it is, found by expectation and maximisation over the store (Saerens et al. 2002).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from scipy.stats import norm, t

FloatArray = NDArray[np.float64]
#: Degrees of freedom of the bulk's tail.
TAIL = 5
ROUNDS = 100
#: Log-densities of both standard distributions at their peaks.
_NORMAL_PEAK, _TAIL_PEAK = float(norm.logpdf(0)), float(t.logpdf(0, TAIL))
#: The share of a normal distribution below its mean minus one deviation.
ONE_BELOW = float(norm.cdf(-1))
LARGEST = 0.9
#: A common word takes at least this share of the store, and its group lies so many widths of the bulk above its centre.
LEAST_COMMON, APART = 0.1, 3.0


@dataclass(frozen=True)
class Groups:
    """The bulk's centre and width, the other group's, and the share of the store it takes."""

    centre: float
    width: float
    place: float
    spread: float
    share: float

    def ratio(self, scores: FloatArray) -> FloatArray:
        """Log of how much likelier a score is in the group than in the bulk.

        It grows with the score: below the bulk's centre all are as good as at it, above the group's place likewise.
        """
        above = np.maximum(scores - self.centre, 0) / self.width
        short = np.minimum(scores - self.place, 0) / self.spread
        peaks = _NORMAL_PEAK - np.log(self.spread) - _TAIL_PEAK + np.log(self.width)
        return np.asarray(peaks - short * short / 2 + (TAIL + 1) / 2 * np.log1p(above * above / TAIL))

    def likelihood(self, scores: FloatArray) -> float:
        """Log-likelihood of the scores of a store."""
        bulk = t.logpdf((scores - self.centre) / self.width, TAIL) - np.log(self.width)
        group = norm.logpdf(scores, self.place, self.spread)
        return float(np.logaddexp(bulk + np.log1p(-self.share), group + np.log(self.share)).sum())

    def odds(self, scores: FloatArray, weight: float = 1.0) -> FloatArray:
        """Log-odds of belonging to the group; ``weight`` says how much its rarity counts against it."""
        return np.asarray(self.ratio(scores) + weight * logit(self.share))


def find_groups(scores: FloatArray, own: FloatArray, *, moving: bool = False) -> Groups:
    """The two groups in a store's scores, given the adversary's own scores of texts with the word.

    ``moving`` lets the group lie higher than the own texts, which it does where a word is rare: fewer scores belong
    to it then, and those more surely. A second search asks whether the word is common: then the store itself shows
    where the group lies, which may be lower than the own texts, because a common word widens the store's own measure.
    It counts if it ends in two groups that lie apart, and explains the scores better.
    """
    ordered = np.sort(scores)
    lowest, spread = float(own.mean()), float(own.std())
    rare = _search(ordered, lowest, spread, 0.01, moving)
    common = _search(ordered, -np.inf, spread, 0.5, True)
    apart = common.place - common.centre > APART * common.width and common.share > LEAST_COMMON
    return common if apart and common.likelihood(ordered) > rare.likelihood(ordered) else rare


def _search(ordered: FloatArray, lowest: float, spread: float, share: float, moving: bool) -> Groups:
    """Expectation and maximisation from one share on; the group's place does not sink below ``lowest``."""
    least = 0.5 / len(ordered)
    highest = float(ordered[-max(3, round(share * len(ordered) / 2)) :].mean())
    place = max(lowest, highest) if moving else lowest
    places = np.arange(len(ordered), dtype=np.float64)
    for _ in range(ROUNDS):
        ranks = np.array([(1 - share) / 2, (1 - share) * ONE_BELOW])
        centre, below = np.interp(ranks * (len(ordered) - 1), places, ordered)
        width = max(float(centre - below), 1e-9)
        found = Groups(float(centre), width, max(place, float(centre)), max(spread, width), share)
        belonging = expit(found.odds(ordered))
        before = share, place
        share = float(np.clip(belonging.mean(), least, LARGEST))
        if moving:
            place = max(lowest, float(np.average(ordered, weights=belonging + 1e-12)))
        if abs(share - before[0]) < 1e-3 * share and abs(place - before[1]) < 1e-3 * width:
            break
    return found
