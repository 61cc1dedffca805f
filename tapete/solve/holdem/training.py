"""Chance-sampled CFR over buckets: a deal is drawn, and all betting that both still play is gone through at once.

The betting of limit hold'em of two is a small tree. For every deal the strategies go down it once and values come up
once, in two loops over arrays; what neither of the two reaches is left out. Later deals count more (linear CFR).
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.arrays import read_arrays, write_arrays
from tapete.core.compile import BYTES, DOUBLES, FLOATS, LONGS, WORDS, first_of, helper, kernel, state_ptr, uint64_ptr
from tapete.core.errors import TapeteError
from tapete.core.game import Game, State
from tapete.core.names import make
from tapete.core.records import pointers
from tapete.core.rng import Rng, below
from tapete.games.holdem.evaluator import rank7
from tapete.games.holdem.preflop import start_of
from tapete.games.holdem.rules import view
from tapete.games.holdem.strength import LONGEST
from tapete.solve.holdem.buckets import BUCKETS, LATER, MOVES, NUMBERS, STEPS, Bucketed, bucket_of, number_of, promise

FORMAT = "holdem-buckets-training-1"
GAME = "holdem"
EPOCH = 2000  # deals
SAMPLED = 20_000  # deals by which buckets are made equally full
CHECKPOINT = 60.0  # seconds between two notes of where a run is
STREETS = 4
NONE = -1  # no such move
SHOWN_WITH = (0, 3, 4, 5)  # cards on the board by street


class Tree(NamedTuple):
    """The betting, decisions in an order in which what comes before stands before."""

    mover: NDArray[np.int64]  # [decisions]
    street: NDArray[np.int64]  # [decisions]
    begin: NDArray[np.int64]  # [decisions] the first row of the strategy
    after: NDArray[np.int64]  # [decisions, moves] flat: the next decision, NONE, or -2 - i for the i-th end
    shown: NDArray[np.int64]  # [ends] whether the cards are turned up
    pays: NDArray[np.float64]  # [ends] seat 0: what it wins; where cards are turned up, what the better hand wins


TREE = types.NamedTuple([LONGS, LONGS, LONGS, LONGS, LONGS, DOUBLES], Tree)


@kernel(types.int64(BYTES))
def _number(state: Any) -> int:
    return number_of(view(state_ptr(state)))


def betting(game: Game) -> tuple[Tree, NDArray[np.int64]]:
    """The tree, and where each of the NUMBERS has its rows."""
    rows, begins = 0, np.zeros(NUMBERS, dtype=np.int64)
    movers: list[int] = []
    streets: list[int] = []
    begin: list[int] = []
    after: list[list[int]] = []
    ends: list[tuple[int, float]] = []

    def grow(state: State) -> int:
        nonlocal rows
        state.deal(Rng("any"))
        s = game.record(state.data)
        if state.over:
            paid = float(min(s["paid"][:2]))
            ends.append((int(s["active"] > 1), paid if s["active"] > 1 else float(state.returns()[0])))
            return -1 - len(ends)
        place, number = len(movers), int(_number(state.data))
        movers.append(state.player)
        streets.append(int(s["street"]))
        begin.append(rows)
        after.append([NONE] * MOVES)
        begins[number] = rows
        rows += int(BUCKETS[streets[-1]])
        for action in state.actions():
            child = state.copy()
            child.apply(action)
            after[place][action] = grow(child)
        return place

    grow(game.start())
    shown, pays = zip(*ends, strict=True)
    longs = [np.array(part, dtype=np.int64).reshape(-1) for part in (movers, streets, begin, after, shown)]
    return Tree(longs[0], longs[1], longs[2], longs[3], longs[4], np.array(pays)), begins


@helper
def draw_deal(cards: Any, rng: Any) -> None:
    """Nine cards of 52: two hands and the board."""
    for i in range(9):
        while True:
            card, new = below(rng, 52), True
            for j in range(i):
                new = new and cards[j] != card
            if new:
                break
        cards[i] = card


@helper
def set_of(cards: Any, begin: int, end: int) -> Any:
    """Of so many cards."""
    found = np.uint64(0)
    for i in range(begin, end):
        found |= np.uint64(1) << np.uint64(cards[i])
    return found


@kernel(types.void(types.int64, WORDS, WORDS, types.float32[:, ::1]))
def _sample(deals: int, words: Any, room: Any, out: Any) -> None:
    """Fills [3, deals] with what hands of later streets promise."""
    cards = np.zeros(9, dtype=np.int64)
    for i in range(deals):
        draw_deal(first_of(cards), uint64_ptr(words))
        for street in range(1, STREETS):
            seen = SHOWN_WITH[street]
            mine, board = set_of(cards, 0, 2), set_of(cards, 4, 4 + seen)
            out[street - 1, i] = promise(mine, board, 5 - seen, uint64_ptr(room))


@helper
def go_down(tree: Any, regrets: Any, buckets: Any, reach: Any, chances: Any, count: int) -> None:
    """Strategies by regret matching, and how likely each seat lets the betting come to a decision."""
    for node in range(2, 2 * count):
        reach[node] = 0.0
    reach[0] = reach[1] = 1.0
    for node in range(count):
        if reach[2 * node] == 0.0 and reach[2 * node + 1] == 0.0:
            continue
        mover = tree.mover[node]
        row = MOVES * (tree.begin[node] + buckets[STREETS * mover + tree.street[node]])
        total, legal = 0.0, 0
        for move in range(MOVES):
            if tree.after[MOVES * node + move] != NONE:
                total += max(regrets[row + move], 0.0)
                legal += 1
        for move in range(MOVES):
            child, chance = tree.after[MOVES * node + move], 0.0
            if child != NONE:
                chance = max(regrets[row + move], 0.0) / total if total > 0 else 1.0 / legal
            chances[MOVES * node + move] = chance
            if child >= 0:
                reach[2 * child + mover] = reach[2 * node + mover] * chance
                reach[2 * child + 1 - mover] = reach[2 * node + 1 - mover]


@helper
def come_up(
    tree: Any, regrets: Any, sums: Any, buckets: Any, reach: Any, chances: Any, values: Any, count: int, sign: float
) -> None:
    """Values for seat 0, from the ends to the beginning; regrets and averages learn on the way."""
    for i in range(count):
        node = count - 1 - i
        if reach[2 * node] == 0.0 and reach[2 * node + 1] == 0.0:
            values[node] = 0.0
            continue
        mover, value = tree.mover[node], 0.0
        row = MOVES * (tree.begin[node] + buckets[STREETS * mover + tree.street[node]])
        for move in range(MOVES):
            child = tree.after[MOVES * node + move]
            if child != NONE:
                value += chances[MOVES * node + move] * worth_of(tree, child, values, sign)
        values[node] = value
        side = 1.0 - 2.0 * mover
        for move in range(MOVES):
            child = tree.after[MOVES * node + move]
            if child != NONE:
                gain = side * (worth_of(tree, child, values, sign) - value)
                regrets[row + move] += reach[2 * node + 1 - mover] * gain
                sums[row + move] += reach[2 * node + mover] * chances[MOVES * node + move]


@helper
def worth_of(tree: Any, child: Any, values: Any, sign: float) -> float:
    """What seat 0 gets where a move leads; `sign` is who has the better cards."""
    if child >= 0:
        return values[child]
    end = -2 - child
    return tree.pays[end] * sign if tree.shown[end] else tree.pays[end]


@kernel(types.void(TREE, FLOATS, types.int64, DOUBLES, DOUBLES, WORDS, WORDS))
def _learn(tree_: Any, edges: Any, deals: int, regrets: Any, sums: Any, words: Any, room: Any) -> None:
    tree, count = pointers(tree_), len(tree_.mover)
    cards, buckets = np.zeros(9, dtype=np.int64), np.zeros(2 * STREETS, dtype=np.int64)
    reach, chances, values = np.zeros(2 * count), np.zeros(MOVES * count), np.zeros(count)
    for _ in range(deals):
        draw_deal(first_of(cards), uint64_ptr(words))
        for seat in range(2):
            mine = set_of(cards, 2 * seat, 2 * seat + 2)
            buckets[STREETS * seat] = start_of(cards[2 * seat], cards[2 * seat + 1])
            for street in range(1, STREETS):
                seen = SHOWN_WITH[street]
                found = promise(mine, set_of(cards, 4, 4 + seen), 5 - seen, uint64_ptr(room))
                buckets[STREETS * seat + street] = bucket_of(found, street, first_of(edges))
        board = set_of(cards, 4, 9)
        mine, other = rank7(board | set_of(cards, 0, 2)), rank7(board | set_of(cards, 2, 4))
        sign = 1.0 if mine > other else -1.0 if mine < other else 0.0
        go_down(tree, first_of(regrets), first_of(buckets), first_of(reach), first_of(chances), count)
        come_up(
            tree, first_of(regrets), first_of(sums), first_of(buckets), first_of(reach), first_of(chances),
            first_of(values), count, sign,
        )  # fmt: skip


class Training:
    """A run that can be stopped and resumed."""

    def __init__(self, game: Game, *, seed: int) -> None:
        if str(game) != GAME:
            raise TapeteError(f"a strategy by buckets is of {GAME} for two without rake, not of {game}")
        self.game = make(GAME)
        self.tree, self.begins = betting(self.game)
        rows = int(self.tree.begin[-1] + BUCKETS.max())
        self.regrets, self.sums = np.zeros(rows * MOVES), np.zeros(rows * MOVES)
        self.words, self.room = Rng(seed, "buckets").words.copy(), np.zeros(LONGEST + 4, dtype=np.uint64)
        worths = np.zeros((STREETS - 1, SAMPLED), dtype=np.float32)
        _sample(SAMPLED, Rng("edges").words, self.room, worths)
        self.edges = np.quantile(worths, np.arange(1, LATER) / LATER, axis=1).T.astype(np.float32).copy()
        self.deals = self.epochs = 0
        self.seconds = 0.0  # of CPU

    def epoch(self, deals: int) -> None:
        """Learns from so many deals; what was learned before counts less and less."""
        began, weight = time.thread_time(), self.epochs / (self.epochs + 1)
        self.regrets *= weight
        self.sums *= weight
        _learn(self.tree, self.edges.reshape(-1), deals, self.regrets, self.sums, self.words, self.room)
        self.epochs += 1
        self.deals += deals
        self.seconds += time.thread_time() - began

    def strategy(self) -> Bucketed:
        """The average strategy so far."""
        sums = self.sums.reshape(-1, MOVES)
        total = sums.sum(axis=1, keepdims=True)
        probs = np.rint(STEPS * np.divide(sums, total, where=total > 0, out=np.zeros_like(sums))).astype(np.int8)
        about = {"game": GAME, "plays": "policy", "deals": self.deals}
        return Bucketed(self.begins, self.edges, probs, about)

    def write(self, path: Path) -> None:
        """The strategy so far as a file that plays."""
        self.strategy().save(path)

    def save(self, path: Path) -> None:
        """All that it remembers."""
        arrays = {"regrets": self.regrets, "sums": self.sums, "words": self.words}
        header = {"format": FORMAT, "epochs": self.epochs, "deals": self.deals, "seconds": self.seconds}
        write_arrays(path, arrays, header)

    def load(self, path: Path) -> None:
        """Goes on from a file that `save` wrote."""
        arrays, header = read_arrays(path, FORMAT)
        if set(arrays) != {"regrets", "sums", "words"} or any(
            arrays[name].shape != getattr(self, name).shape for name in arrays
        ):
            raise TapeteError(f"{path} is a run of other buckets")
        self.regrets, self.sums, self.words = (arrays[name].copy() for name in ("regrets", "sums", "words"))
        self.epochs, self.deals, self.seconds = header["epochs"], header["deals"], header["seconds"]


def train(
    run: Training, path: Path, *, seconds: float = math.inf, hands: int, stop: threading.Event,
    tell: Callable[[str], None],
) -> None:  # fmt: skip
    """Goes on until the time is over, so many deals were drawn, or somebody says stop; then the run is in the file."""
    began = noted = time.perf_counter()
    while not stop.is_set() and run.deals < hands and time.perf_counter() - began < seconds:
        run.epoch(min(EPOCH, hands - run.deals))
        if time.perf_counter() - noted > CHECKPOINT:
            run.save(path)
            tell(f"{run.deals:,} deals, {run.seconds:.0f} s of CPU")
            noted = time.perf_counter()
    run.save(path)
    tell(f"{run.deals:,} deals, {run.seconds:.0f} s of CPU")
