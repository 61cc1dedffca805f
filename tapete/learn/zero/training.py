"""The network of AlphaZero and its generations: self-play, learning, gate."""

from __future__ import annotations

import copy
import math
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.utils.fusion import fuse_conv_bn_eval

from tapete.core import Game, Rng
from tapete.core.spec import Spec
from tapete.learn.positions import Symmetries, observe
from tapete.learn.run import Checkpoint, Run
from tapete.learn.tensors import begin_from, load_module, load_optimiser, module_arrays, optimiser_arrays
from tapete.learn.zero import Config
from tapete.learn.zero.self_play import Samples, gate_match, playout_game, self_play
from tapete.nets import Architecture, Network
from tapete.nets.torch import Module, from_torch, to_torch
from tapete.nets.zoo import mlp, residual
from tapete.search.batch import Forest, Predict

SHOWN = 64  # games between two looks of who watches


def architecture(spec: Spec, config: Config) -> Architecture:
    """A residual tower where the observation begins with planes of a board, else dense layers."""
    first = spec.observation(0)[0]
    if len(first.shape) == 3:
        return residual(first.shape, spec.actions, channels=config.channels, blocks=config.blocks)
    return mlp(spec.observation_size, (4 * config.channels,) * max(config.blocks, 1), actions=spec.actions)


def predictor(module: Module, *, bfloat16: bool) -> Predict:
    """A module as it is now, for self-play: normalisation folded in, channels last."""
    frozen: Any = copy.deepcopy(module).eval()
    for name, norm in frozen.norms.items():
        frozen.layers[name] = fuse_conv_bn_eval(frozen.layers[name], norm)
        frozen.norms[name] = torch.nn.Identity()
    kind = torch.bfloat16 if bfloat16 else torch.float32
    frozen = frozen.to(kind).to(memory_format=torch.channels_last)
    heads = frozen.architecture.outputs

    @torch.inference_mode()
    def predict(observations: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        said = frozen(torch.from_numpy(observations).to(kind)).float().numpy()
        return said[:, heads["value"].start], said[:, heads["policy"]]

    return predict


def annealed(config: Config, generation: int) -> float:
    """The step size of a generation, the first of which is 0: from `rate` to a tenth of it along half a cosine."""
    return config.rate * (0.55 + 0.45 * math.cos(math.pi * generation / config.generations))


class Training:
    """All that a run remembers."""

    def __init__(self, game: Game, config: Config, run: Run) -> None:
        Forest(game, 1, 1)  # which says so if this is not a game for it
        self.game, self.config, self.run = game, config, run
        self.symmetries = Symmetries.of(game.spec)
        self.generation = self.wins = 0
        self.samples = Samples.none(game)
        self.challenger = to_torch(architecture(game.spec, config), Rng(config.seed, "weights"))
        self.champion = copy.deepcopy(self.challenger)
        self.optimiser = torch.optim.AdamW(self.challenger.parameters(), lr=config.rate, weight_decay=config.decay)

    def generate(self) -> None:
        """One generation: self-play, learning, gate."""
        config, rng = self.config, Rng(self.config.seed, "generation", self.generation)
        champion = predictor(self.champion, bfloat16=config.bfloat16)
        new = self.play(champion, rng.spawn("play"))
        self.samples = self.samples.then([new], max(config.buffer, len(new.states)))
        steps = round(config.passes * len(new.states) / config.batch) + 1
        losses = self.learn(steps, rng.spawn("learn"))
        share = 1.0
        if config.gate_games:
            challenger = predictor(self.challenger, bfloat16=config.bfloat16)
            share = gate_match(self.game, challenger, champion, config, rng.spawn("gate"))
        if share >= config.gate_share:
            self.champion.load_state_dict(self.challenger.state_dict())
            self.wins += 1
        self.generation += 1
        self.run.log(
            generation=self.generation,
            games=self.generation * config.games,
            positions=len(new.states),
            buffer=len(self.samples.states),
            **losses,
            gate=share,
            champions=self.wins,
        )

    def play(self, champion: Predict, rng: Rng) -> Samples:
        """The games of this generation."""
        if self.generation or not self.config.playout_games:
            return self_play(self.game, champion, self.config, rng)
        games = []
        for number in range(self.config.playout_games):
            if number % SHOWN == 0:
                self.run.show(f"playing with playouts, game {number}", 0, self.config.generations)
            games.append(playout_game(self.game, self.config, rng.spawn(number)))
        return games[0].then(games[1:], sum(len(samples.states) for samples in games))

    def learn(self, steps: int, rng: Rng) -> dict[str, float]:
        """So many steps; returns the mean losses."""
        config, samples = self.config, self.samples
        self.optimiser.param_groups[0]["lr"] = annealed(config, self.generation)
        draws = np.random.Generator(np.random.PCG64(rng.below(1 << 30)))
        symmetries = len(self.symmetries) if config.symmetries else 1
        worth = samples.worth(config.search_share)
        self.challenger.train()
        totals = np.zeros(2)
        for _ in range(steps):
            rows = draws.integers(len(samples.states), size=config.batch)
            turns = draws.integers(symmetries, size=config.batch)
            seen = observe(self.game, samples.states[rows])
            seen = np.take_along_axis(seen, self.symmetries.observations[turns], axis=1)
            visits = np.take_along_axis(samples.visits[rows], self.symmetries.actions[turns], axis=1)
            wanted = (visits / visits.sum(axis=1, keepdims=True)).astype(np.float32)
            policy, value = self.loss(seen, wanted, worth[rows])
            self.optimiser.zero_grad()
            (policy + value).backward()  # type: ignore[no-untyped-call]
            self.optimiser.step()
            totals += policy.item(), value.item()
        return {"policy_loss": float(totals[0] / steps), "value_loss": float(totals[1] / steps)}

    def loss(
        self, seen: NDArray[np.float32], wanted: NDArray[np.float32], worth: NDArray[np.float32]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Cross entropy of the policy, squared error of the value."""
        heads = self.challenger.architecture.outputs
        said = self.challenger(torch.from_numpy(seen))
        scores = torch.log_softmax(said[:, heads["policy"]], dim=1)
        policy = -(torch.from_numpy(wanted) * scores).sum(dim=1).mean()
        return policy, ((said[:, heads["value"].start] - torch.from_numpy(worth)) ** 2).mean()

    def publish(self) -> None:
        """Gives the champion to those who play."""
        from_torch(self.champion, game=str(self.game), learner="zero").save(self.run.network)

    def save(self) -> None:
        """Remembers everything."""
        arrays: dict[str, NDArray[Any]] = {
            **{f"samples.{name}": column for name, column in self.samples._asdict().items()},
            **module_arrays("challenger", self.challenger),
            **module_arrays("champion", self.champion),
            **optimiser_arrays("adam", self.optimiser),
        }
        self.run.save(arrays, generation=self.generation, wins=self.wins)

    def begin(self, file: Path) -> None:
        """Begins with a network that was learned before."""
        begin_from(file, Network.load(file), self.challenger, self.champion)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Remembers what was saved."""
        self.generation = checkpoint.count("generation", self.config.generations)
        self.wins = checkpoint.count("wins", self.generation)
        n = len(checkpoint.take("samples.states", np.uint8, None, self.game.size))
        columns = self.samples._asdict().items()
        self.samples = Samples(
            *(checkpoint.take(f"samples.{name}", mine.dtype, n, *mine.shape[1:]) for name, mine in columns)
        )
        load_module("challenger", self.challenger, checkpoint)
        load_module("champion", self.champion, checkpoint)
        load_optimiser("adam", self.optimiser, checkpoint)


def train(game: Game, config: Config, run: Run) -> None:
    """Generation after generation."""
    torch.set_num_threads(run.threads)
    training = Training(game, config, run)
    run.open(training.restore, training.begin)
    while training.generation < config.generations and not run.out_of_time:
        run.show("self-play and learning", training.generation, config.generations)
        training.generate()
        if run.due or training.generation == config.generations:
            training.publish()
            training.save()
