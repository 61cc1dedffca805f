"""Symmetries turn what is seen and what is done together: checked through the rules of Othello."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapete.core import Game, Rng, State, make
from tapete.learn.positions import Symmetries, observe

GAMES = {size: make(f"othello(size={size})") for size in (4, 6, 8)}


def random_position(game: Game, plies: int, rng: Rng) -> State:
    state = game.start()
    for _ in range(plies):
        if not state.over:
            before = state.copy()
            state.apply(rng.choice(state.actions()))
    return before if state.over else state


def turned(state: State, seen: np.ndarray) -> State:
    """The same mover in the position that an observation shows."""
    size = int(state.game.spec.parameters["size"])
    own, other = seen[: size * size], seen[size * size : 2 * size * size]
    mine, others = "XO" if state.player == 0 else "OX"
    squares = "".join(mine if a else others if b else "-" for a, b in zip(own, other, strict=True))
    return make(f"othello(size={size},position={squares}{mine})").start()


@settings(max_examples=60, deadline=None)
@given(size=st.sampled_from([4, 6, 8]), seed=st.integers(0, 10**6), plies=st.integers(1, 60), s=st.integers(0, 7))
def test_a_turned_position_is_played_as_the_other(size: int, seed: int, plies: int, s: int) -> None:
    game, rng = GAMES[size], Rng(seed)
    symmetries = Symmetries.of(game.spec)
    state = random_position(game, plies, rng)
    seen = observe(game, state.data[None])[0]
    other = turned(state, seen[symmetries.observations[s]])
    assert observe(other.game, other.data[None])[0].tolist() == seen[symmetries.observations[s]].tolist()
    # What there is of action `symmetries.actions[s, a]` in the old position is what there is of `a` in the new one.
    legal = np.isin(np.arange(game.spec.actions), state.actions())
    assert np.isin(np.arange(game.spec.actions), other.actions()).tolist() == legal[symmetries.actions[s]].tolist()
    after = int(rng.choice(other.actions()))
    other.apply(after)
    state.apply(int(symmetries.actions[s, after]))
    assert other.player == state.player
    assert other.returns() == state.returns()
    if not state.over:
        new = observe(game, state.data[None])[0]
        assert observe(other.game, other.data[None])[0].tolist() == new[symmetries.observations[s]].tolist()


@pytest.mark.parametrize("size", [4, 6, 8])
def test_the_eight_are_a_group(size: int) -> None:
    turns = Symmetries.of(GAMES[size].spec).actions
    known = {tuple(turn) for turn in turns}
    assert len(known) == 8
    assert {tuple(a[b]) for a in turns for b in turns} == known
    assert turns[0].tolist() == list(range(size * size + 1))


def test_without_a_board_nothing_is_turned() -> None:
    for name in ("kuhn", "dudo(4,1,1)"):
        spec = make(name).spec
        symmetries = Symmetries.of(spec)
        assert len(symmetries) == 1
        assert symmetries.observations[0].tolist() == list(range(spec.observation_size))
