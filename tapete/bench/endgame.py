"""How long perfect play takes in Othello: positions of real games, and a whole board from the start.

``python -m tapete.bench.endgame`` times 100 positions for each number of empty squares; ``... endgame 6`` proves the
lead on the board of 6x6 from the start, telling now and then where it is.
"""

from __future__ import annotations

import statistics
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from itertools import count
from typing import NamedTuple

from tapete.bench import Case, Row, Work, measure
from tapete.core import Rng, State, make
from tapete.games.othello.exact import Exact, Solver

EMPTIES = (10, 12, 14, 16, 18)
OPENING = 8  # random moves, so that games differ
TABLE = 4096  # megabytes for a whole board
PUBLISHED = {4: -8, 6: -4}  # leads of who moves first: a guess to start from, which makes a proof shorter


class Times(NamedTuple):
    """What solving a number of positions took."""

    empties: int
    positions: int
    median: float  # seconds of work
    worst: float
    nodes: float  # a position, the median
    rate: float  # nodes a second


def run(*, rivals: bool, case: str, seconds: float) -> Iterator[Row]:
    """Positions solved a second, by their empty squares."""
    cases = [Case(f"endgame {empties} empty", partial(solving, empties)) for empties in EMPTIES]
    return measure("endgame", cases, rivals=rivals, case=case, seconds=seconds)


def solving(empties: int) -> Work:
    """One position after another, over and over, each with an empty table."""
    states = positions(20, empties, seed=1)
    turn = count()

    def work(rounds: int) -> int:
        for _ in range(rounds):
            solve(states[next(turn) % len(states)])
        return rounds

    return work


def solve(state: State) -> Exact:
    """The best move, by a solver that has seen nothing yet."""
    return Solver().best(state.game.record(state.data))


def times(empties: int, n: int = 100, seed: int = 1) -> Times:
    """Solves n positions of games played sensibly, each with an empty table; other people's work isn't counted."""
    seconds, nodes = [], []
    for state in positions(n, empties, seed):
        began = time.process_time()
        nodes.append(solve(state).nodes)
        seconds.append(time.process_time() - began)
    rate = sum(nodes) / sum(seconds)
    return Times(empties, n, statistics.median(seconds), max(seconds), statistics.median(nodes), rate)


def positions(n: int, empties: int, seed: int, size: int = 8) -> list[State]:
    """Positions with so many empty squares and a choice of moves, each from a game of its own."""
    game = make(f"othello(size={size})")
    found: list[State] = []
    for i in count():
        if len(found) == n:
            return found
        state, rng = game.start(), Rng("endgame", seed, i)
        while not state.over and _empty(state) > empties:
            state.apply(rng.choice(state.actions() if len(state.history or ()) < OPENING else _sensible(state)))
        if _empty(state) == empties and len(state.actions()) > 1:
            found.append(state)
    return found


def _empty(state: State) -> int:
    record = state.game.record(state.data)
    return int(record["size"]) ** 2 - sum(int(discs).bit_count() for discs in record["discs"])


def _sensible(state: State) -> list[int]:
    """The moves to a corner, or those that leave the other the fewest."""
    size = int(state.game.record(state.data)["size"])
    corners = {0, size - 1, size * (size - 1), size * size - 1}
    actions = state.actions()
    replies = {action: _replies(state.copy().apply(action)) for action in actions}
    fewest = min(replies.values())
    return sorted(corners & set(actions)) or [action for action in actions if replies[action] == fewest]


def _replies(state: State) -> int:
    return int(state.game.record(state.data)["legal"]).bit_count()


def prove(size: int) -> Iterator[str]:
    """Solves a board from the start in the background, telling every ten seconds where it is."""
    state, solver = make(f"othello(size={size})").start(), Solver(TABLE)
    record, news = state.game.record(state.data), list[str]()
    began, began_work = time.perf_counter(), time.process_time()

    def stamped(text: str) -> str:
        wall, work = time.perf_counter() - began, time.process_time() - began_work
        return f"{wall:8.1f} s, {work:8.1f} s of work, {solver.nodes / 1e6:10.1f} M nodes: {text}"

    def work() -> None:
        for lower, upper in solver.close_in(record, PUBLISHED.get(size, 0)):
            news.append(stamped(f"the lead of who moves first is between {lower} and {upper}"))
        exact = solver.best(record)  # once more, out of the table: for the line
        news.append(stamped(f"it is {exact.score}: {' '.join(_written(state, exact.line))}"))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    while thread.is_alive() or news:
        thread.join(0 if news else 10)
        yield news.pop(0) if news else stamped(" ".join(f"{i}/{total}" for i, total in solver.path[:12]))


def _written(state: State, line: tuple[int, ...]) -> Iterator[str]:
    state = state.copy()
    for action in line:
        yield state.write(action)
        state.apply(action)


def main(arguments: list[str]) -> None:
    """Prints the times, or the proof for a size of the board."""
    for size in arguments:
        for text in prove(int(size)):
            print(text, flush=True)
    if not arguments:
        print("empty  positions  median ms   worst ms  median nodes  M nodes/s")
        for empties in EMPTIES:
            row = times(empties)
            print(
                f"{row.empties:5} {row.positions:10} {row.median * 1e3:10.2f} {row.worst * 1e3:10.2f}"
                f" {row.nodes:13,.0f} {row.rate / 1e6:10.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
