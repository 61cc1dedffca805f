"""`tapete bench dmc`: what is counted, and that nothing of DouZero's is left running."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tapete.bench import dmc as bench
from tapete.core import TapeteError, make
from tapete.learn.dmc import Config
from tests.conftest import Tapete

# Stands for DouZero's train: three steps at once, a round a second of 3 x 3200 frames, and an actor beside it.
LIKE_DOUZERO = """
import os, subprocess, sys, time
folder = os.path.join(sys.argv[-1], "douzero")
os.makedirs(folder)
actor = subprocess.Popen(["sleep", "100"])
print(actor.pid, file=open(PIDS, "w"))
with open(os.path.join(folder, "logs.csv"), "w") as log:
    print("# _tick,_time,frames", file=log)
    for step in range(30):
        print(step, 1000 + step // 3, 3200 * step, sep=",", file=log, flush=True)
time.sleep(100)
"""


def test_the_peers_frames_are_those_of_whole_rounds_and_nothing_is_left(monkeypatch, tmp_path: Path):
    pids = tmp_path / "pids"
    monkeypatch.setattr(bench, "TRAIN", f"PIDS = {str(pids)!r}\n{LIKE_DOUZERO}")
    assert bench.douzero(2.0) == pytest.approx(9600)
    assert is_gone(int(pids.read_text()))


def test_the_peer_ends_with_whoever_measures(tmp_path: Path):
    pids = tmp_path / "pids"
    train = f"PIDS = {str(pids)!r}\n{LIKE_DOUZERO}"
    code = f"from tapete.bench import dmc; dmc.TRAIN = {train!r}; dmc.douzero(1000.0)"
    measuring = subprocess.Popen([sys.executable, "-c", code])
    until = time.monotonic() + 60
    while not (pids.exists() and pids.read_text()) and time.monotonic() < until:
        time.sleep(0.1)
    measuring.kill()
    measuring.wait()
    assert is_gone(int(pids.read_text()))


def is_gone(pid: int) -> bool:
    """Whether a process ends within some seconds; if not, it does now."""
    for _ in range(100):
        stat = Path(f"/proc/{pid}/stat")
        if not stat.exists() or stat.read_text().split()[2] == "Z":
            return True
        time.sleep(0.1)
    os.kill(pid, 9)
    return False


def test_a_peer_that_dies_gets_one_line(monkeypatch):
    monkeypatch.setattr(bench, "TRAIN", "raise SystemExit(1)")
    with pytest.raises(TapeteError, match="did not get as far"):
        bench.douzero(1.0)


def test_the_arithmetic_of_a_frame_is_the_papers():
    """The landlord's LSTM reads 5 x 162, his dense layers 128 + 319 + 54 numbers; the peasants' 111 more."""
    config = Config(**bench.PAPER)
    with bench.training(make("doudizhu"), config, 1) as lesson:
        lstm, trunk = 5 * (162 + 128) * 512, 54 * 512 + 4 * 512 * 512 + 512
        expected = [2 * (4 * (lstm + (128 + seen) * 512) + (7 + 3) * trunk) for seen in (319, 430, 430)]
        assert bench.operations(lesson, 7.0) == pytest.approx(sum(expected) / 3)


def test_it_prints_what_it_measures(tapete: Tapete, monkeypatch):
    knobs = {"games": 4, "units": 8, "trunk": 8, "batch": 16}
    monkeypatch.setattr(bench, "CASES", {"small": knobs})
    monkeypatch.setattr(bench, "douzero", lambda seconds: 10.0)
    done = tapete("bench", "dmc", "--peers", "--seconds", "0.1", "--json")
    theirs, *ours = json.loads(done.out)
    assert (theirs["moves"], theirs["frames"], theirs["ratio"]) == (10, None, 1)
    assert [(one["case"], one["threads"]) for one in ours] == [("small", 1), ("small", 2)]
    for one in ours:
        assert one["moves"] > one["frames"] > 0, "decisions without a choice count too"
        assert one["ratio"] == pytest.approx(one["moves"] / 10)
    assert "small" in tapete("bench", "dmc", "--seconds", "0.1", "--case", "mall").out
