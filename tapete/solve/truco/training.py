"""A strategy for every hand of a match of truco: external sampling at all scores at once, paid in match equity.

Equity and strategy are found together. What good play makes of a hand at a score is counted in self-play of the
average strategy; since every hand brings a point, the scores close to the end come first and all others follow from
them. The next walks are paid by the new table.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tapete.core.arrays import read_arrays, write_arrays
from tapete.core.errors import TapeteError
from tapete.core.names import make
from tapete.core.rng import Rng
from tapete.solve.truco.knowledge import Knowledge
from tapete.solve.truco.rows import PLACES, TABLES
from tapete.solve.truco.walks import SIDE, Stack, play_hands, walk_hands

FORMAT = "tapete-truco-training-1"
POINTS = 30
SPREAD = 1.5  # of the points of a hand: of the first guess, before anything was played


def first_guess() -> NDArray[np.float64]:
    """Equity [what mano lacks, what the other lacks] if points came by the toss of a coin."""
    from scipy.stats import norm

    mano, other = np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij")
    equity: NDArray[np.float64] = norm.cdf((other - mano) / (SPREAD * np.sqrt(np.maximum(mano + other, 1))))
    equity[0], equity[1:, 0] = 1.0, 0.0
    return equity


def backwards(outcomes: Callable[[int, int], NDArray[np.int64]]) -> NDArray[np.float64]:
    """Equity from what hands come to: `outcomes(mano, other)` counts [mano, other] what they lack afterwards."""
    equity = np.zeros((SIDE, SIDE))
    equity[0] = 1.0
    for total in range(2, 2 * POINTS + 1):
        for mano in range(max(1, total - POINTS), min(POINTS, total - 1) + 1):
            counts = outcomes(mano, total - mano)
            after = 1.0 - equity.T  # the other is mano then
            after[0], after[1:, 0] = 1.0, 0.0
            equity[mano, total - mano] = (counts * after).sum() / counts.sum()
    return equity


def averages(sums: NDArray[np.float64]) -> NDArray[np.float32]:
    """The average strategy: probabilities of the choices of every row; zeros where no walk has been."""
    probs = np.zeros(PLACES, dtype=np.float32)
    for begin, rows, width in TABLES.values():
        table = sums[begin : begin + rows * width].reshape(rows, width)
        total = table.sum(axis=1, keepdims=True)
        probs[begin : begin + rows * width] = np.divide(table, total, where=total > 0, out=np.zeros_like(table)).ravel()
    return probs


class Training:
    """A run that can be stopped and resumed; `epoch` by epoch, the old counting less and less (linear CFR)."""

    def __init__(self, *, mazo: bool, seed: int, known: Knowledge) -> None:
        self.game = make(f"truco(hand=true,mazo={str(mazo).lower()})")
        self.known = known
        self.regrets, self.sums = np.zeros(PLACES), np.zeros(PLACES)
        self.equity = first_guess()
        self.words = Rng(seed, "truco").words.copy()
        self.epochs = self.hands = 0
        self.seconds = 0.0  # of CPU
        self._stack = Stack.of(self.game)

    def epoch(self, hands: int) -> None:
        """Walks so many hands."""
        began = time.thread_time()
        weight = self.epochs / (self.epochs + 1)
        self.regrets *= weight
        self.sums *= weight
        params = self.game.params.copy()
        walk_hands(
            self.game.rulebook, params, self.regrets, self.sums, self._stack, self.known,
            self.equity.reshape(-1).copy(), hands, True, self.words,
        )  # fmt: skip
        self.epochs += 1
        self.hands += hands
        self.seconds += time.thread_time() - began

    def refresh(self, hands: int, keep: float = 0.0) -> None:
        """Counts so many hands at every score, and computes the equity anew; a share of the old table is kept."""
        began = time.thread_time()
        probs = averages(self.sums)
        room, params = np.zeros(self.game.size // 8, dtype=np.uint64), self.game.params.copy()

        def outcomes(mano: int, other: int) -> NDArray[np.int64]:
            params[3], params[4] = POINTS - mano, POINTS - other
            counts = np.zeros(SIDE * SIDE, dtype=np.int64)
            play_hands(self.game.rulebook, params, probs, self.known, room, hands, counts, self.words)
            return counts.reshape(SIDE, SIDE)

        self.equity = keep * self.equity + (1 - keep) * backwards(outcomes)
        self.seconds += time.thread_time() - began

    def save(self, path: Path) -> None:
        """All that it remembers."""
        header: dict[str, str | float] = {"format": FORMAT, "game": str(self.game)}
        header |= {"epochs": self.epochs, "hands": self.hands, "seconds": self.seconds}
        arrays = {"regrets": self.regrets, "sums": self.sums, "equity": self.equity, "words": self.words}
        write_arrays(path, arrays, header)

    def load(self, path: Path) -> None:
        """Goes on from a file that `save` wrote."""
        arrays, header = read_arrays(path, FORMAT)
        if header["game"] != str(self.game) or arrays["regrets"].shape != (PLACES,):
            raise TapeteError(f"{path} is a run of another game or of an older abstraction")
        self.regrets, self.sums, self.equity, self.words = (
            arrays[name].copy() for name in ("regrets", "sums", "equity", "words")
        )
        self.epochs, self.hands, self.seconds = header["epochs"], header["hands"], header["seconds"]
