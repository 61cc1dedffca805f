"""Measures slices of benchmarks when it is told to: the other end of `compare.py`, run as a program in either tree.

A line in is a list: a benchmark, and nothing else for the names of its cases; or with a case and seconds for its rate.
It asks the tree for `cases()`, which all of them have, and for nothing else. Time is that of this process: what other
programs do meanwhile doesn't count, but for the caches that they take away.
"""

from __future__ import annotations

import json
import sys
import time
from importlib import import_module
from typing import Any

works: dict[tuple[str, str], list[Any]] = {}


def rate(bench: str, case: str, seconds: float) -> float:
    """Units of work in a second of the processor, in a slice of about so many seconds."""
    if (bench, case) not in works:
        entry = next(entry for entry in import_module(f"tapete.bench.{bench}").cases() if entry.name == case)
        work, rounds = entry.ours(), 1
        work(1)
        while measure(work, rounds)[1] < seconds / 2:
            rounds *= 2
        works[bench, case] = [work, rounds]
    units, elapsed = measure(*works[bench, case])
    return units / elapsed


def measure(work: Any, rounds: int) -> tuple[int, float]:
    """How many units of work so many rounds are, and the seconds that they take."""
    began = time.process_time()
    units = work(rounds)
    return units, max(time.process_time() - began, 1e-9)


if __name__ == "__main__":
    for line in sys.stdin:
        bench, *rest = json.loads(line)
        answer = rate(bench, *rest) if rest else [case.name for case in import_module(f"tapete.bench.{bench}").cases()]
        print(json.dumps(answer), flush=True)
