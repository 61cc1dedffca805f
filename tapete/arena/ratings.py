"""Elo ratings by the model of Bradley and Terry (1952): i scores 1 / (1 + 10^((Rj - Ri) / 400)) against j."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from tapete.core import Rng

Numbers = NDArray[np.float64]

ELO = 400 / math.log(10)  # points in a factor e of the odds
PRIOR = (0.0, 1.0)  # shares of deals that every match is given besides its own
SAMPLES = 2000
LONGEST_STEP = 1.0  # of Newton's method: from far away it would overshoot
STEPS = 1000


class Ratings(NamedTuple):
    """Elo points, their average being 0, with 95 % intervals."""

    elo: Numbers  # [agents]
    low: Numbers
    high: Numbers


def rate(agents: int, shares: Mapping[tuple[int, int], Numbers], seed: int = 0) -> Ratings:
    """The likeliest ratings, given for each pair (i, j) of agents that have met what i won of each deal.

    Every match is given one deal more that i won and one that j won, so that who has won everything gets a finite
    rating. The intervals are Rubin's (1981) Bayesian bootstrap: deals, those two included, are weighted at random.
    """
    generator = np.random.default_rng(Rng(seed, "ratings").words)
    points = np.zeros((1 + SAMPLES, agents, agents))  # the first as it was, the others weighted
    for (i, j), values in shares.items():
        sizes, counts = np.unique(np.concatenate([values, PRIOR]), return_counts=True)
        weights = np.vstack([counts, generator.gamma(counts, size=(SAMPLES, len(counts)))])  # equal deals together
        won = counts.sum() * (weights @ sizes) / weights.sum(axis=1)
        points[:, i, j], points[:, j, i] = won, counts.sum() - won
    elo = ELO * bradley_terry(points)
    low, high = np.quantile(elo[1:], (0.025, 0.975), axis=0)
    return Ratings(elo[0], low, high)


def bradley_terry(points: Numbers) -> Numbers:
    """The likeliest strengths [..., agents], adding up to 0, by points [..., agents, agents]: what i scored against j.

    Newton's method on the logarithm of the likelihood, which is concave. A draw is half a win and half a loss.
    """
    played = points + points.swapaxes(-1, -2)
    x = np.zeros_like(points[..., 0])
    for _ in range(STEPS):
        expected = expit(x[..., :, None] - x[..., None, :])
        gradient = (points - played * expected).sum(axis=-1)
        weights = played * expected * (1 - expected)
        # Adding the same to all strengths changes nothing; the constant keeps them where they add up to 0.
        curvature = np.eye(points.shape[-1]) * weights.sum(axis=-1)[..., None] - weights + 1.0
        step = np.linalg.solve(curvature, gradient[..., None])[..., 0]
        x += step * np.minimum(1, LONGEST_STEP / np.maximum(np.abs(step).max(axis=-1, keepdims=True), 1e-300))
        if np.abs(step).max() < 1e-10:
            break
    return x
