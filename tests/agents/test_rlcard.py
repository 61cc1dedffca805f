"""RLCard's rules as an agent: what they are told of our game is what RLCard tells them of its own."""

from __future__ import annotations

import pytest

from tapete.agents import load
from tapete.arena import match
from tapete.core import Rng, TapeteError, make
from tapete.games.doudizhu.notation import trace


def test_the_trace_is_the_end_of_the_games_moves():
    game, rng = make("doudizhu"), Rng(5)
    for _ in range(3):
        state = game.start().deal(rng)
        played: list[tuple[int, str]] = []
        while not state.over:
            assert trace(game.record(state.data)) == played[-15:]
            action = rng.choice(state.actions())
            played.append((state.player, state.write(action)))
            state.apply(action)


def test_the_rules_beat_random_play_on_both_sides():
    for lineups in (("ABB", "BAA"), ()):
        result = match("doudizhu", "rlcard", "random", games=36, lineups=lineups, seed=1)
        assert result.win_share > 0.7


def test_they_draw_from_the_stream_that_they_are_handed():
    one, two = (match("doudizhu", "rlcard", "rlcard", games=6, lineups=["ABB", "BAA"], seed=3) for _ in range(2))
    assert [game.actions for game in one.games] == [game.actions for game in two.games]


def test_other_games_have_no_such_rules():
    for name in ("kuhn", "doudizhu(bidding=true)"):
        with pytest.raises(TapeteError, match="RLCard has no rules"):
            load("rlcard", make(name))
