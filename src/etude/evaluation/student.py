"""Student's t distribution with whole degrees of freedom, in closed form (Abramowitz and Stegun 26.7.3 and 26.7.4)."""

from __future__ import annotations

import math


def central(angle: float, freedom: int) -> float:
    """The probability that |t| is below √freedom · tan(angle), for an angle from 0 to π/2."""
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term, series = (cosine if odd else 1.0), 0.0
    for k in range(1 + odd, freedom, 2):
        series += term
        term *= cosine * cosine * k / (k + 1)
    return (angle + sine * series) * 2 / math.pi if odd else sine * series


def quantile(probability: float, freedom: int) -> float:
    """The t below which a share ``probability`` (0 to 1, both excluded) of the distribution lies."""
    wanted = abs(1 - 2 * probability)
    low, high = 0.0, math.pi / 2
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if central(middle, freedom) < wanted else (low, middle)
    return math.copysign(math.sqrt(freedom) * math.tan(low), probability - 0.5)
