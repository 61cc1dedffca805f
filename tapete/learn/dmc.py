"""Deep Monte Carlo: networks foresee how a game ends after each move, and learn from whole games of their own.

Zha et al., "DouZero: Mastering DouDizhu with Self-Play Deep Reinforcement Learning", ICML 2021. Every seat has a
network Q(s, a) of its own that scores moves by their features, so it is for games with any number of actions. An
iteration is

1. acting: games in which every seat makes the move that its network rates highest, or now and then any other;
2. learning: the squared error between what was foreseen of each move that was made and what the game paid in the end.

Nothing is bootstrapped, so nothing is overestimated. Games are played inside a kernel (`tapete.learn.recording`) by the
compiled forward pass, as many side by side as there are threads; PyTorch only learns. The network is not the paper's:
what is seen goes through it once a decision, and only a narrow part is computed for every move (`tapete.nets.moves`).
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tapete.core import Game, Rng
from tapete.core.evaluator import MakeEvaluator
from tapete.core.players import play, random
from tapete.learn.buffers import Ring, numpy_generator
from tapete.learn.knobs import check_knobs, knob
from tapete.learn.late import nets, torch
from tapete.learn.recording import Decisions, Recorder, look
from tapete.learn.run import Checkpoint, Run
from tapete.learn.tensors import begin_from, load_module, load_optimiser, module_arrays, optimiser_arrays
from tapete.nets.moves import MoveNetwork, Scorer, architectures

if TYPE_CHECKING:
    from tapete.nets.torch import Module

NEEDS = ("torch",)
GROUPS = 2  # of games that are played side by side; results depend on it, so it is fixed
MANY = 10**12
OBJECTIVES = ("wp", "adp", "logadp")
TRIALS = 400  # deals against random play, when it is looked how good the networks are


@dataclass(frozen=True)
class Config:
    """The knobs. As they are, they fit Dou Dizhu and some hours on two cores."""

    objective: str = knob("wp", "what is learned: who wins, points, or their logarithm", among=OBJECTIVES)
    frames: int = knob(10**9, "decisions with a choice to learn from, in all", 1, MANY)
    games: int = knob(128, "games between two steps of learning", GROUPS, 10**6)
    epsilon: float = knob(0.01, "share of moves made at random, in the end", 0, 1)
    first_epsilon: float = knob(0.1, "the same at first", 0, 1)
    epsilon_frames: int = knob(2_000_000, "frames over which it falls", 1, MANY)
    units: int = knob(256, "width of the networks where state and move meet", 8, 4096)
    trunk: int = knob(128, "width of the layer after that", 8, 4096)
    memory: int = knob(30_000, "decisions of each seat that batches are drawn from", 1, 10**8)
    batch: int = knob(512, "decisions of a step", 1, 10**6)
    passes: float = knob(1.0, "how often a decision is learned from, on average", 1e-6, 1000)
    optimiser: str = knob("adam", "adam, or the paper's rmsprop", among=("adam", "rmsprop"))
    rate: float = knob(0.001, "step size at first", 1e-9, 1)
    rate_frames: int = knob(20_000_000, "the step size is rate / sqrt(1 + frames / rate_frames)", 1, MANY)
    clip: float = knob(40.0, "longest gradient", 1e-9, 1e9)
    every: int = knob(100, "iterations between two lines of the log", 1, 10**9)
    seed: int = knob(1, "names all random streams: the same seed gives the same network")

    def __post_init__(self) -> None:
        check_knobs(self)


def target(gains: NDArray[np.float64], objective: str) -> NDArray[np.float32]:
    """What is to be foreseen of a decision, from what the game paid [N].

    >>> target(np.array([-2.0, 0.0, 8.0]), "logadp").tolist()
    [-2.0, 0.0, 4.0]
    """
    if objective == "wp":
        return np.sign(gains).astype(np.float32)
    if objective == "logadp":
        return (np.sign(gains) * (1 + np.log2(np.where(gains == 0, 1, abs(gains))))).astype(np.float32)
    return gains.astype(np.float32)


class Student:
    """What one seat learns with: its two networks, and the decisions that it learns from."""

    def __init__(self, game: Game, config: Config, seat: int) -> None:
        self.game, self.config, self.seat = game, config, seat
        inputs = sum(part.size for part in game.spec.observation(seat))
        shapes = architectures(inputs, game.spec.feature_size, units=config.units, trunk=(config.trunk,))
        self.state, self.move = (
            nets.to_torch(shape, Rng(config.seed, "weights", seat, i)) for i, shape in enumerate(shapes)
        )
        weights = [*self.state.parameters(), *self.move.parameters()]
        if config.optimiser == "adam":
            self.optimiser: torch.optim.Optimizer = torch.optim.Adam(weights, lr=config.rate, foreach=True)
        else:
            self.optimiser = torch.optim.RMSprop(weights, lr=config.rate, alpha=0.99, eps=1e-5, foreach=True)
        self.memory = Ring(
            config.memory, {"state": (np.uint8, (game.size,)), "action": (np.int32, ()), "target": (np.float32, ())}
        )
        self.owed = 0.0  # steps that are due

    @property
    def parts(self) -> dict[str, Module]:
        """The networks by name."""
        return {"state": self.state, "move": self.move}

    def remember(self, decisions: Decisions) -> None:
        """Takes its own among these decisions."""
        own = np.flatnonzero(decisions.seats == self.seat)
        wanted = target(decisions.gains[own], self.config.objective)
        self.memory.add({"state": decisions.states[own], "action": decisions.actions[own], "target": wanted})
        self.owed += self.config.passes * len(own) / self.config.batch

    def learn(self, rng: Rng, rate: float) -> list[float]:
        """The steps that are due; returns their losses."""
        draws, losses = numpy_generator(rng), []
        self.optimiser.param_groups[0]["lr"] = rate
        while self.owed >= 1 and len(self.memory):
            self.owed -= 1
            rows = self.memory.sample(self.config.batch, draws)
            seats = np.full(len(rows["action"]), self.seat, dtype=np.int32)
            loss = self.loss(*look(self.game, rows["state"], seats, rows["action"]), rows["target"])
            self.optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(self.optimiser.param_groups[0]["params"], self.config.clip)
            self.optimiser.step()
            losses.append(loss.item())
        return losses

    def loss(
        self, seen: NDArray[np.float32], features: NDArray[np.float32], wanted: NDArray[np.float32]
    ) -> torch.Tensor:
        """The squared error of what is foreseen."""
        state = self.state(torch.from_numpy(seen))
        said = self.move(torch.cat([state, torch.from_numpy(features)], dim=1))[:, 0]
        return ((said - torch.from_numpy(wanted)) ** 2).mean()

    def begin(self, file: Path, scorer: Scorer) -> None:
        """Takes the weights of networks that were read from a file."""
        for name, module in self.parts.items():
            begin_from(file, getattr(scorer, name), module)

    def scorer(self) -> Scorer:
        """The networks as they are now, for those who play."""
        return Scorer(nets.from_torch(self.state), nets.from_torch(self.move))


class Training:
    """All that a run remembers. With `players`, seats that have one are theirs, and learn nothing."""

    def __init__(self, game: Game, config: Config, run: Run, players: Sequence[MakeEvaluator | None] = ()) -> None:
        self.game, self.config, self.run = game, config, run
        self.players = list(players) or [None] * game.players
        self.students = {
            seat: Student(game, config, seat) for seat, player in enumerate(self.players) if player is None
        }
        self.iteration = self.frames = self.games = 0
        self.losses: dict[int, list[float]] = {seat: [] for seat in self.students}  # since the last line of the log
        self.pool = ThreadPoolExecutor(max(min(run.threads, GROUPS), 1))

    def network(self) -> MoveNetwork:
        """What plays: seats that don't learn get the networks of one that does."""
        some = next(iter(self.students.values()))
        scorers = [self.students.get(seat, some).scorer() for seat in range(self.game.players)]
        return MoveNetwork(scorers, {"game": str(self.game), "learner": "dmc", "plays": "q", "frames": self.frames})

    def iterate(self) -> None:
        """Games, and the steps that they are worth."""
        config, rng = self.config, Rng(self.config.seed, "iteration", self.iteration)
        network = self.network()
        work = partial(self._act, network, rng)
        for decisions in self.pool.map(work, range(GROUPS)):
            self.frames += len(decisions.actions)
            self.games += len(decisions.payoffs)
            for student in self.students.values():
                student.remember(decisions)
        rate = config.rate / (1 + self.frames / config.rate_frames) ** 0.5

        def learn(seat: int) -> list[float]:
            return self.students[seat].learn(rng.spawn("learn", seat), rate)

        for seat, losses in zip(self.students, self.pool.map(learn, self.students), strict=True):
            self.losses[seat] += losses
        self.iteration += 1
        if self.iteration % config.every == 0:
            self._log(rate)

    def _act(self, network: MoveNetwork, rng: Rng, group: int) -> Decisions:
        made = [(player or partial(network.evaluator, self.game))() for player in self.players]
        learning = [seat in self.students for seat in range(self.game.players)]
        recorder = Recorder(self.game, made, learning, self.config.games // GROUPS)
        return recorder.play(rng.spawn("act", group), self.epsilon)

    @property
    def epsilon(self) -> float:
        """The share of random moves now."""
        config = self.config
        left = max(0.0, 1 - self.frames / config.epsilon_frames)
        return config.epsilon + (config.first_epsilon - config.epsilon) * left

    def _log(self, rate: float) -> None:
        losses = {f"loss_{seat}": float(np.mean(values or [np.nan])) for seat, values in self.losses.items()}
        self.losses = {seat: [] for seat in self.students}
        self.run.log(
            iteration=self.iteration,
            frames=self.frames,
            games=self.games,
            rate=rate,
            **{name: value for name, value in losses.items() if np.isfinite(value)},
            **self.trial(),
        )

    def trial(self) -> dict[str, float]:
        """The share of games that the networks win on each seat, where others play at random or as they always do."""
        mine = partial(self.network().evaluator, self.game)
        found = {}
        for seat in self.students:
            sitting = [mine if other == seat else player or random for other, player in enumerate(self.players)]
            gains = play(self.game, sitting, TRIALS, Rng(self.config.seed, "trial")).returns[:, 0, seat]
            found[f"wins_{seat}"] = float((gains > 0).mean() + (gains == 0).mean() / 2)
        return found

    def save(self) -> None:
        """Remembers everything, and gives the networks to those who play."""
        arrays: dict[str, NDArray[Any]] = {}
        for seat, student in self.students.items():
            for name, module in student.parts.items():
                arrays |= module_arrays(f"{seat}.{name}", module)
            arrays |= optimiser_arrays(f"{seat}.optimiser", student.optimiser) | student.memory.arrays(f"{seat}.memory")
            arrays[f"{seat}.losses"] = np.array(self.losses[seat], dtype=np.float64)
            arrays[f"{seat}.owed"] = np.array([student.owed])
        self.network().save(self.run.network, half=True)
        self.run.save(arrays, iteration=self.iteration, frames=self.frames, games=self.games)

    def begin(self, file: Path) -> None:
        """Begins with networks that were learned before."""
        network = MoveNetwork.load(file)
        for seat, student in self.students.items():
            student.begin(file, network.of(seat))

    def restore(self, checkpoint: Checkpoint) -> None:
        """Remembers what was saved."""
        self.iteration, self.frames, self.games = map(checkpoint.count, ("iteration", "frames", "games"))
        for seat, student in self.students.items():
            for name, module in student.parts.items():
                load_module(f"{seat}.{name}", module, checkpoint)
            load_optimiser(f"{seat}.optimiser", student.optimiser, checkpoint)
            student.memory.restore(f"{seat}.memory", checkpoint)
            student.owed = float(checkpoint.take(f"{seat}.owed", np.float64, 1)[0])
            self.losses[seat] = checkpoint.take(f"{seat}.losses", np.float64, None).tolist()


def train(game: Game, config: Config, run: Run) -> None:
    """Iteration after iteration."""
    torch.set_num_threads(1)  # seats learn side by side
    training = Training(game, config, run)
    run.open(training.restore, training.begin)
    began, before = run.seconds, training.frames
    while training.frames < config.frames and not run.out_of_time:
        speed = (training.frames - before) / max(run.seconds - began, 1e-9)
        run.show(f"{training.frames:,} frames, {speed:,.0f} a second", training.frames, config.frames)
        training.iterate()
        if run.due:
            training.save()
    training.save()
