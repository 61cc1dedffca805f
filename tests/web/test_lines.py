"""Lines before threads: who waits, is taken in turn."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tapete.web.limits import Who
from tapete.web.lines import MOVE, NICE, REVIEW, THOUGHT, Line, told_at
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


def test_an_error_is_told_when_an_answer_would_have_been() -> None:
    async def test(line: Line) -> None:
        began = time.perf_counter()
        with pytest.raises(ZeroDivisionError):
            await line.run_held(Who("a"), 0.2, lambda: 1 / 0)
        assert time.perf_counter() - began >= 0.2
        assert not line.inside

    in_loop(test)


def test_what_no_thread_has_begun_is_not_done_when_nobody_waits_for_it() -> None:
    """There are more places than threads, so one may be inside and still wait for a thread."""

    async def test() -> None:
        line, gate, begun = Line("test", 1, 8), threading.Event(), list[int]()
        first = asyncio.ensure_future(line.run(Who("a"), gate.wait, 10))
        gone = asyncio.ensure_future(line.run(Who("b"), begun.append, 1))
        await asyncio.sleep(0.01)
        gone.cancel()
        await asyncio.sleep(0.01)
        assert set(line.inside) == {"a"}
        gate.set()
        await first
        await line.run(Who("b"), begun.append, 2)
        assert begun == [2]
        line.close()

    apart(lambda: asyncio.run(test()))


def test_who_waits_for_a_line_that_closes_is_told_so() -> None:
    async def test() -> None:
        line, gate = Line("test", 1, 8), threading.Event()
        first = asyncio.ensure_future(line.run(Who("a"), gate.wait, 10))
        second = asyncio.ensure_future(line.run(Who("b"), gate.wait, 10))
        await asyncio.sleep(0.01)
        line.close()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(second, 5)
        gate.set()
        assert await first

    apart(lambda: asyncio.run(test()))


def test_a_thread_wakes_the_loop_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every time costs the loop a turn, and the thread a wait for the interpreter."""

    async def test(line: Line) -> None:
        loop, woken = asyncio.get_running_loop(), list[str]()
        real = loop.call_soon_threadsafe

        def wake(*arguments: Any, **named: Any) -> Any:
            woken.append("")
            return real(*arguments, **named)

        monkeypatch.setattr(loop, "call_soon_threadsafe", wake)
        assert (await line.run_held(Who("a"), 0.01, lambda: 7))[0] == 7
        assert len(woken) == 1

    in_loop(test)


def test_what_something_took_is_the_work_without_the_hold() -> None:
    async def test(line: Line) -> None:
        _, took = await line.run_held(Who("a"), 0.3, time.sleep, 0.05)
        assert 0.05 <= took < 0.25

    in_loop(test)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has priorities by thread")
def test_threads_that_search_step_back_and_no_others() -> None:
    def priority() -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    async def test() -> tuple[int, int]:
        usual, patient = Line("usual", 1), Line("patient", 1, is_patient=True)
        found = await usual.run(Who("a"), priority), await patient.run(Who("a"), priority)
        usual.close()
        patient.close()
        return found

    now = priority()
    assert apart(lambda: asyncio.run(test())) == (now, min(19, now + NICE))
    assert priority() == now


@pytest.mark.parametrize(("hold", "passed", "at"), [(0, 0.013, 0.013), (0.05, 0.01, 0.05), (0.05, 0.051, 0.06)])
def test_what_takes_longer_than_it_is_held_is_told_at_a_tick(hold: float, passed: float, at: float) -> None:
    assert told_at(hold, passed) == pytest.approx(at)
