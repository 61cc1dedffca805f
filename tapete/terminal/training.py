"""What `tapete train` shows: a bar that tells how far it is, the curve so far, and the last numbers."""

from __future__ import annotations

import math
import shlex
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bars
from rich.text import Text

from tapete.learn import Progress, read_metrics
from tapete.learn.runs import SECONDS, Line, latest, main_of, points, steps_of
from tapete.terminal.charts import labelled, number

TELL = 20.0  # seconds between two lines where there is no terminal
HEIGHT = 6  # lines of the curve
WIDEST = 100  # columns of it


class TrainingScreen:
    """A bar and a curve on standard error; where that is no terminal, a line now and then."""

    def __init__(self, folder: Path | None = None, console: Console | None = None) -> None:
        """For the run in that folder, whose curve begins where it was begun; without one, where this screen begins."""
        self.folder = folder
        self.console = console or Console(stderr=True)
        self.bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        self.task = self.bars.add_task("getting ready", total=None)
        self.lines: list[Line] = []
        self.newest: Line = {}  # the line that was taken last
        self.last: Line = {}  # each number as it was logged last
        self.told = -math.inf  # when the last line was printed
        self.live = Live(console=self.console, get_renderable=self._draw, refresh_per_second=4, transient=True)

    def __enter__(self) -> TrainingScreen:
        if self.console.is_terminal:
            self.live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.live.stop()

    def __call__(self, progress: Progress) -> None:
        """Shows where a run is."""
        total = progress.total if progress.total < math.inf else None
        self.bars.update(self.task, description=progress.stage, completed=progress.done, total=total)
        if progress.metrics is not self.newest:
            self._remember(progress.metrics)
        if not self.console.is_terminal and time.monotonic() > self.told + TELL:
            share = f"  {progress.done / total:.0%}" if total else ""
            self.console.print(f"  {progress.stage}{share}  {_numbers(self.last)}", highlight=False, soft_wrap=True)
            self.told = time.monotonic()

    def _remember(self, metrics: Line) -> None:
        """Takes a new line; the first one comes with those that were logged before the run was resumed."""
        self.newest = metrics
        if self.lines:
            self.lines.append(metrics)
            self.last = latest([self.last, metrics])
        elif metrics:
            self.lines = list(read_metrics(self.folder)) if self.folder else [metrics]
            self.last = latest(self.lines)

    def _draw(self) -> RenderableType:
        """The bar, the curve, the numbers."""
        name, over = main_of(self.last), steps_of(self.last)
        curve = points(self.lines, over, name)
        drawing: list[RenderableType] = [self.bars]
        if len(curve) > 1:
            width = min(self.console.width - 16, WIDEST)
            lines = labelled(curve, max(width, 8), HEIGHT)
            drawing += [Text(f"{name}, over {over}", style="dim"), *(Text(line, no_wrap=True) for line in lines)]
        return Group(*drawing, Text(_numbers(self.last)))


def _numbers(line: Line) -> str:
    return "  ".join(f"{name} {number(value)}" for name, value in line.items() if name != SECONDS)


def commands(folder: Path, game: str, *, resumes: bool, plays: bool) -> Iterator[str]:
    """What can be typed next about a run."""
    place = shlex.quote(str(folder))
    if resumes:
        yield f"go on with: tapete train --run {place} --resume"
    if plays:
        yield f"play against it: tapete play {shlex.quote(game)} --against {place} --new"
        yield f"measure it: tapete match {shlex.quote(game)} {place} random"
