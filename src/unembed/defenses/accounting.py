"""What noise is worth: (ε, δ) of normal noise by the analytic Gaussian mechanism (Balle and Wang 2018, Theorem 8).

The classical formula, sqrt(2 ln(1.25/δ)) · Δ/ε, holds for ε below 1 only and asks for more noise than is needed. The
exact condition holds for every ε, and it composes exactly as well: k releases with independent noise are one release
whose sensitivity is √k times as large.
"""

from __future__ import annotations

import math

from unembed.errors import UsageError


def gaussian_delta(epsilon: float, sigma: float, sensitivity: float = 1.0, *, releases: int = 1) -> float:
    """The smallest δ of normal noise with deviation ``sigma`` at this ε."""
    from scipy.special import log_ndtr

    apart = _apart(sigma, sensitivity, releases)
    above = float(log_ndtr(apart / 2 - epsilon / apart))
    below = epsilon + float(log_ndtr(-apart / 2 - epsilon / apart))
    # Φ(a) − e^ε Φ(b), from logarithms: e^ε alone would overflow.
    return 0.0 if below >= above else math.exp(above) * -math.expm1(below - above)


def gaussian_epsilon(sigma: float, delta: float, sensitivity: float = 1.0, *, releases: int = 1) -> float:
    """The smallest ε of normal noise at this δ, after ``releases`` of the same records under different keys.

    Under one key a record's noise is the same in every release, so that all of them are one.
    """
    from scipy.optimize import brentq

    _check_delta(delta)
    if gaussian_delta(0.0, sigma, sensitivity, releases=releases) <= delta:
        return 0.0
    high = 1.0
    while gaussian_delta(high, sigma, sensitivity, releases=releases) > delta:
        high *= 2
    found = brentq(lambda e: gaussian_delta(e, sigma, sensitivity, releases=releases) - delta, 0.0, high, xtol=1e-12)
    return float(found)


def gaussian_sigma(epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    """The smallest deviation of normal noise that is (ε, δ)-differentially private at this L2 sensitivity."""
    from scipy.optimize import brentq

    _check_delta(delta)
    if not 0 < epsilon < math.inf:
        raise UsageError(f"epsilon must be above 0, not {epsilon}")
    low = high = 1.0
    while gaussian_delta(epsilon, high) > delta:
        high *= 2
    while gaussian_delta(epsilon, low) <= delta:
        low /= 2
    found = float(brentq(lambda s: gaussian_delta(epsilon, s) - delta, low, high, xtol=1e-15, rtol=1e-14))
    return sensitivity * found


def _apart(sigma: float, sensitivity: float, releases: int) -> float:
    """How far apart two neighbouring collections are, in deviations of the noise."""
    if not (0 < sigma < math.inf and 0 < sensitivity < math.inf and releases >= 1):
        raise UsageError("the deviation of noise, a sensitivity and a number of releases must be above 0")
    return math.sqrt(releases) * sensitivity / sigma


def _check_delta(delta: float) -> None:
    if not 0 < delta < 1:
        raise UsageError(f"delta must lie between 0 and 1, not {delta}")
