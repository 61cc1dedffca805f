"""Training frames a second of Deep Monte Carlo, actors and learner together, and DouZero's own `train` in the same run.

A frame of ours is a decision with a choice. DouZero's frames are all decisions, so ours are also told as DouZero would
count them, and that is what is compared. DouZero's training is its own code in processes of its own, on all cores.
"""

from __future__ import annotations

import csv
import importlib.util
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from tapete.bench.peers import load
from tapete.core import Game, Rng, TapeteError, make
from tapete.learn.dmc import Config, Training
from tapete.learn.recording import Recorder
from tapete.learn.run import Run

GAME = "doudizhu"
# The paper's: batches of 32 x 100 decisions, each learned from once, and nothing that it doesn't have.
PAPER: dict[str, Any] = {
    "network": "paper", "objective": "adp", "batch": 3200, "optimiser": "rmsprop", "rate": 1e-4, "trace": 1.0
}  # fmt: skip
CASES: dict[str, dict[str, Any]] = {"the paper's network": PAPER, "ours": {}}
THREADS = (1, 2)
SAMPLE = 64  # games from which it is counted what a frame takes
PRODUCT = 1024  # rows of the matrices whose product shows what the machine can do
STEPS = 6  # of DouZero's learner that are timed, at least; the first of each position are not
PATIENCE = 20.0  # times the seconds of a measurement that are waited for them
POSITIONS = 3


@dataclass(frozen=True)
class Speed:
    """How fast one training was."""

    case: str
    threads: int
    frames: float | None  # decisions with a choice a second; DouZero doesn't count them
    moves: float  # all decisions a second, as DouZero counts
    arithmetic: float | None = None  # floating-point operations a frame, where the network is the paper's
    of_peak: float | None = None  # what share of the machine's best that is
    ratio: float | None = None  # moves, beside DouZero's

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


class Sample(NamedTuple):
    """What games are made of that networks play."""

    moves: float  # decisions for each one with a choice
    legal: float  # moves to choose from, where there is a choice


def run(*, rivals: bool, case: str = "", seconds: float = 20.0) -> Iterator[Speed]:
    """Measures DouZero, where it is asked for, and then ours: every network with one thread and with two."""
    theirs = douzero(seconds) if rivals else None
    if theirs:
        yield Speed("DouZero's train", os.cpu_count() or 1, None, theirs, ratio=1.0)
    for name, knobs in CASES.items():
        if case in name:
            for threads in THREADS:
                yield ours(name, Config(**knobs, every=10**9), threads, seconds, theirs)


def ours(name: str, config: Config, threads: int, seconds: float, theirs: float | None = None) -> Speed:
    """Trains for some seconds, after an iteration in which everything is compiled."""
    game = make(GAME)
    with training(game, config, threads) as lesson:
        lesson.iterate()
        began, before = time.perf_counter(), lesson.frames
        while time.perf_counter() - began < seconds:
            lesson.iterate()
        frames = (lesson.frames - before) / (time.perf_counter() - began)
        sample = look(game, lesson)
        arithmetic = operations(lesson, sample.legal) if config.network == "paper" else None
    share = frames * arithmetic / peak(threads) if arithmetic else None
    moves = frames * sample.moves
    return Speed(name, threads, frames, moves, arithmetic, share, moves / theirs if theirs else None)


@contextmanager
def training(game: Game, config: Config, threads: int) -> Iterator[Training]:
    """A training in a folder that is gone afterwards."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)  # as `dmc.train` does: seats learn side by side
    with TemporaryDirectory() as folder:
        run = Run(Path(folder), "dmc", game, config, threads=threads)
        run.load()
        try:
            yield Training(game, config, run)
        finally:
            torch.set_num_threads(before)


def look(game: Game, lesson: Training) -> Sample:
    """Counts what there is in some games of the networks."""
    player = partial(lesson.network().evaluator, game)
    decisions = Recorder(game, [player() for _ in range(game.players)], [True] * game.players, SAMPLE).play(Rng(1), 0.0)
    legal = np.mean([len(game.actions(state)) for state in decisions.states])
    return Sample(decisions.steps / len(decisions.actions), float(legal))


def operations(lesson: Training, legal: float) -> float:
    """Multiplications and additions of a frame: acting, and learning, which is forward once and backward twice."""
    found = []
    for student in lesson.students.values():
        state, move = (part.architecture.multiply_adds for part in student.parts.values())
        found.append(state + legal * move + 3 * lesson.config.passes * (state + move))
    return 2 * float(np.mean(found))


def peak(threads: int) -> float:
    """Floating-point operations a second in a product of large matrices by PyTorch: the best of some."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    left, right = torch.rand(PRODUCT, PRODUCT), torch.rand(PRODUCT, PRODUCT)
    best = np.inf
    for _ in range(10):
        began = time.perf_counter()
        torch.mm(left, right)
        best = min(best, time.perf_counter() - began)
    torch.set_num_threads(before)
    return 2 * PRODUCT**3 / best


# ---- DouZero's own training

GIT = """
class InvalidGitRepositoryError(Exception): pass
def Repo(**options): raise InvalidGitRepositoryError
"""  # stands for GitPython, by which DouZero notes the commit that it is run from
TRAIN = """
from douzero.dmc import parser, train
if __name__ == "__main__":
    train(parser.parse_args())
"""
WATCH = """
import os, signal, threading, time

def end_with(parent):
    while os.getppid() == parent:
        time.sleep(0.5)
    os.killpg(0, signal.SIGKILL)

if __name__ == "__main__":
    threading.Thread(target=end_with, args=[os.getppid()], daemon=True).start()
"""  # whoever measures may be killed, and then nobody else ends the actors
OPTIONS = ("--actor_device_cpu", "--training_device", "cpu", "--disable_checkpoint", "--num_threads", "1")


def douzero(seconds: float, actors: int = 1) -> float:
    """Frames a second of DouZero's training with its usual settings, an actor process and a learner thread a position.

    The first step of each position is left out: until then the buffers were filled. The time goes to the step with
    which each of the three has been served as often, however many seconds that takes.
    """
    load("douzero.env.env")
    with TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "train.py").write_text(WATCH + TRAIN)
        if importlib.util.find_spec("git") is None:
            (root / "git.py").write_text(GIT)
        command = [sys.executable, "train.py", *OPTIONS, "--num_actors", str(actors), "--savedir", folder]
        with (root / "said").open("w") as said:
            process = subprocess.Popen(
                command, cwd=root, stdout=said, stderr=said, process_group=0,
                env={**os.environ, "PYTHONPATH": folder},
            )  # fmt: skip
            try:
                return _frames_a_second(root / "douzero" / "logs.csv", process, seconds)
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)  # its actors too
                process.wait()


def _frames_a_second(path: Path, process: subprocess.Popen[bytes], seconds: float) -> float:
    """Waits until enough steps of the learner stand in the log, and says how fast they came."""
    until = time.monotonic() + PATIENCE * seconds
    while time.monotonic() < until and process.poll() is None:
        time.sleep(0.5)
        steps = _steps(path)
        if len(steps) >= STEPS and steps[-1][0] - steps[POSITIONS - 1][0] >= seconds:
            (began, before), (ended, after) = steps[POSITIONS - 1], steps[-1]
            return (after - before) / (ended - began)
    raise TapeteError(f"DouZero's train did not get as far as {STEPS} steps in {PATIENCE * seconds:g} seconds")


def _steps(path: Path) -> list[tuple[float, float]]:
    """Seconds and frames at each step of the learner, whole rounds of the three positions."""
    if not path.exists():
        return []
    with path.open() as file:
        header = file.readline().removeprefix("# ").strip().split(",")
        rows = list(csv.DictReader(file, header))
    steps = [(float(row["_time"]), float(row["frames"])) for row in rows if row.get("frames")]
    return steps[: len(steps) // POSITIONS * POSITIONS]
