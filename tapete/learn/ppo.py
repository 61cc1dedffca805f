"""Proximal policy optimisation in self-play: one network at all seats, a clipped ratio, entropy that is annealed.

* Schulman, Wolski, Dhariwal, Radford and Klimov 2017, https://arxiv.org/abs/1707.06347
* Schulman, Moritz, Levine, Jordan and Abbeel 2016, https://arxiv.org/abs/1506.02438: advantages
* Rudolph et al. 2025, https://arxiv.org/abs/2502.08938: with enough entropy, self-play finds equilibria of games with
  hidden information

An iteration plays a game at each table, every seat with the same network, and learns from all decisions of all seats.
Two or more players. The weights go round an equilibrium rather than into it, so what plays is their average.

Seats may belong to others who don't learn: then what is found is a best response to them (`respond`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from tapete.core import Game
from tapete.core.evaluator import MakeEvaluator
from tapete.learn.late import torch
from tapete.learn.policy_gradient import Batch, Knobs, Said, Training, divergence, entropy, go_on, ratio
from tapete.learn.run import Run
from tapete.nets import Network

NEEDS = ("torch",)


@dataclass(frozen=True)
class Config(Knobs):
    """The knobs."""


def loss(batch: Batch, said: Said, knobs: Knobs, bonus: float) -> Mapping[str, torch.Tensor]:
    """The paper's formula 9 with its sign turned over; `bonus` is the weight of entropy."""
    change, advantage = ratio(said.policy, batch), batch["advantage"]
    near = change.clamp(1 - knobs.clip, 1 + knobs.clip)
    policy_loss = -torch.minimum(change * advantage, near * advantage).mean()
    value_loss = ((said.value - batch["outcome"]) ** 2).mean()
    spread = entropy(said.policy).mean()
    return {
        "loss": policy_loss + knobs.critic * value_loss - bonus * spread,
        "policy_loss": policy_loss,
        "value_loss": value_loss,
        "entropy": spread,
        "kl": divergence(said.policy, batch["old"]).mean(),
        "clipped": (change != near).float().mean(),
    }


def iterate(training: Training) -> dict[str, float]:
    """Games, and what is learned from them."""
    knobs = training.knobs
    bonus = training.annealed(knobs.entropy, knobs.last_entropy)
    share = training.annealed(knobs.averaging, knobs.last_averaging)
    return training.learn(training.play(), partial(loss, knobs=knobs, bonus=bonus), share)


def train(game: Game, config: Config, run: Run) -> None:
    """Iteration after iteration."""
    go_on(Training(game, config, device=run.device), iterate, run, "ppo")


def respond(
    game: Game, seat: int, opponent: MakeEvaluator, config: Config | None = None, run: Run | None = None
) -> Network:
    """A best response, learned: what a seat should play where all others belong to an opponent who doesn't learn."""
    players = [None if other == seat else opponent for other in range(game.players)]
    training = Training(game, config or Config(), players, device=run.device if run else "cpu")
    if run:
        go_on(training, iterate, run, "ppo")
    else:
        while training.iteration < training.knobs.iterations:
            iterate(training)
    return training.network("ppo")
