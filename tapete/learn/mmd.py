"""Magnetic mirror descent in self-play: PPO's loop, with a pull to a slowly moving policy, the magnet.

* Sokota, D'Orazio, Kolter, Loizou, Lanctot, Mitliagkas, Brown and Kroer 2023, https://arxiv.org/abs/2206.05825
* Rudolph et al. 2025, https://arxiv.org/abs/2502.08938: of all that was compared there, the least exploitable

Each iteration seeks the policy p that is best by advantages - magnet * KL(p, magnet's) - mirror * KL(p, the old one's)
(the paper's formula 7, where `mirror` is one by the step size), and also has PPO's clipped ratio. A magnet that stays
where it is leads to a policy near it, not to an equilibrium: so it follows, as the average of the weights over time.

The weight of entropy is the temperature of what is approached, and `averaging` the size of steps to it; both fall by a
constant factor an iteration. Steps that are long enough to keep up with the temperature carry the luck of the games in
them, and steps that are short enough to average that away lag behind. So they are long, and what plays is the mean of
the magnets of all iterations, late ones with more weight.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from tapete.core import Game
from tapete.learn import ppo
from tapete.learn.knobs import knob
from tapete.learn.late import torch
from tapete.learn.policy_gradient import Batch, Kinds, Knobs, Said, Training, divergence, go_on
from tapete.learn.run import Run

NEEDS = ("torch",)


@dataclass(frozen=True)
class Config(Knobs):
    """The knobs."""

    entropy: float = knob(0.2, "weight of the policy's entropy at first", 1e-9, 1000)
    last_entropy: float = knob(0.03, "the same at the end", 1e-9, 1000)
    averaging: float = knob(0.1, "share of the newest weights in the magnet, an iteration, at first", 1e-9, 1)
    last_averaging: float = knob(0.05, "the same at the end", 1e-9, 1)
    late: float = knob(
        4.0, "what plays is the mean of all magnets, that of iteration t with weight t to this power", 0, 1000
    )
    magnet: float = knob(1.0, "weight of the divergence from the magnet", 0, 1000)
    mirror: float = knob(0.05, "weight of the divergence from the policy that played", 0, 1000)


def loss(batch: Batch, said: Said, config: Config, bonus: float) -> Mapping[str, torch.Tensor]:
    """PPO's, and what holds the policy back."""
    found = ppo.loss(batch, said, config, bonus)
    pull = divergence(said.policy, batch["magnet"]).mean()
    return {**found, "loss": found["loss"] + config.magnet * pull + config.mirror * found["kl"], "pull": pull}


def iterate(training: Training, config: Config) -> dict[str, float]:
    """Games, and what is learned from them."""
    batch = training.play()
    with torch.no_grad():
        batch["magnet"] = Kinds.among(batch["key"].cpu().numpy()).judge(training.average, batch).policy
    bonus = training.decayed(config.entropy, config.last_entropy)
    share = training.decayed(config.averaging, config.last_averaging)
    return training.learn(batch, partial(loss, config=config, bonus=bonus), share)


def train(game: Game, config: Config, run: Run) -> None:
    """Iteration after iteration."""
    training = Training(game, config, late=config.late, device=run.device)
    go_on(training, partial(iterate, config=config), run, "mmd")
