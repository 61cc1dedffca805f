"""Work shared out to threads: kernels let go of the interpreter, so searches and networks run side by side.

Processes were measured too (docs/arena.md): they take seconds to start, each with its own copy of every network, and
win only where agents are so quick that there is little to win.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from threading import Event
from typing import TypeVar

Result = TypeVar("Result")

SLICE = 0.1  # seconds between two reports of a thread: handing over each tiny result would cost more than making it


def spread(task: Callable[[int], Result], numbers: Iterable[int], workers: int, stop: Event) -> Generator[Result]:
    """The results of the task for these numbers as they are ready, in any order.

    Whatever ends this early, an error or Ctrl-C, sets `stop`: tasks that look at it keep nobody waiting.
    """
    if workers == 1:
        yield from map(task, numbers)
        return
    todo = iter([*numbers])  # threads share it: a step of it is one operation of the interpreter

    def work_for_a_while() -> list[Result]:
        results = []
        until = time.perf_counter() + SLICE
        while time.perf_counter() < until and (i := next(todo, None)) is not None:
            results.append(task(i))
        return results

    with ThreadPoolExecutor(workers) as pool:
        pending = {pool.submit(work_for_a_while) for _ in range(workers)}
        try:
            while pending:
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                for future in done:
                    if results := future.result():
                        pending.add(pool.submit(work_for_a_while))
                        yield from results
        finally:
            stop.set()
