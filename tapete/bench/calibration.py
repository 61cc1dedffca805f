"""How often the arena's figures hold, by matches whose truth is known: `tapete bench calibration`, docs/arena.md.

A 95 % interval should hold the truth 95 times in a hundred, and p should be 5 % or less in 5 of a hundred matches of
equals. Both are counted here, for the methods of the arena and for those that it had before: Student's interval,
Agresti and Coull's, the sign-flip test, and ratings for which every match was given two deals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr, stdtrit

from tapete.arena.ratings import ELO, bradley_terry, rate
from tapete.arena.statistics import LEVEL, Interval, mean_interval, p_value
from tapete.core import Rng

Numbers = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, int]], Numbers]  # results of deals: [matches, deals]

DEALS = (10, 20, 50, 100, 500)
SHARES = (0.5, 0.6, 0.8, 0.9, 0.95, 0.99, 0.999)
SPREADS = ((3, 200), (3, 800), (4, 800), (6, 200), (6, 800))  # agents, and Elo points from the first to the last
SOME = 200  # matches of which it is told how wide intervals are, and how good the old ratings were: both take long
FLIPS = 1000  # of the old test


class World(NamedTuple):
    """Deals whose expected result is known."""

    name: str
    truth: float
    low: float  # what is possible at all
    high: float
    draw: Draw
    before: Callable[[Numbers, float, float], Interval]  # the method that the arena had


class Row(NamedTuple):
    """How often an interval held, and how wide it was on the average; then the same of the old method."""

    case: str
    deals: int
    coverage: float
    worst: float  # the same for the agent for whom it is worst; in matches there is only one
    p: float | None  # how often p was 5 % or less where it should be in 5 % of all matches at most
    width: float
    old_coverage: float
    old_p: float | None
    old_width: float

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return self._asdict()


def run(case: str = "", repeats: int = 4000) -> Iterator[Row]:
    """Every row whose case contains the text; ratings, which take longer, with a quarter of the repeats."""
    for world in worlds():
        for deals in DEALS:
            if case in world.name:
                yield measure(world, deals, repeats)
    for agents, spread in SPREADS:
        for deals in DEALS:
            if case in (name := f"Elo, {agents} agents, {spread} points"):
                yield measure_ratings(name, agents, spread, deals, max(1, repeats // 4))


def worlds() -> Iterator[World]:
    """Shares of games won, and payoffs that are skewed."""
    for share in SHARES:
        yield World(f"wins {share:g}, two games a deal", share, 0, 1, _pairs(share), agresti_coull)
    for share in SHARES:
        yield World(f"wins {share:g}, one luck a deal", share, 0, 1, _either(share, 1, 0), agresti_coull)
    yield World("paid +1 at 0.95, -19 at 0.05", 0, -19, 1, _either(0.95, 1, -19), student)
    yield World("paid -1 at 0.99, +99 at 0.01", 0, -1, 99, _either(0.99, -1, 99), student)
    yield World("paid +1 at 0.99, -1 else", 0.98, -1, 1, _either(0.99, 1, -1), student)
    yield World("lognormal, at most 50", _lognormal_mean(1.2, 50), 0, 50, _lognormal(1.2, 50), student)
    yield World("normal, bounds 10 deviations off", 0, -10, 10, _normal(10), student)
    yield World("three seats, one wins", 0, -3 / 2, 3, _table(3), student)
    yield World("ten seats, one wins", 0, -10 / 9, 10, _table(10), student)
    yield World("ten seats, one luck a deal", 0, -10 / 9, 10, _either(0.9, -10 / 9, 10), student)


def _pairs(share: float) -> Draw:
    return lambda rng, shape: (rng.random((*shape, 2)) < share).mean(axis=-1)


def _either(share: float, one: float, other: float) -> Draw:
    return lambda rng, shape: np.where(rng.random(shape) < share, one, other)


def _table(seats: int) -> Draw:
    """By how much A was paid more than the others, who together pay the winner 1 each; as many games a deal."""
    ahead, behind = float(seats), -seats / (seats - 1)
    return lambda rng, shape: np.where(rng.random((*shape, seats)) < 1 / seats, ahead, behind).mean(axis=-1)


def _lognormal(sigma: float, most: float) -> Draw:
    return lambda rng, shape: np.minimum(np.exp(rng.normal(0, sigma, shape)), most)


def _lognormal_mean(sigma: float, most: float) -> float:
    end = math.log(most) / sigma
    return math.exp(sigma**2 / 2) * float(ndtr(end - sigma)) + most * float(ndtr(-end))


def _normal(most: float) -> Draw:
    return lambda rng, shape: np.clip(rng.normal(0, 1, shape), -most, most)


def measure(world: World, deals: int, repeats: int) -> Row:
    """Plays so many matches, and looks at them by both methods."""
    rng = np.random.default_rng(Rng("calibration", world.name, deals).words)
    matches = world.draw(rng, (repeats, deals))
    coverage, p = holds(world, matches)
    old_coverage, old_p = held_before(world, matches, rng)
    return Row(
        case=world.name,
        deals=deals,
        coverage=coverage,
        worst=coverage,
        p=p,
        width=_width([mean_interval(x, world.low, world.high) for x in matches[:SOME]]),
        old_coverage=old_coverage,
        old_p=old_p,
        old_width=_width([world.before(x, world.low, world.high) for x in matches]),
    )


def holds(world: World, matches: Numbers) -> tuple[float, float]:
    """How often the interval holds the truth, and how often p is 5 % or less for it.

    The truth is in the interval where its p is above 5 %. One is found from the other, so that it is quick.
    """
    is_held = _cached(lambda x: p_value(x, world.truth, world.low, world.high) > 1 - LEVEL)
    coverage = float(np.mean([is_held(x) for x in matches]))
    return coverage, 1 - coverage


def held_before(world: World, matches: Numbers, rng: np.random.Generator) -> tuple[float, float]:
    """The same by the old methods."""
    intervals = [world.before(x, world.low, world.high) for x in matches]
    flipped = [sign_flip(x - world.truth, rng) <= 1 - LEVEL for x in matches[:FLIPS]]
    return float(np.mean([low <= world.truth <= high for low, high in intervals])), float(np.mean(flipped))


def _cached(function: Callable[[Numbers], bool]) -> Callable[[Numbers], bool]:
    """Asks once for each set of results: where they are few, most matches are alike."""
    known: dict[bytes, bool] = {}

    def ask(values: Numbers) -> bool:
        key = np.sort(values).tobytes()
        if key not in known:
            known[key] = function(values)
        return known[key]

    return ask


def _width(intervals: list[Interval]) -> float:
    return float(np.mean([high - low for low, high in intervals]))


def measure_ratings(case: str, agents: int, spread: float, deals: int, repeats: int) -> Row:
    """Rates so many tournaments of pairs of games, by agents who are equally far apart."""
    rng = np.random.default_rng(Rng("calibration", case, deals).words)
    elo = np.linspace(-spread / 2, spread / 2, agents)
    held, widths, old_held, old_widths = [], [], [], []
    for number in range(repeats):
        shares = {
            (i, j): (rng.random((deals, 2)) < expit((elo[i] - elo[j]) / ELO)).mean(axis=1)
            for i, j in combinations(range(agents), 2)
        }
        _, low, high = rate(agents, shares, number)
        held.append((low <= elo) & (elo <= high))
        widths.append(high - low)
        if number < SOME:
            low, high = rate_before(agents, shares, rng)
            old_held.append((low <= elo) & (elo <= high))
            old_widths.append(high - low)
    return Row(
        case=case,
        deals=deals,
        coverage=float(np.mean(held)),
        worst=float(np.mean(held, axis=0).min()),
        p=None,
        width=float(np.mean(widths)),
        old_coverage=float(np.mean(old_held)),
        old_p=None,
        old_width=float(np.mean(old_widths)),
    )


# The methods that the arena had before.


def student(values: Numbers, low: float, high: float) -> Interval:
    """Student's interval, cut at what is possible."""
    half = float(stdtrit(len(values) - 1, (1 + LEVEL) / 2) * values.std(ddof=1)) / math.sqrt(len(values))
    return max(low, float(values.mean()) - half), min(high, float(values.mean()) + half)


def agresti_coull(values: Numbers, low: float, high: float) -> Interval:
    """Two deals won and two lost are added, and the interval of the normal distribution is taken."""
    more = np.append(values, (low, low, high, high))
    half = 1.959964 * float(more.std(ddof=1)) / math.sqrt(len(more))
    return max(low, float(more.mean()) - half), min(high, float(more.mean()) + half)


def sign_flip(differences: Numbers, rng: np.random.Generator) -> float:
    """How often a sum is as far from zero if every sign is drawn anew."""
    signs = rng.integers(0, 2, (FLIPS, len(differences))) * 2.0 - 1
    reached = abs(float(differences.sum())) - 1e-9 * float(np.abs(differences).sum())
    return (1 + int((np.abs(signs @ differences) >= reached).sum())) / (1 + FLIPS)


def rate_before(
    agents: int, shares: dict[tuple[int, int], Numbers], rng: np.random.Generator
) -> tuple[Numbers, Numbers]:
    """Intervals of ratings where every match is given one deal that was won and one that was lost."""
    points = np.zeros((500, agents, agents))
    for (i, j), values in shares.items():
        more = np.append(values, (0.0, 1.0))
        points[:, i, j] = rng.dirichlet(np.ones(len(more)), len(points)) @ more * len(more)
        points[:, j, i] = len(more) - points[:, i, j]
    low, high = np.quantile(ELO * bradley_terry(points), (0.025, 0.975), axis=0)
    return low, high
