"""A run that is killed with SIGKILL and resumed ends, bit by bit, as one that was not."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tapete.learn.run import read_metrics
from tests.learn.pieces import run_and_kill, run_to_the_end

RUNS = {
    "mcts-value": [
        "games=20",
        "iterations=5",
        "network_games=4",
        "network_iterations=3",
        "epochs=3",
        "symmetries=true",
    ],
    "dqn": ["iterations=8", "tables=6", "steps=2", "batch=16", "buffer=150", "hidden=8", "target=3", "every=2"],
    "nfsp": [
        *("iterations=8", "tables=6", "steps=2", "batch=16", "buffer=150", "reservoir=20", "hidden=8", "target=3"),
        *("every=2", "eta=0.3"),
    ],
    "zero": [
        *("playout_games=4", "playouts=20", "generations=4", "games=6", "tables=3", "simulations=6", "short=3"),
        *("channels=4", "blocks=1", "batch=32", "gate_games=2"),
    ],
    "ppo": ["iterations=6", "tables=16", "hidden=8", "every=2"],
    "mmd": ["iterations=6", "tables=16", "hidden=8", "every=2"],
    "deep-cfr": [
        *("iterations=6", "walks=1", "steps=5", "average_steps=5", "batch=16", "hidden=8", "layers=1", "buffer=500"),
        "average=stored",
    ],
}
CARDS = {"ppo": "leduc", "mmd": "leduc"}  # learners of hidden information; the others play Othello


@pytest.mark.parametrize("learner", RUNS)
def test_killed_and_resumed_is_the_same(tmp_path: Path, learner: str) -> None:
    knobs, game = RUNS[learner], CARDS.get(learner, "othello(size=4)")
    run_to_the_end(tmp_path / "whole", learner, game, knobs)
    assert run_and_kill(tmp_path / "cut", learner, game, knobs, 4) == -signal.SIGKILL
    assert not (tmp_path / "cut" / ".config.json").exists()
    run_to_the_end(tmp_path / "cut", learner, game, knobs)
    whole, cut = ((tmp_path / name / "network.safetensors").read_bytes() for name in ("whole", "cut"))
    assert whole == cut
    lines = [[{**line, "seconds": 0} for line in read_metrics(tmp_path / name)] for name in ("whole", "cut")]
    assert lines[0] == lines[1], "the metrics too, but for the time"
