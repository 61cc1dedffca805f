"""Runs that lie in folders, as far as their files tell: for whoever lists them, compares them or draws their curves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from tapete.core.errors import TapeteError
from tapete.core.locks import is_locked
from tapete.learn.run import FILES, LOCK, Description, read_metrics

SECONDS = "seconds"
STEPS = "steps"
PLAYED = (STEPS, "nodes", "frames")  # what was played, in the words of a learner
MAIN = ("exploitability", "against_random", "loss", "error")  # what tells how good a run is, the best to know first
LONGEST_NAME = 200  # characters of a learner or a game

Line = Mapping[str, float]  # of numbers by name, as a run logs them


class Curve(NamedTuple):
    """A metric of a run, over steps or over time."""

    name: str
    over: str
    points: list[tuple[float, float]]  # only numbers that can be drawn


@dataclass(frozen=True)
class PastRun:
    """What the folder of a run tells; it may be at work at this moment."""

    folder: Path
    about: Description
    lines: Sequence[Line]  # that it has logged so far
    at_work: bool  # whether a process has the folder
    resumes: bool  # whether there is a checkpoint
    plays: bool  # whether there is a network

    @classmethod
    def read(cls, folder: Path) -> PastRun:
        """Reads a folder. Whatever is wrong with it is told in one line."""
        about = Description.read(folder)
        if not all(name.isprintable() and len(name) <= LONGEST_NAME for name in (about.learner, about.game)):
            raise TapeteError(f"{folder / FILES.config} is damaged: no learner or game has such a name")
        lines = read_metrics(folder) if (folder / FILES.metrics).exists() else []
        resumes, plays = ((folder / name).exists() for name in (FILES.checkpoint, FILES.network))
        return cls(folder, about, lines, is_locked(folder / LOCK), resumes, plays)

    @cached_property
    def last(self) -> Line:
        """Each number as it was logged last."""
        return latest(self.lines)

    @property
    def counter(self) -> str:
        """The metric that tells how far it is."""
        return counter_of(self.last)

    @property
    def total(self) -> float | None:
        """What the counter will be at the end, where a knob says so: `generations` for `generation`, or `games`."""
        knobs = self.about.config
        total = knobs.get(f"{self.counter}s", knobs.get(self.counter))
        return total if isinstance(total, int | float) else None

    @property
    def finished(self) -> bool:
        """Whether it got to its end."""
        return self.total is not None and self.last[self.counter] >= self.total

    def curve(self, name: str = "", by: str = STEPS) -> Curve:
        """A metric, or the main one, over steps or over seconds."""
        name, over = name or main_of(self.last), SECONDS if by == SECONDS else steps_of(self.last)
        return Curve(name, over, points(self.lines, over, name))

    @property
    def wall(self) -> float:
        """When it logged its last line, in seconds since 1970."""
        return (self.folder / FILES.metrics).stat().st_mtime if self.lines else 0.0

    def _repr_html_(self) -> str:
        from tapete.core.pictures import curve_html

        curve = self.curve()
        return curve_html(
            f"{self.folder}, {self.about.learner} on {self.about.game}", curve.over, curve.name, curve.points
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "folder": str(self.folder),
            "learner": self.about.learner,
            "game": self.about.game,
            "counter": self.counter,
            "done": self.last.get(self.counter),
            "total": self.total,
            "main": main_of(self.last),
            "metrics": {name: value if math.isfinite(value) else None for name, value in self.last.items()},
            "at_work": self.at_work,
            "resumes": self.resumes,
            "plays": self.plays,
        }


def latest(lines: Iterable[Line]) -> Line:
    """Each number as it was logged last: not every line has all of them.

    >>> latest([{"iteration": 1, "exploitability": 0.5}, {"iteration": 2, "loss": 0.1}])
    {'iteration': 2, 'exploitability': 0.5, 'loss': 0.1}
    """
    found: dict[str, float] = {}
    for line in lines:
        found |= line
    return found


def metrics_of(line: Line) -> list[str]:
    """What can be drawn over steps or over time."""
    return [name for name in line if name not in (counter_of(line), steps_of(line), SECONDS)]


def counter_of(line: Line) -> str:
    """The number of a line that tells how far its run is: the first."""
    return next(iter(line), STEPS)


def steps_of(line: Line) -> str:
    """The number of a line that tells how much was played, or where there is none, how far its run is."""
    return next((name for name in PLAYED if name in line), counter_of(line))


def main_of(line: Line) -> str:
    """The number of a line that tells best how good its run is.

    >>> main_of({"generation": 3, "games": 60, "policy_loss": 2.1, "value_loss": 0.4, "seconds": 9.0})
    'policy_loss'
    """
    names = metrics_of(line)
    return next((name for wanted in MAIN for name in names if wanted in name), names[-1] if names else "")


def points(lines: Sequence[Line], over: str, name: str) -> list[tuple[float, float]]:
    """A metric over another one, where both are known."""
    found = ((line[over], line[name]) for line in lines if over in line and name in line)
    return [point for point in found if all(map(math.isfinite, point))]


def find_runs(folder: Path) -> Iterator[Path]:
    """The folder itself if it is that of a run, else those in it, by name."""
    if not folder.is_dir():
        raise TapeteError(f"there is no folder {str(folder)!r}")
    if _looks_like_one(folder):
        yield folder
        return
    yield from sorted(inside for inside in folder.iterdir() if inside.is_dir() and _looks_like_one(inside))


def _looks_like_one(folder: Path) -> bool:
    return any((folder / name).exists() for name in FILES)
