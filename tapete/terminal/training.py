"""What `tapete train` shows: a bar that tells how far it is, and the last numbers."""

from __future__ import annotations

import math
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from tapete.learn import Progress

TELL = 20.0  # seconds between two lines where there is no terminal


class TrainingScreen:
    """A bar on standard error; where that is no terminal, a line now and then."""

    def __init__(self) -> None:
        self.console = Console(stderr=True)
        self.bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[numbers]}"),
            console=self.console,
            transient=True,
            disable=not self.console.is_terminal,
        )
        self.task = self.bars.add_task("getting ready", total=None, numbers="")
        self.told = -math.inf  # when the last line was printed

    def __enter__(self) -> TrainingScreen:
        self.bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.bars.stop()

    def __call__(self, progress: Progress) -> None:
        """Shows where a run is."""
        total = progress.total if progress.total < math.inf else None
        numbers = "  ".join(f"{name} {value:.4g}" for name, value in progress.metrics.items())
        self.bars.update(self.task, description=progress.stage, completed=progress.done, total=total, numbers=numbers)
        if not self.console.is_terminal and time.monotonic() > self.told + TELL:
            share = f"  {progress.done / total:.0%}" if total else ""
            self.console.print(f"  {progress.stage}{share}  {numbers}", highlight=False, soft_wrap=True)
            self.told = time.monotonic()
