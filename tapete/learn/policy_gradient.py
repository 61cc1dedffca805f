"""What policy gradient methods share: an actor-critic that plays whole games and learns from them, parts of losses.

PPO and MMD differ in their loss only: a function of a minibatch and of what the network now says of it.

A batch is a dictionary of tensors, one row a decision:

==========================  ===========================================================================
``seen``, ``mask``          what the mover saw [N, observation_size], and what was legal [N, actions]
``key``                     a number for what it saw and might do [N]: the same number, the same decision
``action``                  what it did [N]
``old``                     logarithms of the probabilities with which it chose [N, actions]
``advantage``               how much better that was than expected [N], in standard deviations
``outcome``                 what the critic should have expected [N], in units of the highest payoff
==========================  ===========================================================================
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tapete.core import Game, Rng
from tapete.core.evaluator import MakeEvaluator
from tapete.learn.episodes import (
    Act,
    Episodes,
    Moment,
    advantages,
    load_streams,
    play_games,
    self_play_tables,
    stream_arrays,
)
from tapete.learn.kinds import alike, keys_of
from tapete.learn.knobs import check_knobs, knob
from tapete.learn.late import nets, torch
from tapete.learn.policies import draw, generator, masked_log_softmax, softmax_policy
from tapete.learn.run import Checkpoint, Run
from tapete.learn.tensors import begin_from, load_module, load_optimiser, module_arrays, optimiser_arrays
from tapete.nets import Architecture, Network
from tapete.nets.zoo import heads

if TYPE_CHECKING:
    from tapete.nets.torch import Module

EPSILON = 1e-5  # of Adam, as in most implementations of PPO
BETAS = 0.0, 0.999  # of Adam; no momentum: it lags behind, and self-play then goes round for ever
TINY = 1e-8  # so that games in which nothing is won or lost divide by something
MANY = 10**9

Batch = dict[str, "torch.Tensor"]


class Said(NamedTuple):
    """What an actor-critic says of N decisions."""

    policy: torch.Tensor  # [N, actions] logarithms of probabilities
    value: torch.Tensor  # [N] what the mover may expect, in units of the highest payoff


Loss = Callable[[Batch, Said], Mapping[str, "torch.Tensor"]]  # numbers to be logged; "loss" is what goes down


@dataclass(frozen=True)
class Knobs:
    """What can be set of any of them."""

    iterations: int = knob(1000, "times that games are played and learned from", 1, MANY)
    tables: int = knob(2048, "games of an iteration", 1, 10**6)
    hidden: int = knob(128, "units of a hidden layer", 1, 10**5)
    layers: int = knob(2, "hidden layers", 1, 100)
    rate: float = knob(3e-3, "step size of Adam at first; it goes down to zero", 0, 1)
    epochs: int = knob(1, "times that an iteration learns from each decision", 1, 1000)
    minibatches: int = knob(4, "steps of an epoch", 1, 10**6)
    trace: float = knob(0.95, "lambda: how far ahead advantages look before they trust the critic", 0, 1)
    clip: float = knob(0.2, "how far from 1 the ratio of new to old probability may go", 0, 1000)
    critic: float = knob(0.5, "weight of the critic's squared error", 0, 1000)
    entropy: float = knob(0.2, "weight of the policy's entropy at first", 0, 1000)
    last_entropy: float = knob(0.02, "the same at the end", 0, 1000)
    averaging: float = knob(
        0.02, "share of the newest weights in the average that plays, an iteration, at first", 1e-9, 1
    )
    last_averaging: float = knob(0.02, "the same at the end", 1e-9, 1)
    gradient: float = knob(0.5, "the longest gradient; longer ones are shortened to it", 1e-9, MANY)
    shaping: bool = knob(False, "pay the change of the game's potential, too")
    every: int = knob(20, "iterations between two lines of metrics", 1, MANY)
    seed: int = knob(1, "names all random streams: the same seed gives the same network")

    def __post_init__(self) -> None:
        check_knobs(self)


def architecture(game: Game, knobs: Knobs) -> Architecture:
    """Dense layers below a policy and a critic. Where the critic foresees payoffs of two, searches may ask it too."""
    spec = game.spec
    critic = "value" if spec.players == 2 and spec.zero_sum and not knobs.shaping else "critic"
    sizes = {"policy": spec.actions, critic: 1}
    return heads(spec.observation_size, (knobs.hidden,) * knobs.layers, **sizes)


def judge(module: Module, seen: torch.Tensor, mask: torch.Tensor) -> Said:
    """What the network says of decisions."""
    policy, critic = module.architecture.outputs.values()
    said = module(seen)
    return Said(masked_log_softmax(said[:, policy], mask), said[:, critic.start])


class Kinds(NamedTuple):
    """Which of N decisions look the same: in a small game most do, and the network is asked once for each kind."""

    first: torch.Tensor  # [K] where each kind first stands
    of: torch.Tensor  # [N] the kind of each decision

    @classmethod
    def among(cls, keys: NDArray[np.int64]) -> Kinds:
        """Those with the same key."""
        first, of = alike(keys)
        return cls(torch.from_numpy(first), torch.from_numpy(of))

    def judge(self, module: Module, batch: Batch, rows: torch.Tensor | None = None) -> Said:
        """What the network says of these rows of a batch, or of all."""
        asked: Any = self.of if rows is None else self.of[rows]
        kinds, of = asked.unique(return_inverse=True)
        where = self.first[kinds]
        said = judge(module, batch["seen"][where], batch["mask"][where])
        return Said(said.policy[of], said.value[of])


def acting(module: Module, rng: Rng, device: str = "cpu") -> Act:
    """Draws moves by the network's policy, and notes what it said."""
    draws = generator(rng)

    def act(moment: Moment) -> tuple[NDArray[np.int64], dict[str, NDArray[Any]]]:
        keys = keys_of(moment.seen, moment.mask)
        batch = {"seen": torch.from_numpy(moment.seen).to(device), "mask": torch.from_numpy(moment.mask).to(device)}
        with torch.inference_mode():
            said = Kinds.among(keys).judge(module, batch)
            policy = said.policy.cpu()
            notes = {"key": keys, "old": policy.numpy(), "value": said.value.cpu().numpy()}
            return draw(policy.exp(), draws), notes

    return act


def batch_of(episodes: Episodes, trace: float, device: str = "cpu") -> Batch:
    """What is learned from games."""
    expected = episodes.notes["value"]
    gained = advantages(episodes, expected, 1.0, trace)
    columns = {
        "seen": episodes.seen,
        "mask": episodes.mask,
        "key": episodes.notes["key"],
        "action": episodes.actions,
        "old": episodes.notes["old"],
        "advantage": (gained - gained.mean()) / (gained.std() + TINY),
        "outcome": gained + expected,
    }
    return {name: torch.from_numpy(column).to(device) for name, column in columns.items()}


def entropy(policy: torch.Tensor) -> torch.Tensor:
    """Of each row of a policy [N], in nats."""
    return -(policy.exp() * policy).sum(dim=1)


def divergence(policy: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Of each row of a policy from that of another one [N], Kullback and Leibler's, in nats."""
    return (policy.exp() * (policy - other)).sum(dim=1)


def ratio(policy: torch.Tensor, batch: Batch) -> torch.Tensor:
    """How much more likely than then each action is now [N]."""
    action = batch["action"][:, None]
    return (policy.gather(1, action) - batch["old"].gather(1, action)).exp()[:, 0]


class Training:
    """All that a run remembers: the network that learns, an average of its weights that follows it, and what plays.

    That is the average itself, or where `late` is given the mean of what it was after each iteration, that of iteration
    t with a weight of about t to the power of `late` (Shamir and Zhang 2013, https://arxiv.org/abs/1212.1824).
    """

    def __init__(
        self,
        game: Game,
        knobs: Knobs,
        players: Sequence[MakeEvaluator | None] = (),
        *,
        late: float | None = None,
        device: str = "cpu",
    ) -> None:
        """Seats with a player, who does not learn, are not the network's; without `players` all are."""
        self.game, self.knobs, self.late, self.device = game, knobs, late, device
        self.tables = self_play_tables(game, knobs.tables, Rng(knobs.seed, "tables"), players)
        self.module = nets.to_torch(architecture(game, knobs), Rng(knobs.seed, "weights")).to(device)
        self.average = copy.deepcopy(self.module)
        self.plays = self.average if late is None else copy.deepcopy(self.module)
        self.optimiser = torch.optim.Adam(self.module.parameters(), lr=knobs.rate, betas=BETAS, eps=EPSILON, fused=True)
        self.iteration = self.steps = 0

    def annealed(self, first: float, last: float = 0.0) -> float:
        """What goes from one number to another along a line over the training is here now."""
        return first + (last - first) * self.iteration / self.knobs.iterations

    def decayed(self, first: float, last: float) -> float:
        """The same for what goes by a constant factor an iteration; neither number is 0."""
        return float(first * (last / first) ** (self.iteration / self.knobs.iterations))

    def play(self) -> Batch:
        """A game at each table."""
        rng = Rng(self.knobs.seed, "play", self.iteration)
        episodes = play_games(self.tables, acting(self.module, rng, self.device), shaping=self.knobs.shaping)
        self.steps += episodes.steps
        return batch_of(episodes, self.knobs.trace, self.device)

    def learn(self, batch: Batch, loss: Loss, share: float) -> dict[str, float]:
        """Some epochs of minibatches, which end the iteration; returns the means of what the loss tells.

        :param share: of the newest weights in the average.
        """
        knobs, order = self.knobs, generator(Rng(self.knobs.seed, "learn", self.iteration))
        for group in self.optimiser.param_groups:
            group["lr"] = self.annealed(knobs.rate)
        kinds = Kinds.among(batch["key"].cpu().numpy())
        told: dict[str, list[torch.Tensor]] = {}
        for _ in range(knobs.epochs):
            for rows in torch.randperm(len(batch["action"]), generator=order).chunk(knobs.minibatches):
                part = {name: column[rows] for name, column in batch.items() if name not in ("seen", "mask")}
                found = loss(part, kinds.judge(self.module, batch, rows))
                self.optimiser.zero_grad()
                found["loss"].backward()  # type: ignore[no-untyped-call]
                torch.nn.utils.clip_grad_norm_(self.module.parameters(), knobs.gradient)
                self.optimiser.step()
                for name, number in found.items():
                    told.setdefault(name, []).append(number.detach())
        self._approach(self.average, self.module, share)
        self.iteration += 1
        if self.late is not None:
            self._approach(self.plays, self.average, (self.late + 1) / (self.late + self.iteration))
        return {name: float(torch.stack(numbers).mean()) for name, numbers in told.items()}

    @staticmethod
    def _approach(mean: Module, newest: Module, share: float) -> None:
        """Moves weights a share of the way to others."""
        with torch.no_grad():
            for mine, other in zip(mean.parameters(), newest.parameters(), strict=True):
                mine.lerp_(other, share)

    def network(self, learner: str) -> Network:
        """What plays."""
        return nets.from_torch(self.plays, game=str(self.game), learner=learner, plays="policy")

    def save(self, run: Run) -> None:
        """Remembers everything."""
        arrays = {
            **module_arrays("module", self.module),
            **module_arrays("average", self.average),
            **({} if self.plays is self.average else module_arrays("plays", self.plays)),
            **optimiser_arrays("adam", self.optimiser),
            **stream_arrays(self.tables),
        }
        run.save(arrays, iteration=self.iteration, steps=self.steps)

    def begin(self, file: Path) -> None:
        """Begins with a network that was learned before, by any method of this kind."""
        begin_from(file, Network.load(file), self.module, self.average, self.plays)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Remembers what was saved."""
        self.iteration = checkpoint.count("iteration", self.knobs.iterations)
        self.steps = checkpoint.count("steps")
        load_module("module", self.module, checkpoint)
        load_module("average", self.average, checkpoint)
        if self.plays is not self.average:
            load_module("plays", self.plays, checkpoint)
        load_optimiser("adam", self.optimiser, checkpoint)
        load_streams(self.tables, checkpoint)


def go_on(training: Training, iterate: Callable[[Training], dict[str, float]], run: Run, learner: str) -> None:
    """Iteration after iteration, from where the run was stopped."""
    knobs = training.knobs
    torch.set_num_threads(run.threads)
    run.open(training.restore, training.begin)
    while training.iteration < knobs.iterations and not run.out_of_time:
        run.show("playing and learning", training.iteration, knobs.iterations)
        told = iterate(training)
        last = training.iteration == knobs.iterations
        if training.iteration % knobs.every == 0 or last:
            counts = {"iteration": training.iteration, "steps": training.steps}
            games = training.iteration * knobs.tables
            run.log(**counts, games=games, **told, **run.evaluate(softmax_policy(training.plays)))
        if run.due or last:
            training.network(learner).save(run.network)
            training.save(run)
