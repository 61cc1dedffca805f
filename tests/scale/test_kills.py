"""kill -9 at fifty random moments of each kind of job, resumed each time: it ends as if nothing had happened."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tapete import arena
from tapete.core import make
from tapete.core.arrays import read_arrays
from tapete.learn.run import CHECKPOINT, FILES
from tapete.scale import Local
from tapete.solve import solve
from tests.learn.pieces import run_to_the_end

pytestmark = pytest.mark.slow

KILLS = 50
LONGEST = 0.6  # seconds until a kill; the moments are drawn evenly
EVOLUTION = ["replacements=4", "generations=6", "population=24", "deals=3", "test_deals=2", "mutations=40"]
DMC = ["frames=6000", "games=32", "units=16", "trunk=16", "memory=400", "batch=64", "every=5"]


def tournament(folder: Path) -> Any:
    agents = ["random", "ismcts(50)", "ismcts(100)", "equilibrium"]
    found = arena.tournament("leduc", agents, games=200, folder=folder, resume=True, executor=Local(2))
    return [game._replace(seconds=(0, 0)) for match in found.matches.values() for game in match.games]


def evolution(folder: Path) -> Any:
    run_to_the_end(folder, "coevolution", "holdem(players=10)", EVOLUTION)
    return (folder / FILES.network).read_bytes()


def dmc(folder: Path) -> Any:
    run_to_the_end(folder, "dmc", "leduc", DMC)
    return (folder / FILES.network).read_bytes()


def walkers(folder: Path) -> Any:
    order: dict[str, Any] = {"algorithm": "mccfr-external", "until": 0.0, "iterations": 60_000, "walkers": 3}
    folder.mkdir(exist_ok=True)
    solve(make("leduc"), save=folder / "solution", resume=True, checkpoint_every=0, executor=Local(2), **order)
    return (folder / "solution").read_bytes()


def begin_and_kill(job: Callable[[Path], Any], folder: Path, seconds: float) -> bool:
    """Does a job in a fork of this process, which is killed after some time; whether it was done before that."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            job(folder)
            status = 0
        finally:
            os._exit(status)  # nothing of this process goes on in the other
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            assert os.waitstatus_to_exitcode(status) == 0, "what was left could not be resumed"
            return True
        time.sleep(0.005)
    os.kill(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    assert os.waitstatus_to_exitcode(status) in (0, -signal.SIGKILL)
    return os.waitstatus_to_exitcode(status) == 0


@pytest.mark.parametrize("job", [tournament, evolution, dmc, walkers], ids=lambda job: job.__name__)
def test_killed_at_fifty_moments_it_ends_the_same(tmp_path: Path, job: Callable[[Path], Any]) -> None:
    whole = job(tmp_path / "whole")  # and all is compiled now, so that kills come in the middle of the work
    moments, kills, ends = random.Random(15), 0, 0
    while kills < KILLS:
        cut = tmp_path / f"cut-{ends}"
        if begin_and_kill(job, cut, moments.uniform(0, LONGEST)):
            assert job(cut) == whole
            ends += 1
        else:
            kills += 1
    assert job(tmp_path / f"cut-{ends}") == whole
    print(f"{job.__name__}: {kills} kills, {ends + 1} times to the end, always the same")


def test_asynchronous_actors_lose_a_checkpoint_interval_at_most(tmp_path: Path) -> None:
    """A checkpoint comes after every iteration here; what was remembered is never forgotten, and never damaged."""
    knobs, cut, moments, kills = [*DMC, "frames=60000", "asynchronous=true"], tmp_path / "cut", random.Random(15), 0
    run_to_the_end(tmp_path / "whole", "dmc", "leduc", [*DMC, "asynchronous=true"])

    def job(folder: Path) -> None:
        run_to_the_end(folder, "dmc", "leduc", knobs)

    reached = [0]
    while kills < KILLS:
        done = begin_and_kill(job, cut, moments.uniform(0, LONGEST))
        if (cut / FILES.checkpoint).exists():
            reached.append(int(read_arrays(cut / FILES.checkpoint, CHECKPOINT)[1]["notes"]["frames"]))
            assert reached[-1] >= reached[-2]
        if done:
            cut, reached = tmp_path / f"cut-{kills}", [0]
        else:
            kills += 1
    job(cut)
    assert (cut / FILES.network).exists()
    print(f"asynchronous: {kills} kills")
