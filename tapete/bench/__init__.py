"""Measuring speed, beside other people's code in the same run: machines are noisy, ratios less so."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

SLICES = 3
Clock = Callable[[], float]
Work = Callable[[int], int]  # does so many rounds and returns how many units of work they were


class Case(NamedTuple):
    """Something to measure, and the peers that can do the same."""

    name: str
    ours: Callable[[], Work]
    peers: tuple[tuple[str, Callable[[], Work]], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Row:
    """One measurement: how many of what a second, ours and a peer's."""

    bench: str
    case: str
    ours: float
    peer: str | None = None
    theirs: float | None = None

    @property
    def ratio(self) -> float | None:
        """How many times faster ours is."""
        return self.ours / self.theirs if self.theirs else None

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {**asdict(self), "ratio": self.ratio}


def measure(
    bench: str, cases: Iterable[Case], *, rivals: bool, case: str, seconds: float, clock: Clock = time.perf_counter
) -> Iterator[Row]:
    """Measures the cases whose name contains `case`: ours, and where asked for each peer's right after it."""
    for entry in cases:
        if case not in entry.name:
            continue
        ours = rate(entry.ours(), seconds, clock)
        if not (rivals and entry.peers):
            yield Row(bench=bench, case=entry.name, ours=ours)
            continue
        for name, work in entry.peers:
            yield Row(bench=bench, case=entry.name, peer=name, ours=ours, theirs=rate(work(), seconds, clock))


def rate(work: Work, seconds: float, clock: Clock = time.perf_counter) -> float:
    """Units of work a second, the median of three slices."""
    work(1)
    rounds = 1
    rates: list[float] = []
    while len(rates) < SLICES:
        began = clock()
        units = work(rounds)
        elapsed = clock() - began
        if elapsed >= 0.5 * seconds / SLICES:
            rates.append(units / elapsed)
        else:
            rounds *= 2
    return statistics.median(rates)
