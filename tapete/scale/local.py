"""The cores of this machine: threads, because kernels let go of the interpreter, or processes, where Python works.

Which of them is chosen by measuring: a first parcel loads what is needed, a second one is timed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from functools import partial
from threading import Event
from typing import Any

from tapete.core.errors import TapeteError
from tapete.scale.jobs import Bench, Job, Jobs, job_of
from tapete.scale.lots import AHEAD, Paces, hand_out
from tapete.scale.processes import Processes

SLICE = 0.1  # seconds that a lot should take: handing over each tiny result would cost more than making it
WORTH = 10.0  # seconds that processes must save: they take some to start, and memory
TRIED = 2  # parcels

Ticket = Future[list[Any]]
Do = Callable[[Job, Sequence[Any]], list[Any]]


class Local(AbstractContextManager["Local"]):
    """Does parcels in threads, which share what the job has opened, or in processes.

    :param workers: how many parcels at a time.
    :param worth: how many seconds processes must save before they are begun; as far as anybody can tell.
    """

    is_here = True

    def __init__(self, workers: int = 2, *, worth: float = WORTH) -> None:
        if workers < 1:
            raise TapeteError(f"workers must be 1 or more, not {workers}")
        self.workers, self.worth = workers, worth
        self._processes, self._paces = Processes(), Paces()

    def spread(self, job: Jobs, parcels: Iterable[Any]) -> Generator[tuple[int, Any]]:
        """See `Executor`."""
        stop = Event()
        bench, begin = Bench(stop), 0
        do: Do | None = bench.do if self.workers > 1 else None
        if isinstance(job, Job) and job.threads_pay and isinstance(parcels, Sequence) and do:
            for begin, parcel in enumerate(parcels[:TRIED], 1):
                began = time.perf_counter()
                (result,) = bench.do(job, [parcel])
                took = time.perf_counter() - began
                yield begin - 1, result
            parcels = parcels[begin:]
            if parcels:
                do = self._choose(job, bench, stop, result, took * len(parcels))
        if do is None:
            for i, parcel in enumerate(parcels, begin):
                yield i, bench.do(job_of(job), [parcel])[0]
            return
        with ThreadPoolExecutor(self.workers) as pool:
            carrier = _Threads(pool, self.workers, do, job)
            try:
                for i, result in hand_out(carrier, parcels, seconds=SLICE, pace=self._paces.of(job)):
                    yield begin + i, result
            finally:
                self._processes.end(stop)

    def _choose(self, job: Job, bench: Bench, stop: Event, result: Any, left: float) -> Do | None:
        """What does the lots of a job: processes, threads, or nobody but this thread."""
        saved = left * (1 - 1 / self.workers)
        if job.travels and saved > self.worth and self._processes.can_open(job):
            return partial(self._processes.do, stop=stop)
        assert job.threads_pay
        return bench.do if job.threads_pay(result) else None

    def close(self) -> None:
        """Threads end with the job that they work at; processes wait for the next one until now."""
        self._processes.close()

    def __exit__(self, *_: object) -> None:
        self.close()


class _Threads:
    """Carries the lots of a job to threads, which do them or hand them to processes."""

    grace = float("inf")

    def __init__(self, pool: ThreadPoolExecutor, workers: int, do: Do, job: Jobs) -> None:
        self._pool, self._workers, self._do, self._job = pool, workers, do, job

    def room(self) -> int:
        return AHEAD * self._workers

    def send(self, parcels: Sequence[Any]) -> Ticket:
        return self._pool.submit(self._do, job_of(self._job), parcels)

    def wait(self, tickets: Sequence[Ticket], seconds: float) -> list[Ticket]:
        return [*wait(tickets, seconds, return_when=FIRST_COMPLETED).done]

    def take(self, ticket: Ticket) -> list[Any]:
        return ticket.result()

    def drop(self, ticket: Ticket) -> None:
        ticket.cancel()
