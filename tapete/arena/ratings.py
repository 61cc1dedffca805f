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
CAUTION = 5  # deals by which a match counts as shorter in an interval: how much deals differ is only estimated
SAMPLES = 2000
SURE = 1e-9  # a share may come this close to 0 and 1
LONGEST_STEP = 1.0  # of Newton's method: from far away it would overshoot
LAST_STEP = 1e-6  # after one as short as that nothing is left to correct: the error of a step is about its square
STEPS = 1000


class Ratings(NamedTuple):
    """Elo points, their average being 0, with 95 % intervals."""

    elo: Numbers  # [agents]
    low: Numbers
    high: Numbers


def rate(
    agents: int,
    shares: Mapping[tuple[int, int], Numbers],
    seed: int = 0,
    independent: Mapping[tuple[int, int], int] | None = None,
) -> Ratings:
    """The likeliest ratings, given for each pair (i, j) of agents that have met what i won of each deal.

    So that who has won everything gets a finite rating, every match is given 1 / agents of a deal that was won, and as
    much that was lost. That is about half a deal each for every rating that is to be found, as Jeffreys has it for a
    single share; a whole deal for every match would draw many agents together. The intervals are Rubin's (1981)
    Bayesian bootstrap: deals, those parts included, are weighted at random.

    :param independent: how many independent deals each match is worth; without it, all of them.
    """
    generator = np.random.default_rng(Rng(seed, "ratings").words)
    played, drawn = np.zeros((agents, agents)), np.zeros((SAMPLES, agents, agents))  # points of the first of each pair
    for (i, j), values in shares.items():
        sizes, counts = np.unique(values, return_counts=True)  # equal deals together
        deals = independent[i, j] if independent else len(values)
        sizes = np.append(sizes, (0.0, 1.0))
        shapes = np.append(counts * deals / len(values), (1 / agents, 1 / agents))
        weights = generator.gamma(shapes * deals / (deals + CAUTION), size=(SAMPLES, len(shapes)))
        won = np.clip(weights @ sizes / weights.sum(axis=1), SURE, 1 - SURE)
        played[i, j], drawn[:, i, j] = shapes @ sizes, shapes.sum() * won
        played[j, i], drawn[:, j, i] = shapes @ (1 - sizes), shapes.sum() * (1 - won)
    low, high = np.quantile(ELO * bradley_terry(drawn), (0.025, 0.975), axis=0)
    return Ratings(ELO * bradley_terry(played), low, high)


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
        if np.abs(step).max() < LAST_STEP:
            break
    return x
