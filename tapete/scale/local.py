"""Threads of this process: kernels let go of the interpreter, so searches and networks run side by side.

Processes were measured too (docs/scaling.md): they take seconds to start, each with its own copy of every network, and
win only where Python itself is the work.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from threading import Event
from typing import Any

from tapete.core.errors import TapeteError
from tapete.scale.jobs import Bench, Job, Jobs, job_of
from tapete.scale.lots import AHEAD, hand_out

SLICE = 0.1  # seconds that a lot should take: handing over each tiny result would cost more than making it

Ticket = Future[list[Any]]


class Local(AbstractContextManager["Local"]):
    """Does parcels in threads, which share what the job has opened."""

    is_here = True

    def __init__(self, workers: int = 2) -> None:
        if workers < 1:
            raise TapeteError(f"workers must be 1 or more, not {workers}")
        self.workers = workers

    def spread(self, job: Jobs, parcels: Iterable[Any]) -> Generator[tuple[int, Any]]:
        """See `Executor`."""
        stop = Event()
        bench, begin, alone = Bench(stop), 0, self.workers == 1
        if isinstance(job, Job) and job.threads_pay and isinstance(parcels, Sequence) and not alone:
            for parcel in parcels[:1]:
                (first,) = bench.do(job, [parcel])
                yield 0, first
                alone, begin = not job.threads_pay(first), 1
            parcels = parcels[1:]
        if alone:
            for i, parcel in enumerate(parcels, begin):
                yield i, bench.do(job_of(job), [parcel])[0]
            return
        with ThreadPoolExecutor(self.workers) as pool:
            try:
                for i, result in hand_out(_Threads(pool, self.workers, bench, job), parcels, seconds=SLICE):
                    yield begin + i, result
            finally:
                stop.set()

    def close(self) -> None:
        """Threads end with the job that they work at."""

    def __exit__(self, *_: object) -> None:
        self.close()


class _Threads:
    """Carries the lots of a job to threads, none of which gets lost."""

    grace = float("inf")

    def __init__(self, pool: ThreadPoolExecutor, workers: int, bench: Bench, job: Jobs) -> None:
        self._pool, self._workers, self._bench, self._job = pool, workers, bench, job

    def room(self) -> int:
        return AHEAD * self._workers

    def send(self, parcels: Sequence[Any]) -> Ticket:
        return self._pool.submit(self._bench.do, job_of(self._job), parcels)

    def wait(self, tickets: Sequence[Ticket], seconds: float) -> list[Ticket]:
        return [*wait(tickets, seconds, return_when=FIRST_COMPLETED).done]

    def take(self, ticket: Ticket) -> list[Any]:
        return ticket.result()

    def drop(self, ticket: Ticket) -> None:
        ticket.cancel()
