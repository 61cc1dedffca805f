"""The games of AlphaZero: self-play at many tables, games of playouts, and the match between two networks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tapete.core import TERMINAL, Game, Rng, calls
from tapete.learn.zero import MOST_VISITS, Config
from tapete.search import MCTS, Budget
from tapete.search.batch import Forest, Predict

NODES = 24  # of a tree, a simulation: the moves of a position, and what is kept from the move before


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

    def worth(self, search_share: float) -> NDArray[np.float32]:
        """[N] the value to learn: so much of it is what the search expected, and the rest what the mover got."""
        share = np.float32(search_share)
        return share * self.found + (1 - share) * self.results

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
