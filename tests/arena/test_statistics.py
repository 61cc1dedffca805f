"""Intervals and the test, against SciPy and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tapete.arena import statistics
from tapete.arena.statistics import mean_interval, share_interval, sign_flip


def test_the_interval_of_a_mean_is_students():
    values = np.random.default_rng(1).normal(0.3, 2, 17)
    expected = stats.t.interval(0.95, 16, loc=values.mean(), scale=stats.sem(values))
    assert mean_interval(values, -99, 99) == pytest.approx(expected, abs=1e-12)


def test_an_interval_stays_within_the_payoffs():
    assert mean_interval([1.0, 1.0, -0.5], -1, 1) == (-1, 1)
    assert mean_interval([0.5], -1, 2) == (-1, 2)
    assert mean_interval([0.0] * 9, -1, 1) == (0, 0)


def test_the_interval_of_a_share_is_agresti_and_coulls():
    """For independent games, but for the 1 in the denominator of a sample's variance."""
    won, n = 31, 50
    p = (won + 2) / (n + 4)
    half = 1.959964 * np.sqrt(p * (1 - p) / (n + 3))
    assert share_interval([1.0] * won + [0.0] * (n - won)) == pytest.approx((p - half, p + half), abs=1e-6)


@pytest.mark.parametrize("n", [10, 50, 400])
def test_no_share_is_certain(n):
    """Whatever was always so is still not known for sure, and the less the fewer deals there were."""
    low, high = share_interval([1.0] * n)
    assert 1 - 5 / n < low < stats.beta.ppf(0.05, n, 1) + 0.01
    assert high == 1
    even = share_interval([0.5] * n)
    assert even[0] < 0.5 < even[1] < 0.5 + 2 / n


@pytest.mark.parametrize("strength", [0.5, 0.7, 0.95, 0.99])
@pytest.mark.parametrize("luck", [0.0, 1.0])  # none: games are independent; 1: both games go to who has the better seat
@pytest.mark.parametrize("deals", [20, 100])
def test_95_percent_intervals_hold_the_truth_95_percent_of_the_time(strength, luck, deals):
    rng = np.random.default_rng(round(1000 * strength + luck + deals))
    shares = _pairs(rng, strength, luck, (2000, deals))
    truth = _pairs(rng, strength, luck, (1000, 1000)).mean()
    within = [low <= truth <= high for low, high in map(share_interval, shares)]
    assert np.mean(within) > 0.93
    if strength < 0.9 and deals > 50:  # with few deals, or close to the end, it holds the truth more often than that
        assert np.mean(within) < 0.99
        means = [low <= truth <= high for low, high in (mean_interval(row, 0, 1) for row in shares)]
        assert 0.92 < np.mean(means) < 0.98


def _pairs(rng, strength, luck, shape):
    """Shares of pairs of games; with luck, half of the pairs are won by each side once, whoever plays."""
    games = (rng.random((*shape, 2)) < strength).mean(axis=-1)
    return np.where(rng.random(shape) < luck / 2, 0.5, games)


@pytest.mark.parametrize("seed", range(5))
def test_flipping_signs_is_what_scipy_does(seed):
    x = np.random.default_rng(seed).normal(0.4, 1, 9).round(seed % 3)  # rounded ones are equal, or zero
    expected = stats.permutation_test((x,), np.sum, permutation_type="samples", n_resamples=np.inf)
    assert sign_flip(x) == pytest.approx(expected.pvalue, abs=1e-12)


def test_wins_and_losses_are_the_binomial_test():
    x = np.array([1.0] * 700 + [-1.0] * 600 + [0.0] * 50)
    assert sign_flip(x) == pytest.approx(stats.binomtest(700, 1300).pvalue, rel=1e-9)


def test_sampled_and_listed_agree(monkeypatch):
    x = np.random.default_rng(3).normal(0.5, 1, 14)
    exact = sign_flip(x)
    monkeypatch.setattr(statistics, "EXACT", 1)
    assert sign_flip(x, seed=5) == pytest.approx(exact, abs=4 * np.sqrt(exact / statistics.SAMPLES))
    assert sign_flip(x, seed=5) == sign_flip(x, seed=5) != sign_flip(x, seed=6)
    assert sign_flip([1.0] * 40) == 1 / (1 + statistics.SAMPLES)


@pytest.mark.parametrize("deals", [10, 30])  # listed, and sampled
def test_p_is_uniform_where_there_is_nothing_but_luck(deals):
    rng = np.random.default_rng(deals)
    p = [sign_flip(rng.normal(0, 1, deals), seed=i) for i in range(200)]
    assert stats.kstest(p, "uniform").pvalue > 0.01
    coarse = np.array([sign_flip(rng.integers(-1, 2, deals)) for _ in range(200)])
    assert (coarse <= 0.05).mean() < 0.08, "few different values: seldom below a bound, never too often"


def test_p_knows_no_sign_scale_or_order():
    x = np.random.default_rng(4).normal(0.3, 1, 12)
    assert sign_flip(-x) == pytest.approx(sign_flip(x))
    assert sign_flip(1000 * x[::-1]) == pytest.approx(sign_flip(x))
    assert sign_flip([*x, 0, 0]) == pytest.approx(sign_flip(x))
