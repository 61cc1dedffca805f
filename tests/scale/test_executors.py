"""Executors: the same results on each of them, and what is said where something can't be."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from threading import Event

import pytest

from tapete import arena
from tapete.core import TapeteError
from tapete.scale import Executor, Job, Local, Serial, open_executor
from tapete.scale.jobs import KEPT, Bench

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
def test_threads_are_used_where_the_first_result_says_so(pays: bool, threads: int) -> None:
    import threading

    who: set[int] = set()
    met = threading.Barrier(threads)

    def open_meeting(stop: Event) -> Callable[[int], int]:
        def work(parcel: int) -> int:
            if parcel:
                met.wait(20)  # breaks if fewer threads come than are awaited
                who.add(threading.get_ident())
            return parcel

        return work

    globals()["open_meeting"] = open_meeting
    results = Local(3).spread(Job(f"{__name__}:open_meeting", {}, lambda first: pays), range(4))
    assert sorted(results) == [(i, i) for i in range(4)]
    assert len(who) == threads


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
        for executor in (Serial(), Local(1), Local(2), Local(5))
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
