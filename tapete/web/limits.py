"""How much there may be of everything, and how fast."""

from __future__ import annotations

import ipaddress
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

Clock = Callable[[], float]


class Who(NamedTuple):
    """Somebody: limits and turns are by address first, because tokens are free."""

    address: str
    owner: str = ""  # whose browser it is, as the store knows it


@dataclass(frozen=True)
class Allowance:
    """What somebody may do: so much a second in the long run, and so much at once."""

    rate: float
    burst: float


@dataclass(frozen=True)
class Limits:
    """How much there may be of everything. `_each` is for one browser, `_at` for one address."""

    tables: int = 2000  # in memory at once
    tables_each: int = 200  # unfinished ones that one browser has made
    listeners: int = 4000  # sockets at tables
    listeners_each: int = 40
    listeners_at: int = 160
    messages_each: Allowance = Allowance(50, 100)  # messages of sockets, and requests
    messages_at: Allowance = Allowance(300, 900)
    makes_each: Allowance = Allowance(2, 30)  # what is kept for ever: tables
    makes_at: Allowance = Allowance(5, 300)  # and tokens
    idle: float = 900.0  # seconds that a table stays in memory when nobody looks
    memory: int = 1 << 30  # bytes of all trees
    memory_at: int = 1 << 29
    connections: int = 2000  # never more than the system has file descriptors for
    connections_at: int = 200
    request: float = 10.0  # seconds that a request may take to arrive, and a browser to take what is sent
    threads: int = max(2, os.cpu_count() or 1)  # searches at a time


class Bucket:
    """Lets so much through a second, and a burst at once."""

    def __init__(self, allowance: Allowance, clock: Clock = time.monotonic) -> None:
        self.allowance, self.clock = allowance, clock
        self.left, self.last = allowance.burst, clock()

    def take(self, cost: float = 1.0) -> bool:
        """Whether so much may pass; what may not costs nothing."""
        self._fill()
        if self.left < cost:
            return False
        self.left -= cost
        return True

    @property
    def full(self) -> bool:
        """Whether nothing was taken for so long that it might as well be new."""
        self._fill()
        return self.left >= self.allowance.burst

    def _fill(self) -> None:
        now = self.clock()
        self.left = min(self.allowance.burst, self.left + (now - self.last) * self.allowance.rate)
        self.last = now


class Meter:
    """Buckets for all browsers and all addresses."""

    def __init__(self, each: Allowance, at: Allowance, clock: Clock = time.monotonic) -> None:
        self.each, self.at, self.clock = each, at, clock
        self.buckets: dict[Who | str, Bucket] = {}

    def take(self, who: Who, cost: float = 1.0) -> bool:
        """Whether somebody may, by his browser where he has a token, and then by his address.

        What a browser is refused does not count for its address: others live there, too.
        """
        return (not who.owner or self._take(who, self.each, cost)) and self._take(who.address, self.at, cost)

    def _take(self, key: Who | str, allowance: Allowance, cost: float) -> bool:
        if key not in self.buckets:
            self.buckets[key] = Bucket(allowance, self.clock)
        return self.buckets[key].take(cost)

    def sweep(self) -> None:
        """Forgets those who have not done anything for a while."""
        self.buckets = {key: bucket for key, bucket in self.buckets.items() if not bucket.full}


def address_of(host: str) -> str:
    """By what an address is counted: itself, and of IPv6 the network of a household (64 bits)."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)
