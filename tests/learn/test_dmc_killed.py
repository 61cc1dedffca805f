"""Deep Monte Carlo of Dou Dizhu, killed with SIGKILL at moments that nobody chose."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tapete.core.arrays import read_arrays
from tapete.learn.run import CHECKPOINT, EVERY, FILES
from tapete.nets.moves import MoveNetwork

ROOT = Path(__file__).parents[2]
KILLS = 20
BETWEEN = 0.5  # seconds between checkpoints, so that the proof takes minutes

TRAIN = """
import sys
from pathlib import Path
from tests.learn.pieces import run_to_the_end

knobs = ["frames=400000", "games=32", "units=64", "trunk=32", "memory=5000", "batch=128", "every=100"]
run_to_the_end(Path(sys.argv[1]), "dmc", "doudizhu", knobs, lambda _: print("on", flush=True), float(sys.argv[2]))
"""


def start(folder: Path) -> subprocess.Popen[bytes]:
    """Begins the training, or goes on with it."""
    return subprocess.Popen([sys.executable, "-c", TRAIN, folder, str(BETWEEN)], cwd=ROOT, stdout=subprocess.PIPE)


def finish(folder: Path) -> None:
    """Runs it to the end."""
    training = start(folder)
    training.communicate()
    assert training.returncode == 0


def reached(folder: Path) -> int:
    """Frames that are remembered."""
    if not (folder / FILES.checkpoint).exists():
        return 0
    _, header = read_arrays(folder / FILES.checkpoint, CHECKPOINT)
    return int(header["notes"]["frames"])


@pytest.mark.slow
def test_killed_at_twenty_moments_it_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    assert EVERY + 10 < 60, "at most a minute is lost, the writing included"
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    finish(whole)
    moments, stops = random.Random(13), [0]
    for kill in range(KILLS):
        training = start(cut)
        assert training.stdout
        for _ in range(moments.randrange(40) if kill % 4 else 0):  # iterations; else perhaps before it has begun
            training.stdout.readline()
        time.sleep(moments.uniform(0, BETWEEN))
        training.kill()
        training.communicate()
        assert training.returncode == -signal.SIGKILL, "it was done too soon: it needs more frames"
        stops.append(reached(cut))
        if stops[-1] > stops[-2]:
            MoveNetwork.load(cut / FILES.network)
    assert stops == sorted(stops), "nothing that was remembered is forgotten"
    assert len(set(stops)) > KILLS / 4, "and it went on in between"
    finish(cut)
    assert (cut / FILES.network).read_bytes() == (whole / FILES.network).read_bytes()
