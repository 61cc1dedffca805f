"""Runs that are stopped again and again."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tapete.learn.run import Progress, Run

KILLED = """
import json, os, signal, sys
from tapete import learn, make

folder, name, knobs, steps = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), int(sys.argv[4])
game, config = make(sys.argv[5]), learn.configure(name, knobs)

def watch(progress):
    global steps
    steps -= 1
    if steps == 0:
        os.kill(os.getpid(), signal.SIGKILL)

run = learn.Run(folder, name, game, config, resume=True, every=0.0, watch=watch)
learn.learner(name).training()(game, config, run)
"""


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


def run_and_kill(folder: Path, learner: str, knobs: str, steps: int, game: str = "othello(size=4)") -> int:
    """Runs in a process of its own, which kills itself with SIGKILL after so many steps; returns how it ended."""
    command: list[Any] = [sys.executable, "-c", KILLED, folder, learner, knobs, str(steps), game]
    return subprocess.run(command, check=False, capture_output=True).returncode
