"""What an executor is, and how one is asked for."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Protocol, Self

from tapete.core.errors import TapeteError
from tapete.scale.jobs import Jobs
from tapete.scale.local import Local
from tapete.scale.serial import Serial

EXECUTORS = ("serial", "local", "ray")


class Executor(Protocol):
    """Does the parcels of jobs. Whoever opened it closes it, or uses it in a `with`."""

    is_here: bool  # whether all is done in this process; else jobs must be plain data

    @property
    def workers(self) -> int:
        """How many parcels are done at a time."""

    def spread(self, job: Jobs, parcels: Iterable[Any]) -> Generator[tuple[int, Any]]:
        """The index of each parcel, and what came of it, as they are ready, in any order.

        Parcels are asked for when somebody is about to do them, so there may be no end of them; and so is the job, if
        it is a function. Whoever takes results slowly makes everybody wait. Whatever ends this early, an error or
        Ctrl-C, also stops what is under way.
        """

    def close(self) -> None:
        """Lets go of the workers."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def open_executor(name: str = "local", *, workers: int = 2, address: str = "") -> Executor:
    """An executor by name.

    :param name: "serial", one parcel after the other; "local", threads or processes of this machine; "ray", a cluster.
    :param workers: how many parcels at a time, on this machine; a cluster has as many as it has cores.
    :param address: of the head of a Ray cluster, "auto" for the one that this machine is part of. Without it, a cluster
        of this machine alone is begun, and ended with the executor.
    """
    if address and name != "ray":
        raise TapeteError(f"an address is for the executor ray, not for {name}")
    if name == "serial":
        return Serial()
    if name == "local":
        return Local(workers)
    if name == "ray":
        from tapete.scale.ray import OnRay

        return OnRay(address, workers=workers)
    raise TapeteError(f"there is no executor {name!r}; there are {', '.join(EXECUTORS)}")


@contextmanager
def given_or_local(executor: Executor | None, workers: int) -> Iterator[Executor]:
    """The executor, which stays open; or, without one, the cores of this machine, for as long as they are needed."""
    if executor:
        yield executor
    else:
        with Local(workers) as own:
            yield own
