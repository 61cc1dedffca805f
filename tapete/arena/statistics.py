"""Intervals and a test for the results of deals.

The games of one deal share their cards, so they are not independent: a good hand is good in both games of a pair, once
for each side. Deals are independent, so deals are what is counted here, each with the mean of its games. That is also
where fairness pays: luck that both sides had cancels within a deal, and the intervals become narrower.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, stdtrit

from tapete.core import Rng

Numbers = NDArray[np.float64]
Interval = tuple[float, float]

LEVEL = 0.95
Z = 1.959963984540054  # of the normal distribution, at that level
EXACT = 2**20  # sums of flipped differences that are listed rather than sampled
SAMPLES = 20_000  # else


def share_interval(shares: ArrayLike) -> Interval:
    """A 95 % interval for the expected share of a deal, 0 to 1, where the observed ones may all be the same.

    Agresti and Coull's (1998): two deals won and two lost are added, and the interval of the normal distribution is
    taken. The variance is that of the deals, so it doesn't matter how the games of a deal depend on each other.

    >>> [round(x, 3) for x in share_interval([1.0] * 100)]
    [0.954, 1.0]
    """
    values = np.concatenate([np.asarray(shares, dtype=np.float64), [1.0, 1.0, 0.0, 0.0]])
    half = Z * float(values.std(ddof=1)) / math.sqrt(len(values))
    middle = float(values.mean())
    return max(0.0, middle - half), min(1.0, middle + half)


def mean_interval(values: ArrayLike, low: float, high: float) -> Interval:
    """Student's 95 % interval for an expected value that is known to lie between two bounds.

    >>> [round(x, 3) for x in mean_interval([1.0, 2.0, 3.0], -9, 9)]
    [-0.484, 4.484]
    >>> mean_interval([1.0], -2, 2)
    (-2, 2)
    """
    x = np.asarray(values, dtype=np.float64)
    if len(x) < 2:
        return low, high
    half = float(stdtrit(len(x) - 1, (1 + LEVEL) / 2) * x.std(ddof=1)) / math.sqrt(len(x))
    return max(low, float(x.mean()) - half), min(high, float(x.mean()) + half)


def sign_flip(differences: ArrayLike, seed: int = 0) -> float:
    """How likely a sum at least this far from zero would be if every difference might as well have had the other sign.

    If the two sides are equally good, exchanging their names changes nothing: in a pair of games that flips the sign
    of the difference. All signs are tried where there are few different sums (many differences are often equal, and
    those are counted together), else 20,000 are drawn, which are told from the seed.

    >>> sign_flip([1, 1, 1, 1, 1])
    0.0625
    >>> sign_flip([0, 0])
    1.0
    """
    x = np.asarray(differences, dtype=np.float64)
    sizes, counts = np.unique(np.abs(x[x != 0]), return_counts=True)
    reached = abs(float(x.sum())) - 1e-9 * float(sizes @ counts)  # sums in another order differ in their last digits
    if math.prod((counts + 1).tolist()) <= EXACT:
        sums, weights = _all_sums(sizes, counts)
        return min(1.0, float(weights[np.abs(sums) >= reached].sum()))
    generator = np.random.default_rng(Rng(seed, "sign flip").words)
    sums = np.zeros(SAMPLES)
    for size, count in zip(sizes, counts, strict=True):
        sums += size * (2.0 * generator.binomial(count, 0.5, SAMPLES) - count)
    return (1 + int((np.abs(sums) >= reached).sum())) / (1 + SAMPLES)


def _all_sums(sizes: Numbers, counts: NDArray[np.int64]) -> tuple[Numbers, Numbers]:
    """Every sum that flipping can give, and its probability."""
    sums, weights = np.zeros(1), np.ones(1)
    for size, count in zip(sizes, counts, strict=True):
        plus = np.arange(count + 1)
        logs = gammaln(count + 1) - gammaln(plus + 1) - gammaln(count - plus + 1) - count * math.log(2)
        sums = np.add.outer(sums, size * (2.0 * plus - count)).ravel()
        weights = np.multiply.outer(weights, np.exp(logs)).ravel()
    return sums, weights
