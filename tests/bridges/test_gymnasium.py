"""One seat of our games as Gymnasium environments: its own checks, and the same games at one table and at many."""

from __future__ import annotations

from collections import defaultdict

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from tapete import TapeteError, make
from tapete.bridges import gymnasium as ours
from tapete.core.names import playable
from tapete.core.players import random as at_random


@pytest.mark.filterwarnings("ignore::UserWarning")  # that observations have no bounds
@pytest.mark.parametrize("name", playable())
def test_gymnasiums_own_check_passes(name: str, capsys) -> None:
    check_env(gymnasium.make(f"tapete/{name}-v0", disable_env_checker=True).unwrapped)


def test_a_legal_action_is_always_offered_and_an_illegal_one_loses() -> None:
    env = ours.env("leduc", seat=1)
    for seed in range(50):
        seen, info = env.reset(seed=seed)
        over = False
        while not over:
            assert env.observation_space.contains(seen)
            assert (env.action_masks() == info["action_mask"]).all()
            legal = np.flatnonzero(info["action_mask"])
            assert len(legal)
            seen, reward, over, _, info = env.step(legal[seed % len(legal)])
            assert not info["illegal"]
        assert -13 <= reward <= 13
        assert not info["action_mask"].any()
    env.reset(seed=0)
    illegal = int(np.flatnonzero(env.action_masks() == 0)[0])
    _, reward, over, cut, info = env.step(illegal)
    assert (reward, over, cut, info["illegal"]) == (-13.0, True, False, True)
    with pytest.raises(TapeteError, match="reset it"):
        env.step(1)


def test_any_agent_may_be_the_opponent() -> None:
    """Against an equilibrium of Kuhn poker, who always passes or folds loses its ante whenever it is bet into."""
    for opponent in ("equilibrium", at_random):
        env = ours.env("kuhn", opponent=opponent)
        rewards = []
        for seed in range(30):
            env.reset(seed=seed)
            over = False
            while not over:
                _, reward, over, _, _ = env.step(0)
            rewards.append(reward)
        assert set(rewards) <= {-1.0, 1.0}
        assert -1.0 in rewards
    with pytest.raises(TapeteError, match="there is no agent"):
        ours.env("kuhn", opponent="nobody")
    with pytest.raises(TapeteError, match="seats 0 to 1"):
        ours.env("kuhn", seat=2)


def test_many_tables_play_as_one_does() -> None:
    """What follows what the seat saw and did is as likely at one table as at many (kuhn, 4 standard errors)."""
    means = []
    counts: list[dict[bytes, int]] = []
    for env in (ours.env("kuhn", seat=1), ours.vector_env("kuhn", 64, seat=1)):
        many = isinstance(env, ours.SeatVectorEnv)
        draw = np.random.default_rng(1)
        seen, info = env.reset(seed=1)
        rewards: list[float] = []
        begun: dict[bytes, int] = defaultdict(int)
        while len(rewards) < 3000:
            masks = info["action_mask"] if many else info["action_mask"][None]
            actions = np.array([draw.choice(np.flatnonzero(mask)) for mask in masks])
            seen, reward, over, _, info = env.step(actions if many else actions[0])
            rewards += np.atleast_1d(reward)[np.atleast_1d(over)].tolist()
            if not many and over:
                seen, info = env.reset()
            for row in np.atleast_2d(seen)[np.atleast_1d(over)]:
                begun[row.tobytes()] += 1
        means.append((np.mean(rewards), np.std(rewards) / np.sqrt(len(rewards))))
        counts.append(begun)
    (one, error), (many_, other) = means
    assert abs(one - many_) < 4 * np.hypot(error, other)
    assert counts[0].keys() == counts[1].keys()  # three cards, after a pass or a bet
    assert len(counts[0]) == 6
    for key, number in counts[0].items():
        share, share_of_many = number / sum(counts[0].values()), counts[1][key] / sum(counts[1].values())
        assert abs(share - share_of_many) < 4 * np.sqrt(2 * share / 3000)


def test_many_tables_restart_in_the_same_step() -> None:
    env = ours.vector_env("leduc", 16)
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    seen, info = env.reset(seed=3)
    assert env.observation_space.contains(seen)
    ended = 0
    for _ in range(40):
        actions = info["action_mask"].argmax(axis=1)
        kept, before = (seen, info["action_mask"]), (seen.copy(), info["action_mask"].copy())
        seen, rewards, over, cut, info = env.step(actions)
        assert all((one == two).all() for one, two in zip(kept, before, strict=True))  # they are the caller's own
        assert env.observation_space.contains(seen)
        assert not cut.any()
        assert (rewards[~over] == 0).all()
        assert info["action_mask"].any(axis=1).all()  # somebody has to move at every table, always
        if over.any():
            ended += over.sum()
            assert (info["_final_obs"] == over).all()
            final = info["final_obs"][over]
            assert (final[:, 14:] >= seen[over][:, 14:]).all()  # the line of moves: a new game has fewer
            assert (final[:, 14:].sum(axis=1) > seen[over][:, 14:].sum(axis=1)).all()
    assert ended > 50


def test_an_illegal_action_loses_at_its_own_table_only() -> None:
    env, twin = (ours.vector_env("leduc", 4) for _ in range(2))
    seen, info = env.reset(seed=5)
    twin.reset(seed=5)
    legal = info["action_mask"].argmax(axis=1)
    wrong = legal.copy()
    wrong[2] = info["action_mask"][2].argmin()
    new, rewards, over, _, info = env.step(wrong)
    same, fair, done, _, _ = twin.step(legal)
    others = np.array([0, 1, 3])
    assert info["illegal"].tolist() == [False, False, True, False]
    assert (rewards[2], over[2]) == (-13.0, True)
    assert (info["final_obs"][2] == seen[2]).all()
    assert (new[others] == same[others]).all()
    assert (rewards[others] == fair[others]).all()
    assert (over[others] == done[others]).all()


def test_bad_calls_are_refused_in_one_line() -> None:
    env = ours.vector_env("leduc", 4)
    with pytest.raises(TapeteError, match="reset it first"):
        env.step(np.zeros(4, dtype=int))
    env.reset(seed=1)
    for actions in (np.zeros(3, dtype=int), np.zeros(4), np.zeros((4, 1), dtype=int)):
        with pytest.raises(TapeteError, match="4 whole numbers"):
            env.step(actions)
    _, rewards, over, _, _ = env.step(np.array([-1, 99, 1, 1]))
    assert rewards[:2].tolist() == [-13.0, -13.0]
    assert over[:2].all()
    with pytest.raises(TapeteError, match="compiled player"):
        ours.vector_env("leduc", 4, opponent="mcts(10)")


def test_seeds_are_kept_and_wrappers_work() -> None:
    runs = []
    for _ in range(2):
        bare = gymnasium.make_vec("tapete/leduc-v0", num_envs=8, vectorization_mode="vector_entry_point")
        env = RecordEpisodeStatistics(bare)
        seen, info = env.reset(seed=11)
        trace = [seen]
        for _ in range(60):
            seen, rewards, _, _, info = env.step(info["action_mask"].argmax(axis=1))
            trace += [seen, rewards]
        runs.append(np.concatenate([each.reshape(-1) for each in trace]))
        assert env.episode_count > 0
    assert (runs[0] == runs[1]).all()
    assert env.unwrapped.game == make("leduc")
