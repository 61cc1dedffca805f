"""What holds MMD back on Leduc: the same with a table in place of a network, exact or with the luck of sampled games.

.venv/bin/python -m docs.algorithms.mmd_table (20 seconds of a core); docs/algorithms/mmd.md says what it shows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tapete.core import make
from tapete.solve.response import prove
from tapete.solve.sequence_form import Payoffs, SequenceForm

SPREAD = (
    3.5  # chips: about the standard deviation of advantages, in units of which the learner has its weight of entropy
)
LUCK = 4.0  # chips: the standard deviation of what a game pays after one decision
GAMES = 8192  # of an iteration
LATE = 8  # what plays is the mean of iterations t with weight t to this power

Numbers = NDArray[np.float64]  # [sequences of a player]
Schedule = Callable[[float], float]  # from the share of the run that is over


class Level(NamedTuple):
    """The sequences of information sets that have as many of the player's own before them."""

    own: NDArray[np.int64]
    parents: NDArray[np.int32]  # the sequence that leads to each of them


class Seat:
    """What one player decides, and how values go up to it."""

    def __init__(self, form: SequenceForm, reached: SequenceForm, player: int) -> None:
        plex = form.plexes[player]
        self.first, self.sequences = plex.first[:-1], plex.sequences
        self.infoset = np.repeat(np.arange(len(plex.parent)), np.diff(plex.first))  # of all sequences but the empty one
        depth = np.zeros(plex.sequences, dtype=np.int64)
        for parent, start, end in zip(plex.parent, plex.first, plex.first[1:], strict=False):
            depth[start:end] = depth[parent] + 1
        above = np.concatenate([[0], plex.parent[self.infoset]])
        self.levels = [Level(own := np.flatnonzero(depth == d), above[own]) for d in range(1, depth.max() + 1)]
        other = form.plexes[1 - player].sequences
        self.pays, self.leads = (self._matrix(each.payoffs[player], other) for each in (form, reached))

    def _matrix(self, payoffs: Payoffs, columns: int) -> csr_array:
        return csr_array((payoffs.value, payoffs.column, payoffs.start), shape=(self.sequences, columns))

    def strategy(self, scores: Numbers) -> Numbers:
        """The softmax of each information set."""
        highest = np.maximum.reduceat(scores, self.first)
        shares = np.exp(scores[1:] - highest[self.infoset])
        whole = np.add.reduceat(shares, self.first - 1)
        return np.concatenate([[1.0], shares / whole[self.infoset]])

    def plan(self, strategy: Numbers) -> Numbers:
        """How likely the player's own moves lead to each sequence."""
        plan = np.ones(self.sequences)
        for level in self.levels:
            plan[level.own] = plan[level.parents] * strategy[level.own]
        return plan

    def advantages(self, strategy: Numbers, other: Numbers) -> tuple[Numbers, Numbers]:
        """What each move gains over the strategy where it is made, in chips, and how likely others let it be made."""
        gains, reach = self.pays @ other, abs(self.leads) @ other
        for level in reversed(self.levels):
            for values in (gains, reach):
                values += np.bincount(level.parents, strategy[level.own] * values[level.own], self.sequences)
        worth = gains / reach
        mean = np.add.reduceat((strategy * worth)[1:], self.first - 1)
        return np.concatenate([[0.0], worth[1:] - mean[self.infoset]]), reach


def run(seats: list[Seat], form: SequenceForm, weight: Schedule, share: Schedule, games: float) -> tuple[float, float]:
    """NashConv of the last policy and of the mean of all, late ones with more weight; endless games have no luck."""
    rng, iterations = np.random.default_rng(0), 6000
    scores, mean = ([np.zeros(seat.sequences) for seat in seats] for _ in range(2))
    for t in range(iterations):
        temperature, step = weight(t / iterations) * SPREAD, share(t / iterations) / SPREAD
        strategies = [seat.strategy(mine) for seat, mine in zip(seats, scores, strict=True)]
        plans = [seat.plan(strategy) for seat, strategy in zip(seats, strategies, strict=True)]
        for i, seat in enumerate(seats):
            gained, reach = seat.advantages(strategies[i], plans[1 - i])
            visits = np.maximum(games * plans[i] * reach, 0.3)
            gained += rng.standard_normal(len(gained)) * LUCK / np.sqrt(visits)
            scores[i] = (scores[i] + step * gained) / (1 + step * temperature)
            mean[i] += (scores[i] - mean[i]) * (LATE + 1) / (LATE + 1 + t)
    last, plays = (
        prove(form, (seats[0].plan(seats[0].strategy(found[0])), seats[1].plan(seats[1].strategy(found[1]))))
        for found in (scores, mean)
    )
    return last.exploitability, plays.exploitability


def line(first: float, last: float) -> Schedule:
    """Along a line."""
    return lambda done: first + (last - first) * done


def factor(first: float, last: float) -> Schedule:
    """By a constant factor."""
    return lambda done: first * (last / first) ** done


def main() -> None:
    """Prints a line for each way of doing it."""
    game = make("leduc")
    form, reached = SequenceForm.of(game), SequenceForm.of(game, pays_one=True)
    seats = [Seat(form, reached, player) for player in range(2)]
    short, long = line(0.015, 0.006), line(0.075, 0.03)
    for name, weight, share, games in (
        ("short steps, exact", line(0.15, 0.02), short, np.inf),
        ("long steps, exact", line(0.15, 0.02), long, np.inf),
        ("short steps", line(0.15, 0.02), short, GAMES),
        ("long steps", line(0.15, 0.02), long, GAMES),
        ("by a factor", factor(0.15, 0.02), factor(0.06, 0.012), GAMES),
    ):
        print("{:20s} last {:.4f}  mean {:.4f}".format(name, *run(seats, form, weight, share, games)), flush=True)


if __name__ == "__main__":
    main()
