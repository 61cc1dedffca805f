"""What a change did to the speed: slices of the same benchmarks in two trees of this package, in turn."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from tapete.core.errors import TapeteError

BENCHES = ("sim", "solve", "search", "nets", "ntuple")


class Compared(NamedTuple):
    """A case in both trees: rates are medians, the ratio is the median of those of neighbouring slices."""

    case: str
    old: float
    new: float
    ratio: float  # new / old
    low: float  # a quarter of the ratios are lower
    high: float  # a quarter of them are higher


class _Tree:
    """A process that measures with the package of one tree."""

    def __init__(self, root: Path) -> None:
        if not (root / "tapete" / "bench").is_dir():
            raise TapeteError(f"{root} is no tree of this package: it has no tapete/bench")
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__).with_name("slices.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(root)},
        )
        self.root = root

    def __enter__(self) -> _Tree:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.communicate()

    def ask(self, *question: Any) -> Any:
        """Sends a question to the process and waits for its answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(question), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            raise TapeteError(f"measuring {' '.join(map(str, question))} failed in {self.root}")
        return json.loads(answer)


def run(
    old: Path, *, benches: Iterable[str] = BENCHES, case: str = "", slices: int = 11, seconds: float = 0.2
) -> Iterator[Compared]:
    """Compares the cases that both trees have and whose name contains `case`."""
    with ExitStack() as stack:
        before, now = (stack.enter_context(_Tree(root)) for root in (old.resolve(), Path(__file__).parents[2]))
        for bench in benches:
            known = before.ask(bench)
            for name in now.ask(bench):
                if case in name and name in known:
                    yield _compare(before, now, bench, name, slices, seconds)


def _compare(before: _Tree, now: _Tree, bench: str, case: str, slices: int, seconds: float) -> Compared:
    old: list[float] = []
    new: list[float] = []
    for i in range(slices):
        for tree, rates in ((before, old), (now, new)) if i % 2 else ((now, new), (before, old)):
            rates.append(tree.ask(bench, case, seconds))
    ratios = sorted(n / o for o, n in zip(old, new, strict=True))
    quarter = len(ratios) // 4
    return Compared(
        f"{bench} {case}",
        statistics.median(old),
        statistics.median(new),
        statistics.median(ratios),
        ratios[quarter],
        ratios[-1 - quarter],
    )
