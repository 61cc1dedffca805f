"""What learners share: buffers, whole games as rows, shaping, and how good a policy is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import stats

from tapete.arena.learning import against_random, evaluation
from tapete.core import Rng, TapeteError, make
from tapete.core.players import random
from tapete.core.shaping import potential_of
from tapete.learn.buffers import Reservoir, Ring
from tapete.learn.episodes import (
    END,
    Episodes,
    Moment,
    advantages,
    load_streams,
    play_games,
    returns,
    self_play_tables,
    stream_arrays,
)
from tapete.learn.policies import draw, generator, greedy_policy, softmax_policy
from tapete.learn.run import Checkpoint
from tapete.nets.torch import to_torch
from tapete.nets.zoo import heads
from tapete.solve.examiner import Examiner


def any_legal(seed: int):
    """Acts at random, and notes the number of the row."""
    rng = np.random.default_rng(seed)

    def act(moment: Moment):
        return (rng.random(moment.mask.shape) * moment.mask).argmax(axis=1), {"row": moment.games * 10}

    return act


def bet(seen, mask):
    """Always the highest action of a game with two."""
    return np.eye(2)[np.ones(len(seen), dtype=int)]


def uniform(seen, mask):
    return mask / mask.sum(axis=1, keepdims=True)


def test_a_reservoir_keeps_every_row_as_likely():
    kept = np.zeros(60)
    for seed in range(3000):
        reservoir = Reservoir(12, {"x": (np.int64, ())}, Rng(seed))
        for start in (0, 7, 30):  # in pieces of different sizes
            reservoir.add({"x": np.arange(start, {0: 7, 7: 30, 30: 60}[start])})
        assert len(np.unique(reservoir.columns["x"])) == 12
        kept[reservoir.columns["x"]] += 1
    expected = 3000 * 12 / 60
    # Numbers of a draw without replacement: their variance is that of a coin, times (1 - 12/60) for each row.
    assert stats.chi2.sf(((kept - expected) ** 2 / (expected * (1 - 12 / 60))).sum() * 59 / 60, 59) > 1e-6


def test_a_ring_keeps_the_newest_and_samples_all_of_them():
    ring = Ring(5, {"x": (np.int64, ()), "y": (np.float32, (2,))})
    for start in range(0, 9, 3):
        x = np.arange(start, start + 3)
        ring.add({"x": x, "y": np.stack([x, -x], axis=1)})
    sample = ring.sample(1000, np.random.default_rng(1))
    assert set(sample["x"].tolist()) == {4, 5, 6, 7, 8}
    assert (sample["y"][:, 0] == sample["x"]).all()
    assert (sample["y"][:, 1] == -sample["x"]).all()
    with pytest.raises(TapeteError, match="a row has x, y, not x"):
        ring.add({"x": np.arange(3)})


def test_buffers_come_back_from_a_checkpoint():
    columns = {"seen": (np.int64, ())}  # a name that the buffer has for something of its own
    one = Reservoir(8, columns, Rng(1))
    one.add({"seen": np.arange(50)})
    two = Reservoir(8, columns, Rng(1))
    two.restore("r", Checkpoint(Path("x"), {k: v.copy() for k, v in one.arrays("r").items()}, {}))
    for buffer in (one, two):
        buffer.add({"seen": np.arange(50, 300)})
    assert (one.columns["seen"] == two.columns["seen"]).all()


def check_links(episodes: Episodes, players: int) -> None:
    for i, after in enumerate(episodes.next):
        same = (episodes.games == episodes.games[i]) & (episodes.seats == episodes.seats[i])
        later = np.flatnonzero(same & (np.arange(len(episodes)) > i))
        assert after == (later[0] if len(later) else END)


@pytest.mark.parametrize("name", ["leduc", "holdem(players=3)", "kuhn"])
def test_decisions_are_linked_by_seat_and_paid_at_the_end(name: str):
    game = make(name)
    episodes = play_games(self_play_tables(game, 40, Rng(1)), any_legal(2))
    check_links(episodes, game.players)
    assert (episodes.notes["row"] == episodes.games * 10).all()
    assert (episodes.mask.sum(axis=1) > 1).all(), "moves without a choice are not recorded"
    assert episodes.mask[np.arange(len(episodes)), episodes.actions].all()
    assert len(np.unique(episodes.games)) == 40
    paid = episodes.payoffs[episodes.games, episodes.seats] / max(game.spec.utility)
    assert np.allclose(episodes.rewards, np.where(episodes.next == END, paid, 0))
    assert np.allclose(returns(episodes), paid)
    assert np.allclose(episodes.payoffs.sum(axis=1), 0)
    assert (episodes.payoffs != 0).any()


def test_observations_are_those_of_the_mover_when_it_moved():
    game = make("leduc")
    tables = self_play_tables(game, 30, Rng(5))
    states: list[np.ndarray] = []

    def act(moment: Moment):
        rows = [tables.state(int(i)).view(int(seat)) for i, seat in zip(moment.games, moment.seats, strict=True)]
        states.append(np.array([view.observation() for view in rows]))
        legal = [view.actions() for view in rows]
        return np.array([actions[-1] for actions in legal]), {}

    episodes = play_games(tables, act)
    assert (np.concatenate(states) == episodes.seen).all()


def test_a_seat_may_belong_to_somebody_else():
    episodes = play_games(self_play_tables(make("leduc"), 50, Rng(1), [None, random]), any_legal(1))
    assert set(episodes.seats) == {0}
    assert (episodes.payoffs != 0).any()


def test_advantages_are_those_of_the_definition():
    episodes = play_games(self_play_tables(make("leduc"), 20, Rng(3)), any_legal(4))
    values = np.random.default_rng(1).normal(size=len(episodes)).astype(np.float32)
    gamma, share = 0.9, 0.7
    found = advantages(episodes, values, gamma, share)
    for i in range(len(episodes)):
        wanted, weight, at = 0.0, 1.0, i
        while at != END:
            after = episodes.next[at]
            ahead = values[after] if after != END else 0.0
            wanted += weight * (episodes.rewards[at] + gamma * ahead - values[at])
            weight *= gamma * share
            at = after
        assert found[i] == pytest.approx(wanted, abs=1e-5)


def test_shaping_by_potential_telescopes_over_whole_matches_of_truco():
    game = make("truco(points=15)")
    plain = play_games(self_play_tables(game, 30, Rng(1)), any_legal(2))
    shaped = play_games(self_play_tables(game, 30, Rng(1)), any_legal(2), shaping=True)
    assert (plain.actions == shaped.actions).all()
    assert (shaped.rewards != plain.rewards).mean() > 0.01, "points are made in the middle of a match"
    potential = potential_of(game)(shaped.seen, shaped.seats)
    assert np.allclose(returns(shaped), returns(plain) - potential, atol=1e-5)
    assert set(np.sign(potential)) == {-1, 0, 1}
    first = {(g, s): i for i, (g, s) in reversed(list(enumerate(zip(shaped.games, shaped.seats, strict=True))))}
    whole = returns(shaped)
    assert all(whole[i] == pytest.approx(shaped.payoffs[key], abs=1e-5) for key, i in first.items())


def test_a_game_without_potential_says_so():
    with pytest.raises(TapeteError, match="kuhn has no potential"):
        play_games(self_play_tables(make("kuhn"), 2, Rng(1)), any_legal(1), shaping=True)


def test_tables_go_on_from_their_streams():
    game = make("leduc")
    one, two = self_play_tables(game, 10, Rng(1)), self_play_tables(game, 10, Rng(2))
    play_games(one, any_legal(1))
    load_streams(two, Checkpoint(Path("x"), {k: v.copy() for k, v in stream_arrays(one).items()}, {}))
    assert (play_games(one, any_legal(1)).seen == play_games(two, any_legal(1)).seen).all()


def test_games_with_too_many_actions_for_a_mask_are_refused():
    with pytest.raises(TapeteError, match="27,472 actions"):
        self_play_tables(make("doudizhu"), 2, Rng(1))


def test_policies_keep_to_the_mask_whatever_the_network_says():
    game = make("leduc")
    module = to_torch(heads(game.spec.observation_size, (8,), policy=3, q=3), Rng(1))
    episodes = play_games(self_play_tables(game, 30, Rng(3)), any_legal(4))
    soft, greedy = softmax_policy(module), greedy_policy(module)
    for policy in (soft, greedy):
        said = policy(episodes.seen, episodes.mask)
        assert np.allclose(said.sum(axis=1), 1, atol=1e-5)
        assert (said[~episodes.mask] == 0).all()
    drawn = draw(torch.from_numpy(soft(episodes.seen, episodes.mask)), generator(Rng(1)))
    assert episodes.mask[np.arange(len(episodes)), drawn].all()
    said = module(torch.from_numpy(episodes.seen)).detach().numpy()[:, module.architecture.outputs["q"]]
    best = np.where(episodes.mask, said, -np.inf).argmax(axis=1)
    assert (greedy(episodes.seen, episodes.mask).argmax(axis=1) == best).all()


def test_the_examiner_agrees_with_open_spiel_on_uniform_play():
    import pyspiel
    from open_spiel.python.algorithms import exploitability
    from open_spiel.python.policy import UniformRandomPolicy

    for ours, theirs in (("kuhn", "kuhn_poker"), ("leduc", "leduc_poker")):
        game = pyspiel.load_game(theirs)
        wanted = exploitability.nash_conv(game, UniformRandomPolicy(game))
        assert Examiner(make(ours)).prove(uniform).exploitability == pytest.approx(wanted, abs=1e-6)


def test_the_examiner_tells_seats_and_values_apart():
    examiner = Examiner(make("kuhn"))

    def check(seen, mask):
        return 1 - bet(seen, mask)

    assert examiner.value(bet, check) == pytest.approx(1.0)
    assert examiner.value(check, bet) == pytest.approx(-1.0)
    assert examiner.best_response(check, 0) == pytest.approx(1.0)
    assert examiner.prove(uniform).upper == pytest.approx(examiner.best_response(uniform, 0))
    assert -examiner.prove(uniform).lower == pytest.approx(examiner.best_response(uniform, 1))


def test_evaluation_is_exact_where_it_can_be():
    assert evaluation(make("kuhn"))(uniform)["exploitability"] == pytest.approx(11 / 12)
    found = evaluation(make("holdem(players=3)"))(uniform)
    assert abs(found["against_random"]) < 4 * found["error"]


def test_games_against_random_tell_good_from_bad():
    game = make("kuhn")
    examiner = Examiner(game)
    exact = (examiner.value(bet, uniform) - examiner.value(uniform, bet)) / 2
    found = against_random(game, bet, games=4000)
    assert found["against_random"] == pytest.approx(exact, abs=4 * found["error"])
