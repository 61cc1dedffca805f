"""MMD: its divergences by hand, a magnet that follows, exact exploitability, runs that were stopped."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from tapete.arena.learning import against_random, evaluation
from tapete.core import make
from tapete.learn import ppo
from tapete.learn.mmd import Config, iterate, loss, train
from tapete.learn.policies import softmax_policy
from tapete.learn.policy_gradient import Batch, Said, Training
from tapete.learn.run import Run, read_metrics
from tapete.nets import Network
from tapete.nets.torch import to_torch
from tests.learn.pieces import run_in_pieces
from tests.learn.test_ppo import logs, tiny_batch, without_time

TINY = Config(iterations=4, tables=16, hidden=8, every=2)
QUICK = Config(iterations=200, tables=512, hidden=32, rate=0.01, magnet=0.5)


def test_both_divergences_are_those_of_the_paper():
    batch, said = tiny_batch()
    batch["magnet"] = logs([0.2, 0.2, 0.6], [0.5, 0.0, 0.5])
    config = replace(TINY, magnet=0.7, mirror=0.4)
    found, plain = loss(batch, said, config, 0.1), ppo.loss(batch, said, config, 0.1)
    pull = 0.6 * math.log(3) + 0.2 * math.log(1 / 3) + 0.25 * math.log(0.5) + 0.75 * math.log(1.5)
    back = 0.6 * math.log(1.2) + 0.4 * math.log(0.8) + 0.25 * math.log(0.5) + 0.75 * math.log(1.5)
    assert float(found["pull"]) == pytest.approx(pull / 2)
    assert float(found["kl"]) == pytest.approx(back / 2)
    assert float(found["loss"] - plain["loss"]) == pytest.approx(0.7 * pull / 2 + 0.4 * back / 2, rel=1e-5)


def test_where_nothing_is_won_the_policy_goes_to_the_magnet():
    batch, _ = tiny_batch()
    batch |= {"magnet": logs([0.2, 0.2, 0.6], [0.9, 0.0, 0.1]), "advantage": torch.zeros(2)}
    mask = torch.tensor([[True, True, True], [True, False, True]])
    scores = torch.zeros(2, 3, requires_grad=True)
    optimiser = torch.optim.Adam([scores], lr=0.05)
    for _ in range(300):
        policy = torch.log_softmax(scores.masked_fill(~mask, torch.finfo(torch.float32).min), dim=1)
        optimiser.zero_grad()
        loss(batch, Said(policy, torch.zeros(2)), replace(TINY, magnet=1.0, mirror=0.0), 0.0)["loss"].backward()
        optimiser.step()
    assert torch.allclose(policy.exp(), batch["magnet"].exp(), atol=1e-3)


def test_one_step_is_the_paper_s_closed_form():
    """Formula 12: the best policy is proportional to (old^mirror * magnet^magnet * exp(advantages))^(1 / (sum))."""
    magnet, mirror = 0.3, 0.6
    worth = torch.tensor([0.5, -0.2, 0.1])
    old, pulled = logs([0.5, 0.25, 0.25]), logs([0.2, 0.2, 0.6])
    wanted = torch.softmax((mirror * old + magnet * pulled + worth) / (magnet + mirror), dim=1)
    # Every action once, each weighed by how often the old policy takes it, stands for the expectation over it.
    scores = torch.zeros(1, 3, requires_grad=True)
    optimiser = torch.optim.Adam([scores], lr=0.05)
    weights = 3 * old.exp()[0]
    for _ in range(500):
        policy = torch.log_softmax(scores, dim=1).expand(3, 3)
        batch = {
            "action": torch.arange(3),
            "old": old.expand(3, 3),
            "magnet": pulled.expand(3, 3),
            "advantage": worth * weights,
            "outcome": torch.zeros(3),
        }
        config = replace(TINY, magnet=magnet, mirror=mirror, clip=1000.0)
        optimiser.zero_grad()
        loss(batch, Said(policy, torch.zeros(3)), config, 0.0)["loss"].backward()
        optimiser.step()
    assert torch.allclose(policy[0].exp(), wanted[0], atol=1e-3)


def test_the_magnet_is_the_average_and_follows_slowly():
    training = Training(make("leduc"), TINY)
    batch = training.play()
    magnet = softmax_policy(training.average)
    before = magnet(batch["seen"].numpy(), batch["mask"].numpy())
    pulls = [iterate(training, TINY)["pull"] for _ in range(3)]
    after = magnet(batch["seen"].numpy(), batch["mask"].numpy())
    assert 0 < abs(after - before).max() < 0.05
    assert 0 < pulls[0] < pulls[2], "the policy runs ahead of it"


def test_temperature_and_steps_fall_by_a_constant_factor(monkeypatch: pytest.MonkeyPatch):
    config = replace(TINY, entropy=0.8, last_entropy=0.05, averaging=0.32, last_averaging=0.02)
    training, told = Training(make("kuhn"), config), []

    def learn(batch: Batch, loss: partial[Any], share: float) -> dict[str, float]:
        told.append((loss.keywords["bonus"], share))
        training.iteration += 1
        return {}

    monkeypatch.setattr(training, "learn", learn)
    for _ in range(4):
        iterate(training, config)
    assert told == [pytest.approx((0.8 / 2**i, 0.32 / 2**i)) for i in range(4)]


def test_what_plays_is_the_mean_of_the_magnets_late_ones_with_more_weight(tmp_path: Path):
    """With a power of 1, iteration t has weight t: 1/10, 2/10, 3/10 and 4/10 after four of them."""
    config = replace(TINY, averaging=0.5, last_averaging=0.5)
    training = Training(make("kuhn"), config, late=1.0)
    magnets = []
    for _ in range(4):
        iterate(training, config)
        magnets.append([weight.detach().clone() for weight in training.average.parameters()])
    training.network("mmd").save(tmp_path / "network.safetensors")
    published = to_torch(Network.load(tmp_path / "network.safetensors"))
    for plays, *each in zip(published.parameters(), *magnets, strict=True):
        assert torch.allclose(plays, sum(t * weight for t, weight in enumerate(each, 1)) / 10, atol=1e-6)
        assert not torch.allclose(plays, each[-1], atol=1e-6)


def test_kuhn_poker_is_nearly_solved(tmp_path: Path):
    game = make("kuhn")
    train(game, QUICK, Run(tmp_path, "mmd", game, QUICK, evaluate=evaluation(game)))
    lines = read_metrics(tmp_path)
    assert lines[-1]["exploitability"] < 0.1 < lines[0]["exploitability"]
    assert lines[-1]["pull"] > 0


def test_three_players_learn_to_beat_random_play():
    game = make("holdem(players=3)")
    config = Config(iterations=25, tables=512, hidden=64, rate=3e-3, averaging=0.3, last_averaging=0.3)
    training = Training(game, config)
    before = against_random(game, softmax_policy(training.average))
    while training.iteration < config.iterations:
        iterate(training, config)
    after = against_random(game, softmax_policy(training.average))
    assert after["against_random"] > before["against_random"] + 5 * (before["error"] + after["error"])


def begin(folder: Path, **more) -> Run:
    return Run(folder, "mmd", make("leduc"), TINY, **more)


def test_a_run_that_is_stopped_anywhere_ends_the_same(tmp_path: Path):
    game = make("leduc")
    train(game, TINY, begin(tmp_path / "whole"))
    assert run_in_pieces(partial(train, game, TINY), partial(begin, tmp_path / "pieces")) == TINY.iterations - 1
    one, two = (tmp_path / name / "network.safetensors" for name in ("whole", "pieces"))
    assert one.read_bytes() == two.read_bytes()
    assert without_time(tmp_path / "whole") == without_time(tmp_path / "pieces")
