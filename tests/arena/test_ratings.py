"""Ratings, against a general optimiser and by tournaments whose truth is known."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from tapete.arena.ratings import ELO, bradley_terry, rate


def simulate(rng, elo, deals):
    """What the first of each pair wins of each deal of two games, by the model."""
    return {
        (i, j): (rng.random((deals, 2)) < expit((elo[i] - elo[j]) / ELO)).mean(axis=1)
        for i, j in combinations(range(len(elo)), 2)
    }


@pytest.mark.parametrize("seed", range(3))
def test_strengths_are_the_likeliest(seed):
    rng = np.random.default_rng(seed)
    points = rng.integers(1, 50, (5, 5)) / 2
    np.fill_diagonal(points, 0)

    def unlikeliness(x):
        return -(points * np.log(expit(x[:, None] - x[None, :]))).sum() + x.sum() ** 2

    best = minimize(unlikeliness, np.zeros(5), tol=1e-12).x
    strengths = bradley_terry(points)
    assert strengths == pytest.approx(best, abs=1e-4)
    assert unlikeliness(strengths) <= unlikeliness(best) + 1e-9
    assert strengths.sum() == pytest.approx(0, abs=1e-12)


def test_two_agents_are_as_far_apart_as_the_formula_says():
    ratings = rate(2, {(0, 1): np.array([1.0] * 74 + [0.0] * 24)})  # 75 of 100 with the two that are added
    assert ratings.elo[0] - ratings.elo[1] == pytest.approx(400 * np.log10(3))


def test_planted_ratings_are_recovered():
    elo = np.array([-600, -150.0, 0, 250, 500])
    ratings = rate(5, simulate(np.random.default_rng(1), elo, 4000))
    assert ratings.elo == pytest.approx(elo, abs=20)
    assert ((ratings.low <= elo) & (elo <= ratings.high)).all()
    assert (ratings.high - ratings.low < 60).all()


def test_intervals_hold_the_truth():
    rng = np.random.default_rng(2)
    elo = np.array([-200.0, 0, 200])
    ratings = [rate(3, simulate(rng, elo, 60), seed=i) for i in range(100)]
    within = np.mean([(r.low <= elo) & (elo <= r.high) for r in ratings])
    assert 0.92 < within < 0.98


def test_who_wins_everything_is_far_ahead_and_not_at_infinity():
    for deals in (5, 5000):
        ratings = rate(2, {(0, 1): np.ones(deals)})
        assert ratings.elo[0] - ratings.elo[1] == pytest.approx(400 * np.log10(deals + 1))
        assert np.isfinite(ratings.high).all()
        assert ratings.low[0] < ratings.elo[0] < ratings.high[0]


def test_the_order_of_the_agents_does_not_matter():
    shares = simulate(np.random.default_rng(3), np.array([0.0, 100, -300]), 50)
    turned = {(2 - j, 2 - i): 1 - values for (i, j), values in shares.items()}
    assert rate(3, turned).elo[::-1] == pytest.approx(rate(3, shares).elo)
