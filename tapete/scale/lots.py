"""Handing out parcels to workers who are far away, may be slow, and may be gone the next moment.

Parcels travel in lots that take about a second, two lots a worker at most, so that nobody waits for the next one and
no queue grows: parcels are asked for only when there is room for them, so whoever can't keep up with the results slows
down everybody. A lot that was lost is sent again. So is one that is late when there is nothing else left to do: whoever
brings it first has done it. Parcels come to the same wherever they are done, so neither changes a result.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

from tapete.core.errors import TapeteError
from tapete.scale.jobs import Job, Jobs

AHEAD = 2  # lots a worker: while one is done, the next is there
SECONDS = 1.0  # that a lot should take
LARGEST = 1000  # parcels in a lot
GROWTH = 4  # by which lots grow at most from one to the next
SHRINKING = 8  # by which the last lots are smaller at most: each has its price
PATIENCE = 0.5  # seconds after which it is looked who is late
LATE = 4.0  # times as long as a lot usually takes, and
GRACE = 10.0  # as many seconds more: then it is sent again, where workers may be lost
LOSSES = 20  # lots in a row that may be lost before it is given up

Ticket = Any  # what stands for a lot that is under way
Lot = list[tuple[int, Any]]  # parcels with their indices


class Lost(Exception):
    """Whoever had a lot is gone."""


class Carrier(Protocol):
    """Takes lots to workers, and brings back results."""

    grace: float  # GRACE, or inf where nobody is ever lost

    def room(self) -> int:
        """How many lots may be under way now; workers come and go."""

    def send(self, parcels: Sequence[Any]) -> Ticket:
        """Sends a lot."""

    def wait(self, tickets: Sequence[Ticket], seconds: float) -> list[Ticket]:
        """Those that are done, lost or failed; returns as soon as there is one, or when the time is over."""

    def take(self, ticket: Ticket) -> list[Any]:
        """The results of a lot; raises `Lost`, or what went wrong."""

    def drop(self, ticket: Ticket) -> None:
        """Nobody waits for this lot any more."""


@dataclass
class UnderWay:
    """A lot that was sent."""

    lot: Lot
    since: float
    again: bool = False  # whether it was late, and sent once more

    def is_done(self, done: set[int]) -> bool:
        """Whether somebody else has brought all of it."""
        return self.again and all(index in done for index, _ in self.lot)


@dataclass
class Pace:
    """How many parcels go into a lot: as many as take the seconds that it should take, as far as is known."""

    size: int = 1

    def learn(self, parcels: int, took: float, wanted: float) -> None:
        """A lot of so many parcels took so many seconds."""
        self.size = int(min(max(parcels * wanted / max(took, 1e-6), 1), GROWTH * self.size, LARGEST))


class Paces:
    """What an executor remembers of its work, so that the next job of a kind begins with lots of the right size."""

    def __init__(self) -> None:
        self._known: dict[str, Pace] = {}

    def of(self, job: Jobs) -> Pace:
        """The pace of such jobs; a new one for a job that changes."""
        return self._known.setdefault(job.opens, Pace()) if isinstance(job, Job) else Pace()


def hand_out(
    carrier: Carrier,
    parcels: Iterable[Any],
    clock: Callable[[], float] = time.monotonic,
    seconds: float = SECONDS,
    pace: Pace | None = None,
) -> Generator[tuple[int, Any]]:
    """The index of each parcel and its result, as they come. A lot should take so many seconds."""
    pace = pace or Pace()
    fresh, back = enumerate(parcels), deque[tuple[int, Any]]()  # `back` are those of lots that were lost
    under_way: dict[Ticket, UnderWay] = {}
    done: set[int] = set()
    usual, losses = seconds, 0
    total = len(parcels) if isinstance(parcels, Sized) else LARGEST**3  # the last lots are small: all end together
    begun = 0  # of them
    try:
        while True:
            while len(under_way) < (room := carrier.room()):
                size = min(pace.size, max((total - begun) // room, pace.size // SHRINKING, 1))
                if not (lot := _next_lot(back, fresh, size)):
                    break
                begun += len(lot)
                under_way[carrier.send([parcel for _, parcel in lot])] = UnderWay(lot, clock())
            if not under_way:
                return
            if len(under_way) < carrier.room():  # and nothing else to do
                _send_again(carrier, under_way, done, clock(), LATE * usual + carrier.grace)
            for ticket in carrier.wait([*under_way], PATIENCE):
                sent = under_way.pop(ticket)
                try:
                    results = carrier.take(ticket)
                except Lost as lost:
                    losses += 1
                    if losses > LOSSES:
                        raise TapeteError(f"{losses} workers in a row are gone; the last one: {lost}") from None
                    again = [item for item in sent.lot if item[0] not in done]
                    back.extend(again)
                    begun -= len(again)
                    continue
                losses, usual = 0, clock() - sent.since
                pace.learn(len(sent.lot), usual, seconds)
                for (index, _), result in zip(sent.lot, results, strict=True):
                    if index not in done:
                        done.add(index)
                        yield index, result
            for ticket in [ticket for ticket, sent in under_way.items() if sent.is_done(done)]:
                del under_way[ticket]
                carrier.drop(ticket)
    finally:
        for ticket in under_way:
            carrier.drop(ticket)


def _next_lot(back: deque[tuple[int, Any]], fresh: Iterator[tuple[int, Any]], size: int) -> Lot:
    """So many parcels, or as many as are left."""
    lot = [back.popleft() for _ in range(min(size, len(back)))]
    return lot + list(islice(fresh, size - len(lot)))


def _send_again(
    carrier: Carrier, under_way: dict[Ticket, UnderWay], done: set[int], now: float, longest: float
) -> None:
    """Sends lots that are late to somebody else too, once each."""
    for sent in [*under_way.values()]:
        left = [item for item in sent.lot if item[0] not in done]
        if left and not sent.again and now - sent.since > longest and len(under_way) < carrier.room():
            sent.again = True
            under_way[carrier.send([parcel for _, parcel in left])] = UnderWay(left, now, again=True)
