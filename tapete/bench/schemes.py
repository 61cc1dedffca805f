"""Which member of the CFR family is the best: the time each takes to a given exploitability."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tapete.core import make
from tapete.solve import SCHEMES, Progress, solve

GAMES = ("kuhn", "leduc", "ocp(1000)", "dudo(4,2,2)", "dudo(5,1,2)", "domino(3,3)")
MARKS = (1e-2, 1e-3, 1e-4)
LONGEST = 20.0  # seconds that a run may take
Entry = dict[str, Any]


def run(games: tuple[str, ...] = GAMES, seconds: float = LONGEST) -> Iterator[Entry]:
    """For every game and scheme: iterations and seconds to each mark; none where it was not reached in time."""
    with tempfile.TemporaryDirectory() as folder:
        for name in games:
            solve(make(name), until=min(MARKS), seconds=seconds, folder=Path(folder))  # what follows a round is there
            for scheme in SCHEMES:
                yield _measure(name, scheme, seconds, Path(folder))


def _measure(name: str, scheme: str, seconds: float, folder: Path) -> Entry:
    reached: dict[float, tuple[int, float]] = {}
    start: list[float] = []

    def watch(progress: Progress) -> None:
        if progress.game == name:
            start.append(progress.seconds)  # the first time, what building the tree took
            for mark in MARKS:
                if progress.proof.exploitability <= mark:
                    reached.setdefault(mark, (progress.iterations, progress.seconds - start[0]))

    solve(make(name), algorithm=scheme, until=min(MARKS), seconds=seconds, folder=folder, watch=watch)
    return {"game": name, "scheme": scheme, "reached": {str(mark): reached.get(mark) for mark in MARKS}}


def markdown(entries: Iterator[Entry]) -> Iterator[str]:
    """The page docs/schemes.md."""
    yield "# Which member of the CFR family\n"
    yield "Seconds (iterations) to an exploitability of 1, 0.1 and 0.01 %, on two cores, the building of the tree not"
    yield f"counted; - where {LONGEST:.0f} seconds were not enough. Made by `tapete bench schemes`.\n"
    yield "| game | scheme | 1 % | 0.1 % | 0.01 % |"
    yield "|---|---|---|---|---|"
    for entry in entries:
        cells = ["-" if at is None else f"{at[1]:.3g} ({at[0]:,})" for at in entry["reached"].values()]
        yield f"| {entry['game']} | {entry['scheme']} | {' | '.join(cells)} |"
