"""Our games as PettingZoo environments: its own tests, and that an agent gets what its seat may know and is paid."""

from __future__ import annotations

import numpy as np
import pytest
from pettingzoo.test import api_test, seed_test

from tapete import IllegalAction, Rng, TapeteError, make
from tapete.bridges import pettingzoo
from tapete.bridges.pettingzoo import SeatsEnv
from tapete.core.names import playable


@pytest.mark.filterwarnings("ignore::UserWarning")  # that an observation with a mask is a dictionary
@pytest.mark.parametrize("name", playable())
def test_pettingzoos_own_tests_pass(name: str) -> None:
    api_test(pettingzoo.env(name), num_cycles=60)
    seed_test(lambda: pettingzoo.env(name), num_cycles=30)


@pytest.mark.parametrize("name", ["leduc", "holdem(players=3)", "truco(hand=true)", "goofspiel(cards=4)"])
def test_agents_see_what_views_show_and_are_paid_what_the_game_pays(name: str) -> None:
    env, game, rng = SeatsEnv(name), make(name), Rng(2)
    for number in range(5):
        env.reset(seed=number)
        deal = Rng("pettingzoo", number).spawn(0)
        state = game.start().deal(deal)
        paid = dict.fromkeys(env.agents, 0.0)
        while env.agents:
            agent = env.agent_selection
            seen, reward, over, cut, info = env.last()
            assert not cut
            paid[agent] += reward
            if over:
                env.step(None)
                continue
            seat = env.possible_agents.index(agent)
            assert seat == state.player
            for other, each in enumerate(env.possible_agents):
                numbers, shown = state.view(other).observation(), env.observe(each)
                assert (shown["observation"][: len(numbers)] == numbers).all()
                assert shown["action_mask"].any() == env.infos[each]["action_mask"].any() == (other == seat)
            assert np.flatnonzero(seen["action_mask"]).tolist() == state.actions()
            assert (info["action_mask"] == seen["action_mask"]).all()
            action = rng.choice(state.actions())
            env.step(action)
            state.apply(action).deal(deal)
        assert state.over
        assert list(paid.values()) == state.returns()


def test_an_illegal_move_ends_a_wrapped_game_and_is_refused_by_the_bare_one() -> None:
    bare = SeatsEnv("leduc")
    bare.reset(seed=1)
    before = bare.playing.data
    with pytest.raises(IllegalAction, match="action 0 can't be played here"):
        bare.step(0)  # nothing to fold from
    assert bare.playing.data == before
    wrapped = pettingzoo.env("leduc")
    wrapped.reset(seed=1)
    wrapped.step(0)
    assert all(wrapped.terminations.values())
    assert wrapped.rewards == {"seat_0": -13.0, "seat_1": 0.0}


def test_games_follow_a_seed_and_differ_from_each_other() -> None:
    env = SeatsEnv("truco")

    def hands(seed: int | None) -> bytes:
        env.reset(seed=seed)
        return env.playing.data

    first, second = hands(1), hands(None)
    assert first != second
    assert (hands(1), hands(None)) == (first, second)
    assert hands(2) != first


def test_the_table_is_drawn_as_the_agent_sees_it(capsys) -> None:
    env = pettingzoo.env("truco", render_mode="ansi")
    env.reset(seed=1)
    assert "▒▒ ▒▒ ▒▒" in env.render()
    assert "moves:" in env.render()
    loud = pettingzoo.env("kuhn", render_mode="human")
    loud.reset(seed=1)
    loud.step(0)
    assert "seat 1" in capsys.readouterr().out
    with pytest.raises(TapeteError, match="render_mode"):
        pettingzoo.env("kuhn", render_mode="rgb_array")
