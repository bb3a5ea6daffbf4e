"""How much a language model helps to guess a secret that was planted into its training data (Carlini et al. 2019).

Of a format with random values from R, such as "the number is 000000" to "999999", one text s[r] was planted. Its rank
is how many texts of the format the model finds at least as likely (Corò 2022, Definition 3.1.2), its exposure

    exposure(s[r]) = log2 |R| − log2 rank(s[r])                                      (Definition 3.1.3)

bits: 0 for the least likely text, log2 |R| for the likeliest. A text that the model never saw has any rank as likely as
any other, so its exposure passes t bits with a probability of 2^−t, and its mean is 1.44.

Where R is too large to ask about every text, exposure is −log2 of the share of texts that are at least as likely, which
a sample shows. A sample of n can't see beyond about log2(n / 3.7) bits: there what is known is that bound, and the
value is read from a skew-normal distribution fitted to the sample, as the paper does. The interval of the share is the
exact one (Clopper and Pearson): the shares that matter are so small that approximations miss them too often.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from unembed.errors import CannotMeasureError
from unembed.metrics.estimate import LEVEL, Estimate

#: A skew-normal distribution is never more skew than this.
MOST_SKEW = 0.99
EXACT, SAMPLED, EXTRAPOLATED = "exact rank", "sampled rank", "skew-normal fit"


def rank(log_perplexity: float, others: NDArray[np.floating]) -> int:
    """1 + how many of the other texts of the format the model finds at least as likely (Definition 3.1.2)."""
    _check(log_perplexity, others)
    return 1 + int((others <= log_perplexity).sum())


def exact_exposure(log_perplexity: float, others: NDArray[np.floating]) -> Estimate:
    """The exposure of a text among all others of its format (Definition 3.1.3); it has no uncertainty."""
    size = len(others) + 1
    value = math.log2(size) - math.log2(rank(log_perplexity, others))
    return Estimate(value, value, value, size, method=EXACT)


def sampled_exposure(log_perplexity: float, drawn: NDArray[np.floating], most: float) -> Estimate:
    """The exposure of a text by others drawn at random from a format with 2^``most`` texts, with its interval."""
    _check(log_perplexity, drawn)
    if not len(drawn):
        raise CannotMeasureError("no text of the format was drawn to hold the planted one against")
    passed = int((drawn <= log_perplexity).sum())
    fewest, largest = _share(passed, len(drawn))

    def bits(others: float) -> float:
        """Of a share of the others: the planted text is itself one of those at least as likely."""
        return -math.log2(others + (1 - others) * 2.0**-most)

    low = bits(largest)
    if passed:
        return Estimate(bits(passed / len(drawn)), low, bits(fewest), len(drawn), method=SAMPLED)
    value = min(max(extrapolated(log_perplexity, drawn), low), most)
    return Estimate(value, low, most, len(drawn), method=EXTRAPOLATED)


def farthest_seen(drawn: int) -> float:
    """The exposure beyond which so many drawn texts show no more than that it lies beyond."""
    return -math.log2(_share(0, drawn)[1])


def _share(passed: int, drawn: int) -> tuple[float, float]:
    """The interval of Clopper and Pearson for a share."""
    from scipy.special import betaincinv

    tail = (1 - LEVEL) / 2
    low = 0.0 if passed == 0 else float(betaincinv(passed, drawn - passed + 1, tail))
    high = 1.0 if passed == drawn else float(betaincinv(passed + 1, drawn - passed, 1 - tail))
    return low, high


def extrapolated(log_perplexity: float, drawn: NDArray[np.floating]) -> float:
    """−log2 of the share of texts below, by a skew-normal distribution with the moments of those drawn."""
    from scipy.stats import skew, skewnorm

    values = np.asarray(drawn, dtype=np.float64)
    spread = float(values.std())
    if len(values) < 3 or spread == 0:
        return 0.0
    skewness = float(np.clip(skew(values), -MOST_SKEW, MOST_SKEW))
    # δ from the skewness, then the distribution's own shape, place and scale (Azzalini 1985).
    root = abs(skewness) ** (2 / 3)
    delta = math.copysign(math.sqrt(math.pi / 2 * root / (root + ((4 - math.pi) / 2) ** (2 / 3))), skewness)
    scale = spread / math.sqrt(1 - 2 * delta**2 / math.pi)
    place = float(values.mean()) - scale * delta * math.sqrt(2 / math.pi)
    shape = delta / math.sqrt(1 - delta**2)
    below = float(skewnorm.logcdf(log_perplexity, shape, loc=place, scale=scale))
    return math.inf if not math.isfinite(below) else -below / math.log(2)


def _check(log_perplexity: float, others: NDArray[np.floating]) -> None:
    if not (math.isfinite(log_perplexity) and np.isfinite(others).all()):
        raise CannotMeasureError("a log-perplexity is not finite: without numbers there is no rank")
