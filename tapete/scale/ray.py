"""A Ray cluster. Lots are tasks without a memory, so that Ray does them anywhere, and again where a worker or a machine
was lost; nodes may join and leave. What a job has opened is kept by the process that did, for the next lot.

Every machine of the cluster has tapete installed, and finds files of networks under the same path.
"""

from __future__ import annotations

import logging
import pickle
import socket
import time
from collections import OrderedDict
from collections.abc import Generator, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from tapete.core.errors import TapeteError
from tapete.scale.jobs import KEPT, Bench, Job, Jobs, job_of
from tapete.scale.lots import AHEAD, GRACE, Lost, Paces, hand_out

try:
    import ray
    from ray.exceptions import RayError, RayTaskError
except ImportError:
    raise TapeteError("the executor ray needs Ray: pip install 'tapete[ray]'") from None

RETRIES = 5  # by Ray itself, of a lot whose worker is gone; its default is 3, and actors have none
LOOK = 2.0  # seconds between two looks at how large the cluster is

_bench = Bench()  # of a worker's process


def _do(number: str, job: Sequence[Any], parcels: bytes) -> list[Any]:
    """What a worker does with a lot. Bytes, because arrays that Ray takes apart can't be written to.

    :param job: where it lies, in a list: what stands alone would be fetched by Ray for every lot, even if it is open.
    """
    work = _bench.find(number, lambda: pickle.loads(ray.get(job[0])))
    return [work(parcel) for parcel in pickle.loads(parcels)]


class OnRay(AbstractContextManager["OnRay"]):
    """Does parcels on a Ray cluster."""

    is_here = False

    def __init__(self, address: str = "", *, workers: int = 2) -> None:
        """The cluster at this address; without one, a cluster of this machine alone with so many workers."""
        self._begun = not ray.is_initialized()
        options: dict[str, Any] = {"address": address} if address else {"address": "local", "num_cpus": workers}
        try:
            _knock(address)
            if self._begun:
                ray.init(**options, log_to_driver=False, include_dashboard=False, logging_level=logging.ERROR)
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            raise TapeteError(f"there is no Ray cluster at {address or 'this machine'}: {_line(error)}") from None
        self._looked = -LOOK
        self._cores = 1
        self._paces = Paces()
        self._put: OrderedDict[str, Any] = OrderedDict()  # where jobs lie, by number; as many as workers keep open
        self.do = ray.remote(num_cpus=1, max_retries=RETRIES)(_do)

    @property
    def workers(self) -> int:
        """The cores of the cluster now."""
        if time.monotonic() - self._looked > LOOK:
            self._looked = time.monotonic()
            self._cores = max(int(ray.cluster_resources().get("CPU", 1)), 1)
        return self._cores

    def spread(self, job: Jobs, parcels: Iterable[Any]) -> Generator[tuple[int, Any]]:
        """See `Executor`."""
        yield from hand_out(_Tasks(self, job), parcels, pace=self._paces.of(job))

    def put(self, job: Job) -> Any:
        """Where the data of a job lie; they are put into the cluster once."""
        found = self._put.pop(job.number, None) or ray.put(pickle.dumps(job))
        self._put[job.number] = found
        while len(self._put) > KEPT:
            self._put.popitem(last=False)  # lots that are under way still have it
        return found

    def close(self) -> None:
        """Leaves the cluster; one that was begun here is ended."""
        if self._begun:
            ray.shutdown()

    def __exit__(self, *_: object) -> None:
        self.close()


class _Tasks:
    """Carries the lots of a job, or of each that follows it."""

    grace = GRACE

    def __init__(self, executor: OnRay, job: Jobs) -> None:
        self._executor, self._jobs = executor, job

    def room(self) -> int:
        return AHEAD * self._executor.workers

    def send(self, parcels: Sequence[Any]) -> Any:
        job = job_of(self._jobs)
        return self._executor.do.remote(job.number, [self._executor.put(job)], pickle.dumps(parcels))

    def wait(self, tickets: Sequence[Any], seconds: float) -> list[Any]:
        done, _ = ray.wait(list(tickets), num_returns=1, timeout=seconds)
        found: list[Any] = done
        return found

    def take(self, ticket: Any) -> list[Any]:
        try:
            results: list[Any] = ray.get(ticket)
        except RayTaskError as error:  # what the work itself raised
            raise error.cause if isinstance(error.cause, TapeteError) else error from None
        except RayError as error:
            raise Lost(_line(error)) from None
        return results

    def drop(self, ticket: Any) -> None:
        ray.cancel(ticket, force=True)


def _knock(address: str) -> None:
    """Raises at once where nobody listens: Ray would try for minutes."""
    host, _, port = address.rpartition(":")
    if host and port.isdigit() and "/" not in host:  # "auto" and ray://... are Ray's to find
        socket.create_connection((host, int(port)), timeout=10).close()


def _line(error: BaseException) -> str:
    """The first line of what an error says."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
