"""Lines before the threads that think: a few at a time, and the next is always somebody else's.

What waits is taken by rank first (a move at a table before a review), then each address in turn, then each browser of
that address in turn; and no address has the last place. So whoever asks for a thousand things waits for them himself.
"""

from __future__ import annotations

import asyncio
import math
import os
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from tapete.web.limits import Who

Result = TypeVar("Result")
Ticket = asyncio.Future[None]  # done when it is its owner's turn
MOVE, THOUGHT, REVIEW = range(3)  # ranks: who goes first
NICE = 5  # how far searches step back: not so far that one of them, holding the interpreter, is kept from going on
TICK = 0.02  # seconds: where something took longer than it should have, it is told at the next of these


def step_back() -> None:
    """This thread gets what others leave of the processors. Only Linux has priorities by thread."""
    if sys.platform == "linux":
        with suppress(OSError):
            own = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), own + NICE)


def round_up(seconds: float) -> float:
    """The next multiple of a tick."""
    return math.ceil(seconds / TICK) * TICK


def told_at(hold: float, passed: float) -> float:
    """When something is told that is held, and done after `passed` seconds; what is not held, is told at once."""
    if not hold:
        return passed
    return hold if passed <= hold else round_up(passed)


class Ring:
    """Those who wait, each address in turn, and in it each browser."""

    def __init__(self) -> None:
        self.addresses: dict[str, dict[str, deque[Ticket]]] = {}  # whose turn it is, comes first

    def add(self, who: Who, ticket: Ticket) -> None:
        """Somebody waits."""
        self.addresses.setdefault(who.address, {}).setdefault(who.owner, deque()).append(ticket)

    def next(self, may: Callable[[str], bool]) -> tuple[str, Ticket] | None:
        """The next whose address may; those who have stopped waiting are passed over."""
        while (address := next(filter(may, self.addresses), None)) is not None:
            browsers = self.addresses.pop(address)
            owner = next(iter(browsers))
            tickets = browsers.pop(owner)
            ticket = tickets.popleft()
            if tickets:
                browsers[owner] = tickets  # behind the others
            if browsers:
                self.addresses[address] = browsers
            if not ticket.done():
                return address, ticket
        return None


class Line:
    """A line before some threads.

    :param threads: how many work at a time.
    :param places: how many may be inside at a time, those who are held included; else as many as threads.
    :param is_patient: whether the threads leave the processor to whoever wants it, the loop above all.
    """

    def __init__(self, name: str, threads: int, places: int = 0, *, is_patient: bool = False) -> None:
        self.pool = ThreadPoolExecutor(threads, name, step_back if is_patient else None)
        self.places = places or threads
        self.inside: Counter[str] = Counter()  # by address
        self.rings = [Ring() for _ in (MOVE, THOUGHT, REVIEW)]

    async def run(self, who: Who, work: Callable[..., Result], *arguments: Any, rank: int = MOVE) -> Result:
        """Does something in a thread, when it is somebody's turn."""
        result, _ = await self.run_held(who, 0.0, work, *arguments, rank=rank)
        return result

    async def run_held(
        self, who: Who, hold: float, work: Callable[..., Result], *arguments: Any, rank: int = MOVE
    ) -> tuple[Result, float]:
        """The same; place and result are held for `hold` seconds, however soon it is done. How long it took, too.

        Neither who waits for this nor who waits behind it can tell whether there was anything to think about. What
        takes longer all the same is told at a multiple of TICK.
        """
        await self._enter(who, rank)
        loop, began = asyncio.get_running_loop(), time.perf_counter()
        told: asyncio.Future[tuple[Result, float]] = loop.create_future()

        def done(future: Future[Result]) -> None:
            """In the thread, which wakes the loop once."""
            took = time.perf_counter() - began
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(keep, future, took)

        def keep(future: Future[Result], took: float) -> None:
            passed = time.perf_counter() - began
            loop.call_later(told_at(hold, passed) - passed, tell, future, took)

        def tell(future: Future[Result], took: float) -> None:
            """The place is free from now on, even where nobody waits for this any more."""
            self._leave(who.address)
            if told.done():
                return
            if future.cancelled():
                told.cancel()
            elif error := future.exception():
                told.set_exception(error)
            else:
                told.set_result((future.result(), took))

        try:
            future = self.pool.submit(work, *arguments)
        except BaseException:
            self._leave(who.address)
            raise
        future.add_done_callback(done)
        try:
            return await told
        finally:
            future.cancel()  # where nobody waits any more and no thread has begun

    def close(self) -> None:
        """Nothing more is begun."""
        self.pool.shutdown(wait=False, cancel_futures=True)

    async def _enter(self, who: Who, rank: int) -> None:
        ticket: Ticket = asyncio.get_running_loop().create_future()
        self.rings[rank].add(who, ticket)
        self._admit()
        try:
            await ticket
        except asyncio.CancelledError:
            if ticket.done() and not ticket.cancelled():  # it was given a place at the same moment
                self._leave(who.address)
            raise

    def _leave(self, address: str) -> None:
        self.inside[address] -= 1
        if not self.inside[address]:
            del self.inside[address]
        self._admit()

    def _admit(self) -> None:
        """Lets in whoever comes next, as long as there are places."""
        for ring in self.rings:
            while self.inside.total() < self.places and (found := ring.next(self._may_enter)):
                address, ticket = found
                self.inside[address] += 1
                ticket.set_result(None)

    def _may_enter(self, address: str) -> bool:
        """The last place is for somebody else."""
        return self.inside[address] < max(1, self.places - 1)
