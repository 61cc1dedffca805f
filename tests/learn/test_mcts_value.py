"""The paper's pipeline: what the labels say, when it stops, and that it learns."""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tapete.core import Rng, State, make
from tapete.learn.mcts_value import Config
from tapete.learn.mcts_value.training import Patience, Training, class_weights, play, train
from tapete.learn.positions import observe
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
    training = Training(GAME, TINY, begin(tmp_path))
    training.run.load()
    assert training.play()
    rows, held = training.split()
    assert sorted([*rows, *held]) == list(range(len(training.data.states)))
    apart = set(training.data.games[rows].tolist()), set(training.data.games[held].tolist())
    assert not apart[0] & apart[1]
    assert len(apart[1]) == 2  # a tenth of 20 games
    training.end_generation()
    assert training.play()
    later = set(training.data.games[training.split()[1]].tolist())
    assert apart[1] < later, "who validated once, never learns"
    assert max(later) >= 20


def test_the_rate_falls_on_a_plateau_and_the_best_weights_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = Config(games=6, iterations=4, generations=1, epochs=30, plateau=2, patience=5)
    training = Training(GAME, config, begin(tmp_path, config))
    training.run.load()
    losses = iter([0.9, 0.5, *[0.7] * 28])
    best: list[np.ndarray] = []

    def validate(rows: Any) -> tuple[float, float]:
        best.append(training.model.layers["value"].weight.detach().numpy().copy())  # type: ignore[operator]
        return next(losses), 0.5

    monkeypatch.setattr(training, "validate", validate)
    assert training.play()
    assert training.fit()
    rates = [line["rate"] for line in read_metrics(tmp_path)]
    assert len(rates) == 7, "two epochs that got better, and five more"
    assert rates == pytest.approx([0.001] * 4 + [0.0008] * 2 + [0.00064])
    training.end_generation()
    np.testing.assert_array_equal(training.model.layers["value"].weight.detach().numpy(), best[1])  # type: ignore[operator]
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


@pytest.mark.parametrize("weighted", [False, True])
def test_the_loss_weighs_classes_or_not(tmp_path: Path, weighted: bool) -> None:
    """With a step size of next to nothing, the loss of an epoch is that of the network as it is."""
    config = Config(games=12, iterations=6, generations=1, rate=1e-9, epochs=1, class_weights=weighted, batch=10_000)
    training = Training(GAME, config, begin(tmp_path, config))
    training.run.load()
    assert training.play()
    for module in training.model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    rows, _ = training.split()
    results = training.data.results[rows]
    assert len({int((results == k).sum()) for k in (-1, 1)}) == 2, "there are more of one kind"
    with torch.no_grad():
        said = training.model.eval()(torch.from_numpy(observe(GAME, training.data.states[rows])))[:, 0].numpy()
    errors = (said - results) ** 2
    expected = np.mean([errors[results == k].mean() for k in np.unique(results)]) if weighted else errors.mean()
    assert abs(errors.mean() - np.mean([errors[results == k].mean() for k in np.unique(results)])) > 1e-3
    assert training.fit()
    assert read_metrics(tmp_path)[0]["loss"] == pytest.approx(expected, rel=1e-4)


def test_dropout_is_for_learning_only_and_drawn_from_the_seed(tmp_path: Path) -> None:
    config = Config(games=6, iterations=4, generations=1, epochs=2, batch=32)
    weights: list[dict[str, np.ndarray]] = []
    for name in ("one", "two"):
        training = Training(GAME, config, begin(tmp_path / name, config))
        training.run.load()
        modes: list[tuple[bool, bool]] = []
        dropout = next(module for module in training.model.modules() if isinstance(module, torch.nn.Dropout))

        def look(module: Any, given: Any, out: torch.Tensor, modes: list[tuple[bool, bool]] = modes) -> None:
            modes.append((torch.is_grad_enabled(), bool((out == given[0]).all())))

        dropout.register_forward_hook(look)
        assert training.play()
        torch.rand(len(weights) + 1)  # whatever PyTorch's own generator is asked for between, it plays no part
        before = torch.random.get_rng_state()
        assert training.fit()
        assert torch.equal(before, torch.random.get_rng_state())
        assert (True, False) in modes
        assert (False, True) in modes
        assert set(modes) == {(True, False), (False, True)}, "nothing is left out when it is asked"
        weights.append(training.best)
    assert all((weights[0][name] == weights[1][name]).all() for name in weights[0])


def test_a_run_that_is_stopped_on_a_plateau_ends_the_same(tmp_path: Path) -> None:
    """The rate has fallen, and nearly all patience is gone: both are remembered."""
    config = Config(
        games=10, iterations=4, generations=2, epochs=9, plateau=1, patience=3, factor=0.3, rate=0.02, batch=32
    )
    train(GAME, config, begin(tmp_path / "whole", config))
    places = run_in_pieces(partial(train, GAME, config), partial(begin, tmp_path / "cut", config))
    lines = [[{**line, "seconds": 0} for line in read_metrics(tmp_path / name)] for name in ("whole", "cut")]
    assert lines[0] == lines[1]
    assert len({line["rate"] for line in lines[0]}) > 1
    assert places >= len(lines[0])


@pytest.mark.parametrize(("generation", "games", "iterations"), [(0, 20, 10), (1, 6, 4), (2, 6, 4)])
def test_generations_with_a_network_have_their_own_knobs(generation: int, games: int, iterations: int) -> None:
    assert (TINY.games_of(generation), TINY.iterations_of(generation)) == (games, iterations)
    usual = Config(games=20, iterations=10)
    assert (usual.games_of(generation), usual.iterations_of(generation)) == (20, 10)
