"""Lines before threads: who waits, is taken in turn."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tapete.web.limits import Who
from tapete.web.lines import MOVE, REVIEW, THOUGHT, Line
from tests.web.browsers import apart

Job = tuple[str, str, int]  # address, owner, rank


def order(jobs: list[Job], *, threads: int = 1) -> list[int]:
    """The order in which jobs are begun that all wait for one that is under way."""

    async def run() -> list[int]:
        line, begun, gate = Line("test", threads), list[int](), threading.Event()
        blockers = [asyncio.ensure_future(line.run(Who(f"first{i}"), gate.wait, 10)) for i in range(threads)]
        await asyncio.sleep(0)
        waiting = [
            asyncio.ensure_future(line.run(Who(address, owner), begun.append, i, rank=rank))
            for i, (address, owner, rank) in enumerate(jobs)
        ]
        await asyncio.sleep(0.01)
        assert begun == []
        gate.set()
        await asyncio.gather(*blockers, *waiting)
        assert not line.inside
        line.close()
        return begun

    return apart(lambda: asyncio.run(run()))


def test_each_address_in_turn_and_each_browser_in_it() -> None:
    many = [("a", "1", MOVE)] * 3 + [("a", "2", MOVE)] * 2 + [("b", "3", MOVE)] * 2
    assert order(many) == [0, 5, 3, 6, 1, 4, 2]


def test_moves_go_before_thoughts_and_thoughts_before_reviews() -> None:
    assert order([("a", "", REVIEW), ("b", "", THOUGHT), ("c", "", MOVE), ("a", "", MOVE)]) == [2, 3, 1, 0]


def in_loop(test: Callable[[Line], Awaitable[Any]], threads: int = 2) -> Any:
    async def run() -> Any:
        line = Line("test", threads)
        try:
            return await test(line)
        finally:
            line.close()

    return apart(lambda: asyncio.run(run()))


def test_no_address_has_the_last_place() -> None:
    async def test(line: Line) -> None:
        gate = threading.Event()
        greedy = [asyncio.ensure_future(line.run(Who("a", str(i)), gate.wait, 10)) for i in range(10)]
        await asyncio.sleep(0.01)
        assert line.inside["a"] == 2
        assert await asyncio.wait_for(line.run(Who("b"), lambda: 7), 5) == 7
        gate.set()
        await asyncio.gather(*greedy)

    in_loop(test, 3)


def test_one_place_is_for_everybody() -> None:
    async def test(line: Line) -> None:
        assert await asyncio.wait_for(line.run(Who(""), lambda: 7), 5) == 7

    in_loop(test, 1)


def test_who_stops_waiting_leaves_the_line() -> None:
    async def test(line: Line) -> None:
        gate, begun = threading.Event(), list[int]()
        first = asyncio.ensure_future(line.run(Who("a"), gate.wait, 10))
        await asyncio.sleep(0)
        gone = asyncio.ensure_future(line.run(Who("b"), begun.append, 1))
        stays = asyncio.ensure_future(line.run(Who("b"), begun.append, 2))
        await asyncio.sleep(0.01)
        gone.cancel()
        await asyncio.sleep(0)
        gate.set()
        await asyncio.gather(first, stays)
        assert begun == [2]
        assert not line.inside

    in_loop(test, 1)


def test_a_thread_that_nobody_waits_for_keeps_its_place_until_it_is_done() -> None:
    """Else more would think than there are threads, and those who think would not be held."""

    async def test(line: Line) -> None:
        gate = threading.Event()
        left = asyncio.ensure_future(line.run(Who("a"), gate.wait, 10))
        await asyncio.sleep(0.01)
        left.cancel()
        await asyncio.sleep(0.01)
        assert line.inside["a"] == 1
        next_one = asyncio.ensure_future(line.run(Who("b"), lambda: 7))
        await asyncio.sleep(0.02)
        assert not next_one.done()
        gate.set()
        assert await next_one == 7

    in_loop(test, 1)


def test_who_is_given_a_place_and_goes_at_the_same_moment_gives_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(line: Line) -> None:
        gate = threading.Event()
        first = asyncio.ensure_future(line.run(Who("a"), gate.wait, 10))
        await asyncio.sleep(0)
        unlucky = asyncio.ensure_future(line.run(Who("b"), lambda: 1))
        await asyncio.sleep(0.01)
        real = line._leave

        def leave(address: str) -> None:
            real(address)
            unlucky.cancel()  # its ticket is good, and it has not woken up yet

        monkeypatch.setattr(line, "_leave", leave)
        gate.set()
        await first
        with pytest.raises(asyncio.CancelledError):
            await unlucky
        assert not line.inside
        assert await asyncio.wait_for(line.run(Who("a"), lambda: 7), 5) == 7

    in_loop(test, 1)


def test_errors_come_back_and_free_the_place() -> None:
    async def test(line: Line) -> None:
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                await line.run(Who("a"), lambda: 1 / 0)
        assert await asyncio.wait_for(line.run(Who("a"), lambda: 7), 5) == 7

    in_loop(test, 1)
