"""What `tapete runs` shows, and the pictures of curves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from tapete.core.plots import picture
from tapete.learn.runs import SECONDS, STEPS, PastRun, main_of, metrics_of
from tapete.terminal.charts import number, sparkline
from tapete.terminal.training import commands

COLUMNS = 3  # of panels in a picture


def tell(run: PastRun) -> Iterator[str]:
    """A run in a few lines: what it is, how far, its curve, its last numbers, and what to type next."""
    yield f"{run.folder}: {run.about.learner}, {run.about.game}{_how_far(run)}{', at work' if run.at_work else ''}"
    curve = run.curve()
    if curve.points:
        first, last = number(curve.points[0][1]), number(curve.points[-1][1])
        yield f"  {curve.name} {first} {sparkline(curve.points)} {last}"
    others = [name for name in metrics_of(run.last) if name != curve.name]
    if others:
        yield "  " + "  ".join(f"{name} {number(run.last[name])}" for name in others)
    resumes = run.resumes and not run.at_work and not run.finished
    yield from (f"  {line}" for line in commands(run.folder, run.about.game, resumes=resumes, plays=run.plays))


def _how_far(run: PastRun) -> str:
    """`, steps 1,000 of 5,000, 12 s`."""
    if not run.last:
        return ", nothing logged yet"
    total = f" of {number(run.total)}" if run.total is not None else ""
    return f", {run.counter} {number(run.last[run.counter])}{total}, {number(run.last.get(SECONDS, 0))} s"


def draw_curves(runs: Sequence[PastRun], path: Path, *, by: str = STEPS, every: bool = False) -> None:
    """Draws the runs over each other: a panel for each main metric of theirs, or with `every` for all of them."""
    names = dict.fromkeys(name for run in runs for name in (metrics_of(run.last) if every else [main_of(run.last)]))
    panels = [name for name in names if any(run.curve(name, by).points for run in runs)] or [""]
    columns = min(len(panels), COLUMNS)
    rows = math.ceil(len(panels) / columns)
    with picture(path, columns, rows, size=(1 + 6 * columns, 1 + 3.5 * rows), squeeze=False) as axes:
        for axis in axes.flat[len(panels) :]:
            axis.set_axis_off()
        for axis, name in zip(axes.flat, panels, strict=False):
            for run in runs:
                curve = run.curve(name, by)
                if name and curve.points:
                    axis.plot(*zip(*curve.points, strict=True), label=f"{run.folder.name}: {run.about.game}")
                    axis.set_xlabel(curve.over)
            axis.set_ylabel(name or "nothing logged yet")
            axis.grid(alpha=0.3)
            if name:
                axis.legend(fontsize=8)
