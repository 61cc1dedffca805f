"""Jobs: what is to be done, as data that can be sent to another machine."""

from __future__ import annotations

import importlib
import uuid
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Any

Work = Callable[[Any], Any]  # takes a parcel, gives a result
KEPT = 2  # jobs that a worker keeps open: one that is ending, and the next


@dataclass(frozen=True)
class Job:
    """The function that opens the job, as "module:name", and what it is handed beside an event.

    The function is called once by every worker, with all that its parcels have in common, and returns what does a
    parcel. The event is set when nobody waits for results any more; work that takes long looks at it.
    """

    opens: str
    terms: Mapping[str, Any]
    threads_pay: Callable[[Any], bool] | None = None  # told a result; None: work lets go of the interpreter
    travels: bool = True  # whether the terms are plain data, and so can be sent to another process
    number: str = field(default_factory=lambda: uuid.uuid4().hex)  # by which workers know it again

    def __reduce__(self) -> tuple[Any, ...]:
        """What is sent: nobody asks there whether threads pay."""
        return Job, (self.opens, self.terms, None, self.travels, self.number)

    def open(self, stop: Event) -> Work:
        """What does a parcel, in this process."""
        module, _, name = self.opens.partition(":")
        work: Work = getattr(importlib.import_module(module), name)(stop, **self.terms)
        return work


# A job, or what says which one it is now: parcels that are sent later have the later one, with newer weights.
Jobs = Job | Callable[[], Job]


def job_of(jobs: Jobs) -> Job:
    """The job as it is now."""
    return jobs if isinstance(jobs, Job) else jobs()


class Bench:
    """What a worker that is sent parcels of several jobs has open; threads may share it."""

    def __init__(self, stop: Event | None = None) -> None:
        self._stop = stop or Event()
        self._open: OrderedDict[str, Work] = OrderedDict()
        self._lock = Lock()

    def do(self, job: Job, parcels: Sequence[Any]) -> list[Any]:
        """The results of some parcels. A job that was done before is still open."""
        return [*map(self.find(job.number, lambda: job), parcels)]

    def find(self, number: str, job: Callable[[], Job]) -> Work:
        """What does parcels of the job with this number; it is asked for where it is not open."""
        with self._lock:
            work = self._open.pop(number, None) or job().open(self._stop)
            self._open[number] = work
            while len(self._open) > KEPT:
                self._open.popitem(last=False)
        return work
