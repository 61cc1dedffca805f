"""AlphaZero: a network of policy and value that learns from its own tree search, from nothing but the rules.

Silver et al., "Mastering the game of Go without human knowledge", Nature 550 (2017), and "A general reinforcement
learning algorithm that masters chess, shogi, and Go through self-play", Science 362 (2018). For zero-sum games of two
players in which nothing is hidden and chance has no part; it knows none of them. A generation is

1. self-play: the champion plays itself at many tables, whose searches share every call of the network;
2. learning: the challenger learns the searches' visits and the games' results from a buffer of recent positions;
3. the gate: the challenger becomes the champion if it wins enough of a match of pairs, same opening, seats swapped.

Four things are not in those papers. A run may begin with games of plain tree search with random playouts, which are a
hundred times cheaper than games with a network, and better than those with one that knows nothing. Most moves get a
short search, and only those with a long one are learned from (playout cap randomisation, Wu 2019: more games for the
same time, with policies as good). The value that is learned is between the game's result and what the search said,
which is less noisy. Boards are turned and mirrored at random.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.utils.fusion import fuse_conv_bn_eval

from tapete.core import TERMINAL, Game, Rng, calls
from tapete.core.spec import Spec, within
from tapete.learn.positions import Symmetries, observe
from tapete.learn.run import Checkpoint, Run
from tapete.learn.tensors import load_module, load_optimiser, module_arrays, optimiser_arrays
from tapete.nets import Architecture
from tapete.nets.torch import Module, from_torch, to_torch
from tapete.nets.zoo import mlp, residual
from tapete.search import MCTS, Budget
from tapete.search.batch import Forest, Predict

NODES = 24  # of a tree, a simulation: the moves of a position, and what is kept from the move before
SHOWN = 64  # games between two looks of who watches
MOST_VISITS = np.iinfo(np.uint16).max


@dataclass(frozen=True)
class Config:
    """The knobs. As they are, they fit a small board and an hour on a core."""

    playout_games: int = 0  # before all else, games of plain tree search with random playouts to learn from
    playouts: int = 800  # simulations a move in those
    generations: int = 100  # of self-play, learning and gate
    games: int = 256  # of self-play a generation
    tables: int = 256  # games played at the same time
    simulations: int = 64  # of a long search
    short: int = 16  # simulations of a short search
    long: float = 0.3  # share of the moves that get a long search, and are learned from
    c: float = 1.5  # how much the search explores
    noise: float = 0.25  # share of noise in the priors at the root of a long search
    alpha: float = 0.5  # of the Dirichlet distribution that the noise is from
    plies: int = 12  # so many moves of a game are drawn by their visits; then the most visited is made
    channels: int = 32  # of the network
    blocks: int = 2  # residual blocks of the network
    buffer: int = 100_000  # positions that are remembered
    passes: float = 8.0  # how often a position is learned from, on average, before it is forgotten
    batch: int = 256  # positions a step
    rate: float = 0.002  # of Adam, at first; it falls to a tenth of that along half a cosine
    decay: float = 0.0001  # of the weights
    search_share: float = 0.5  # of the value that the search found in the value to be learned; the rest is the result
    symmetries: bool = True  # turn and mirror the board, where there is one
    gate_games: int = 64  # of the match between challenger and champion; 0: the challenger always wins
    gate_share: float = 0.55  # of the points, which the challenger needs
    gate_plies: int = 4  # random moves before a game of that match begins
    bfloat16: bool = False  # self-play with 16-bit numbers: twice as fast where the processor has them (avx512_bf16)
    seed: int = 1  # of everything

    def __post_init__(self) -> None:
        """Refuses what makes no sense."""
        for name in ("generations", "games", "tables", "channels", "batch", "buffer"):
            within(name, getattr(self, name), 1, 10**9)
        for name in ("simulations", "short", "playouts"):
            within(name, getattr(self, name), 2, MOST_VISITS // 2)
        for name in ("noise", "long", "search_share", "gate_share", "decay"):
            within(name, getattr(self, name), 0, 1)
        for name in ("alpha", "rate", "c", "passes"):
            within(name, getattr(self, name), 1e-6, 1000)
        for name in ("plies", "gate_games", "gate_plies", "blocks", "playout_games"):
            within(name, getattr(self, name), 0, 10**6)


class Samples(NamedTuple):
    """Positions with long searches, and what came of them."""

    states: NDArray[np.uint8]  # [N, bytes]
    visits: NDArray[np.uint16]  # [N, actions]
    found: NDArray[np.float32]  # [N] what the search expected for the mover, -1 to 1
    results: NDArray[np.float32]  # [N] what the mover got, -1 to 1

    @classmethod
    def none(cls, game: Game) -> Samples:
        """An empty buffer."""
        states, visits = np.zeros((0, game.size), np.uint8), np.zeros((0, game.spec.actions), np.uint16)
        return cls(states, visits, np.zeros(0, np.float32), np.zeros(0, np.float32))

    def then(self, others: list[Samples], most: int) -> Samples:
        """With others behind them; of more than `most` the oldest are forgotten."""
        columns: Any = zip(self, *others, strict=True)
        return Samples(*(np.concatenate(column)[-most:] for column in columns))


class Hall:
    """Games at many tables, each with a tree that is kept from move to move."""

    def __init__(self, game: Game, tables: int, simulations: int, c: float) -> None:
        self.game = game
        self.forest = Forest(game, tables, NODES * simulations, c=c)
        self.plies = np.zeros(tables, dtype=np.int64)  # [B] moves of the game so far

    def begin(self, which: NDArray[np.int64], openings: NDArray[np.uint8] | None = None) -> None:
        """New games at these tables, from the start or from these states."""
        self.forest.roots[which] = self.game.start().data if openings is None else openings
        self.plies[which] = 0
        self.forest.plant(which)

    @property
    def movers(self) -> NDArray[np.int64]:
        """Who moves at each table, or TERMINAL: [B]."""
        return self.forest.trees[:, 0]["mover"].astype(np.int64)

    def returns(self, which: NDArray[np.int64]) -> NDArray[np.float32]:
        """What seat 0 got at tables whose game is over, -1 to 1."""
        out = np.zeros((len(which), 2))
        for payoffs, table in zip(out, which, strict=True):
            calls.returns(self.game.rulebook, self.forest.roots[table], payoffs)
        return (out[:, 0] / self.game.spec.utility[1]).astype(np.float32)

    def move(self, visits: NDArray[np.int32], plies: int, rng: Rng) -> None:
        """Makes a move at every table: in the first plies of a game drawn by visits, then the most visited."""
        draws = np.random.Generator(np.random.PCG64(rng.below(1 << 30))).random((len(visits), 1))
        heaped = np.cumsum(visits, axis=1)
        drawn = (heaped <= draws * heaped[:, -1:]).sum(axis=1)
        actions = np.where(self.plies < plies, drawn, visits.argmax(axis=1))
        actions[self.movers == TERMINAL] = -1
        self.plies += actions >= 0
        self.forest.step(actions.astype(np.int32))


def playout_game(game: Game, config: Config, rng: Rng) -> Samples:
    """A game of plain tree search against itself."""
    search, budget = MCTS(game), Budget(iterations=config.playouts)
    state = game.start()
    states: list[NDArray[np.uint8]] = []
    movers, values = [], []
    visits = np.zeros((game.spec.longest, game.spec.actions), dtype=np.uint16)
    while not state.over:
        legal, ply = state.actions(), len(state.history or ())
        action = legal[0]
        if len(legal) > 1:
            thought = search.run(state.view(state.player), rng, budget)
            tries = thought.visits
            visits[len(states), list(tries)] = np.clip(list(tries.values()), 0, MOST_VISITS)
            states.append(state.data.copy())
            movers.append(state.player)
            values.append(sum(thought.values[a] * n for a, n in tries.items() if n) / sum(tries.values()))
            action = _drawn(tries, rng) if ply < config.plies else max(tries, key=lambda a: tries[a])
        state.apply(action)
    top = game.spec.utility[1]
    results = np.array(state.returns(), dtype=np.float32)[movers] / np.float32(top)
    return Samples(
        np.array(states), visits[: len(states)], np.array(values, dtype=np.float32) / np.float32(top), results
    )


def _drawn(tries: dict[int, int], rng: Rng) -> int:
    """A move, as likely as it was tried often."""
    left = rng.below(sum(tries.values()))
    return next(action for action, heap in zip(tries, np.cumsum(list(tries.values())), strict=True) if left < heap)


def self_play(game: Game, predict: Predict, config: Config, rng: Rng) -> Samples:
    """The games of a generation."""
    tables = min(config.tables, config.games)
    hall = Hall(game, tables, config.simulations, config.c)
    hall.begin(np.arange(tables))
    number = np.arange(tables)  # [B] of the game at each table
    results = np.zeros(config.games, dtype=np.float32)  # of seat 0
    started = tables
    kept: list[tuple[NDArray[Any], ...]] = []  # what the columns of Samples are made of, a step each
    while (movers := hall.movers).max() != TERMINAL:
        long = np.array([rng.uniform() < config.long for _ in range(tables)])
        hall.forest.grow(predict, config.short, which=~long, rng=rng)
        hall.forest.grow(predict, config.simulations, which=long, noise=config.noise, alpha=config.alpha, rng=rng)
        rows = np.flatnonzero(long & (movers != TERMINAL))
        visits = hall.forest.visits()
        found = hall.forest.values().astype(np.float32)
        learned = visits[rows].clip(max=MOST_VISITS).astype(np.uint16)
        kept.append((hall.forest.roots[rows], learned, found[rows], movers[rows], number[rows]))
        hall.move(visits, config.plies, rng)
        over = np.flatnonzero((hall.movers == TERMINAL) & (movers != TERMINAL))
        results[number[over]] = hall.returns(over)
        again = over[: config.games - started]
        number[again] = np.arange(started, started + len(again))
        started += len(again)
        hall.begin(again)
    states, learned, found, who, games = (np.concatenate(column) for column in zip(*kept, strict=True))
    return Samples(states, learned, found, np.where(who == 0, results[games], -results[games]))


def gate_match(game: Game, challenger: Predict, champion: Predict, config: Config, rng: Rng) -> float:
    """The challenger's share of the points in a match of pairs: the same opening from both seats."""
    pairs = -(-config.gate_games // 2)
    openings = np.array([_opening(game, config.gate_plies, rng) for _ in range(pairs)])
    points = 0.0
    for seat in (0, 1):
        # Each side searches at all tables in its own trees, and both make the moves of whoever is to move.
        halls = [Hall(game, pairs, config.simulations, config.c) for _ in range(2)]
        for hall in halls:
            hall.begin(np.arange(pairs), openings)
        while (movers := halls[0].movers).max() != TERMINAL:
            visits = np.zeros((pairs, game.spec.actions), dtype=np.int32)
            for who, (hall, predict) in enumerate(zip(halls, (challenger, champion), strict=True)):
                mine = movers == (seat if who == 0 else 1 - seat)
                if mine.any():
                    hall.forest.grow(predict, config.short, rng=rng, which=mine)
                    visits[mine] = hall.forest.visits()[mine]
            for hall in halls:
                hall.move(visits, 0, Rng("gate"))
        gains = halls[0].returns(np.arange(pairs))
        points += float((1 + (gains if seat == 0 else -gains)).sum() / 2)
    return points / (2 * pairs)


def _opening(game: Game, plies: int, rng: Rng) -> NDArray[np.uint8]:
    """The state after so many random moves, if the game is not over by then."""
    while True:
        state = game.start()
        for _ in range(plies):
            if not state.over:
                state.apply(rng.choice(state.actions()))
        if not state.over:
            return state.data


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
        half_turn = np.pi * self.generation / max(1, config.generations)
        self.optimiser.param_groups[0]["lr"] = config.rate * (0.55 + 0.45 * float(np.cos(half_turn)))
        draws = np.random.Generator(np.random.PCG64(rng.below(1 << 30)))
        symmetries = len(self.symmetries) if config.symmetries else 1
        self.challenger.train()
        totals = np.zeros(2)
        for _ in range(steps):
            rows = draws.integers(len(samples.states), size=config.batch)
            turns = draws.integers(symmetries, size=config.batch)
            seen = observe(self.game, samples.states[rows])
            seen = np.take_along_axis(seen, self.symmetries.observations[turns], axis=1)
            visits = np.take_along_axis(samples.visits[rows], self.symmetries.actions[turns], axis=1)
            wanted = (visits / visits.sum(axis=1, keepdims=True)).astype(np.float32)
            mix = np.float32(config.search_share)
            worth = (1 - mix) * samples.results[rows] + mix * samples.found[rows]
            policy, value = self.loss(seen, wanted, worth)
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
    learner = Training(game, config, run)
    if checkpoint := run.load():
        learner.restore(checkpoint)
    while learner.generation < config.generations and not run.out_of_time:
        run.show("self-play and learning", learner.generation, config.generations)
        learner.generate()
        if run.due or learner.generation == config.generations:
            learner.publish()
            learner.save()
