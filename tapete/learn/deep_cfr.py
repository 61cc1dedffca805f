"""Deep CFR: networks learn the regrets of sampled walks, iteration after iteration, and an average of them is played.

Brown, Lerer, Gross and Sandholm 2019 (arXiv 1811.00164); the average by stored networks: Steinberger 2019 (arXiv
1901.07621). An iteration does this for every seat:

1. walks by external sampling in which all seats play by their last networks, inside a kernel without PyTorch
   (`tapete.learn.traversals`); the seat's sampled advantages go into its reservoir, the strategies of the seat after it
   into a reservoir for all seats, both with the number of the iteration;
2. a new network, from scratch, learns the advantages of the seat's reservoir, those of iteration t with weight t
   (linear CFR), in compiled code too (`tapete.learn.dense`). Rows that look the same are learned as one, with their
   mean: the squared error has the same gradient, and no noise. The seat then plays by regret matching: in proportion to
   positive advantages, or, where there are none, the best move.

What converges in zero-sum games of two players is the average strategy, iteration t with weight t. With
``average=network`` it is a network that learns the reservoir of strategies, with ``average=stored`` the mixture of all
advantage networks: whoever plays it draws one of them before the game. A file is one network, so what is published is
the first kind in both cases. With more seats nothing is guaranteed, as for CFR itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tapete.core import Game, Rng, TapeteError
from tapete.core.evaluator import Evaluator
from tapete.core.players import random
from tapete.core.thought import BatchPolicy, Mixture
from tapete.learn.buffers import Reservoir, numpy_generator
from tapete.learn.dense import CROSS_ENTROPY, SQUARED_ERROR, Dense, Lessons
from tapete.learn.episodes import MOST_ACTIONS
from tapete.learn.kinds import alike, keys_of
from tapete.learn.knobs import check_knobs, knob
from tapete.learn.run import Checkpoint, Run
from tapete.learn.traversals import Rows, traverse
from tapete.nets import Architecture, Network
from tapete.nets.zoo import heads

MANY = 10**9
TURNS = 256  # steps whose lessons are drawn at a time


@dataclass(frozen=True)
class Config:
    """The knobs. As they are, they fit a small game of cards and some minutes on a core."""

    iterations: int = knob(100, "networks that each seat learns, one after another", 1, MANY)
    walks: int = knob(3000, "walks of each seat in an iteration; the paper's K traversals", 1, MANY)
    steps: int = knob(300, "steps of a network of advantages, which begins from scratch", 1, MANY)
    average_steps: int = knob(2000, "steps of the network of average strategies, which begins from scratch", 1, MANY)
    batch: int = knob(1024, "decisions of a step: all of them where there are no more", 1, MANY)
    rate: float = knob(0.01, "step size of Adam at first; it falls to nothing along a line", 1e-9, 10)
    clip: float = knob(1.0, "longest gradient", 1e-9, MANY)
    hidden: int = knob(64, "units of a hidden layer", 1, MANY)
    layers: int = knob(2, "hidden layers", 1, 100)
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


def softmax(network: Network) -> BatchPolicy:
    """How anybody plays by a network of strategies."""

    def policy(seen: NDArray[np.float32], mask: NDArray[np.bool_]) -> NDArray[np.float32]:
        said = np.where(mask, network.forward(seen), -np.inf)
        shares = np.exp(said - said.max(axis=1, keepdims=True))
        found: NDArray[np.float32] = shares / shares.sum(axis=1, keepdims=True)
        return found

    return policy


def lessons_of(reservoir: Reservoir) -> tuple[Lessons, NDArray[np.float64]]:
    """What a reservoir teaches, decision by decision: K of them, however many rows tell of each.

    Wanted is the mean of these rows, iteration t with weight t. Beside it [K], what they weigh; together 1.
    """
    inputs, mask, numbers, t, key = (column[: len(reservoir)] for column in reservoir.columns.values())
    rows, kind = alike(key)
    weight = np.bincount(kind, weights=t)
    sums = csr_array((t, (kind, np.arange(len(kind)))), shape=(len(rows), len(kind))) @ numbers
    return Lessons(inputs[rows], mask[rows], sums / weight[:, None].astype(np.float32)), weight / weight.sum()


def choose(
    weight: NDArray[np.float64], steps: int, size: int, draws: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The lessons of some steps [turns, batch], and how much each counts: all where they are few, else some, drawn."""
    if len(weight) <= size:
        return np.arange(len(weight))[None], weight.astype(np.float32)
    sums = np.cumsum(weight)
    drawn = np.searchsorted(sums[:-1], draws.random((steps, size)) * sums[-1], side="right")
    return drawn, np.full(size, 1 / size, dtype=np.float32)


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
        learned, loss = self.fit(self.advantages[seat], "advantage", SQUARED_ERROR, config.steps, rng, begin)
        kept = self.networks[seat] if config.average == "stored" else []
        self.networks[seat] = [*kept, learned.network()]
        return loss

    def remember(self, reservoir: Reservoir, rows: Rows) -> None:
        """Hands rows of this iteration to a reservoir."""
        iteration = np.full(len(rows.seen), self.iteration, dtype=np.float32)
        columns = {"inputs": rows.seen, "mask": rows.mask, "numbers": rows.numbers, "iteration": iteration}
        reservoir.add({**columns, "key": keys_of(rows.seen, rows.mask)})

    def fit(
        self, reservoir: Reservoir, head: str, loss: int, steps: int, rng: Rng, begin: Network | None = None
    ) -> tuple[Dense, float]:
        """A network, from scratch or not, that learns a reservoir, and its mean loss in the last tenth of the steps."""
        config, learned = self.config, Dense(begin or Network.random(self.architecture(head), rng.spawn("weights")))
        lessons, weight = lessons_of(reservoir)
        draws, losses = numpy_generator(rng.spawn("rows")), list[float]()
        for first in range(0, steps, TURNS):
            rates = config.rate * (1 - np.arange(first, min(first + TURNS, steps)) / steps)
            chosen, share = choose(weight, len(rates), config.batch, draws)
            losses += learned.learn(lessons, chosen, share, rates, loss=loss, clip=config.clip).tolist()
        return learned, float(np.mean(losses[-max(steps // 10, 1) :]))

    def examine(self) -> dict[str, float]:
        """How good the average is, where it is time to know; a network of it is published.

        Stored networks are judged as they are, and one network of them only at the end.
        """
        is_last = self.iteration == self.config.iterations
        if self.iteration % self.config.every and not is_last:
            return {}
        if self.config.average == "stored" and not is_last:
            return self.run.evaluate(self.mixture())
        average, loss = self.publish()
        found = {"average_loss": loss}
        if self.config.average == "network":
            return {**found, **self.run.evaluate(softmax(average))}
        published = {f"network_{name}": value for name, value in self.run.evaluate(softmax(average)).items()}
        return {**found, **self.run.evaluate(self.mixture()), **published}

    def publish(self) -> tuple[Network, float]:
        """Gives a network of the average strategies to those who play."""
        rng = Rng(self.config.seed, "average", self.iteration)
        learned, loss = self.fit(self.strategies, "policy", CROSS_ENTROPY, self.config.average_steps, rng)
        average = learned.network(game=str(self.game), learner="deep-cfr", plays="policy")
        average.save(self.run.network)
        return average, loss

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
    training = Training(game, config, run)
    run.open(training.restore)
    while training.iteration < config.iterations and not run.out_of_time:
        run.show("walking and learning", training.iteration, config.iterations)
        training.iterate()
        if run.due or training.iteration == config.iterations:
            training.save()
            if config.average == "stored" and training.iteration < config.iterations:
                training.publish()
    if 0 < training.iteration < config.iterations:
        run.show("learning the average", training.iteration, config.iterations)
        training.publish()
