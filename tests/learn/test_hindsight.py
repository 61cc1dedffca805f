"""The learner that looks back: small runs, on any threads and in pieces, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tapete.core import TapeteError, make
from tapete.games.holdem.chromosome import Chromosome
from tapete.games.holdem.styles import styles
from tapete.learn import configure
from tapete.learn.hindsight import Config, Training, train
from tapete.learn.run import Run, read_metrics
from tests.learn.pieces import run_in_pieces

TABLE = make("holdem(players=10,rake=0.05,rake_cap=3)")
SMALL = Config(rounds=3, deals=2, seed=5)


def mended(folder: Path, config: Config = SMALL, **terms: Any) -> Path:
    run = Run(folder, "hindsight", TABLE, config, **terms)
    try:
        train(TABLE, config, run)
    finally:
        run.close()
    return folder


def test_a_run_is_the_same_on_any_threads_and_in_pieces(tmp_path: Path) -> None:
    whole, two = mended(tmp_path / "one"), mended(tmp_path / "two", threads=2)
    cut = tmp_path / "cut"

    def begin(**terms: Any) -> Run:
        return Run(cut, "hindsight", TABLE, SMALL, **terms)

    assert run_in_pieces(lambda run: train(TABLE, SMALL, run), begin) > 1
    lines = [[{**line, "seconds": 0} for line in read_metrics(folder)] for folder in (whole, two, cut)]
    assert lines[0] == lines[1] == lines[2]
    assert [line["round"] for line in lines[0]] == [1, 2, 3]
    players = [(folder / "network.safetensors").read_bytes() for folder in (whole, two, cut)]
    assert players[0] == players[1] == players[2]
    about = Chromosome.load(whole / "network.safetensors").about
    assert (about["game"], about["learner"], about["rounds"]) == (str(TABLE), "hindsight", 3)


def test_it_begins_from_a_player_and_meets_trainers(tmp_path: Path) -> None:
    rock = tmp_path / "rock.safetensors"
    styles()["rock"].save(rock)
    config = configure("hindsight", ["rounds=1", "deals=1", f"trainers={'+'.join([str(rock)] * 9)}"])
    run = Run(tmp_path / "run", "hindsight", TABLE, config, source=rock)
    training = Training(TABLE, config, run)
    run.open(training.restore, training.begin)
    run.close()
    assert np.array_equal(training.player.thresholds, styles()["rock"].thresholds)
    assert np.array_equal(training.tables["its trainers"][8].classes, styles()["rock"].classes)
    with pytest.raises(TapeteError, match="trainers must be 9 players, not 1"):
        mended(tmp_path / "few", Config(trainers=str(rock)))


def test_a_table_counts_the_more_the_less_is_won_there(tmp_path: Path) -> None:
    training = Training(TABLE, SMALL, Run(tmp_path / "run", "hindsight", TABLE, SMALL))
    weights = training._weights(np.array([0.3, -0.1, 0.1, 90.0]))
    assert weights[1] == 1
    assert weights[1] > weights[2] > weights[0] > weights[3] > 0
