"""The paper's pipeline: what the labels say, when it stops, and that it learns."""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tapete.core import Rng, State, make
from tapete.learn.mcts_value import Config
from tapete.learn.mcts_value.training import Patience, Training, class_weights, play, train
from tapete.learn.run import Run, read_metrics
from tapete.nets import Network
from tapete.search import playouts
from tests.learn.pieces import run_in_pieces

GAME = make("othello(size=4)")
TINY = Config(games=20, iterations=10, generations=2, network_games=6, network_iterations=4, epochs=3, batch=64)


def begin(folder: Path, config: Config = TINY, **more: Any) -> Run:
    return Run(folder, "mcts-value", GAME, config, **more)


def test_every_position_of_a_game_has_the_result_of_its_mover() -> None:
    for number in range(10):
        data = play(GAME, TINY, playouts, 10, Rng(3, number), number)
        states = [State(GAME, row.copy(), None) for row in data.states]
        assert states[0] == GAME.start()
        for state, after in pairwise(states):
            assert after in [state.copy().apply(action) for action in state.actions()], "they follow from one another"
        ends = [end.returns() for end in (states[-1].copy().apply(a) for a in states[-1].actions()) if end.over]
        results = [result if state.player == 0 else -result for state, result in zip(states, data.results, strict=True)]
        assert len(set(results)) == 1, "seat 0 has one result"
        assert [results[0], -results[0]] in ends
        assert set(data.games.tolist()) == {number}


def test_the_search_sits_on_either_side_and_wins() -> None:
    game = make("othello(size=6)")
    won = [play(game, Config(), playouts, 60, Rng(5, n), n).results[0] * (1 if n % 2 == 0 else -1) for n in range(24)]
    assert sum(won[0::2]) > 6
    assert sum(won[1::2]) > 6


def test_openings_are_random_and_the_rest_is_not() -> None:
    config = Config(opponent="mcts", openings=3)
    games = [play(GAME, config, playouts, 10, Rng(7, n), n).states[3].tobytes() for n in range(12)]
    assert len(set(games)) > 3
    again = play(GAME, config, playouts, 10, Rng(7, 0), 0)
    assert again.states[3].tobytes() == games[0]


def test_classes_weigh_the_same() -> None:
    results = np.array([1, 1, 1, 1, 1, -1, -1, 0], dtype=np.float32)
    weights = class_weights(results)
    assert [weights[results == k].sum() for k in (1, 0, -1)] == pytest.approx([8 / 3] * 3)
    assert class_weights(np.ones(5, np.float32)).tolist() == [1] * 5


def test_patience_counts_epochs_without_improvement() -> None:
    patience = Patience(3)
    told = [(patience.improves(loss), patience.is_over) for loss in (1.0, 0.9, 0.9, 0.95, 0.8, 0.8, 0.81, 0.82)]
    assert [improves for improves, _ in told] == [True, True, False, False, True, False, False, False]
    assert [over for _, over in told] == [False] * 7 + [True]


def test_validation_games_are_whole_and_stay(tmp_path: Path) -> None:
    learner = Training(GAME, TINY, begin(tmp_path))
    learner.run.load()
    assert learner.play()
    rows, held = learner.split()
    assert sorted([*rows, *held]) == list(range(len(learner.data.states)))
    apart = set(learner.data.games[rows].tolist()), set(learner.data.games[held].tolist())
    assert not apart[0] & apart[1]
    assert len(apart[1]) == 2  # a tenth of 20 games
    learner.end_generation()
    assert learner.play()
    later = set(learner.data.games[learner.split()[1]].tolist())
    assert apart[1] < later, "who validated once, never learns"
    assert max(later) >= 20


def test_the_rate_falls_on_a_plateau_and_the_best_weights_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = Config(games=6, iterations=4, generations=1, epochs=30, plateau=2, patience=5)
    learner = Training(GAME, config, begin(tmp_path, config))
    learner.run.load()
    losses = iter([0.9, 0.5, *[0.7] * 28])
    best: list[np.ndarray] = []

    def validate(rows: Any) -> tuple[float, float]:
        best.append(learner.model.layers["value"].weight.detach().numpy().copy())  # type: ignore[operator]
        return next(losses), 0.5

    monkeypatch.setattr(learner, "validate", validate)
    assert learner.play()
    assert learner.fit()
    rates = [line["rate"] for line in read_metrics(tmp_path)]
    assert len(rates) == 7, "two epochs that got better, and five more"
    assert rates == pytest.approx([0.001] * 4 + [0.0008] * 2 + [0.00064])
    learner.end_generation()
    np.testing.assert_array_equal(learner.model.layers["value"].weight.detach().numpy(), best[1])  # type: ignore[operator]
    half = Network.load(tmp_path / "network.safetensors").weights["value.weight"]
    np.testing.assert_array_equal(half, best[1].astype(np.float16).astype(np.float32))


def test_it_learns_who_wins(tmp_path: Path) -> None:
    config = Config(games=150, iterations=100, opponent="mcts", openings=6, generations=1, epochs=8, symmetries=True)
    train(GAME, config, begin(tmp_path, config))
    lines = read_metrics(tmp_path)
    assert lines[-1]["loss"] < 0.8 * lines[0]["loss"]
    assert max(line["winner_right"] for line in lines) > 0.7
    assert Network.load(tmp_path / "network.safetensors").about["game"] == "othello(size=4)"


@pytest.mark.parametrize("symmetries", [False, True])
def test_a_run_that_is_stopped_anywhere_ends_the_same(tmp_path: Path, symmetries: bool) -> None:
    config = Config(**{**TINY.__dict__, "symmetries": symmetries})

    train(GAME, config, begin(tmp_path / "whole", config))
    places = run_in_pieces(partial(train, GAME, config), partial(begin, tmp_path / "cut", config))
    assert places >= 6
    assert math.isfinite(read_metrics(tmp_path / "cut")[-1]["loss"])
    whole, cut = ((tmp_path / name / "network.safetensors").read_bytes() for name in ("whole", "cut"))
    assert whole == cut
