"""Regret matching in matrix games: the three procedures of Hart and Mas-Colell (2000), as Rojas (2020) compares them.

Two players meet again and again. After t plays, a player who was paid u(s) each time knows by how much every action k
would have done better, on average over all plays: over those in which action j was played (conditional regret), or over
all of them (unconditional regret):

    D(j, k) = 1/t * sum of u(k, other) - u(j, other) over the plays with own = j        R(j, k) = max(D(j, k), 0)
    D(k)    = 1/t * sum of u(k, other) - u(own, other) over all plays                   R(k)    = max(D(k), 0)

Then both draw their next actions, j being the one that was played last:

=================  =================================================================================================
`conditional`      k with probability R(j, k) / mu, and j again with what remains
`invariant`        by a vector q that M leaves as it is, q = q M: M(j, k) = R(j, k) / mu, M(j, j) the remainder of row j
`unconditional`    k with a probability proportional to R(k); where no regret is positive, uniformly
=================  =================================================================================================

How often each pair was played converges to the correlated equilibria by the first two, and to the plays without
unconditional regret by all three. In a zero-sum game, unconditional regrets below a bound make the empirical strategies
an equilibrium to within twice the bound.

Here mu is the most that one play can add to the positive regrets of a row: the maximum over j and other of the sum
over k of [u(k, other) - u(j, other)]+. It is the smallest number with which all probabilities are valid after every
sequence of plays; it is never above the usual (actions - 1) * (spread of the payoffs), and smaller is faster. An
invariant vector does not depend on it. The first action of all is drawn uniformly.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numba import types
from numpy.typing import ArrayLike, NDArray

from tapete.core.compile import DOUBLE_ROWS, DOUBLES, LONGS, WORDS, ahead, first_of, helper, kernel, uint64_ptr
from tapete.core.errors import TapeteError
from tapete.core.rng import Rng, uniform

Matrix = NDArray[np.float64]
Procedure = Literal["conditional", "invariant", "unconditional"]

PROCEDURES: tuple[Procedure, ...] = get_args(Procedure)
CONDITIONAL, INVARIANT, UNCONDITIONAL = range(3)
CHECK = 100  # plays between two looks at the regrets; the first few plays say nothing
MARKS = 10  # points of the history for every factor of ten


class Matcher(NamedTuple):
    """What one player knows and remembers."""

    payoffs: Matrix  # [other, own]
    regrets: Matrix  # [own, own] t * D(j, k), or [1, own] t * D(k) in the unconditional procedure
    ceilings: NDArray[np.float64]  # [rows of regrets] what the positive regrets of a row can't exceed in sum
    mu: float
    chain: Matrix  # [own, own] room for the elimination
    running: NDArray[np.float64]  # [own] room for sums


class Meeting(NamedTuple):
    """Two players, and what they have played."""

    rows: Matcher  # who chooses a row
    columns: Matcher
    counts: NDArray[np.int64]  # [row, column] how often each pair was played
    last: NDArray[np.int64]  # [2] the pair that was played last


LONG_ROWS = types.int64[:, ::1]
MATCHER = types.NamedTuple([DOUBLE_ROWS, DOUBLE_ROWS, DOUBLES, types.float64, DOUBLE_ROWS, DOUBLES], Matcher)
MEETING = types.NamedTuple([MATCHER, MATCHER, LONG_ROWS, LONGS], Meeting)


class Point(NamedTuple):
    """How far a run had come."""

    iterations: int
    seconds: float
    regret: float  # the larger of the two unconditional regrets
    exploitability: float  # of the empirical strategies


@dataclass(frozen=True)
class Matched:
    """What came of a run."""

    procedure: Procedure
    iterations: int
    seconds: float
    joint: Matrix  # [row, column] how often each pair was played, as a share
    regrets: tuple[float, float]  # unconditional, of both players
    exploitability: float  # of the empirical strategies
    history: tuple[Point, ...]  # at iterations that grow by the same factor, and at the end

    @property
    def x(self) -> NDArray[np.float64]:
        """The empirical strategy of the first player."""
        return self.joint.sum(axis=1)

    @property
    def y(self) -> NDArray[np.float64]:
        """The empirical strategy of the second player."""
        return self.joint.sum(axis=0)


class Matching:
    """Two players who learn from each other; `play` goes on from where it was.

    `payoffs` are what each of them gets, [rows, columns] both: `tapete.games.matrix.payoffs(game)`.
    """

    def __init__(self, payoffs: tuple[ArrayLike, ArrayLike], procedure: Procedure) -> None:
        if procedure not in PROCEDURES:
            raise TapeteError(f"there is no procedure {procedure!r}; there are {', '.join(PROCEDURES)}")
        first, second = self.payoffs = checked_payoffs(*payoffs)
        self.procedure = procedure
        self.meeting = Meeting(
            rows=_matcher(first.T, procedure),
            columns=_matcher(second, procedure),
            counts=np.zeros(first.shape, dtype=np.int64),
            last=np.zeros(2, dtype=np.int64),
        )

    @property
    def iterations(self) -> int:
        """Plays so far."""
        return int(self.meeting.counts.sum())

    @property
    def joint(self) -> Matrix:
        """How often each pair was played, as a share."""
        return self.meeting.counts / self.iterations

    def play(self, rng: Rng, until: int, bound: float = 0.0) -> bool:
        """Plays on until that iteration, or until a look at the regrets finds both below the bound: then True."""
        procedure = PROCEDURES.index(self.procedure)
        return _play(self.meeting, procedure, rng.words, self.iterations, until, bound)

    def watch(self, plays: ArrayLike) -> None:
        """Learns from plays that are given, (row, column) each, as if they had been drawn."""
        pairs = np.array(plays, dtype=np.int64).reshape(-1, 2)
        shape = self.meeting.counts.shape
        if (pairs < 0).any() or (pairs >= shape).any():
            raise TapeteError(f"plays are pairs of a row and a column of a table {shape}")
        _watch(self.meeting, pairs)


def match(
    payoffs: tuple[ArrayLike, ArrayLike],
    procedure: Procedure,
    rng: Rng,
    *,
    bound: float = 0.005,
    limit: int = 10**9,
) -> Matched:
    """Plays until both unconditional regrets are below the bound, or to the limit of iterations; bound 0: to the limit.

    >>> pennies = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> match((pennies, -pennies), "unconditional", Rng(1)).exploitability < 0.01
    True
    """
    if not bound >= 0:
        raise TapeteError(f"the bound of the regrets is 0 or more, not {bound}")
    if limit < 1:
        raise TapeteError(f"the limit is one iteration or more, not {limit}")
    matching = Matching(payoffs, procedure)
    seconds, history = 0.0, []
    for until in _marks(limit):
        began = time.perf_counter()
        settled = matching.play(rng, until, bound)
        seconds += time.perf_counter() - began
        joint = matching.joint
        regrets = unconditional_regrets(*matching.payoffs, joint)
        gap = exploitability(*matching.payoffs, joint.sum(axis=1), joint.sum(axis=0))
        history.append(Point(matching.iterations, seconds, max(regrets), gap))
        if settled:
            break
    return Matched(procedure, matching.iterations, seconds, joint, regrets, gap, tuple(history))


def unconditional_regrets(first: Matrix, second: Matrix, joint: Matrix) -> tuple[float, float]:
    """What each player would have gained by one action all the time instead of what was played; 0 if nothing."""
    rows, columns = first @ joint.sum(axis=0), joint.sum(axis=1) @ second
    return max(0.0, float(rows.max() - (first * joint).sum())), max(0.0, float(columns.max() - (second * joint).sum()))


def correlated_regret(first: Matrix, second: Matrix, joint: Matrix) -> float:
    """The most that a player gains by another action wherever one was played; 0 in a correlated equilibrium."""
    rows = joint @ first.T  # [played, instead]
    columns = joint.T @ second
    return float(max((gains - gains.diagonal()[:, None]).max() for gains in (rows, columns)))


def exploitability(first: Matrix, second: Matrix, x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """What best responses gain over the strategies, added up for both players; 0 in a Nash equilibrium."""
    rows, columns = first @ y, x @ second
    return float(rows.max() - x @ rows + columns.max() - columns @ y)


def invariant_vector(regrets: Matrix) -> NDArray[np.float64]:
    """A probability vector q = q M for conditional regrets [own, own], of any scale and sign."""
    copied = np.ascontiguousarray(regrets, dtype=np.float64)
    q = np.empty(len(copied))
    _invariant_vector(copied, np.empty_like(copied), q)
    return q / q.sum()


def checked_payoffs(first: ArrayLike, second: ArrayLike) -> tuple[Matrix, Matrix]:
    """The payoffs of both players as matrices of the same shape."""
    a, b = np.array(first, dtype=np.float64), np.array(second, dtype=np.float64)
    if a.ndim != 2 or a.shape != b.shape or a.size == 0:
        raise TapeteError(f"the payoffs are two tables of the same shape, not {a.shape} and {b.shape}")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise TapeteError("payoffs are finite numbers")
    return a, b


def _matcher(payoffs: Matrix, procedure: Procedure) -> Matcher:
    """A player who knows what [other, own] pays him, and has not played yet."""
    own = payoffs.shape[1]
    rows = 1 if procedure == "unconditional" else own
    gains = np.maximum(payoffs[:, None, :] - payoffs[:, :, None], 0)  # [other, played, instead]
    return Matcher(
        payoffs=np.ascontiguousarray(payoffs),
        regrets=np.zeros((rows, own)),
        ceilings=np.zeros(rows),
        mu=float(gains.sum(axis=2).max()),
        chain=np.zeros((own, own)),
        running=np.zeros(own),
    )


def _marks(limit: int) -> Iterator[int]:
    """Iterations that grow by the same factor, from the first look at the regrets to the limit."""
    step = 0
    while (mark := round(CHECK * 10 ** (step / MARKS))) < limit:
        yield mark
        step += 1
    yield limit


class _Pointers(NamedTuple):
    """A player as the loop sees him. Arrays in a tuple are counted at every touch, which costs 100 ns a play."""

    own: Any  # how many actions
    rows: Any  # of the regrets: as many, or one
    payoffs: Any
    regrets: Any
    ceilings: Any
    mu: Any
    chain: Any
    running: Any


@helper
def _open(matcher: Any) -> Any:
    return _Pointers(
        len(matcher.running),
        len(matcher.ceilings),
        first_of(matcher.payoffs),
        first_of(matcher.regrets),
        first_of(matcher.ceilings),
        matcher.mu,
        first_of(matcher.chain),
        first_of(matcher.running),
    )


@helper
def _learn(me: Any, own: int, other: int) -> None:
    """Adds what every action would have gained over the one that was played."""
    row = own if me.rows > 1 else 0
    regrets, payoffs = ahead(me.regrets, row * me.own), ahead(me.payoffs, other * me.own)
    paid = payoffs[own]
    for k in range(me.own):
        regrets[k] += payoffs[k] - paid
    me.ceilings[row] += me.mu


@helper
def _accumulate(weights: Any, n: int, running: Any) -> float:
    """Running sums of the positive weights; returns the last of them."""
    total = 0.0
    for k in range(n):
        total += weights[k] if weights[k] > 0.0 else 0.0
        running[k] = total
    return total


@helper
def _first_above(running: Any, n: int, point: float) -> int:
    """The action into whose share the point falls. Counting all sums is faster than a branch nobody can predict."""
    below = 0
    for k in range(n):
        below += running[k] <= point
    return below


@helper
def _invariant(regrets: Any, n: int, chain: Any, q: Any) -> None:
    """A vector q with q(j) * sum over k of R(j, k) = sum over k of q(k) * R(k, j); of any scale.

    The elimination of Grassmann, Taksar and Heyman (1985): it adds, multiplies and divides but never subtracts, so
    that no digit is lost. Where nothing leads from an action to those before it, they get nothing.
    """
    for i in range(n * n):
        chain[i] = max(regrets[i], 0.0)
    start = 0
    for j in range(n - 1, 0, -1):
        eliminated = ahead(chain, j * n)
        leaving = 0.0
        for k in range(j):
            leaving += eliminated[k]
        if leaving == 0.0:
            start = j
            break
        for i in range(j):
            row = ahead(chain, i * n)
            row[j] /= leaving
            share = row[j]
            if share > 0.0:
                for k in range(j):
                    row[k] += share * eliminated[k]
    for j in range(start):
        q[j] = 0.0
    q[start] = 1.0
    for j in range(start + 1, n):
        q[j] = 0.0
        for i in range(start, j):
            q[j] += q[i] * chain[i * n + j]


@kernel(types.void(DOUBLE_ROWS, DOUBLE_ROWS, DOUBLES))
def _invariant_vector(regrets: Any, chain: Any, q: Any) -> None:
    _invariant(first_of(regrets), len(q), first_of(chain), first_of(q))


@helper
def _choose(me: Any, procedure: int, last: int, t: int, draw: float) -> int:
    """The next action after t plays, by a number 0 <= draw < 1."""
    running = me.running
    if procedure == CONDITIONAL and t > 0:
        point = draw * me.mu * t
        if point >= me.ceilings[last]:  # nearly always: no need to form the sum
            return last
        total = _accumulate(ahead(me.regrets, last * me.own), me.own, running)
        me.ceilings[last] = total
        return _first_above(running, me.own, point) if point < total else last
    if procedure == INVARIANT and t > 0:
        _invariant(me.regrets, me.own, me.chain, running)
        total = _accumulate(running, me.own, running)
    else:
        total = _accumulate(me.regrets, me.own, running)
    return _first_above(running, me.own, draw * total) if total > 0 else int(draw * me.own)


@helper
def _regret(me: Any) -> float:
    """The unconditional regret, times t: the conditional ones added up."""
    worst = 0.0
    for k in range(me.own):
        total = 0.0
        for row in range(me.rows):
            total += me.regrets[row * me.own + k]
        worst = max(worst, total)
    return worst


@helper
def _record(rows: Any, columns: Any, counts: Any, row: int, column: int) -> None:
    """One play, from which both learn."""
    counts[row * columns.own + column] += 1
    _learn(rows, row, column)
    _learn(columns, column, row)


@kernel(types.void(MEETING, LONG_ROWS))
def _watch(meeting: Any, plays: Any) -> None:
    """Both learn from plays [plays, 2] that are given."""
    rows, columns = _open(meeting.rows), _open(meeting.columns)
    for play in plays:
        _record(rows, columns, first_of(meeting.counts), play[0], play[1])
        meeting.last[:] = play


@kernel(types.boolean(MEETING, types.int64, WORDS, types.int64, types.int64, types.float64))
def _play(meeting: Any, procedure: int, words: Any, t: int, until: int, bound: float) -> bool:
    """Plays on from iteration t; whether both regrets were found to be below the bound."""
    rows, columns, rng = _open(meeting.rows), _open(meeting.columns), uint64_ptr(words)
    counts, last = first_of(meeting.counts), meeting.last
    row, column = last
    settled = False
    while t < until and not settled:
        row = _choose(rows, procedure, row, t, uniform(rng))
        column = _choose(columns, procedure, column, t, uniform(rng))
        _record(rows, columns, counts, row, column)
        t += 1
        settled = t % CHECK == 0 and _regret(rows) < bound * t and _regret(columns) < bound * t
    last[0], last[1] = row, column
    return settled
