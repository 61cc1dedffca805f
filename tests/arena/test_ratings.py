"""Ratings, against a general optimiser and by tournaments whose truth is known."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from tapete.arena.ratings import ELO, bradley_terry, rate
from tapete.bench.calibration import measure_ratings


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
    ratings = rate(2, {(0, 1): np.array([1.0] * 74 + [0.5] + [0.0] * 24)})  # 75 of 100 with the halves that are added
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


@pytest.mark.parametrize(("agents", "deals", "repeats"), [(3, 10, 100), (6, 10, 40), (6, 30, 40)])
def test_intervals_hold_the_truth_however_far_apart_agents_are(agents, deals, repeats):
    row = measure_ratings("800 points", agents, 800, deals, repeats)
    assert row.coverage > 0.93
    assert row.worst >= 0.85, "one agent of a few tournaments"
    assert row.old_coverage < 0.9, "with two whole deals for every match, they did not"


def test_what_is_repeated_counts_once():
    shares = simulate(np.random.default_rng(4), np.array([0.0, 150, -200]), 12)
    again = {pair: np.tile(values, 5) for pair, values in shares.items()}
    once, counted = rate(3, shares), rate(3, again, independent=dict.fromkeys(shares, 12))
    for ours, theirs in zip(counted, once, strict=True):
        assert ours == pytest.approx(theirs)
    assert (rate(3, again).high - rate(3, again).low < 0.6 * (once.high - once.low)).all()


@pytest.mark.parametrize("agents", [2, 5])
def test_every_match_is_given_a_part_of_a_deal_by_the_number_of_agents(agents):
    """Everybody wins all against those behind: as if 1 / agents of a deal had been lost."""
    shares = {pair: np.ones(20) for pair in combinations(range(agents), 2)}
    points = np.triu(np.full((agents, agents), 20 + 1 / agents), 1) + np.tril(np.full((agents, agents), 1 / agents), -1)
    assert rate(agents, shares).elo == pytest.approx(ELO * bradley_terry(points))


def test_who_wins_everything_is_far_ahead_and_not_at_infinity():
    for deals in (5, 5000):
        ratings = rate(2, {(0, 1): np.ones(deals)})
        assert ratings.elo[0] - ratings.elo[1] == pytest.approx(400 * np.log10(2 * deals + 1))
        assert np.isfinite(ratings.high).all()
        assert ratings.low[0] < ratings.elo[0] < ratings.high[0]


def test_the_order_of_the_agents_does_not_matter():
    shares = simulate(np.random.default_rng(3), np.array([0.0, 100, -300]), 50)
    turned = {(2 - j, 2 - i): 1 - values for (i, j), values in shares.items()}
    assert rate(3, turned).elo[::-1] == pytest.approx(rate(3, shares).elo)
