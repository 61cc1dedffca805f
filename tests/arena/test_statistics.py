"""Intervals and the test, against SciPy, against drawing, and by simulation."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tapete.arena.statistics import mean_interval, p_value, weighs_up
from tapete.bench import calibration
from tapete.bench.calibration import World, held_before, holds, measure
from tapete.core import Rng


@pytest.mark.parametrize(("won", "n"), [(0, 1), (0, 10), (31, 50), (10, 10), (499, 500), (1, 500)])
def test_the_interval_of_wins_is_clopper_and_pearsons(won, n):
    expected = stats.binomtest(won, n).proportion_ci(0.95, "exact")
    values = [1.0] * won + [0.0] * (n - won)
    assert mean_interval(values, 0, 1) == pytest.approx((expected.low, expected.high), abs=1e-6)
    paid = [7 * x - 3 for x in values]
    assert mean_interval(paid, -3, 4) == pytest.approx((7 * expected.low - 3, 7 * expected.high - 3), abs=1e-5)


def drawn_interval(values, low, high, weight, rng):
    """By its definition, with 100,000 random weightings of the deals and of one deal at a bound."""
    weights = rng.gamma(np.append(np.full(len(values), weight), 1.0), size=(100_000, len(values) + 1))
    weights /= weights.sum(axis=1, keepdims=True)
    least, most = weights @ np.append(values, low), weights @ np.append(values, high)
    return np.quantile(least, 0.025), np.quantile(most, 0.975)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weight", [1.0, 0.3])
def test_the_interval_is_that_of_random_weights(seed, weight):
    """Skewed payoffs, which pass neither for normal nor for wins."""
    rng = np.random.default_rng(seed)
    values = np.minimum(np.exp(rng.normal(0, 1, (3, 10, 25, 40)[seed])), 9) - 2
    expected = drawn_interval(values, -2, 20, weight, rng)
    found = mean_interval(values, -2, 20, weight * len(values))
    assert found == pytest.approx(expected, abs=0.02 * (expected[1] - expected[0]))


def test_with_many_deals_the_interval_is_students():
    values = np.random.default_rng(1).normal(0.3, 2, 3000)
    low, high = stats.t.interval(0.95, 2999, loc=values.mean(), scale=stats.sem(values))
    assert mean_interval(values, -12, 12) == pytest.approx((low, high), abs=0.05 * (high - low))


@pytest.mark.parametrize("n", [1, 2, 10, 400])
@pytest.mark.parametrize("value", [-1.0, 0.0, 0.3, 1.0])
def test_no_interval_is_empty_or_beyond_what_is_possible(value, n):
    """Whatever was always so is still not known for sure, and the less the fewer deals there were."""
    low, high = mean_interval([value] * n, -1, 1)
    assert -1 <= low <= value <= high <= 1
    rest = 0.025 ** (1 / n)  # of the deals, at least, where none was otherwise
    assert (low, high) == pytest.approx((value * rest - (1 - rest), value * rest + (1 - rest)), abs=1e-6)
    assert high > low


def test_what_has_happened_is_possible():
    """Payoffs less luck may lie outside of what a game pays, and so may those of rules that were changed since."""
    assert mean_interval([-3.0, 0.0, 5.0], -1, 1) == mean_interval([-3.0, 0.0, 5.0], -3, 5)
    assert p_value([-3.0, 0.0, 5.0], 0, -1, 1) == p_value([-3.0, 0.0, 5.0], 0, -3, 5)


@pytest.mark.parametrize("seed", range(5))
def test_p_is_below_5_percent_just_where_the_interval_ends(seed):
    values = np.random.default_rng(seed).choice([-1.0, 0.0, 0.5, 3.0], 12)
    low, high = mean_interval(values, -1, 3)
    for inside, outside in ((low + 1e-4, low - 1e-4), (high - 1e-4, high + 1e-4)):
        assert p_value(values, inside, -1, 3) > 0.05 > p_value(values, outside, -1, 3) > 0.049


@pytest.mark.parametrize(("won", "lost", "drawn"), [(700, 600, 50), (9, 1, 0), (0, 7, 3), (5, 5, 5)])
def test_wins_and_losses_are_the_binomial_test(won, lost, drawn):
    x = np.array([1.0] * won + [-1.0] * lost + [0.0] * drawn)
    assert p_value(x, 0, -1, 1) == pytest.approx(stats.binomtest(won, won + lost).pvalue, rel=1e-9)


def test_small_probabilities_have_all_their_digits():
    assert p_value([1.0] * 300, 0, -1, 1) == pytest.approx(2.0**-299, rel=1e-9)
    assert p_value([1.0] * 60 + [-1.0] * 2, 0, -1, 1) == pytest.approx(stats.binomtest(60, 62).pvalue, rel=1e-9)


def test_p_knows_no_sign_scale_or_order():
    x = np.random.default_rng(4).normal(0.3, 1, 12)
    p = p_value(x, 0.1, -4, 5)
    assert p_value(-x, -0.1, -5, 4) == pytest.approx(p)
    assert p_value(1000 * x[::-1], 100, -4000, 5000) == pytest.approx(p)
    assert p_value(x + 7, 7.1, 3, 12) == pytest.approx(p)


def test_what_is_repeated_counts_as_often_as_is_said():
    x = np.random.default_rng(5).integers(-2, 4, 9).astype(float)
    again = np.tile(x, 8)
    assert mean_interval(again, -3, 4, 9) == pytest.approx(mean_interval(x, -3, 4), abs=1e-6)
    assert p_value(again, 0, -3, 4, 9) == pytest.approx(p_value(x, 0, -3, 4))
    assert p_value(again, 0, -3, 4) < p_value(x, 0, -3, 4)


@pytest.mark.parametrize("spread", [1.0, 1e-9, 1e6])
def test_what_does_not_weigh_up_weighs_down(spread):
    sizes, weights = np.array([-1.0, -0.2, 0.0, spread, 0.7]), np.array([3.0, 0.5, 4.0, 1.0, 2.5])
    assert weighs_up(sizes, weights) + weighs_up(-sizes, weights) == pytest.approx(1, abs=1e-9)
    assert weighs_up(np.array([spread, -spread]), np.array([2.0, 3.0])) == pytest.approx(stats.beta.sf(0.5, 2, 3))


@pytest.mark.parametrize("strength", [0.5, 0.7, 0.95, 0.99])
@pytest.mark.parametrize(
    "luck", [0.0, 1.0]
)  # none: games are independent; 1: half of the deals are split, come what may
@pytest.mark.parametrize("deals", [20, 100])
def test_95_percent_intervals_hold_the_truth_95_percent_of_the_time(strength, luck, deals):
    rng = np.random.default_rng(round(1000 * strength + luck + deals))
    games = (rng.random((2000, deals, 2)) < strength).mean(axis=-1)
    shares = np.where(rng.random((2000, deals)) < luck / 2, 0.5, games)
    truth = 0.5 * luck / 2 + strength * (1 - luck / 2)

    @cache
    def holds(won, drawn):
        low, high = mean_interval([1.0] * won + [0.5] * drawn + [0.0] * (deals - won - drawn), 0, 1)
        return low <= truth <= high

    within = np.mean([holds(int((row == 1).sum()), int((row == 0.5).sum())) for row in shares])
    assert within > 0.94
    if strength < 0.9 and deals > 50:  # with few deals, or close to the end, it holds the truth more often than that
        assert within < 0.99


def chosen(*names):
    """The worlds of `tapete bench calibration` whose names begin so."""
    return [world for world in calibration.worlds() if world.name.startswith(names)]


def least(repeats, level):
    """What is counted of so many with this probability, or more, but in one test of 100,000."""
    return stats.binom.ppf(1e-5, repeats, level) / repeats


def play(world: World, deals: int, repeats: int) -> Any:
    return world.draw(np.random.default_rng(deals), (repeats, deals))


WORLDS = chosen("wins 0.5,", "wins 0.99,", "paid", "three", "ten seats, one luck")


@pytest.mark.parametrize("deals", [10, 50, 500])
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_figures_hold(world: World, deals: int) -> None:
    coverage, p = holds(world, play(world, deals, 400))
    assert coverage >= least(400, 0.95)
    assert p <= 1 - least(400, 0.95)


@pytest.mark.parametrize("world", chosen("lognormal", "normal", "ten seats, one wins"), ids=lambda world: world.name)
def test_figures_hold_where_no_two_payoffs_are_alike(world: World) -> None:
    for deals in (10, 40):
        assert holds(world, play(world, deals, 200))[0] >= least(200, 0.95)


@pytest.mark.parametrize(
    ("name", "deals"), [("paid +1 at 0.99, -1 else", 20), ("paid +1 at 0.95", 10), ("lognormal", 50)]
)
def test_the_figures_that_were_told_before_did_not_hold(name: str, deals: int) -> None:
    """That is what is counted here, and this way of counting finds it."""
    (world,) = chosen(name)
    coverage, p = held_before(world, play(world, deals, 400), np.random.default_rng(1))
    assert coverage < least(400, 0.95)
    assert p > 1 - least(400, 0.95)


def test_a_row_of_the_calibration_is_what_was_counted() -> None:
    (world,) = chosen("paid +1 at 0.95")
    row = measure(world, 10, 50)
    matches = world.draw(np.random.default_rng(Rng("calibration", world.name, 10).words), (50, 10))
    intervals = [mean_interval(x, -19, 1) for x in matches]
    assert row.coverage == np.mean([low <= 0 <= high for low, high in intervals])
    assert row.width == pytest.approx(np.mean([high - low for low, high in intervals]))
    assert row.p == pytest.approx(1 - row.coverage)
    assert row.old_width < row.width
