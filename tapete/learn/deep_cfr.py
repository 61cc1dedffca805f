"""Deep CFR: networks learn the regrets of sampled walks, iteration after iteration, and an average of them is played.

Brown, Lerer, Gross and Sandholm 2019 (arXiv 1811.00164); the average by stored networks: Steinberger 2019 (arXiv
1901.07621). An iteration does this for every seat:

1. walks by external sampling in which all seats play by their last networks, inside a kernel without PyTorch
   (`tapete.learn.traversals`); the seat's sampled advantages go into its reservoir, the strategies of the seat after it
   into a reservoir for all seats, both with the number of the iteration;
2. a new network, from scratch, learns the advantages of the seat's reservoir, those of iteration t with weight t
   (linear CFR); rows that look the same are learned as one, with their mean: the squared error has the same gradient,
   and no noise. The seat then plays by regret matching: in proportion to positive advantages, or, where there are none,
   the best move.

What converges in zero-sum games of two players is the average strategy, iteration t with weight t. With
``average=network`` it is a network that learns the reservoir of strategies, with ``average=stored`` the mixture of all
advantage networks: whoever plays it draws one of them before the game. A file is one network, so what is published is
the first kind in both cases. With more seats nothing is guaranteed, as for CFR itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tapete.core import Game, Rng, TapeteError
from tapete.core.evaluator import Evaluator
from tapete.core.players import random
from tapete.core.thought import BatchPolicy, Mixture
from tapete.learn.buffers import Reservoir, numpy_generator
from tapete.learn.episodes import MOST_ACTIONS
from tapete.learn.kinds import keys_of
from tapete.learn.knobs import check_knobs, knob
from tapete.learn.late import nets, torch
from tapete.learn.policies import masked_log_softmax, softmax_policy
from tapete.learn.run import Checkpoint, Run
from tapete.learn.traversals import Rows, traverse
from tapete.nets import Architecture, Network
from tapete.nets.zoo import heads

NEEDS = ("torch",)
MANY = 10**9


@dataclass(frozen=True)
class Config:
    """The knobs. As they are, they fit a small game of cards and some minutes on a core."""

    iterations: int = knob(100, "networks that each seat learns, one after another", 1, MANY)
    walks: int = knob(3000, "walks of each seat in an iteration; the paper's K traversals", 1, MANY)
    steps: int = knob(300, "steps of a network of advantages, which begins from scratch", 1, MANY)
    average_steps: int = knob(2000, "steps of the network of average strategies, which begins from scratch", 1, MANY)
    batch: int = knob(1024, "decisions of a step: all of them where there are no more", 1, MANY)
    rate: float = knob(0.005, "step size of Adam at first; it falls to nothing along a line", 1e-9, 10)
    clip: float = knob(1.0, "longest gradient", 1e-9, MANY)
    hidden: int = knob(64, "units of a hidden layer", 1, MANY)
    layers: int = knob(3, "hidden layers", 1, 100)
    buffer: int = knob(1_000_000, "decisions in a reservoir: one a seat, and one of strategies", 1, MANY)
    average: str = knob(
        "network", "what is evaluated: a network of average strategies, or all that were stored, mixed",
        among=("network", "stored"),
    )  # fmt: skip
    warm: bool = knob(False, "a network of advantages begins with the weights of the one before, not from scratch")
    every: int = knob(25, "iterations between two looks at how good it is", 1, MANY)
    seed: int = knob(1, "names all random streams: the same seed gives the same network")

    def __post_init__(self) -> None:
        """Refuses what makes no sense."""
        check_knobs(self)


def regret_matching(network: Network) -> BatchPolicy:
    """How a seat plays by a network of advantages."""

    def policy(seen: NDArray[np.float32], mask: NDArray[np.bool_]) -> NDArray[np.float32]:
        said = network.forward(seen)
        positive = np.where(mask, np.maximum(said, 0), 0)
        total = positive.sum(axis=1, keepdims=True)
        best = np.eye(mask.shape[1], dtype=np.float32)[np.where(mask, said, -np.inf).argmax(axis=1)]
        return np.where(total > 0, positive / np.where(total > 0, total, 1), best)

    return policy


# What a network said [batch, actions], what is legal, the numbers that it should have said: a loss of each row [batch].
Loss = Callable[[Any, Any, Any], Any]


def squared_error(said: torch.Tensor, mask: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """Of the advantages of legal moves."""
    return ((said - wanted).square() * mask).sum(dim=1)


def cross_entropy(said: torch.Tensor, mask: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """Of the probabilities of moves; it is least where the network says the mean, as a squared error is."""
    return -(wanted * masked_log_softmax(said, mask)).sum(dim=1)


class Lessons(NamedTuple):
    """What a reservoir teaches, decision by decision: K of them, however many rows tell of each."""

    rows: NDArray[np.int64]  # [K] one row of each
    numbers: NDArray[np.float32]  # [K, actions] the mean of its rows, iteration t with weight t
    weight: NDArray[np.float64]  # [K] of all its rows; together 1

    @classmethod
    def of(cls, reservoir: Reservoir) -> Lessons:
        """All that it holds."""
        key, numbers, t = (reservoir.columns[name][: len(reservoir)] for name in ("key", "numbers", "iteration"))
        _, rows, kind = np.unique(key, return_index=True, return_inverse=True)
        weight = np.bincount(kind, weights=t)
        sums = csr_array((t, (kind, np.arange(len(kind)))), shape=(len(rows), len(kind))) @ numbers
        return cls(rows, sums / weight[:, None].astype(np.float32), weight / weight.sum())


class Training:
    """All that a run remembers."""

    def __init__(self, game: Game, config: Config, run: Run) -> None:
        spec = game.spec
        if spec.actions > MOST_ACTIONS:
            raise TapeteError(f"{game} has {spec.actions:,} actions, more than a network can score one by one")
        self.game, self.config, self.run = game, config, run
        columns: Any = {
            "inputs": (np.float32, (spec.observation_size,)),
            "mask": (np.bool_, (spec.actions,)),
            "numbers": (np.float32, (spec.actions,)),
            "iteration": (np.float32, ()),
            "key": (np.int64, ()),  # the same for decisions that look the same
        }
        self.advantages = [
            Reservoir(config.buffer, columns, Rng(config.seed, "advantages", seat)) for seat in range(game.players)
        ]
        self.strategies = Reservoir(config.buffer, columns, Rng(config.seed, "strategies"))
        self.iteration = self.nodes = 0
        self.networks: list[list[Network]] = [[] for _ in range(game.players)]  # of each seat; the last one plays

    def architecture(self, head: str) -> Architecture:
        """Dense layers below a number for each action."""
        spec, config = self.game.spec, self.config
        return heads(spec.observation_size, (config.hidden,) * config.layers, **{head: spec.actions})

    def player(self, seat: int) -> Callable[[], Evaluator]:
        """How a seat plays now: any move before its first network."""
        return partial(self.networks[seat][-1].evaluator, self.game) if self.networks[seat] else random

    def iterate(self) -> None:
        """Walks and a new network for each seat."""
        self.iteration += 1
        losses = [self.learn(seat, Rng(self.config.seed, "iteration", self.iteration, seat)) for seat in self.seats]
        self.run.log(
            iteration=self.iteration,
            nodes=self.nodes,
            advantages=sum(reservoir.seen for reservoir in self.advantages),
            strategies=self.strategies.seen,
            advantage_loss=float(np.mean(losses)),
            **self.examine(),
        )

    @property
    def seats(self) -> range:
        """All of them."""
        return range(self.game.players)

    def learn(self, seat: int, rng: Rng) -> float:
        """Walks of a seat, and the network that it plays by from now on; returns its loss."""
        config = self.config
        players = [self.player(other) for other in self.seats]
        made = traverse(self.game, players, seat, config.walks, rng.spawn("walks"), threads=self.run.threads)
        self.nodes += made.nodes
        self.remember(self.advantages[seat], made.advantages)
        self.remember(self.strategies, made.strategies)
        if not self.advantages[seat].seen:  # a seat without a choice
            return 0.0
        begin = self.networks[seat][-1] if config.warm and self.networks[seat] else None
        module, loss = self.fit(self.advantages[seat], "advantage", squared_error, config.steps, rng, begin)
        kept = self.networks[seat] if config.average == "stored" else []
        self.networks[seat] = [*kept, nets.from_torch(module)]
        return loss

    def remember(self, reservoir: Reservoir, rows: Rows) -> None:
        """Hands rows of this iteration to a reservoir."""
        iteration = np.full(len(rows.seen), self.iteration, dtype=np.float32)
        columns = {"inputs": rows.seen, "mask": rows.mask, "numbers": rows.numbers, "iteration": iteration}
        reservoir.add({**columns, "key": keys_of(rows.seen, rows.mask)})

    def fit(
        self, reservoir: Reservoir, head: str, loss: Loss, steps: int, rng: Rng, begin: Network | None = None
    ) -> tuple[nets.Module, float]:
        """A network, from scratch or not, that learns a reservoir, and its mean loss in the last tenth of the steps."""
        config, device = self.config, self.run.device
        module = nets.to_torch(begin or self.architecture(head), rng.spawn("weights")).to(device)
        weights = list(module.parameters())
        adam = torch.optim.Adam(weights, lr=config.rate, fused=True)
        batches, losses = self.batches(reservoir, numpy_generator(rng.spawn("rows"))), []
        for step in range(steps):
            adam.param_groups[0]["lr"] = config.rate * (1 - step / steps)
            inputs, mask, numbers, weight = next(batches)
            error = (weight * loss(module(inputs), mask, numbers)).sum()
            adam.zero_grad()
            error.backward()
            torch.nn.utils.clip_grad_norm_(weights, config.clip)
            adam.step()
            if step >= 0.9 * steps:
                losses.append(error.item())
        return module.cpu(), float(np.mean(losses or [0.0]))

    def batches(self, reservoir: Reservoir, draws: np.random.Generator) -> Iterator[tuple[torch.Tensor, ...]]:
        """Inputs, masks, numbers and weights of a step: all lessons where they are few, else some of them, drawn."""
        lessons, size = Lessons.of(reservoir), self.config.batch
        sums = np.cumsum(lessons.weight)
        every, alike = np.arange(len(sums)), np.full(size, 1 / size)

        def batch(chosen: NDArray[np.int64], weight: NDArray[np.float64]) -> tuple[torch.Tensor, ...]:
            rows = lessons.rows[chosen]
            inputs, mask = reservoir.columns["inputs"][rows], reservoir.columns["mask"][rows]
            columns = inputs, mask, lessons.numbers[chosen], weight.astype(np.float32)
            return tuple(torch.from_numpy(column).to(self.run.device) for column in columns)

        if len(every) <= size:
            yield from repeat(batch(every, lessons.weight))
        while True:
            yield batch(np.searchsorted(sums[:-1], draws.random(size) * sums[-1], side="right"), alike)

    def examine(self) -> dict[str, float]:
        """How good the average is, where it is time to know; a network of it is published."""
        if self.iteration % self.config.every and self.iteration < self.config.iterations:
            return {}
        module, loss = self.publish()
        if self.config.average == "network":
            return {"average_loss": loss, **self.run.evaluate(softmax_policy(module))}
        published = {f"network_{name}": value for name, value in self.run.evaluate(softmax_policy(module)).items()}
        return {"average_loss": loss, **self.run.evaluate(self.mixture()), **published}

    def publish(self) -> tuple[nets.Module, float]:
        """Gives a network of the average strategies to those who play."""
        rng = Rng(self.config.seed, "average", self.iteration)
        module, loss = self.fit(self.strategies, "policy", cross_entropy, self.config.average_steps, rng)
        nets.from_torch(module, game=str(self.game), learner="deep-cfr", plays="policy").save(self.run.network)
        return module, loss

    def mixture(self) -> Mixture:
        """All networks so far, that of iteration t with weight t."""
        weights = np.arange(1, self.iteration + 1) / (self.iteration * (self.iteration + 1) / 2)
        return Mixture([[regret_matching(network) for network in own] for own in self.networks], weights)

    def save(self) -> None:
        """Remembers everything."""
        arrays = self.strategies.arrays("strategies")
        for seat in self.seats:
            arrays |= self.advantages[seat].arrays(f"advantages{seat}")
            for number, network in enumerate(self.networks[seat]):
                arrays |= {f"network{seat}.{number}.{name}": array for name, array in network.weights.items()}
        self.run.save(arrays, iteration=self.iteration, nodes=self.nodes)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Remembers what was saved."""
        self.iteration, self.nodes = checkpoint.count("iteration", self.config.iterations), checkpoint.count("nodes")
        self.strategies.restore("strategies", checkpoint)
        architecture = self.architecture("advantage")
        for seat in self.seats:
            self.advantages[seat].restore(f"advantages{seat}", checkpoint)
            learned = self.iteration if self.advantages[seat].seen else 0
            for number in range(learned if self.config.average == "stored" else min(learned, 1)):
                weights = {
                    name: checkpoint.take(f"network{seat}.{number}.{name}", np.float32, *shape)
                    for name, shape in architecture.parameters.items()
                }
                self.networks[seat].append(Network(architecture, weights))


def train(game: Game, config: Config, run: Run) -> None:
    """Iteration after iteration."""
    torch.set_num_threads(run.threads)
    training = Training(game, config, run)
    run.open(training.restore)
    while training.iteration < config.iterations and not run.out_of_time:
        run.show("walking and learning", training.iteration, config.iterations)
        training.iterate()
        if run.due or training.iteration == config.iterations:
            training.save()
    if 0 < training.iteration < config.iterations:
        run.show("learning the average", training.iteration, config.iterations)
        training.publish()
