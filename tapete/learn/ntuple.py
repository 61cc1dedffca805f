"""Pattern tables learned by self-play: temporal differences on n-tuple networks, with a look ahead.

* Lucas 2008, "Learning to play Othello with n-tuple systems": such tables, learned by temporal differences
* Jaśkowski 2014, https://arxiv.org/abs/1406.1509: tuples placed systematically
* Beal and Smith 1999, "Temporal coherence and prediction decay in TD learning": a rate for every weight
* Baxter, Tridgell and Weaver 1998, https://arxiv.org/abs/cs/9901001: differences between what searches say

A game begins with some random moves, and goes on with those that look best so many moves ahead, but for a random one
now and then. Each position of it is then pulled towards a mixture of what the search said there and what came later.
The first part of a run looks one move ahead and plays thousands of games a second; the second part looks further.

It is for every game that `tapete.nets.ntuple` is for, and runs on one core: one game after another, so that the same
seed gives the same tables, wherever the run was interrupted.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import (
    DOUBLES,
    FLOATS,
    STATE_PTR,
    UINT64_PTR,
    WORDS,
    ahead,
    float64_ptr,
    helper,
    kernel,
    uint64_ptr,
)
from tapete.core.contract import RULEBOOK, TERMINAL, open_rules
from tapete.core.evaluator import Evaluator, doubles_at, floats_at, ints_at, states_at
from tapete.core.game import Game
from tapete.core.rng import Rng, below, uniform
from tapete.core.spec import within
from tapete.learn.run import Checkpoint, Run
from tapete.nets.ntuple import NTuple, copy_state, find_entries, open_net, score_of, settle
from tapete.search import MCTS, Budget

BATCH = 200  # games that are played before anything is learned from them; each batch has its random stream
OWN = 12  # addresses of a model that belong to the network; those of the search follow


@dataclass(frozen=True)
class Config:
    """The knobs."""

    games: int = 1_000_000  # that look one move ahead
    deep_games: int = 250_000  # that look `depth` moves ahead, after those
    depth: int = 2  # moves
    endgame: int = 6  # empty squares from which on the game is looked at to its end
    phases: int = 8  # tables, by how full the board is
    opening: int = 12  # random moves at the start of a game, at most
    epsilon: float = 0.05  # how often a random move is made after that
    trace: float = 0.8  # lambda: how much of what came later is in what a position is pulled towards
    rate: float = 3.0  # how far the value of a position is pulled; coherence makes it less, weight by weight
    deep_rate: float = 1.0  # the same where games look further ahead
    anneal: float = 0.5  # the share of either part of the run in which the rate goes down to zero
    measures: int = 10  # how often the tables are measured
    measure_games: int = 40  # against plain MCTS, one move ahead, each time
    measure_simulations: int = 1000  # a move of that MCTS
    seed: int = 1

    def __post_init__(self) -> None:
        bounds = {
            "games": (0, 10**9), "deep_games": (0, 10**9), "depth": (1, 12), "endgame": (0, 12), "opening": (0, 200),
            "epsilon": (0, 1), "trace": (0, 1), "rate": (0, 100), "deep_rate": (0, 100),
            "anneal": (0, 1), "measures": (1, 1000), "measure_games": (2, 10**6), "measure_simulations": (1, 10**6),
        }  # fmt: skip
        for name, (low, high) in bounds.items():
            within(name, getattr(self, name), low, high)


class Level(NamedTuple):
    """Room for one level of a search."""

    states: Any  # [width] after each move
    legal: Any  # [width]
    scores: Any  # [width] what the tables say of them
    order: Any  # [width] the moves from the most promising one on
    choice: Any  # the best move
    payoffs: Any  # [2]


def room(game: Game, levels: int) -> tuple[NDArray[Any], ...]:
    """What `open_level` is given the addresses of, behind those of the network."""
    width = game.spec.max_actions
    return (
        np.array([width], dtype=np.int32),
        np.zeros(levels * width * game.size, dtype=np.uint8),
        np.zeros((levels, width), dtype=np.int32),
        np.zeros((levels, width), dtype=np.float32),
        np.zeros((levels, width), dtype=np.int32),
        np.zeros(levels, dtype=np.int32),
        np.zeros(2),
        np.zeros(game.size, dtype=np.uint8),  # the state of a game that is played
    )


@helper
def open_level(model: Any, level: int, size: int) -> Any:
    """The room of a level; `size` is that of a state."""
    first = level * ints_at(model[OWN])[0]
    return Level(
        ahead(states_at(model[OWN + 1]), first * size),
        ahead(ints_at(model[OWN + 2]), first),
        ahead(floats_at(model[OWN + 3]), first),
        ahead(ints_at(model[OWN + 4]), first),
        ahead(ints_at(model[OWN + 5]), level),
        doubles_at(model[OWN + 6]),
    )


@helper
def sort_moves(rules: Any, net: Any, room: Any, state: Any, seat: int, n: int) -> None:
    """Makes each of the moves in a copy of the state, judges what comes of it, and puts them in order."""
    for i in range(n):
        child = ahead(room.states, i * net.size)
        copy_state(child, state, net.size)
        rules.apply(child, room.legal[i])
        room.scores[i] = score_of(rules, net, child, seat, room.payoffs)
        place = i
        while place > 0 and room.scores[room.order[place - 1]] < room.scores[i]:
            room.order[place] = room.order[place - 1]
            place -= 1
        room.order[place] = i


@helper
def best_move(rules: Any, net: Any, room: Any, state: Any, seat: int, n: int, high: float) -> float:
    """The sum after the best move, looking no further; any that reaches `high` will do."""
    best = -np.inf
    for i in range(n):
        copy_state(net.child, state, net.size)
        rules.apply(net.child, room.legal[i])
        score = score_of(rules, net, net.child, seat, room.payoffs)
        if score > best:
            best = score
            room.choice[0] = room.legal[i]
            if best >= high:
                break
    return best


@kernel(types.float64(UINT64_PTR, UINT64_PTR, STATE_PTR, types.int64, types.int64, types.float64, types.float64))
def look_ahead(rulebook: Any, model: Any, state: Any, level: int, depth: int, low: float, high: float) -> float:
    """Alpha-beta from a settled state: the sum for its mover after the best move, which is the level's `choice`."""
    rules, net = open_rules(rulebook), open_net(model)
    room = open_level(model, level, net.size)
    seat, n = rules.player(state), rules.actions(state, room.legal)
    if depth <= 1:
        return best_move(rules, net, room, state, seat, n, high)
    sort_moves(rules, net, room, state, seat, n)
    best = -np.inf
    for i in range(n):
        move = room.order[i]
        child = ahead(room.states, move * net.size)
        mover = rules.player(child)
        if mover == TERMINAL:
            score = float(room.scores[move])
        elif mover == seat:
            score = look_ahead(rulebook, model, child, level + 1, depth - 1, max(low, best), high)
        else:
            score = -look_ahead(rulebook, model, child, level + 1, depth - 1, -high, -max(low, best))
        if score > best:
            best = score
            room.choice[0] = room.legal[move]
        if best >= high:
            break
    return best


class Batch(NamedTuple):
    """Positions in which there was a choice, of one game after another."""

    found: NDArray[np.int32]  # [room, lanes] the entries of a position
    targets: NDArray[np.float32]  # [room] what it is pulled towards: first what the search said, for the mover
    seats: NDArray[np.int8]  # [room] who was to move
    strayed: NDArray[np.bool_]  # [room] whether a random move was made in place of the best one


BATCH_TYPE = types.NamedTuple([types.int32[:, ::1], FLOATS, types.int8[::1], types.boolean[::1]], Batch)


class Play(NamedTuple):
    """How games are played."""

    depth: int
    endgame: int
    opening: int
    epsilon: float
    trace: float


PLAY_TYPE = types.NamedTuple([types.int64, types.int64, types.int64, types.float64, types.float64], Play)


@helper
def empty_squares(net: Any) -> int:
    """Of the board in `planes`."""
    empty = net.squares
    for square in range(2 * net.squares):
        empty -= int(net.planes[square])
    return empty


@helper
def open_game(rules: Any, net: Any, state: Any, params: Any, moves: int, rng: Any) -> None:
    """A game after some random moves; forced ones don't count."""
    rules.start(state, params)
    for _ in range(moves):
        n = settle(rules, net, state)
        if n > 0:
            rules.apply(state, net.legal[below(rng, n)])


@helper
def play_game(rulebook: Any, model: Any, state: Any, play: Any, batch: Any, first: int, rng: Any) -> int:
    """From here to the end, noting every position in which there is a choice; returns where the next would be noted."""
    rules, net = open_rules(rulebook), open_net(model)
    room = open_level(model, 0, net.size)
    t = first
    while True:
        n = settle(rules, net, state)
        if n == 0:
            return t
        seat = rules.player(state)
        rules.observe(state, seat, net.planes)
        find_entries(net, n)
        for lane in range(net.patterns + 2):
            batch.found[t, lane] = net.found[lane]
        depth = max(play.depth, play.endgame) if empty_squares(net) <= play.endgame else play.depth
        batch.targets[t] = math.tanh(look_ahead(rulebook, model, state, 0, depth, -np.inf, np.inf))
        move = room.legal[below(rng, n)] if uniform(rng) < play.epsilon else room.choice[0]
        batch.seats[t] = seat
        batch.strayed[t] = move != room.choice[0]
        rules.apply(state, move)
        t += 1


@helper
def mix_returns(batch: Any, first: int, end: int, payoff: float, trace: float) -> None:
    """Mixes into what the search said what came later: the lambda-return. After a random move nothing that came counts.

    `payoff` is that of seat 0. The last position knows no better than what happened.
    """
    later = payoff
    for t in range(end - 1, first - 1, -1):
        side = 1.0 - 2.0 * batch.seats[t]
        share = 0.0 if batch.strayed[t] else 1.0 if t == end - 1 else trace
        target = (1.0 - share) * batch.targets[t] + share * side * later
        batch.targets[t] = target
        later = side * target


@kernel(types.int64(RULEBOOK, DOUBLES, WORDS, PLAY_TYPE, BATCH_TYPE, types.int64, WORDS))
def play_games(rulebook: Any, params: Any, model: Any, play: Any, batch: Any, games: int, words: Any) -> int:
    """Fills a batch; how many positions it has."""
    rules, net, rng = open_rules(rulebook), open_net(uint64_ptr(model)), uint64_ptr(words)
    payoffs, state = doubles_at(model[OWN + 6]), states_at(model[OWN + 7])
    end = 0
    for _ in range(games):
        first = end
        open_game(rules, net, state, float64_ptr(params), below(rng, play.opening + 1), rng)
        end = play_game(uint64_ptr(rulebook), uint64_ptr(model), state, play, batch, first, rng)
        rules.returns(state, payoffs)
        mix_returns(batch, first, end, payoffs[0] / net.knobs[0], play.trace)
    return end


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
        begin, length = (config.games, config.deep_games) if deep else (0, config.games)
        if self.done == begin:
            self.coherence[:] = 0  # searches that look further see other errors
        games = min(BATCH, begin + length - self.done)
        left = 1 - (self.done - begin) / length
        rate = (config.deep_rate if deep else config.rate) * min(1.0, left / max(config.anneal, 1e-9))
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

    def restore(self, checkpoint: Checkpoint) -> None:
        """Goes back to where a checkpoint was."""
        for name, mine in self.arrays.items():
            checkpoint.fill(name, mine)
        self.done = checkpoint.count("done", self.total)


def train(game: Game, config: Config, run: Run) -> None:
    """Plays and learns until all games are played or the time is over."""
    learner = Training(game, config, run)
    if checkpoint := run.load():
        learner.restore(checkpoint)
    while learner.done < learner.total and not run.out_of_time:
        part = "looking one move ahead" if learner.done < config.games else f"looking {config.depth} moves ahead"
        run.show(part, learner.done, learner.total)
        before = learner.done * config.measures // learner.total
        learner.play_and_learn()
        if learner.done * config.measures // learner.total > before:
            learner.measure()
        if run.due or learner.done == learner.total:
            run.save(learner.arrays, done=learner.done)
    learner.network.save(run.network)
