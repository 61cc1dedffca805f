"""Intervals and a test for the results of deals.

The games of one deal share their cards, so they are not independent: a good hand is good in both games of a pair, once
for each side. Deals are independent, so deals are what is counted here, each with the mean of its games. That is also
where fairness pays: luck that both sides had cancels within a deal, and the intervals become narrower.

One method does all of it, that of Gaffke (2005): the deals are weighted at random, as in Rubin's (1981) Bayesian
bootstrap, together with one deal more that went as badly (or as well) as is possible at all. What the deals have not
shown may still happen, and the bounds of the game say how much that would change. For results that are won or lost, the
interval is that of Clopper and Pearson (1934). docs/arena.md tells how often it holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import ndtri

Numbers = NDArray[np.float64]
Interval = tuple[float, float]

LEVEL = 0.95
STEP, BLOCK = 0.1, 32  # of the integral: its error is below 1e-12 of its value
SMALL = 1e-15


def mean_interval(values: ArrayLike, low: float, high: float, count: float | None = None) -> Interval:
    """A 95 % interval for the expected value of a deal, which is known to lie between two bounds.

    :param values: of each deal.
    :param count: how many independent deals they are worth; without it, all of them.

    >>> [round(x, 3) for x in mean_interval([1.0] * 100, 0, 1)]
    [0.964, 1.0]
    >>> [round(x, 3) for x in mean_interval([1.0, 2.0, 3.0], -9, 9)]
    [-5.792, 6.967]
    """
    deals = Deals(values, low, high, count)
    return _limit(deals.at_most, deals.low, deals.mean), _limit(deals.at_least, deals.high, deals.mean)


def _limit(chance: Callable[[float], float], bound: float, middle: float) -> float:
    """Where, between the bound and the middle, the chance is that of one tail."""

    def excess(x: float) -> float:  # of normal deviates, which are nearly a line: the search for its root is short
        return float(ndtri(min(max(chance(x), SMALL), 1 - SMALL)) - ndtri((1 - LEVEL) / 2))

    if middle == bound:
        return float(bound)
    return float(brentq(excess, bound, middle, xtol=1e-7 * abs(middle - bound)))


def p_value(values: ArrayLike, expected: float, low: float, high: float, count: float | None = None) -> float:
    """How well luck alone explains deals whose expected value is this one; two-sided.

    At most 5 % of all matches have a p of at most 5 % if that is the expected value, whatever the distribution is.
    A p below 5 % is the same as an expected value outside of the 95 % interval.

    >>> round(p_value([1.0] * 5, 0, -1, 1), 9)
    0.0625
    >>> p_value([0.0, 0.0], 0, -1, 1)
    1.0
    """
    deals = Deals(values, low, high, count)
    return min(1.0, 2 * deals.at_most(expected), 2 * deals.at_least(expected))


class Deals:
    """The results of deals, equal ones together."""

    def __init__(self, values: ArrayLike, low: float, high: float, count: float | None = None) -> None:
        x = np.asarray(values, dtype=np.float64)
        self.sizes, counts = np.unique(x, return_counts=True)
        self.weights = counts * ((len(x) if count is None else count) / len(x))
        self.low, self.high = min(low, float(x.min())), max(high, float(x.max()))  # whatever was said: it has happened
        self.mean = min(max(float(x.mean()), self.low), self.high)

    def at_least(self, mean: float) -> float:
        """How likely random weights, with a deal at the upper bound, give at least this mean."""
        return weighs_up(np.append(self.sizes, self.high) - mean, np.append(self.weights, 1.0))

    def at_most(self, mean: float) -> float:
        """How likely random weights, with a deal at the lower bound, give at most this mean."""
        return weighs_up(mean - np.append(self.sizes, self.low), np.append(self.weights, 1.0))


def weighs_up(sizes: Numbers, weights: Numbers) -> float:
    """The probability that the sum of sizes times Gamma(weights) is not below 0.

    Its Laplace transform is known, and is turned back by an integral along a line in the complex plane. Where the line
    crosses the real axis is free; at the saddle point, nothing cancels, and small probabilities have as many right
    digits as others (Helstrom and Rice 1984).

    >>> round(weighs_up(np.array([1.0, -1.0]), np.array([5.0, 5.0])), 12)
    0.5
    """
    if sizes.min() >= 0:
        return 1.0
    if sizes.max() <= 0:
        return 0.0
    sizes = sizes / sizes.max()
    at = _saddle(sizes, weights)
    scale = 1 / math.sqrt(float(weights @ (sizes / (1 - at * sizes)) ** 2) + 1 / at**2)
    total, begin = 0.0, 0
    while True:  # the integrand is even, and dies out at both ends: the trapezoidal rule converges exponentially
        v = STEP * np.arange(begin, begin + BLOCK)
        y = 1j * scale * np.sinh(v)
        logs = np.log1p(-y[:, None] * sizes / (1 - at * sizes)) @ weights
        heights = np.cosh(v) * (np.exp(-logs) / (1 + y / at)).real
        total += float(heights.sum()) - (float(heights[0]) / 2 if begin == 0 else 0)
        begin += BLOCK
        if np.abs(heights[-4:]).max() <= SMALL * abs(total) or begin > 100 * BLOCK:
            break
    density = math.exp(-float(weights @ np.log1p(-at * sizes))) / at
    return min(1.0, max(0.0, STEP * scale * density * total / math.pi))


def _saddle(sizes: Numbers, weights: Numbers) -> float:
    """Where on the real axis, between 0 and 1, the integrand is smallest; the largest size is 1."""
    total = 1 + float(weights.sum())
    left, right = 1 / total, total / (total + float(weights.min()))
    for _ in range(30):
        at = (left + right) / 2
        if float(weights @ (sizes / (1 - at * sizes))) < 1 / at:
            left = at
        else:
            right = at
    return (left + right) / 2
