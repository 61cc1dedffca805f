"""Measuring speed, beside other people's code in the same run: machines are noisy, ratios less so."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

SLICES = 3


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


def rate(work: Callable[[int], int], seconds: float) -> float:
    """Units of work a second, the median of three slices; `work(n)` does n rounds and returns their units."""
    work(1)
    rounds = 1
    rates: list[float] = []
    while len(rates) < SLICES:
        began = time.perf_counter()
        units = work(rounds)
        elapsed = time.perf_counter() - began
        if elapsed >= 0.5 * seconds / SLICES:
            rates.append(units / elapsed)
        else:
            rounds *= 2
    return statistics.median(rates)
