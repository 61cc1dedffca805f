"""A network as an evaluator: what it says in a search is what it says outside of it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import types

import tapete
from tapete.core import Game, Rng, State, TapeteError
from tapete.core.compile import (
    BYTES,
    DOUBLES,
    FLOATS,
    INTS,
    WORDS,
    float32_ptr,
    float64_ptr,
    int32_ptr,
    kernel,
    state_ptr,
    uint64_ptr,
)
from tapete.core.evaluator import Evaluator, open_evaluator
from tapete.nets import Architecture, Layer, Network
from tapete.nets.zoo import mlp, paper_cnn, residual


@kernel(types.void(types.uint64, WORDS, BYTES, types.int64, INTS, WORDS, WORDS, DOUBLES, FLOATS))
def _judge(
    address: Any, rulebook: Any, state: Any, seat: int, legal: Any, model: Any, rng: Any, values: Any, priors: Any
) -> None:
    open_evaluator(address)(
        uint64_ptr(rulebook), state_ptr(state), seat, int32_ptr(legal), len(legal), uint64_ptr(model), uint64_ptr(rng),
        float64_ptr(values), float32_ptr(priors),
    )  # fmt: skip


class Judgement(NamedTuple):
    values: np.ndarray
    priors: np.ndarray


def judge(evaluator: Evaluator, state: State) -> Judgement:
    legal = np.array(state.actions(), dtype=np.int32)
    said = Judgement(np.full(state.game.players, np.nan), np.full(len(legal), np.nan, np.float32))
    model, data = evaluator.model, state.data.copy()
    _judge(
        np.uint64(evaluator.address), state.game.rulebook, data, state.player, legal, model, Rng(1).words, *said
    )  # fmt: skip
    assert (data == state.data).all()
    return said


def positions(game: Game, games: int = 3) -> list[State]:
    found = []
    for seed in range(games):
        rng = Rng(seed)
        state = game.start().deal(rng)
        while not state.over:
            found.append(state.copy())
            state.apply(rng.choice(state.actions())).deal(rng)
    return found


def outside(network: Network, state: State) -> np.ndarray:
    row = np.zeros((1, state.game.spec.observation_size), dtype=np.float32)
    seen = state.view(state.player).observation()
    row[0, : len(seen)] = seen
    return network.forward(row)[0]


@pytest.mark.parametrize(
    ("name", "architecture"),
    [
        ("othello", paper_cnn()),
        ("othello", residual((3, 8, 8), 65, channels=8, blocks=1)),
        ("othello(size=6)", residual((3, 6, 6), 37, channels=8, blocks=1)),
        ("kuhn", mlp(tapete.make("kuhn").spec.observation_size, (20,), actions=2)),
        ("leduc", mlp(tapete.make("leduc").spec.observation_size, (20,), actions=3, values=2)),
    ],
)
def test_says_the_same_inside_and_outside(name: str, architecture: Architecture) -> None:
    game = tapete.make(name)
    network = Network.random(architecture, Rng(1))
    evaluator = network.evaluator(game)
    assert evaluator.priors == ("policy" in architecture.heads)
    scale = max(map(abs, game.spec.utility))
    for state in positions(game):
        values, priors = judge(evaluator, state)
        said = outside(network, state)
        value = said[architecture.outputs["value"]]
        assert values[state.player] == pytest.approx(value[0] * scale)
        assert values[1 - state.player] == pytest.approx((value[1] if len(value) > 1 else -value[0]) * scale)
        if evaluator.priors:
            logits = said[architecture.outputs["policy"]][state.actions()].astype(np.float64)
            right = np.exp(logits - logits.max())
            assert priors == pytest.approx(right / right.sum(), abs=1e-6)
        else:
            assert np.isnan(priors).all(), "untouched"


def test_several_players_in_turn() -> None:
    game = tapete.make("holdem(players=4)")
    network = Network.random(mlp(game.spec.observation_size, (20,), values=4), Rng(1))
    evaluator = network.evaluator(game)
    scale = max(map(abs, game.spec.utility))
    for state in positions(game, games=1):
        values, _ = judge(evaluator, state)
        said = outside(network, state)
        for i in range(4):
            assert values[(state.player + i) % 4] == pytest.approx(said[i] * scale)


def test_two_evaluators_do_not_share_their_scratch_memory() -> None:
    game = tapete.make("othello")
    network = Network.random(paper_cnn(), Rng(1))
    one, other = network.evaluator(game), network.evaluator(game)
    shared = [np.shares_memory(a, b) for a, b in zip(one.arrays, other.arrays, strict=True)]
    assert shared == [False, True, True, True, False, False, False]  # facts, the program, scratch, seen, said


def test_a_network_that_overflows_says_nothing() -> None:
    game = tapete.make("othello(size=4)")
    architecture = residual((3, 4, 4), 17, channels=4, blocks=1)
    weights = {name: np.full(shape, 3e38, np.float32) for name, shape in architecture.parameters.items()}
    values, priors = judge(Network(architecture, weights).evaluator(game), game.start())
    assert np.isfinite(values).all()
    assert abs(values).max() <= 1
    assert priors == pytest.approx(0.25)


def test_policy_without_value() -> None:
    game = tapete.make("kuhn")
    layers = (Layer("input", shape=(game.spec.observation_size,)), Layer("dense", units=2, name="policy"))
    network = Network.random(Architecture(layers, heads=("policy",)), Rng(1))
    values, priors = judge(network.evaluator(game), positions(game)[0])
    assert (values == 0).all()
    assert priors.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("game", "architecture", "words"),
    [
        ("othello(size=4)", paper_cnn(), "reads 128 numbers"),
        ("othello", residual((3, 8, 8), 64), "knows 64 actions"),
        ("holdem(players=4)", mlp(5), "values 1 seats"),
        ("othello", mlp(5, values=3), "values 3 seats"),
    ],
)
def test_networks_of_another_game(game: str, architecture: Architecture, words: str) -> None:
    with pytest.raises(TapeteError, match=words):
        Network.random(architecture, Rng(1)).evaluator(tapete.make(game))
