"""Measuring speed, beside other people's code in the same run: machines are noisy, ratios less so."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

SLICES = 9
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
    """Measures the cases whose name contains `case`: ours, and where asked for each peer's in turn with it."""
    for entry in cases:
        if case not in entry.name:
            continue
        peers = entry.peers if rivals else ()
        ours, *theirs = rates([entry.ours(), *(work() for _, work in peers)], seconds, clock)
        if not peers:
            yield Row(bench=bench, case=entry.name, ours=ours)
        for (name, _), found in zip(peers, theirs, strict=True):
            yield Row(bench=bench, case=entry.name, peer=name, ours=ours, theirs=found)


def rates(works: Sequence[Work], seconds: float, clock: Clock = time.perf_counter) -> list[float]:
    """Units of each work a second: medians of slices that take turns, so that a bad moment of the machine is shared.

    seconds: what all slices of one work take together, roughly.
    """
    rounds = [_rounds(work, seconds / SLICES, clock) for work in works]
    found: list[list[float]] = [[] for _ in works]
    for _ in range(SLICES):
        for work, n, slices in zip(works, rounds, found, strict=True):
            began = clock()
            units = work(n)
            slices.append(units / max(clock() - began, 1e-9))
    return [statistics.median(slices) for slices in found]


def _rounds(work: Work, seconds: float, clock: Clock) -> int:
    """How many rounds take about so long, and at least half of it."""
    work(1)
    rounds = 1
    while True:
        began = clock()
        work(rounds)
        if clock() - began >= 0.5 * seconds:
            return rounds
        rounds *= 2
