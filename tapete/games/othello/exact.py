"""Perfect play in Othello: the lead in discs that a move leads to, proved to the end of the game.

A lead is own discs less the other's when the game is over, as `rules.py` counts them: squares that stay empty count for
nobody. Its sign is the payoff.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from tapete.core.errors import TapeteError
from tapete.core.game import State
from tapete.core.spec import Spec
from tapete.core.thought import Thought
from tapete.games.othello import endgame
from tapete.games.othello.memory import BUCKET
from tapete.games.othello.rays import SIDE

NEAR = 16  # empty squares: from here on the end is near enough for play
MOST = SIDE * SIDE  # no lead is larger
MEGABYTES = 16


@dataclass(frozen=True)
class Exact:
    """What perfect play by both comes to, for who is to move."""

    scores: dict[int, int]  # the lead after an action, of all legal ones or of the best one alone
    line: tuple[int, ...]  # perfect play from here to the end
    nodes: int  # positions that were searched

    @property
    def action(self) -> int:
        """The best action: of several, the first that the search would try."""
        return self.line[0]

    @property
    def score(self) -> int:
        """The mover's lead at the end."""
        return self.scores[self.action]


class Bounds(NamedTuple):
    """Between which the lead lies."""

    lower: int
    upper: int


class Position(NamedTuple):
    """A board in the middle of 8x8, as masks: the mover's discs and the other's."""

    own: int
    other: int


class Solver:
    """Solves one position after another, with a hash table of bounded size that is kept between them.

    What is in the table makes no difference to what comes out, only to how long it takes.
    """

    def __init__(self, megabytes: int = MEGABYTES) -> None:
        if not 1 <= megabytes <= 2**17:
            raise TapeteError(f"a hash table has between 1 and {2**17} megabytes, not {megabytes}")
        buckets = (megabytes << 20) // (8 * BUCKET)
        self._table = np.zeros(buckets * BUCKET, dtype=np.uint64)
        self._desk = np.zeros(endgame.DESK, dtype=np.uint64)
        self._desk[endgame.BUCKETS] = buckets
        self._size = SIDE
        self._lock = threading.Lock()

    def best(self, s: Any) -> Exact:
        """The best action in a position that isn't over, and its lead."""
        with self._lock:
            position = self._set_up(s)
            score = self._score(position)
            line = tuple(self._line(position, score))
            return Exact({line[0]: score}, line, self.nodes)

    def judge(self, s: Any) -> Exact:
        """The leads of all legal actions in a position that isn't over."""
        with self._lock:
            position = self._set_up(s)
            leads = {action: -self._score(after) for action, after in self._moves(position)}
            line = tuple(self._line(position, max(leads.values())))
            return Exact(dict(sorted(leads.items())), line, self.nodes)

    def close_in(self, s: Any, guess: int = 0) -> Iterator[Bounds]:
        """The bounds on the lead as they get narrower, until they are one. A good guess makes it shorter."""
        with self._lock:
            yield from self._bounds(self._set_up(s), guess)

    @property
    def nodes(self) -> int:
        """Positions searched so far in the position at hand; another thread may look."""
        return int(self._desk[endgame.NODES])

    @property
    def path(self) -> list[tuple[int, int]]:
        """Where the search is: which move it looks at, of how many, from the most empty squares down."""
        tried = self._desk[endgame.TRIED : endgame.MOVES].reshape(-1, 2)[::-1]
        return [(int(i), int(total)) for i, total in tried if total]

    def _set_up(self, s: Any) -> Position:
        """Clears the desk for a position."""
        if s["over"]:
            raise TapeteError("the game is over: there is nothing to solve")
        size, mover, desk = int(s["size"]), int(s["mover"]), self._desk
        board = (1 << size * size) - 1
        corners = 1 | 1 << size - 1 | 1 << size * (size - 1) | 1 << size * size - 1
        self._size = size
        desk[endgame.BOARD], desk[endgame.CORNERS] = _in_the_middle(board, size), _in_the_middle(corners, size)
        desk[endgame.DATE] += np.uint64(1)
        desk[endgame.NODES] = 0
        desk[endgame.TRIED : endgame.MOVES] = 0
        own, other = (_in_the_middle(int(s["discs"][seat]), size) for seat in (mover, 1 - mover))
        return Position(own, other)

    def _bound(self, position: Position, alpha: int) -> int:
        own, other = map(np.uint64, position)
        return int(endgame.bound(own, other, alpha, self._desk, self._table))

    def _bounds(self, position: Position, guess: int = 0) -> Iterator[Bounds]:
        """By null windows alone, each at the bound that the last one found: MTD(f) of Plaat and others (1996)."""
        bounds, found = Bounds(-MOST, MOST), guess
        while bounds.lower < bounds.upper:
            wanted = max(found, bounds.lower + 1)
            found = self._bound(position, wanted - 1)
            bounds = bounds._replace(upper=found) if found < wanted else bounds._replace(lower=found)
            yield bounds

    def _score(self, position: Position) -> int:
        *_, bounds = self._bounds(position)
        return bounds.lower

    def _moves(self, position: Position) -> list[tuple[int, Position]]:
        """The actions and what they lead to, the most promising first; none when the game is over."""
        if moves := self._discs_laid(position):
            return moves
        passed = Position(position.other, position.own)
        return [(self._size**2, passed)] if self._discs_laid(passed) else []

    def _discs_laid(self, position: Position) -> list[tuple[int, Position]]:
        own, other = map(np.uint64, position)
        moves = self._desk[endgame.MOVES :][: endgame.MOVE * endgame.list_moves(own, other, self._desk)]
        return [
            (self._action(int(tag & endgame.SQUARE)), Position(int(after), int(mine)))
            for after, mine, _, tag in moves.reshape(-1, endgame.MOVE)
        ]

    def _action(self, square: int) -> int:
        row, column = divmod(square, SIDE)
        margin = (SIDE - self._size) // 2
        return (row - margin) * self._size + column - margin

    def _line(self, position: Position, score: int) -> Iterator[int]:
        """Perfect play to the end: the first move, in the order of promise, that keeps the score."""
        while moves := self._moves(position):
            score = -score
            action, position = next(move for move in moves if self._bound(move[1], score) <= score)
            yield action


def _in_the_middle(discs: int, size: int) -> int:
    """Discs of a smaller board on one of 8x8."""
    margin, row = (SIDE - size) // 2, (1 << size) - 1
    return sum((discs >> i * size & row) << SIDE * (margin + i) + margin for i in range(size))


@cache
def _solver() -> Solver:
    return Solver()


def within(s: Any) -> bool:
    """Whether a position is near enough to its end to be solved while somebody waits."""
    empty = int(s["size"]) ** 2 - sum(int(discs).bit_count() for discs in s["discs"])
    return not s["over"] and (empty <= NEAR or s["size"] == 4)


def best(s: Any) -> Exact:
    """The best action and its lead; only `within` does it come at once."""
    return _solver().best(s)


def judge(s: Any) -> Exact:
    """The leads of all legal actions, which takes two or three times as long."""
    return _solver().judge(s)


def solve(state: State) -> Exact:
    """The best action in a state of Othello, however long it takes."""
    if state.game.package != __package__:
        raise TapeteError(f"this solves othello, not {state.game}")
    return best(state.game.record(state.data))


def think(spec: Spec, s: Any) -> Thought | None:
    """Perfect play where the end is near, as the agents want it: `tapete/core/exact.py`."""
    if not within(s):
        return None
    exact = judge(s)
    payoffs = {action: float(np.sign(score)) for action, score in exact.scores.items()}
    return Thought(
        probabilities={action: float(action == exact.action) for action in payoffs},
        value=payoffs[exact.action],
        values=payoffs,
        line=exact.line,
    )
