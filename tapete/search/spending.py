"""How much a search may do and take: so many simulations or seconds, on one core or on several; so much memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapete.core.errors import TapeteError
from tapete.core.rng import Rng

SLICE = 0.004  # seconds between looks at the clock
MOST = 10**9
MEMORY = 1 << 29  # bytes that a search may take, where nothing else is said


@dataclass(frozen=True)
class Budget:
    """What a search may spend on a move: simulations in all, or seconds; exactly one of them is given.

    With threads, as many trees grow side by side, each with its share of the simulations, and their roots are added up
    at the end.
    """

    iterations: int = 0  # 0: as many as there is time for
    seconds: float = 0.0  # 0: as long as it takes
    threads: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.iterations <= MOST or not 0 <= self.seconds <= MOST:
            raise TapeteError("iterations and seconds can't be negative, nor more than a billion")
        if (self.iterations > 0) == (self.seconds > 0):
            raise TapeteError("a search is limited by iterations or by seconds: say one of them")
        if not 1 <= self.threads <= 256:
            raise TapeteError(f"threads must be between 1 and 256, not {self.threads}")

    def share(self, thread: int) -> int:
        """The simulations of one of the threads."""
        return self.iterations // self.threads + (thread < self.iterations % self.threads)


def spend(
    budget: Budget,
    grow: Callable[[int, int, Rng], bool | None],
    rng: Rng,
    clock: Callable[[], float] = time.perf_counter,
) -> None:
    """Calls `grow(thread, simulations, rng)` until the budget is spent, each thread in a stream of its own.

    It returns True where there is nothing left to find out.

    With a number of simulations, what comes out depends on the generator and on nothing else. With seconds, the clock
    is looked at every few milliseconds.
    """
    seeds = (rng.below(1 << 30), rng.below(1 << 30))

    def work(thread: int) -> None:
        stream = Rng("search", *seeds, thread)
        if budget.iterations:
            grow(thread, budget.share(thread), stream)
            return
        began, done, chunk = clock(), 0, 1
        while (used := clock() - began) < budget.seconds:
            if done:  # as many as fit into a slice of time, by what they have taken so far
                chunk = max(1, min(int(SLICE * done / max(used, 1e-9)), 2 * chunk))
            if grow(thread, chunk, stream):
                return
            done += chunk

    if budget.threads == 1:
        work(0)
        return
    with ThreadPoolExecutor(budget.threads) as pool:
        list(pool.map(work, range(budget.threads)))


def larger(array: NDArray[Any], size: int) -> NDArray[Any]:
    """The same numbers at the beginning of a longer array, whose rest is not filled."""
    found = np.empty(size, dtype=array.dtype)
    found[: len(array)] = array
    return found
