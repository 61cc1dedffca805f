"""Runs that are stopped again and again."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

from tapete import make
from tapete.learn import configure
from tapete.learn import learner as find_learner
from tapete.learn.run import Progress, Run


class Stopped(Exception):
    """Raised in the middle of a run."""


def run_in_pieces(train: Callable[..., None], begin: Callable[..., Run], steps: int = 1) -> int:
    """Runs to the end, so many steps a time, with a new learner for each; returns how often it was stopped."""
    stops = 0
    while True:
        left = [1] * steps

        def watch(progress: Progress, left: list[int] = left) -> None:
            if not left:
                raise Stopped
            left.pop()

        run = begin(resume=True, every=0.0, watch=watch)
        try:
            train(run)
            return stops
        except Stopped:
            stops += 1
        finally:
            run.close()


def run_to_the_end(
    folder: Path,
    learner: str,
    name: str,
    knobs: list[str],
    watch: Callable[[Progress], None] = lambda progress: None,
    every: float = 0.0,
) -> None:
    """Runs, or resumes what is in the folder; a checkpoint every so many seconds."""
    game, config = make(name), configure(learner, knobs)
    run = Run(folder, learner, game, config, resume=True, every=every, watch=watch)
    try:
        find_learner(learner).training()(game, config, run)
    finally:
        run.close()


def run_and_kill(folder: Path, learner: str, game: str, knobs: list[str], steps: int) -> int:
    """Runs in a fork of this process, which kills itself with SIGKILL after so many steps; returns how it ended."""
    left = [1] * steps

    def watch(progress: Progress) -> None:
        left.pop()
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

    pid = os.fork()
    if pid == 0:
        try:
            run_to_the_end(folder, learner, game, knobs, watch)
        finally:
            os._exit(0)  # nothing of this process goes on in the other
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
