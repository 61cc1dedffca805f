"""Our rules against OpenSpiel's, state by state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyspiel

from tapete.core.contract import CHANCE, TERMINAL
from tapete.core.game import State
from tapete.core.names import make
from tapete.core.rng import Rng

Translate = Callable[[State, int], int]  # an action of ours at a state, as OpenSpiel numbers it
PLAYERS = {CHANCE: pyspiel.PlayerId.CHANCE, TERMINAL: pyspiel.PlayerId.TERMINAL}


def same_number(state: State, action: int) -> int:
    """For games that number the actions alike."""
    return action


def expect_same_state(state: State, peer: Any, translate: Translate) -> None:
    """Who moves, what may be done, what chance does how often, what is paid."""
    assert peer.current_player() == PLAYERS.get(state.player, state.player), str(state)
    if state.over:
        assert peer.returns() == state.returns(), str(state)
    elif state.player == CHANCE:
        ours = {translate(state, action): prob for action, prob in state.outcomes()}
        theirs = dict(peer.chance_outcomes())
        assert ours.keys() == theirs.keys(), str(state)
        assert all(abs(ours[key] - theirs[key]) < 1e-12 for key in ours), str(state)
    else:
        assert sorted(translate(state, action) for action in state.actions()) == peer.legal_actions(), str(state)


def expect_same_tree(game: str, peer_game: Any, translate: Translate = same_number) -> int:
    """Every state of a small game, and that the information sets are the same; returns how many sets there are."""
    their_names: dict[int, str] = {}
    our_keys: dict[str, int] = {}

    def walk(state: State, peer: Any) -> None:
        expect_same_state(state, peer, translate)
        if state.player >= 0:
            key, name = state.infoset(state.player), peer.information_state_string()
            assert their_names.setdefault(key, name) == name, str(state)
            assert our_keys.setdefault(name, key) == key, str(state)
        for action in state.actions():
            walk(state.copy().apply(action), peer.child(translate(state, action)))

    walk(make(game).start(), peer_game.new_initial_state())
    return len(our_keys)


def expect_same_play(game: str, peer_game: Any, translate: Translate, *, games: int) -> None:
    """Random games."""
    ours = make(game)
    for i in range(games):
        rng, state, peer = Rng("spiel", i), ours.start(), peer_game.new_initial_state()
        while not state.over:
            expect_same_state(state, peer, translate)
            action = rng.choice(state.actions())
            peer.apply_action(translate(state, action))
            state.apply(action)
        expect_same_state(state, peer, translate)
