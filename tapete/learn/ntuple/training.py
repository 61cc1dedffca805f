"""Learning from games of pattern tables: temporal differences, a rate for every weight."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import WORDS, kernel, uint64_ptr
from tapete.core.errors import TapeteError
from tapete.core.evaluator import Evaluator
from tapete.core.game import Game
from tapete.core.rng import Rng
from tapete.learn.ntuple import Config
from tapete.learn.ntuple.games import BATCH_TYPE, Batch, Play, play_games, room
from tapete.learn.run import Checkpoint, Run
from tapete.nets.ntuple import NTuple, open_net
from tapete.search import MCTS, Budget

BATCH = 200  # games that are played before anything is learned from them; each batch has its random stream


@kernel(types.float64(WORDS, types.float32[:, ::1], types.int32[::1], BATCH_TYPE, types.int64, types.float64))
def learn(model: Any, coherence: Any, twins: Any, batch: Any, positions: int, rate: float) -> float:
    """Pulls the value of each position towards its target; the mean square of how far it was off.

    Temporal coherence: a weight whose errors all have one sign moves at the full rate, one whose errors cancel out
    hardly moves. `coherence` has both sums of its errors, with signs and without. What symmetry makes equal stays so.
    """
    net = open_net(uint64_ptr(model))
    lanes, squares = net.patterns + 2, 0.0
    for t in range(positions):
        total = 0.0
        for lane in range(lanes):
            total += net.weights[batch.found[t, lane]]
        error: Any = np.float32(batch.targets[t] - math.tanh(total))
        squares += error * error
        step = rate / lanes * error
        for lane in range(lanes):
            entry = np.int64(batch.found[t, lane])
            table = entry // net.entries * net.entries
            at = entry
            while True:
                signed, plain = coherence[at, 0], coherence[at, 1]
                net.weights[at] += np.float32(step * (abs(signed) / plain if plain > 0 else 1.0))
                coherence[at, 0] = signed + error
                coherence[at, 1] = plain + abs(error)
                at = table + twins[at - table]
                if at == entry:
                    break
    return squares / max(positions, 1)


def annealed(rate: float, anneal: float, left: float) -> float:
    """The rate where a share `left` of a part of the run is left: it goes down to zero along the last `anneal`."""
    return rate * min(1.0, left / anneal) if anneal > 0 else rate


class Training:
    """A run: the tables, what they remember of their errors, and how many games were played."""

    def __init__(self, game: Game, config: Config, run: Run) -> None:
        self.game, self.config, self.run = game, config, run
        self.network = NTuple.blank(game, phases=config.phases, learner="ntuple", config=asdict(config))
        self.coherence = np.zeros((self.network.weights.size, 2), dtype=np.float32)
        self.tally = np.zeros(2)  # squares of errors, and positions, since the last measure
        self.done = 0
        levels = max(config.depth, config.endgame, 1)
        self.player = Evaluator(None, (*self.network.arrays(game), *room(game, levels)))
        self.model = self.player.model
        positions = BATCH * game.spec.longest
        self.batch = Batch(
            np.zeros((positions, self.network.layout.patterns + 2), dtype=np.int32),
            np.zeros(positions, dtype=np.float32),
            np.zeros(positions, dtype=np.int8),
            np.zeros(positions, dtype=np.bool_),
        )

    @property
    def total(self) -> int:
        """Games of the run."""
        return self.config.games + self.config.deep_games

    def play_and_learn(self) -> None:
        """One batch of games."""
        config, game = self.config, self.game
        deep = self.done >= config.games
        begin, end = (config.games, self.total) if deep else (0, config.games)
        if self.done == begin:
            self.coherence[:] = 0  # searches that look further see other errors
        games = min(BATCH, end - self.done)
        rate = annealed(config.deep_rate if deep else config.rate, config.anneal, (end - self.done) / (end - begin))
        play = Play(config.depth if deep else 1, config.endgame, config.opening, config.epsilon, config.trace)
        rng = Rng(config.seed, "games", self.done)
        positions = play_games(game.rulebook, game.params, self.model, play, self.batch, games, rng.words)
        error = learn(self.model, self.coherence, self.network.layout.twins, self.batch, positions, rate)
        self.tally += error * positions, positions
        self.done += games

    def measure(self) -> None:
        """Plays by what the tables say of each move against plain MCTS, which thinks long, and notes how it went."""
        config = self.config
        won = sum(self._duel(i) for i in range(config.measure_games)) / config.measure_games
        error = math.sqrt(self.tally[0] / max(self.tally[1], 1))
        self.run.log(games=self.done, error=round(error, 4), won=round(won, 4))
        self.tally[:] = 0
        self.network.save(self.run.network)

    def _duel(self, number: int) -> float:
        """Who won, 1 or 0, after two random moves. Games 2i and 2i + 1 have one opening, and seats changed."""
        game, mine, rng = self.game, number % 2, Rng(self.config.seed, "measure", number // 2)
        state = game.start()
        for _ in range(2):
            state.apply(rng.choice(state.actions()))
        tables, plain = MCTS(game, lambda: self.network.evaluator(game)), MCTS(game)
        while not state.over:
            search, simulations = (tables, 2) if state.player == mine else (plain, self.config.measure_simulations)
            chances = search.run(state.view(state.player), rng, Budget(iterations=simulations)).probabilities
            state.apply(max(chances, key=lambda action: chances[action]))
        return 0.5 + 0.5 * float(np.sign(state.returns()[mine]))

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that is remembered."""
        return {"weights": self.network.weights, "coherence": self.coherence, "tally": self.tally}

    def begin(self, file: Path) -> None:
        """Begins with tables that were learned before."""
        found, mine = NTuple.load(file), self.network
        if found.patterns != mine.patterns or found.weights.shape != mine.weights.shape:
            raise TapeteError(f"{file} does not fit this run: its board, patterns or phases are others")
        mine.weights[...] = found.weights

    def restore(self, checkpoint: Checkpoint) -> None:
        """Goes back to where a checkpoint was."""
        for name, mine in self.arrays.items():
            checkpoint.fill(name, mine)
        self.done = checkpoint.count("done", self.total)


def train(game: Game, config: Config, run: Run) -> None:
    """Plays and learns until all games are played or the time is over."""
    training = Training(game, config, run)
    run.open(training.restore, training.begin)
    while training.done < training.total and not run.out_of_time:
        part = "looking one move ahead" if training.done < config.games else f"looking {config.depth} moves ahead"
        run.show(part, training.done, training.total)
        before = training.done * config.measures // training.total
        training.play_and_learn()
        if training.done * config.measures // training.total > before:
            training.measure()
        if run.due or training.done == training.total:
            run.save(training.arrays, done=training.done)
    training.network.save(run.network)
