"""One parcel after the other: what the others are measured by."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import AbstractContextManager
from typing import Any

from tapete.scale.jobs import Bench, Jobs, job_of


class Serial(AbstractContextManager["Serial"]):
    """Does parcels in this thread, in their order."""

    workers, is_here = 1, True

    def spread(self, job: Jobs, parcels: Iterable[Any]) -> Generator[tuple[int, Any]]:
        """See `Executor`."""
        bench = Bench()
        for i, parcel in enumerate(parcels):
            yield i, bench.do(job_of(job), [parcel])[0]

    def close(self) -> None:
        """There is nothing to let go of."""

    def __exit__(self, *_: object) -> None:
        self.close()
