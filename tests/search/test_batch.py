"""Many trees at once are the trees that would have grown alone."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tapete.core import TERMINAL, Rng, State, TapeteError, make
from tapete.nets import Network
from tapete.nets.zoo import residual
from tapete.search import MCTS, Budget
from tapete.search.batch import Forest

GAME = make("othello(size=6)")
NETWORK = Network.random(residual((3, 6, 6), 37, channels=8, blocks=1), Rng(1))


def predict(observations: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    said = NETWORK.forward(observations)
    return said[:, NETWORK.architecture.outputs["value"].start], said[:, NETWORK.architecture.outputs["policy"]]


def positions(count: int) -> list[State]:
    found = []
    for number in range(count):
        rng, state = Rng(5, number), GAME.start()
        while not state.over and len(state.history or ()) < 3 * number:
            state.apply(rng.choice(state.actions()))
        found.append(state)
    return found


def forest_of(states: list[State], nodes: int = 4000) -> Forest:
    forest = Forest(states[0].game, len(states), nodes)
    for root, state in zip(forest.roots, states, strict=True):
        root[:] = state.data
    forest.plant(np.arange(len(states)))
    return forest


def grown(states: list[State], simulations: int = 100) -> Forest:
    forest = forest_of(states)
    forest.grow(predict, simulations, rng=Rng(1))
    return forest


def test_each_tree_is_the_one_that_grows_alone() -> None:
    states = [state for state in positions(10) if not state.over]
    forest = grown(states)
    for visits, value, state in zip(forest.visits(), forest.values(), states, strict=True):
        search = MCTS(GAME, lambda: NETWORK.evaluator(GAME), keep=False)
        thought = search.run(state.view(state.player), Rng(1), Budget(iterations=100))
        assert {action: int(visits[action]) for action in thought.visits} == thought.visits
        assert visits.sum() == sum(thought.visits.values())
        tried = sum(thought.values[a] * n for a, n in thought.visits.items() if n)
        root = predict(state.view(state.player).observation()[None])[0][0]
        assert value == pytest.approx((tried + root) / (1 + visits.sum()), abs=1e-5)


def test_finished_games_wait() -> None:
    state = positions(4)[3]
    rng = Rng(3)
    while not state.over:
        state.apply(rng.choice(state.actions()))
    forest = grown([GAME.start(), state])
    assert forest.visits().sum(axis=1).tolist() == [99, 0]
    forest.step(np.array([int(forest.visits()[0].argmax()), -1], dtype=np.int32))
    assert forest.roots[1].tolist() == state.data.tolist()
    assert forest.trees[1, 0]["mover"] == TERMINAL


def test_only_those_that_are_asked_grow() -> None:
    forest = forest_of(positions(3))
    forest.grow(predict, 20, which=np.array([True, False, True]), rng=Rng(1))
    assert forest.visits().sum(axis=1).tolist() == [19, 0, 19]


def test_a_step_keeps_what_is_known() -> None:
    states = positions(3)
    forest = grown(states)
    actions = forest.visits().argmax(axis=1)
    before = forest.visits()[np.arange(3), actions]
    forest.step(actions.astype(np.int32))
    assert forest.trees[:, 0]["visits"].tolist() == before.tolist()
    for root, state, action in zip(forest.roots, states, actions, strict=True):
        assert root.tolist() == state.copy().apply(int(action)).data.tolist()
    forest.grow(predict, 10, rng=Rng(1))
    assert forest.visits().sum(axis=1).tolist() == (before + 9).tolist()


def test_without_memory_it_still_searches() -> None:
    forest = forest_of(positions(2), nodes=8)
    forest.grow(predict, 200, rng=Rng(1))
    assert forest.visits().sum(axis=1).tolist() == [199, 199]
    assert (forest.arrays.used[:, 0] <= forest.trees.shape[1]).all()


def test_noise_at_the_root_is_dirichlet() -> None:
    size, alpha = 400, 0.5
    forest = forest_of([GAME.start()] * size)
    which = np.arange(size) > 0
    forest.grow(predict, 1, noise=1.0, alpha=alpha, which=which, rng=Rng(7))
    first, count = forest.trees[1, 0]["first"], forest.trees[1, 0]["count"]
    priors = forest.trees[1:, first : first + count]["prior"]
    assert count == 4
    np.testing.assert_allclose(priors.sum(axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(priors.mean(axis=0), 1 / 4, atol=0.06)  # four deviations
    # Var = m (1 - m) / (4 alpha + 1), m = 1/4
    np.testing.assert_allclose(priors.var(), 3 / 16 / 3, rtol=0.2)
    assert forest.trees[0, 0]["count"] == 0, "this one was not asked"


def test_a_share_of_noise() -> None:
    plain, noisy = forest_of([GAME.start()]), forest_of([GAME.start()])
    plain.grow(predict, 1, rng=Rng(7))
    noisy.grow(predict, 1, noise=0.25, rng=Rng(7))
    first = plain.trees[0, 0]["first"]
    before, after = (forest.trees[0, first : first + 4]["prior"] for forest in (plain, noisy))
    noise = (after - 0.75 * before) / 0.25
    assert noise.sum() == pytest.approx(1, abs=1e-4)
    assert (noise >= -1e-6).all()


@pytest.mark.parametrize("name", ["kuhn", "domino(3,3)", "ocp(5)"])
def test_other_games_are_refused(name: str) -> None:
    with pytest.raises(TapeteError, match="nothing is hidden"):
        Forest(make(name), 1, 10)


@pytest.mark.parametrize("plies", [3, 4])
def test_a_step_to_what_was_never_tried_begins_anew(plies: int) -> None:
    state, rng = GAME.start(), Rng(5)
    for _ in range(plies):
        state.apply(rng.choice(state.actions()))
    forest = forest_of([state])
    forest.grow(predict, 2, rng=Rng(1))
    untried = next(action for action in state.actions() if forest.visits()[0, action] == 0)
    forest.step(np.array([untried], dtype=np.int32))
    after = state.copy().apply(untried)
    assert forest.trees[0, 0]["mover"] == after.player
    assert forest.arrays.used[0, 0] == 1
    forest.grow(predict, 60, rng=Rng(1))
    assert forest.visits().tolist() == grown([after], 60).visits().tolist()


@pytest.mark.parametrize("c", [0.2, 3.0])
def test_the_constant_is_that_of_a_single_tree(c: float) -> None:
    state = positions(3)[2]
    forest = Forest(GAME, 1, 4000, c=c)
    forest.roots[0] = state.data
    forest.plant(np.arange(1))
    forest.grow(predict, 100, rng=Rng(1))
    search = MCTS(GAME, lambda: NETWORK.evaluator(GAME), c=c)
    thought = search.run(state.view(state.player), Rng(1), Budget(iterations=100))
    assert {action: int(forest.visits()[0, action]) for action in thought.visits} == thought.visits


def test_noise_stays_out_of_trees_that_are_not_asked() -> None:
    forest = grown(positions(2), 5)
    before = forest.trees["prior"].copy()
    forest.grow(predict, 1, noise=1.0, which=np.array([True, False]), rng=Rng(7))
    assert (forest.trees["prior"][1] == before[1]).all()
    assert (forest.trees["prior"][0] != before[0]).any()
