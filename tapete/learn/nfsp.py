"""NFSP, neural fictitious self-play: best responses to what everybody played on average, and a network of that average.

Heinrich and Silver, "Deep reinforcement learning from self-play in imperfect-information games" (2016, arXiv
1603.01121). Two networks: one learns what moves are worth, by DQN (`tapete.learn.dqn`), from all that happens; the
other is the average policy: it learns, from a reservoir in which every such decision is as likely, what was done by
those who played the best response. At the start of each game each seat draws, with probability `eta`, whether it plays
the best response in it, else the average policy. The average policy is what approaches an equilibrium, and what is
published. Both networks play all seats. An iteration plays a game at every table, then takes some steps with each.

Two things are not in the paper. In a share of the games one seat is an explorer: it plays the best response with many
moves at random, and it alone learns from that game. So what is rarely played is known well, while best responses and
their average stay free of random moves. And what a best response learns from grows: the average turns by 1/t in
iteration t, so later it may look back further, and must, because noise in it acts as a taste for any move.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tapete.core import Game, Rng
from tapete.learn.buffers import Reservoir, Ring, numpy_generator
from tapete.learn.dqn import columns, decisions, explore, goals, learn_q, replay
from tapete.learn.episodes import Episodes, Moment, load_streams, play_games, self_play_tables, stream_arrays
from tapete.learn.knobs import check_knobs, knob
from tapete.learn.late import nets, torch
from tapete.learn.policies import draw, generator, masked_log_softmax, softmax_policy
from tapete.learn.run import Checkpoint, Run
from tapete.learn.tensors import load_module, load_optimiser, module_arrays, optimiser_arrays
from tapete.nets.zoo import heads

if TYPE_CHECKING:
    from tapete.nets.torch import Module

NEEDS = ("torch",)
MANY = 10**9
NOBODY = -1  # instead of a seat


@dataclass(frozen=True)
class Config:
    """The knobs. As they are, they fit a small game of cards and some minutes on a core."""

    iterations: int = knob(4000, "rounds of play and learning", 1, MANY)
    tables: int = knob(1024, "games of an iteration, played at the same time", 1, MANY)
    eta: float = knob(0.1, "share of the games in which a seat plays the best response", 0, 1)
    steps: int = knob(12, "steps of the best response in an iteration", 1, MANY)
    policy_steps: int = knob(4, "steps of the average policy in an iteration", 1, MANY)
    batch: int = knob(256, "decisions of a step", 1, MANY)
    buffer: int = knob(600_000, "decisions that the best response remembers, the latest", 1, MANY)
    window: int = knob(60_000, "of these it learns from so many at first", 1, MANY)
    recent: float = knob(0.01, "and later from this share of all decisions so far", 0, 1)
    reservoir: int = knob(1_000_000, "decisions that the average policy remembers, of all times alike", 1, MANY)
    hidden: int = knob(128, "units of a hidden layer", 1, MANY)
    layers: int = knob(1, "hidden layers", 1, 100)
    optimiser: str = knob("adam", "how weights follow gradients: adam or, as in the paper, sgd", among=("adam", "sgd"))
    rate: float = knob(0.003, "step size of the best response at first; it falls to a twentieth", 1e-9, 10)
    policy_rate: float = knob(0.003, "step size of the average policy at first; it falls likewise", 1e-9, 10)
    target: int = knob(2, "iterations after which the target network is renewed", 1, MANY)
    explorers: float = knob(0.5, "share of the games in which one seat explores, for the best response to learn", 0, 1)
    explore: float = knob(0.25, "share of their moves that are made at random", 0, 1)
    gamma: float = knob(1.0, "what a payoff is worth one decision later", 0, 1)
    double: bool = knob(False, "the learning network chooses the move that the target network judges")
    loss: str = knob("squared", "of the difference to the target: huber or squared", among=("huber", "squared"))
    shaping: bool = knob(False, "pay changes of the game's potential, where it has one")
    every: int = knob(100, "iterations between two looks at how good it is", 1, MANY)
    seed: int = knob(1, "names all random streams: the same seed gives the same network")

    def __post_init__(self) -> None:
        check_knobs(self)


def imitate(module: Module, optimiser: torch.optim.Optimizer, rows: Mapping[str, NDArray[Any]], steps: int) -> float:
    """Moves a policy towards what was done, a slice of the rows at each step; the mean cross entropy."""
    policy, device = module.architecture.outputs["policy"], next(module.parameters()).device
    slices = (torch.from_numpy(rows[name]).to(device).chunk(steps) for name in ("seen", "mask", "actions"))
    total = 0.0
    for seen, mask, actions in zip(*slices, strict=True):
        logs = masked_log_softmax(module(seen)[:, policy], mask)
        missed = -logs.gather(1, actions.long()[:, None]).mean()
        optimiser.zero_grad()
        missed.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        total += missed.item()
    return total / steps


class Training:
    """All that a run remembers."""

    def __init__(self, game: Game, config: Config, run: Run) -> None:
        self.game, self.config, self.run, self.iteration, self.played = game, config, run, 0, 0
        self.tables = self_play_tables(game, config.tables, Rng(config.seed, "tables"), threads=run.threads)
        self.best, self.average = (self._network(head) for head in ("q", "policy"))
        self.target = copy.deepcopy(self.best)
        self.best_optimiser = self._optimiser(self.best, config.rate)
        self.average_optimiser = self._optimiser(self.average, config.policy_rate)
        kept = columns(game)
        self.ring = Ring(config.buffer, kept)
        behaviour = {name: kept[name] for name in ("seen", "mask", "actions")}
        self.reservoir = Reservoir(config.reservoir, behaviour, Rng(config.seed, "reservoir"))

    def _network(self, head: str) -> Module:
        spec, config = self.game.spec, self.config
        shape = heads(spec.observation_size, (config.hidden,) * config.layers, **{head: spec.actions})
        return nets.to_torch(shape, Rng(config.seed, "weights", head)).to(self.run.device)

    def _optimiser(self, module: Module, rate: float) -> torch.optim.Optimizer:
        kind = torch.optim.Adam if self.config.optimiser == "adam" else torch.optim.SGD
        return kind(module.parameters(), lr=rate, fused=True)

    def play(self, rng: np.random.Generator) -> Episodes:
        """A game at every table. Decisions are noted as `best` where the seat plays the best response in this game."""
        config, draws = self.config, generator(Rng(self.config.seed, "average", self.iteration))
        modes = rng.random((config.tables, self.game.players)) < config.eta  # [tables, seats]
        explorers = rng.integers(self.game.players, size=config.tables)  # [tables] a seat, or nobody
        explorers[rng.random(config.tables) >= config.explorers] = NOBODY
        average = softmax_policy(self.average)

        def act(moment: Moment) -> tuple[NDArray[np.int64], Mapping[str, NDArray[Any]]]:
            explorer = explorers[moment.games]
            explores, alone = explorer == moment.seats, explorer == NOBODY
            best = modes[moment.games, moment.seats]
            greedy = best | explores
            actions = np.zeros(len(best), dtype=np.int64)
            if greedy.any():
                shares = config.explore * explores[greedy]
                actions[greedy] = explore(self.best, moment.seen[greedy], moment.mask[greedy], shares, rng)
            if not greedy.all():
                said = average(moment.seen[~greedy], moment.mask[~greedy])
                actions[~greedy] = draw(torch.from_numpy(said), draws)
            return actions, {"best": best & alone, "learned": explores | alone}

        return play_games(self.tables, act, shaping=config.shaping)

    def remember(self, episodes: Episodes) -> None:
        """All decisions are to learn their worth from; those of best responses are what the average is made of."""
        self.ring.add(decisions(episodes, episodes.notes["learned"]))
        behaviour = decisions(episodes, episodes.notes["best"])
        self.reservoir.add({name: behaviour[name] for name in self.reservoir.columns})

    def iterate(self) -> None:
        """A game at every table, then some steps of both networks."""
        config = self.config
        rng = numpy_generator(Rng(config.seed, "iteration", self.iteration))
        episodes = self.play(rng)
        self.remember(episodes)
        left = 1 - 0.95 * self.iteration / config.iterations
        self.best_optimiser.param_groups[0]["lr"] = config.rate * left
        latest = max(config.window, int(config.recent * self.ring.seen))
        batch = replay(self.ring, config.steps * config.batch, rng, self.run.device, latest)
        wanted = goals(batch, self.target, config.gamma, self.best if config.double else None)
        loss = learn_q(self.best, self.best_optimiser, batch, wanted, config.steps, config.loss)
        policy_loss = 0.0
        if len(self.reservoir):
            self.average_optimiser.param_groups[0]["lr"] = config.policy_rate * left
            rows = self.reservoir.sample(config.policy_steps * config.batch, rng)
            policy_loss = imitate(self.average, self.average_optimiser, rows, config.policy_steps)
        self.iteration += 1
        self.played += episodes.steps
        if self.iteration % config.target == 0:
            self.target.load_state_dict(self.best.state_dict())
        if self.iteration % config.every == 0 or self.iteration == config.iterations:
            self.run.log(
                iteration=self.iteration,
                games=self.iteration * config.tables,
                steps=self.played,
                loss=loss,
                policy_loss=policy_loss,
                reservoir=len(self.reservoir),
                **self.run.evaluate(softmax_policy(self.average)),
            )

    def publish(self) -> None:
        """Gives the average policy to those who play."""
        nets.from_torch(self.average, game=str(self.game), learner="nfsp", plays="policy").save(self.run.network)

    def save(self) -> None:
        """Remembers everything."""
        arrays = {
            **module_arrays("best", self.best),
            **module_arrays("target", self.target),
            **module_arrays("average", self.average),
            **optimiser_arrays("best_optimiser", self.best_optimiser),
            **optimiser_arrays("average_optimiser", self.average_optimiser),
            **self.ring.arrays("ring"),
            **self.reservoir.arrays("reservoir"),
            **stream_arrays(self.tables),
        }
        self.run.save(arrays, iteration=self.iteration, steps=self.played)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Remembers what was saved."""
        self.iteration = checkpoint.count("iteration", self.config.iterations)
        self.played = checkpoint.count("steps")
        for name, module in (("best", self.best), ("target", self.target), ("average", self.average)):
            load_module(name, module, checkpoint)
        load_optimiser("best_optimiser", self.best_optimiser, checkpoint)
        load_optimiser("average_optimiser", self.average_optimiser, checkpoint)
        self.ring.restore("ring", checkpoint)
        self.reservoir.restore("reservoir", checkpoint)
        load_streams(self.tables, checkpoint)


def train(game: Game, config: Config, run: Run) -> None:
    """Iteration after iteration."""
    torch.set_num_threads(run.threads)
    training = Training(game, config, run)
    run.open(training.restore)
    while training.iteration < config.iterations and not run.out_of_time:
        run.show("playing and learning", training.iteration, config.iterations)
        training.iterate()
        if run.due or training.iteration == config.iterations:
            training.publish()
            training.save()
