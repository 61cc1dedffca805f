"""Executors: the same results on each of them, and what is said where something can't be."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from threading import Event

import pytest

from tapete import arena
from tapete.core import TapeteError
from tapete.scale import Executor, Job, Local, Serial, open_executor
from tapete.scale.jobs import KEPT, Bench
from tapete.scale.local import TRIED
from tapete.scale.lots import Lost
from tapete.scale.processes import Processes

opened: list[int] = []


def open_sums(stop: Event, add: int = 0) -> Callable[[int], int]:
    """A job for these tests."""
    opened.append(add)

    def work(parcel: int) -> int:
        if parcel == 13:
            raise TapeteError("13 brings bad luck")
        return parcel + add

    return work


def job(add: int) -> Job:
    return Job(f"{__name__}:open_sums", {"add": add})


@pytest.mark.parametrize("executor", [Serial(), Local(1), Local(2), Local(5)], ids=["serial", "1", "2", "5"])
def test_all_parcels_are_done_once(executor: Executor) -> None:
    opened.clear()
    assert sorted(executor.spread(job(5), range(20, 60))) == [(i, i + 25) for i in range(40)]
    assert opened == [5], "a job is opened once"


@pytest.mark.parametrize("executor", [Serial(), Local(1), Local(3)], ids=["serial", "1", "3"])
def test_parcels_have_the_job_of_the_moment_at_which_they_are_sent(executor: Executor) -> None:
    jobs = [job(0), job(1000)]
    results = executor.spread(lambda: jobs[0], count(20))
    seen = [next(results)[1]]
    assert seen[0] < 1000
    del jobs[0]
    while seen[-1] < 1000:
        assert len(seen) < 10_000, "those that were sent before are few"
        seen.append(next(results)[1])
    results.close()


@pytest.mark.parametrize("executor", [Serial(), Local(1), Local(3)], ids=["serial", "1", "3"])
def test_an_error_of_the_work_is_raised(executor: Executor) -> None:
    with pytest.raises(TapeteError, match="bad luck"):
        list(executor.spread(job(1), range(40)))


def test_work_is_told_when_nobody_waits_any_more() -> None:
    events: list[Event] = []

    def open_waiting(stop: Event) -> Callable[[int], int]:
        events.append(stop)
        return lambda parcel: parcel if parcel < 2 else stop.wait(30) * parcel

    globals()["open_waiting"] = open_waiting
    results = Local(2).spread(Job(f"{__name__}:open_waiting", {}), range(4))
    next(results)
    results.close()
    assert events[0].is_set()


@pytest.mark.parametrize(("pays", "threads"), [(True, 3), (False, 1)])
def test_threads_are_used_where_a_result_says_so(pays: bool, threads: int) -> None:
    who: set[int] = set()
    met = threading.Barrier(threads)

    def open_meeting(stop: Event) -> Callable[[int], int]:
        def work(parcel: int) -> int:
            if parcel >= TRIED:
                met.wait(20)  # breaks if fewer threads come than are awaited
                who.add(threading.get_ident())
            return parcel

        return work

    globals()["open_meeting"] = open_meeting
    results = Local(3).spread(Job(f"{__name__}:open_meeting", {}, lambda result: pays), range(5))
    assert sorted(results) == [(i, i) for i in range(5)]
    assert len(who) == threads


def open_telling(stop: Event, add: int = 0) -> Callable[[int], tuple[int, int, int]]:
    """Another: who did it, what it is, and how many jobs were opened there."""
    opened.append(add)

    def work(parcel: int) -> tuple[int, int, int]:
        if parcel == 13:
            raise TapeteError("13 brings bad luck")
        if parcel == 14:
            raise ValueError("no better")
        if parcel == 20:
            print("what is printed disturbs nobody")
        return os.getpid(), parcel + add, len(opened)

    return work


def telling(add: int, *, travels: bool = True) -> Job:
    return Job(f"{__name__}:open_telling", {"add": add}, lambda result: True, travels)


def test_processes_do_what_is_long_enough() -> None:
    with Local(2, worth=0.0) as executor:
        results = dict(executor.spread(telling(5), range(18, 58)))
        assert [results[i][1] for i in range(40)] == [*range(23, 63)]
        who = {results[i][0] for i in range(TRIED, 40)}
        assert os.getpid() not in who
        assert 1 <= len(who) <= 2
        assert {results[i][2] for i in range(TRIED, 40)} == {1}, "a job is opened once"
        again = dict(executor.spread(telling(6), range(20, 60)))
        assert {again[i][0] for i in range(TRIED, 40)} & who, "processes wait for the next job"
        with pytest.raises(TapeteError, match="bad luck"):
            list(executor.spread(telling(1), range(14)))
        with pytest.raises(RuntimeError, match="ValueError: no better"):
            list(executor.spread(telling(1), [0, 1, 2, 14, 3]))
    with Local(2) as executor:
        assert {who for _, (who, *_) in executor.spread(telling(5), range(20, 60))} == {os.getpid()}, "too short"


def test_what_can_not_be_sent_is_done_here() -> None:
    hidden = Job(f"{__name__}:open_hidden", {}, lambda result: True)
    globals()["open_hidden"] = open_telling
    with Local(2, worth=0.0) as executor:
        for job in (telling(1, travels=False), hidden):
            assert {who for _, (who, *_) in executor.spread(job, range(20, 30))} == {os.getpid()}


def test_a_process_that_is_killed_is_replaced() -> None:
    with Local(2, worth=0.0) as executor:
        seen, killed = set[int](), set[int]()
        for i, (who, number, _) in executor.spread(telling(0), range(20, 2020)):
            assert number == i + 20
            seen.add(i)
            if who != os.getpid() and len(killed) < 3 and who not in killed:
                killed.add(who)
                os.kill(who, signal.SIGKILL)
        assert seen == set(range(2000))
        assert killed


def test_processes_end_when_nobody_wants_them() -> None:
    processes = Processes()
    ((who, *_),) = processes.do(telling(0), [1], Event())
    processes.close()
    with pytest.raises(ProcessLookupError):
        os.kill(who, 0)
    with Local(2, worth=0.0) as executor:
        sleeping = Job("tests.scale.test_executors:open_sleeping", {}, lambda result: True)
        results = executor.spread(sleeping, range(9))
        began = time.perf_counter()
        assert [next(results)[1] for _ in range(TRIED)] == [*range(TRIED)]
        next(results)
        results.close()
        assert time.perf_counter() - began < 50, "those that were at work were ended"
    stopped = Processes()

    def sleep() -> None:
        with pytest.raises(Lost):
            stopped.do(sleeping, [5], Event())

    thread = threading.Thread(target=sleep)
    thread.start()
    while not stopped._busy:
        time.sleep(0.01)
    stopped.close()
    thread.join()


def test_processes_end_when_who_began_them_is_killed() -> None:
    """In the middle of their work: nobody tells them."""
    code = """
from threading import Event
from tapete.scale.processes import Processes
from tests.scale.test_executors import telling
from tapete.scale import Job
processes = Processes()
((who, *_),) = processes.do(telling(0), [1], Event())
print(who, flush=True)
processes.do(Job("tests.scale.test_executors:open_sleeping", {}, lambda result: True), [10**6], Event())
"""
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout
    who = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    began = time.monotonic()
    while Path(f"/proc/{who}").exists() and "Z" not in Path(f"/proc/{who}/stat").read_text().split()[2]:
        assert time.monotonic() - began < 30, "it goes on although nobody waits for it"
        time.sleep(0.05)


def open_sleeping(stop: Event) -> Callable[[int], int]:
    def work(parcel: int) -> int:
        time.sleep(60 if parcel > TRIED else 0.01)
        return parcel

    return work


def test_a_worker_keeps_the_last_jobs_open() -> None:
    bench, jobs = Bench(), [job(i) for i in range(KEPT + 1)]
    opened.clear()
    assert [bench.do(each, [1, 2]) for each in (jobs[0], jobs[1], jobs[0], jobs[1])] == [[1, 2], [2, 3]] * 2
    assert opened == [0, 1]
    bench.do(jobs[2], [0])
    bench.do(jobs[1], [0])
    assert opened == [0, 1, 2]
    bench.do(jobs[0], [0])
    assert opened == [0, 1, 2, 0], "the one that was used longest ago was closed"


def test_a_tournament_is_the_same_on_every_executor() -> None:
    agents = ["random", "ismcts(20)", "equilibrium"]
    games = [
        [game._replace(seconds=(0, 0)) for match in found.matches.values() for game in match.games]
        for executor in (Serial(), Local(1), Local(2), Local(5), Local(2, worth=0.0))
        if (found := arena.tournament("kuhn", agents, games=20, executor=executor))
    ]
    assert all(other == games[0] for other in games[1:])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"name": "cloud"}, "there is no executor 'cloud'; there are serial, local, ray"),
        ({"name": "local", "address": "auto"}, "an address is for the executor ray, not for local"),
        ({"name": "local", "workers": 0}, "workers must be 1 or more, not 0"),
    ],
)
def test_what_can_not_be_is_said(options: dict[str, object], words: str) -> None:
    with pytest.raises(TapeteError, match=words):
        open_executor(**options)  # type: ignore[arg-type]
