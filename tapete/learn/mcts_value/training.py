"""Games of tree search, a network that learns who wins them, and again with it in the tree."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from tapete.core import Game, Rng, TapeteError
from tapete.core.evaluator import Evaluator
from tapete.learn.mcts_value import Config
from tapete.learn.positions import Symmetries, observe
from tapete.learn.run import Checkpoint, Run
from tapete.learn.tensors import (
    begin_from,
    load_module,
    load_optimiser,
    module_arrays,
    optimiser_arrays,
    seeded,
    shuffled,
)
from tapete.nets import Network
from tapete.nets.torch import from_torch, to_torch
from tapete.nets.zoo import paper_cnn
from tapete.scale import Job
from tapete.search import MCTS, Budget, playouts

CHUNK = 16  # games between two looks at the clock

MakeEvaluator = Callable[[], Evaluator]


class Data(NamedTuple):
    """Positions from games."""

    states: NDArray[np.uint8]  # [N, bytes]
    results: NDArray[np.float32]  # [N] of the game, for who is to move: -1 to 1
    games: NDArray[np.int32]  # [N] which game it is from


def play(game: Game, config: Config, evaluator: MakeEvaluator, iterations: int, rng: Rng, number: int) -> Data:
    """One game; the search has seat 0 in games of even number and seat 1 in the others."""
    search = MCTS(game, evaluator)
    budget = Budget(iterations=iterations)
    state, states, movers = game.start(), [], []
    while not state.over:
        legal, mover = state.actions(), state.player
        states.append(state.data.copy())
        movers.append(mover)
        searches = config.opponent == "mcts" or mover == number % 2
        if len(legal) == 1 or not searches or len(movers) <= config.openings:
            state.apply(rng.choice(legal))
        else:
            chances = search.run(state.view(mover), rng, budget).probabilities
            state.apply(max(chances, key=lambda action: chances[action]))
    results = np.array(state.returns())[movers] / game.spec.utility[1]
    return Data(np.array(states), results.astype(np.float32), np.full(len(states), number, dtype=np.int32))


def open_games(
    stop: Event, *, game: Game, config: Config, network: Network | None, generation: int
) -> Callable[[int], Data]:
    """What plays games of a generation, by their number, with a network or with playouts."""
    evaluator: MakeEvaluator = partial(network.evaluator, game) if network else playouts
    before, iterations = sum(map(config.games_of, range(generation))), config.iterations_of(generation)

    def play_one(number: int) -> Data:
        rng = Rng(config.seed, "game", generation, number)
        return play(game, config, evaluator, iterations, rng, before + number)

    return play_one


class Patience:
    """Counts epochs without improvement."""

    def __init__(self, epochs: int) -> None:
        self.epochs = epochs
        self.best = math.inf
        self.waited = 0

    def improves(self, loss: float) -> bool:
        """Whether this loss is the best so far."""
        self.waited = 0 if loss < self.best else self.waited + 1
        self.best = min(loss, self.best)
        return self.waited == 0

    @property
    def is_over(self) -> bool:
        """Whether it has waited long enough."""
        return self.waited >= self.epochs


def class_weights(results: NDArray[np.float32]) -> NDArray[np.float32]:
    """Weights for the loss [N], with which wins, draws and losses weigh the same, and all together N."""
    classes, place, counts = np.unique(np.sign(results), return_inverse=True, return_counts=True)
    return (len(results) / (len(classes) * counts))[place].astype(np.float32)


class Training:
    """All that a run remembers."""

    def __init__(self, game: Game, config: Config, run: Run) -> None:
        spec = game.spec
        board = spec.observation(0)[0].shape
        if len(board) != 3 or board[0] < 2 or board[1] != board[2] or spec.players != 2 or not spec.zero_sum:
            raise TapeteError(f"mcts-value is for board games of two players, which {game} is not; try othello")
        MCTS(game)  # which says so if there is chance, or something hidden
        self.game, self.config, self.run = game, config, run
        self.symmetries = Symmetries.of(spec)
        self.generation = self.played = self.epoch = 0
        self.data = Data(np.zeros((0, game.size), np.uint8), np.zeros(0, np.float32), np.zeros(0, np.int32))
        self.model = to_torch(paper_cnn(board[1]), Rng(config.seed, "weights"))
        self.best = module_arrays("best", self.model)  # the weights of the epoch with the best validation loss
        self.begin_generation()

    def begin_generation(self) -> None:
        """A new optimiser for weights that stay."""
        self.optimiser = torch.optim.Adam(self.model.parameters(), lr=self.config.rate)
        self.plateau, self.patience = Patience(self.config.plateau), Patience(self.config.patience)

    @property
    def network(self) -> Network:
        """The network as it is now."""
        return from_torch(self.model, game=str(self.game), learner="mcts-value")

    # Games

    def play(self) -> bool:
        """Plays the games of a generation; False where time ran out."""
        games, network = self.config.games_of(self.generation), self.network if self.generation else None
        terms = {"game": self.game, "config": self.config, "network": network, "generation": self.generation}
        job = Job(f"{__name__}:open_games", terms)
        while self.played < games:
            if self.stop("playing"):
                return False
            numbers = range(self.played, min(self.played + CHUNK, games))
            found = dict(self.run.executor.spread(job, numbers))
            parts = [found[i] for i in range(len(numbers))]
            self.data = Data(*(np.concatenate(column) for column in zip(self.data, *parts, strict=True)))
            self.played = numbers.stop
        return True

    # Learning

    def split(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Which positions are to learn from, and which validate: the same share of each generation's games."""
        held, first = [], 0
        for generation in range(self.generation + 1):
            games = self.config.games_of(generation)
            order = shuffled(games, Rng(self.config.seed, "validation", generation))
            held.append(first + order[: max(1, round(self.config.validation * games))])
            first += games
        validates = np.isin(self.data.games, np.concatenate(held))
        return np.flatnonzero(~validates), np.flatnonzero(validates)

    def fit(self) -> bool:
        """Learns until it no longer gets better; False where time ran out."""
        learned, held = self.split()
        weights = np.ones(len(self.data.results), dtype=np.float32)
        if self.config.class_weights:
            weights[learned] = class_weights(self.data.results[learned])
        while self.epoch < self.config.epochs and not self.patience.is_over:
            if self.stop("learning"):
                return False
            loss = self._epoch(learned, weights)
            held_loss, right = self.validate(held)
            if self.patience.improves(held_loss):
                self.best = module_arrays("best", self.model)
                self.publish()
            self.epoch += 1
            rate = self.optimiser.param_groups[0]["lr"]
            self.run.log(
                generation=self.generation + 1,
                epoch=self.epoch,
                positions=len(learned),
                loss=loss,
                validation_loss=held_loss,
                winner_right=right,
                rate=rate,
            )
            self.plateau.improves(held_loss)
            if self.plateau.is_over:
                self.optimiser.param_groups[0]["lr"] = rate * self.config.factor
                self.plateau.waited = 0
        return True

    def _epoch(self, rows: NDArray[np.int64], weights: NDArray[np.float32]) -> float:
        """Every position once (or as many as an epoch has), in random order; returns the mean loss."""
        rng = Rng(self.config.seed, "epoch", self.generation, self.epoch)
        order, total = rows[shuffled(len(rows), rng)][: self.config.epoch_size or None], 0.0
        turns = np.random.Generator(np.random.PCG64(rng.below(1 << 30))).integers(len(self.symmetries), size=len(order))
        self.model.train()
        with seeded(rng):
            for start in range(0, len(order), self.config.batch):
                batch = order[start : start + self.config.batch]
                seen = observe(self.game, self.data.states[batch])
                if self.config.symmetries:
                    places = self.symmetries.observations[turns[start : start + self.config.batch]]
                    seen = np.take_along_axis(seen, places, axis=1)
                said = self.model(torch.from_numpy(seen))[:, 0]
                error = (said - torch.from_numpy(self.data.results[batch])) ** 2
                loss = (torch.from_numpy(weights[batch]) * error).mean()
                self.optimiser.zero_grad()
                loss.backward()
                self.optimiser.step()
                total += loss.item() * len(batch)
        return total / len(order)

    @torch.no_grad()
    def validate(self, rows: NDArray[np.int64]) -> tuple[float, float]:
        """The mean squared error, and the share of decided games whose winner the network foresees."""
        self.model.eval()
        said = np.zeros(len(rows), dtype=np.float32)
        for start in range(0, len(rows), 1024):
            batch = rows[start : start + 1024]
            seen = torch.from_numpy(observe(self.game, self.data.states[batch]))
            said[start : start + 1024] = self.model(seen)[:, 0].numpy()
        results = self.data.results[rows]
        decided = results != 0
        right = np.mean(np.sign(said[decided]) == np.sign(results[decided])) if decided.any() else 1.0
        return float(np.mean((said - results) ** 2)), float(right)

    def publish(self) -> None:
        """Gives the network, as it is, to those who play."""
        self.network.save(self.run.network, half=True)  # 2.2 million weights: half of 8.8 MB

    def end_generation(self) -> None:
        """Puts the best weights back."""
        load_module("best", self.model, Checkpoint(self.run.folder, self.best, {}))
        self.publish()
        self.generation, self.played, self.epoch = self.generation + 1, 0, 0
        self.begin_generation()

    # Stopping and going on

    def stop(self, stage: str) -> bool:
        """Saves the run now and then, and tells where it is; True where time has run out."""
        if self.run.due:
            self.save()
        config = self.config
        share = (self.played / config.games_of(self.generation) + self.epoch / config.epochs) / 2
        self.run.show(f"{stage}, generation {self.generation + 1}", self.generation + share, config.generations)
        return self.run.out_of_time

    def save(self) -> None:
        """Remembers everything."""
        arrays: dict[str, NDArray[Any]] = {
            **{f"data.{name}": column for name, column in self.data._asdict().items()},
            **module_arrays("model", self.model),
            **optimiser_arrays("adam", self.optimiser),
            **self.best,
            "rate": np.array(self.optimiser.param_groups[0]["lr"]),
            "losses": np.nan_to_num(np.array([self.plateau.best, self.patience.best]), posinf=np.finfo(float).max),
        }
        self.run.save(
            arrays,
            generation=self.generation,
            played=self.played,
            epoch=self.epoch,
            plateau=self.plateau.waited,
            patience=self.patience.waited,
        )

    def begin(self, file: Path) -> None:
        """Begins with a network that was learned before; the first games are of plain search all the same."""
        begin_from(file, Network.load(file), self.model)
        self.best = module_arrays("best", self.model)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Remembers what was saved."""
        config = self.config
        self.generation = checkpoint.count("generation", config.generations)
        self.played = checkpoint.count("played", config.games_of(self.generation))
        self.epoch = checkpoint.count("epoch", config.epochs)
        states = checkpoint.take("data.states", np.uint8, None, self.game.size)
        columns = [checkpoint.take(f"data.{name}", kind, len(states)) for name, kind in _COLUMNS]
        self.data = Data(states, *columns)
        load_module("model", self.model, checkpoint)
        self.best = {name: checkpoint.take(name, array.dtype, *array.shape) for name, array in self.best.items()}
        self.begin_generation()
        load_optimiser("adam", self.optimiser, checkpoint)
        self.optimiser.param_groups[0]["lr"] = float(checkpoint.take("rate", np.float64))
        self.plateau.best, self.patience.best = checkpoint.take("losses", np.float64, 2).tolist()
        self.plateau.waited = checkpoint.count("plateau")
        self.patience.waited = checkpoint.count("patience")


_COLUMNS = (("results", np.float32), ("games", np.int32))


def train(game: Game, config: Config, run: Run) -> None:
    """Plays and learns, generation by generation."""
    torch.set_num_threads(run.threads)
    training = Training(game, config, run)
    run.open(training.restore, training.begin)
    while training.generation < config.generations:
        if not training.play() or not training.fit():
            return
        training.end_generation()
        training.save()
