"""How much there may be of everything, and how fast."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """How much there may be of everything."""

    tables: int = 2000  # in memory at once
    tables_each: int = 200  # unfinished ones that one browser has made
    listeners_each: int = 40  # sockets of one browser
    listeners: int = 4000
    rate: float = 50.0  # messages a second of one socket, in the long run
    burst: float = 100.0  # and at once
    makes: float = 5.0  # tables a second that one browser makes
    idle: float = 900.0  # seconds that a table stays in memory when nobody looks


class Bucket:
    """Lets so many through a second, and a burst at once."""

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst = rate, burst
        self.left, self.last = burst, time.monotonic()

    def take(self) -> bool:
        """Whether one more may pass."""
        now = time.monotonic()
        self.left = min(self.burst, self.left + (now - self.last) * self.rate)
        self.last = now
        if self.left < 1:
            return False
        self.left -= 1
        return True
