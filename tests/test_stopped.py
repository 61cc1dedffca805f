"""`train` and `solve` that are stopped by Ctrl-C or SIGTERM: saved, told how to go on, and as good as never stopped."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tapete import make
from tapete.learn import Run, configure
from tapete.solve import solve
from tests.conftest import Tapete


def stopped(arguments: list[str], number: int, is_time: Callable[[], bool]) -> tuple[int, str]:
    """Runs a command and sends it a signal when it is time: its exit status, and all that it said."""
    command = [sys.executable, "-c", "from tapete.cli import main; main()", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        end = time.monotonic() + 100
        while not is_time() and process.poll() is None:
            assert time.monotonic() < end
            time.sleep(0.01)
        process.send_signal(number)
        told, _ = process.communicate(timeout=100)
    return process.returncode, told


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_solver_that_is_stopped_says_how_to_go_on(tmp_path: Path, tapete: Tapete, number: int) -> None:
    file = tmp_path / "leduc.safetensors"
    checkpoint = file.with_name(f"{file.name}.checkpoint")
    arguments = ["solve", "leduc", "--save", str(file), "--checkpoint-every", "0"]
    status, told = stopped([*arguments, "--until", "0", "--time", "90"], number, checkpoint.exists)
    assert status == 130
    assert f"go on with: tapete {shlex.join(arguments)} --until 0 --time 90 --resume\n" in told
    assert checkpoint.exists()
    assert not file.exists()
    assert tapete(*arguments, "--until", "50%", "--resume").status == 0
    assert file.exists()


class Noted:
    """Sets an event after so many proofs."""

    def __init__(self, most: int) -> None:
        self.stop, self.most, self.iterations = Event(), most, list[int]()

    def __call__(self, progress: Any) -> None:
        self.iterations.append(progress.iterations)
        if len(self.iterations) == self.most:
            self.stop.set()


def test_a_solution_is_the_same_as_if_nobody_had_stopped_it(tmp_path: Path) -> None:
    noted = Noted(4)
    with pytest.raises(KeyboardInterrupt):
        solve(make("leduc"), until=0, iterations=200, save=tmp_path / "cut", watch=noted, stop=noted.stop)
    assert len(noted.iterations) == 4
    solve(make("leduc"), until=0, iterations=200, save=tmp_path / "cut", resume=True)
    solve(make("leduc"), until=0, iterations=200, save=tmp_path / "whole")
    assert (tmp_path / "cut").read_bytes() == (tmp_path / "whole").read_bytes()


def test_who_is_stopped_at_the_very_end_has_ended(tmp_path: Path) -> None:
    noted = Noted(2)
    progress, _ = solve(make("kuhn"), until=0, iterations=10, save=tmp_path / "x", watch=noted, stop=noted.stop)
    assert progress.iterations == 10


def test_a_run_is_out_of_time_when_it_is_stopped(tmp_path: Path) -> None:
    stop = Event()
    run = Run(tmp_path, "ntuple", make("othello"), configure("ntuple", []), stop=stop)
    assert [run.out_of_time, run.due] == [False, False]
    stop.set()
    assert [run.out_of_time, run.due] == [True, True]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_is_saved_and_says_how_to_go_on(tmp_path: Path, number: int) -> None:
    folder = tmp_path / "run"
    arguments = ["train", "othello(size=4)", "--with", "ntuple", "--run", str(folder)]
    metrics = folder / "metrics.jsonl"
    status, told = stopped(arguments, number, lambda: metrics.exists() and metrics.stat().st_size > 0)
    assert status == 130
    assert f"go on with: tapete train --run {folder} --resume\n" in told
    assert (folder / "checkpoint.safetensors").exists()
