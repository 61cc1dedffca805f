"""Whole games of compiled players inside one kernel, every decision with a choice written down.

The kernel lets go of Python's interpreter, so threads that call it play side by side. A decision is kept as the bytes
of its state and the action; what was seen is observed again when it is learned from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import (
    DOUBLE_ROWS,
    DOUBLES,
    FLOAT_ROWS,
    INTS,
    LONGS,
    STATES,
    WORDS,
    ahead,
    first_of,
    float32_ptr,
    float64_ptr,
    kernel,
    state_ptr,
    uint64_ptr,
)
from tapete.core.contract import CHANCE, RULEBOOK, TERMINAL, open_rules
from tapete.core.evaluator import Evaluator
from tapete.core.game import Game
from tapete.core.players import DESK, SEATED, Desk, Seated, choose
from tapete.core.records import copy_state, pointers
from tapete.core.rng import Rng, below, uniform


class Decisions(NamedTuple):
    """N decisions in the order in which they were made, and what their games paid."""

    states: NDArray[np.uint8]  # [N, bytes] before the move
    actions: NDArray[np.int32]  # [N]
    seats: NDArray[np.int32]  # [N]
    games: NDArray[np.int32]  # [N]
    payoffs: NDArray[np.float64]  # [games, seats]
    steps: int  # decisions of everybody, those without a choice too

    @property
    def gains(self) -> NDArray[np.float64]:
        """What the game paid to the seat that made each decision: [N]."""
        return self.payoffs[self.games, self.seats]


DECISIONS = types.NamedTuple([STATES, INTS, INTS, INTS, DOUBLE_ROWS, types.int64], Decisions)


class Recorder:
    """Plays and writes down, in memory of its own that is used again; for one thread."""

    def __init__(self, game: Game, players: Sequence[Evaluator], learning: Sequence[bool], games: int) -> None:
        """Player i sits on seat i; decisions of the seats that are `learning` are written down. `games` at a time."""
        self.game, self.players = game, players
        self.models = [player.model for player in players]
        self.seated, self.desk = Seated.of(game, players, self.models), Desk.of(game)
        self.learning = np.array(learning, dtype=np.int32)
        most = games * game.spec.longest
        actions, seats, numbers = np.zeros((3, most), dtype=np.int32)
        states = np.zeros((most, game.size), dtype=np.uint8)
        self.room = Decisions(states, actions, seats, numbers, np.zeros((games, game.players)), 0)

    def play(self, rng: Rng, epsilon: float) -> Decisions:
        """Plays its games; learning seats make any move with probability `epsilon`. What is returned is overwritten."""
        game, counts = self.game, np.zeros(2, dtype=np.int64)
        _record(
            game.rulebook, game.params, self.seated, self.desk, self.learning, epsilon, rng.words, self.room, counts
        )
        n = int(counts[0])
        states, actions, seats, games, payoffs, _ = self.room
        return Decisions(states[:n], actions[:n], seats[:n], games[:n], payoffs, int(counts[1]))


@kernel(types.void(RULEBOOK, DOUBLES, SEATED, DESK, INTS, types.float64, WORDS, DECISIONS, LONGS))
def _record(
    rulebook: Any, params: Any, arrays: Any, desk: Any, learning: Any, epsilon: float, words: Any, out: Any, counts: Any
) -> None:
    """Plays as many games as there are rows of `out.payoffs`; `counts` are what was written down, and all decisions."""
    rules, book, seated = open_rules(rulebook), uint64_ptr(rulebook), pointers(arrays)
    state, legal, rng = state_ptr(desk.state), first_of(desk.legal), uint64_ptr(words)
    size, n, steps = out.states.shape[1], 0, 0
    states, actions, seats, games = (
        state_ptr(out.states),
        first_of(out.actions),
        first_of(out.seats),
        first_of(out.games),
    )
    for g in range(len(out.payoffs)):
        rules.start(state, float64_ptr(params))
        who = rules.player(state)
        while who != TERMINAL:
            if who == CHANCE:
                rules.apply(state, rules.draw(state, rng))
            else:
                moves = rules.actions(state, legal)
                steps += 1
                if moves > 1 and learning[who]:
                    copy_state(ahead(states, n * size), state, size)
                    if uniform(rng) < epsilon:
                        chosen = below(rng, moves)
                    else:
                        chosen = choose(book, state, who, legal, moves, seated, who, rng)
                    actions[n], seats[n], games[n] = legal[chosen], who, g
                    n += 1
                else:
                    chosen = choose(book, state, who, legal, moves, seated, who, rng)
                rules.apply(state, legal[chosen])
            who = rules.player(state)
        rules.returns(state, float64_ptr(out.payoffs[g]))
    counts[0], counts[1] = n, steps


def look(
    game: Game, states: NDArray[np.uint8], seats: NDArray[np.int32], actions: NDArray[np.int32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """What seats see in states, [N, observation_size], and the actions as numbers, [N, feature_size]."""
    seen = np.zeros((len(states), game.spec.observation_size), dtype=np.float32)
    features = np.zeros((len(states), game.spec.feature_size), dtype=np.float32)
    _look(game.rulebook, np.ascontiguousarray(states), seats, actions, seen, features)
    return seen, features


@kernel(types.void(RULEBOOK, STATES, INTS, INTS, FLOAT_ROWS, FLOAT_ROWS))
def _look(rulebook: Any, states: Any, seats: Any, actions: Any, seen: Any, features: Any) -> None:
    rules = open_rules(rulebook)
    for i in range(len(states)):
        rules.observe(state_ptr(states[i]), seats[i], float32_ptr(seen[i]))
        rules.features(state_ptr(states[i]), actions[i], float32_ptr(features[i]))


def look_at_all(
    game: Game, states: NDArray[np.uint8], movers: NDArray[np.int32], widths: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Who moves (one-hot) and what all seats see together, `widths` numbers of each: [N, that many, or more]."""
    # A seat writes all that it sees, of which the next one overwrites what is not wanted; the last needs room for it.
    rows = np.zeros((len(states), game.players + widths.sum() + game.spec.observation_size), dtype=np.float32)
    _look_at_all(game.rulebook, np.ascontiguousarray(states), movers, widths, rows)
    return rows


@kernel(types.void(RULEBOOK, STATES, INTS, LONGS, FLOAT_ROWS))
def _look_at_all(rulebook: Any, states: Any, movers: Any, widths: Any, rows: Any) -> None:
    rules = open_rules(rulebook)
    for i in range(len(states)):
        row = float32_ptr(rows[i])
        row[movers[i]] = 1.0
        at = len(widths)
        for seat in range(len(widths)):
            rules.observe(state_ptr(states[i]), seat, ahead(row, at))
            at += widths[seat]
