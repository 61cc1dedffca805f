"""Every learner that is found, on Kuhn poker: it trains, it says how it plays, and what it learned plays anywhere.

A learner for other games refuses in one line and leaves nothing behind.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from tapete import learn
from tapete.agents.files import LOADERS, PLAYS
from tapete.arena.learning import evaluation
from tapete.core import TapeteError, make
from tapete.core.arrays import read_format
from tapete.learn.run import Run, read_metrics
from tapete.learn.runs import PastRun
from tests.learn.pieces import run_in_pieces

KUHN = make("kuhn")
JUDGE = evaluation(KUHN)
SMALL: dict[str, Any] = {  # of knobs by these names, where a learner has them
    "average_steps": 2,
    "batch": 16,
    "buffer": 500,
    "epochs": 1,
    "every": 1,
    "frames": 200,
    "games": 20,
    "hidden": 8,
    "iterations": 3,
    "layers": 1,
    "memory": 500,
    "minibatches": 1,
    "reservoir": 500,
    "steps": 2,
    "tables": 16,
    "trunk": 8,
    "units": 8,
    "walks": 20,
}
PLAY = """
import json, sys
sys.modules["torch"] = None
from tapete import agents, make
from tapete.core import Rng

game = make("kuhn")
for folder in json.loads(sys.argv[1]):
    for text in (folder, f"{folder}(40)"):
        policy = agents.load(text, game)
        for seed in range(6):
            state, rng = game.start(), Rng(seed)
            while not state.deal(rng).over:
                shares = policy.think(state.view(state.player), rng).probabilities
                assert list(shares) == state.actions() and abs(sum(shares.values()) - 1) < 1e-5, shares
                state.apply(max(shares, key=shares.get))
        print(text)
"""


def train(name: str, folder: Path, **terms: Any) -> None:
    found = learn.learner(name)
    config = found.config(**{knob.name: SMALL[knob.name] for knob in fields(found.config) if knob.name in SMALL})
    run = Run(folder, name, KUHN, config, evaluate=JUDGE, **terms)
    try:
        found.training()(KUHN, config, run)
    finally:
        run.close()


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folder of every learner that takes the game."""
    folders = {}
    for name in learn.learners():
        folder = tmp_path_factory.mktemp("runs") / name
        said = ""
        try:
            train(name, folder)
            folders[name] = folder
        except TapeteError as error:
            said = str(error)
        assert folder.exists() != bool(said), "who refuses leaves nothing behind"
        assert not said or ("kuhn" in said and "\n" not in said)
    return folders


def test_all_of_them_end_and_are_judged(trained: dict[str, Path]) -> None:
    for name, folder in trained.items():
        past = PastRun.read(folder)
        assert past.finished or past.total is None, f"{name} logs first how far it is, in units of a knob"
        assert past.resumes
        curve = past.curve()
        assert curve.points, name
        assert all(map(math.isfinite, past.last.values())), name
        if "exploitability" in past.last:
            assert all(0 <= y <= 4 for _, y in curve.points), name


def test_what_they_publish_says_how_it_plays(trained: dict[str, Path]) -> None:
    for name, folder in trained.items():
        file = folder / "network.safetensors"
        about = LOADERS[read_format(file)](str(file)).about
        assert (about["game"], about["learner"]) == ("kuhn", name)
        assert about["plays"] in PLAYS


def test_what_they_learned_plays_without_pytorch(trained: dict[str, Path]) -> None:
    """By itself, and in a search."""
    folders = [str(folder) for folder in trained.values()]
    played = subprocess.run(
        [sys.executable, "-c", PLAY, json.dumps(folders)], capture_output=True, text=True, check=False
    )
    assert played.returncode == 0, played.stderr
    assert played.stdout.split() == [text for folder in folders for text in (folder, f"{folder}(40)")]


def test_stopped_at_every_step_they_learn_the_same(trained: dict[str, Path], tmp_path: Path) -> None:
    for name, whole in trained.items():
        cut = tmp_path / name
        found = learn.learner(name)
        config = found.config(**PastRun.read(whole).about.config)

        def begin(folder: Path = cut, name: str = name, config: Any = config, **terms: Any) -> Run:
            return Run(folder, name, KUHN, config, evaluate=JUDGE, **terms)

        stops = run_in_pieces(lambda run, found=found, config=config: found.training()(KUHN, config, run), begin)
        assert stops > 0
        assert (cut / "network.safetensors").read_bytes() == (whole / "network.safetensors").read_bytes(), name
        lines = [[{**line, "seconds": 0} for line in read_metrics(folder)] for folder in (whole, cut)]
        assert lines[0] == lines[1], name
