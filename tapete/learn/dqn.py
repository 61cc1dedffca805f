"""DQN: a network learns what each move is worth from replayed decisions, in self-play or against a fixed opponent.

Mnih et al., "Human-level control through deep reinforcement learning", Nature 518 (2015): a ring of recent decisions,
a target network that follows the learning one from time to time, moves at random now and then. With `double`, the
learning network chooses the move whose worth the target network tells: van Hasselt, Guez and Silver, "Deep
reinforcement learning with double Q-learning", AAAI 2016.

One network plays all seats that no player of the caller's sits on. An iteration plays a game at every table, then takes
some steps. What follows a decision is the same seat's next one, so others, and chance, are part of its surroundings.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tapete.core import Game, Rng
from tapete.core.evaluator import MakeEvaluator
from tapete.learn.buffers import Column, Ring, numpy_generator
from tapete.learn.episodes import (
    END,
    Episodes,
    Moment,
    load_streams,
    play_games,
    scale_of,
    self_play_tables,
    stream_arrays,
)
from tapete.learn.knobs import check_knobs, knob
from tapete.learn.late import nets, torch
from tapete.learn.policies import greedy_policy
from tapete.learn.run import Checkpoint, Run
from tapete.learn.tensors import begin_from, load_module, load_optimiser, module_arrays, optimiser_arrays
from tapete.nets import Network
from tapete.nets.zoo import heads

if TYPE_CHECKING:
    from tapete.nets.torch import Module

NEEDS = ("torch",)
MANY = 10**9


@dataclass(frozen=True)
class Config:
    """The knobs. As they are, they fit a small game of cards and some minutes on a core."""

    iterations: int = knob(400, "rounds of play and learning", 1, MANY)
    tables: int = knob(1024, "games of an iteration, played at the same time", 1, MANY)
    steps: int = knob(16, "steps of the network in an iteration", 1, MANY)
    batch: int = knob(512, "decisions of a step", 1, MANY)
    buffer: int = knob(200_000, "decisions that are remembered, the latest", 1, MANY)
    hidden: int = knob(64, "units of a hidden layer", 1, MANY)
    layers: int = knob(2, "hidden layers", 1, 100)
    rate: float = knob(0.003, "step size of Adam at first; it falls to a twentieth of that", 1e-9, 10)
    target: int = knob(4, "iterations after which the target network is renewed", 1, MANY)
    explore: float = knob(1.0, "share of moves at random at first", 0, 1)
    explore_last: float = knob(0.05, "that share in the end", 0, 1)
    explore_until: float = knob(0.5, "after this share of the iterations it falls no more", 0, 1)
    gamma: float = knob(1.0, "what a payoff is worth one decision later", 0, 1)
    double: bool = knob(True, "the learning network chooses the move that the target network judges")
    loss: str = knob("huber", "of the difference to the target: huber or squared", among=("huber", "squared"))
    shaping: bool = knob(False, "pay changes of the game's potential, where it has one")
    every: int = knob(20, "iterations between two looks at how good it is", 1, MANY)
    seed: int = knob(1, "names all random streams: the same seed gives the same network")

    def __post_init__(self) -> None:
        check_knobs(self)


class Batch(NamedTuple):
    """Decisions to learn from, and what followed."""

    seen: torch.Tensor  # [n, observation_size]
    actions: torch.Tensor  # [n]
    rewards: torch.Tensor  # [n] until the seat's next decision
    after: torch.Tensor  # [n, observation_size] what the seat saw then
    legal: torch.Tensor  # [n, actions] what it could do then
    over: torch.Tensor  # [n] whether the game ended before: `after` and `legal` mean nothing


def columns(game: Game) -> dict[str, Column]:
    """What a ring keeps of a decision."""
    spec = game.spec
    return {
        "seen": (np.float32, (spec.observation_size,)),
        "mask": (np.bool_, (spec.actions,)),
        "actions": (np.int32, ()),
        "rewards": (np.float32, ()),
        "ahead": (np.int32, ()),  # how many rows behind this one stands the seat's next decision; 0: it has none
    }


def decisions(episodes: Episodes, kept: NDArray[np.bool_] | slice = slice(None)) -> dict[str, NDArray[Any]]:
    """The rows of a ring; those that are `kept` are all that a seat decided in a game, or nothing of it.

    A row that is in the ring has its successor in it: that came later, and the oldest are forgotten first.
    """
    rows = np.arange(len(episodes))[kept]
    place = np.zeros(len(episodes), dtype=np.int64)
    place[rows] = np.arange(len(rows))
    after = episodes.next[rows]
    found = {"seen": episodes.seen, "mask": episodes.mask, "actions": episodes.actions, "rewards": episodes.rewards}
    ahead = np.where(after == END, 0, place[after] - np.arange(len(rows)))
    return {**{name: column[rows] for name, column in found.items()}, "ahead": ahead}


def replay(ring: Ring, count: int, rng: np.random.Generator, device: str = "cpu", latest: int | None = None) -> Batch:
    """So many decisions, drawn from all of them or from the latest."""
    ago = rng.integers(min(latest or len(ring), len(ring)), size=count)
    places = (ring.seen - 1 - ago) % ring.capacity
    ahead = ring.columns["ahead"][places]
    after = (places + ahead) % ring.capacity
    found = (
        *(ring.columns[name][places] for name in ("seen", "actions", "rewards")),
        *(ring.columns[name][after] for name in ("seen", "mask")),
        ahead == 0,
    )
    return Batch(*(torch.from_numpy(column).to(device) for column in found))


def goals(batch: Batch, target: Module, gamma: float, chooser: Module | None = None) -> torch.Tensor:
    """What the decisions were worth [n]: their rewards, and what the target network makes of the best move afterwards.

    With a `chooser` the best move is the one that it rates highest (double DQN).
    """
    q = target.architecture.outputs["q"]
    with torch.inference_mode():
        worth = target(batch.after)[:, q]
        rated = (worth if chooser is None else chooser(batch.after)[:, q]).masked_fill(~batch.legal, -torch.inf)
        best = worth.gather(1, rated.argmax(dim=1, keepdim=True))[:, 0]
        return batch.rewards + gamma * best.masked_fill(batch.over, 0.0)


def learn_q(
    module: Module, optimiser: torch.optim.Optimizer, batch: Batch, wanted: torch.Tensor, steps: int, loss: str
) -> float:
    """Moves what the network says of the decisions towards what is wanted, a slice at each step; the mean loss."""
    q = module.architecture.outputs["q"]
    error = torch.nn.functional.smooth_l1_loss if loss == "huber" else torch.nn.functional.mse_loss
    total = 0.0
    slices = zip(batch.seen.chunk(steps), batch.actions.long().chunk(steps), wanted.clone().chunk(steps), strict=True)
    for seen, actions, goal in slices:
        said = module(seen)[:, q].gather(1, actions[:, None])[:, 0]
        missed = error(said, goal)
        optimiser.zero_grad()
        missed.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        total += missed.item()
    return total / steps


def explore(
    module: Module, seen: NDArray[np.float32], mask: NDArray[np.bool_], share: Any, rng: np.random.Generator
) -> NDArray[np.int64]:
    """The best legal move as the network judges [n], or for a share of the rows any legal one; a share or one each."""
    best = greedy_policy(module)(seen, mask)
    at_random = rng.random(len(mask)) < share
    preferred = np.where(at_random[:, None], rng.random(mask.shape), best)
    return np.where(mask, preferred, -1.0).argmax(axis=1)


def exploration(config: Config, iteration: int) -> float:
    """The share of moves at random, along a line."""
    done = min(1.0, iteration / max(config.explore_until * config.iterations, 1))
    return float(config.explore + (config.explore_last - config.explore) * done)


class Training:
    """All that a run remembers."""

    def __init__(self, game: Game, config: Config, run: Run, players: Sequence[MakeEvaluator | None] = ()) -> None:
        """With `players`, those who sit on other seats and don't learn."""
        self.game, self.config, self.run, self.iteration, self.played = game, config, run, 0, 0
        self.tables = self_play_tables(game, config.tables, Rng(config.seed, "tables"), players, threads=run.threads)
        shape = heads(game.spec.observation_size, (config.hidden,) * config.layers, q=game.spec.actions)
        self.module = nets.to_torch(shape, Rng(config.seed, "weights")).to(run.device)
        self.target = copy.deepcopy(self.module)
        self.optimiser = torch.optim.Adam(self.module.parameters(), lr=config.rate, fused=True)
        self.ring = Ring(config.buffer, columns(game))

    def iterate(self) -> None:
        """A game at every table, then some steps."""
        config = self.config
        rng = numpy_generator(Rng(config.seed, "iteration", self.iteration))
        share = exploration(config, self.iteration)

        def act(moment: Moment) -> tuple[NDArray[np.int64], Mapping[str, NDArray[Any]]]:
            return explore(self.module, moment.seen, moment.mask, share, rng), {}

        episodes = play_games(self.tables, act, shaping=config.shaping)
        self.ring.add(decisions(episodes))
        self.optimiser.param_groups[0]["lr"] = config.rate * (1 - 0.95 * self.iteration / config.iterations)
        batch = replay(self.ring, config.steps * config.batch, rng, self.run.device)
        wanted = goals(batch, self.target, config.gamma, self.module if config.double else None)
        loss = learn_q(self.module, self.optimiser, batch, wanted, config.steps, config.loss)
        self.iteration += 1
        self.played += episodes.steps
        if self.iteration % config.target == 0:
            self.target.load_state_dict(self.module.state_dict())
        if self.iteration % config.every == 0 or self.iteration == config.iterations:
            self.run.log(
                iteration=self.iteration,
                games=self.iteration * config.tables,
                steps=self.played,
                loss=loss,
                worth=float(wanted.mean()) * scale_of(self.game),
                explore=share,
                **self.run.evaluate(greedy_policy(self.module)),
            )

    def publish(self) -> None:
        """Gives the network to those who play."""
        nets.from_torch(self.module, game=str(self.game), learner="dqn", plays="q").save(self.run.network)

    def save(self) -> None:
        """Remembers everything."""
        arrays = {
            **module_arrays("module", self.module),
            **module_arrays("target", self.target),
            **optimiser_arrays("adam", self.optimiser),
            **self.ring.arrays("ring"),
            **stream_arrays(self.tables),
        }
        self.run.save(arrays, iteration=self.iteration, steps=self.played)

    def begin(self, file: Path) -> None:
        """Begins with a network that was learned before."""
        begin_from(file, Network.load(file), self.module, self.target)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Remembers what was saved."""
        self.iteration = checkpoint.count("iteration", self.config.iterations)
        self.played = checkpoint.count("steps")
        load_module("module", self.module, checkpoint)
        load_module("target", self.target, checkpoint)
        load_optimiser("adam", self.optimiser, checkpoint)
        self.ring.restore("ring", checkpoint)
        load_streams(self.tables, checkpoint)


def train(game: Game, config: Config, run: Run) -> None:
    """Self-play, iteration after iteration."""
    _go_on(Training(game, config, run))


def respond(game: Game, seat: int, opponent: MakeEvaluator, config: Config, run: Run) -> None:
    """A best response, learned: what a seat should play where all others belong to an opponent who doesn't learn."""
    _go_on(Training(game, config, run, [None if other == seat else opponent for other in range(game.players)]))


def _go_on(training: Training) -> None:
    config, run = training.config, training.run
    torch.set_num_threads(run.threads)
    run.open(training.restore, training.begin)
    while training.iteration < config.iterations and not run.out_of_time:
        run.show("playing and learning", training.iteration, config.iterations)
        training.iterate()
        if run.due or training.iteration == config.iterations:
            training.publish()
            training.save()
