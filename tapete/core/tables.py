"""Many tables at once: the states of B games in one array, one compiled call a step for all of them.

For learners and benchmarks. Arrays are filled in place, so that a training loop allocates nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import (
    BYTES,
    DOUBLES,
    INTS,
    LONGS,
    WORDS,
    float32_ptr,
    float64_ptr,
    helper,
    int32_ptr,
    kernel,
    state_ptr,
    uint64_ptr,
)
from tapete.core.contract import CHANCE, RULEBOOK, TERMINAL, open_rules
from tapete.core.errors import IllegalAction, TapeteError
from tapete.core.game import Game, State
from tapete.core.rng import Rng, below

STATES = types.uint8[:, ::1]
FLOAT_ROWS = types.float32[:, ::1]
DOUBLE_ROWS = types.float64[:, ::1]
INT_ROWS = types.int32[:, ::1]


class Tables:
    """B games side by side. A finished one starts anew at the next step.

    >>> from tapete.core import make
    >>> tables = Tables(make("kuhn"), 4, Rng(1))
    >>> while tables.finished < 100:
    ...     legal, counts = tables.actions()
    ...     tables.step(legal[:, 0])
    >>> tables.players.shape, tables.observe().shape
    ((4,), (4, 9))
    """

    def __init__(self, game: Game, size: int, rng: Rng) -> None:
        if size < 1:
            raise TapeteError(f"at least one table is needed, not {size}")
        self.game, spec = game, game.spec
        self.rng = rng.words.copy()  # one stream for all of them, drawn from in order of the tables
        self.states = np.zeros((size, game.size), dtype=np.uint8)  # [B, bytes]
        self.players = np.zeros(
            size, dtype=np.int32
        )  # [B] who moves; never chance, and TERMINAL only just after a step
        self.rewards = np.zeros((size, spec.players))  # [B, players] payoffs of games that the last step ended
        self.over = np.zeros(size, dtype=np.uint8)  # [B] whether the last step ended the game
        self.finished = 0  # games since the beginning
        self._legal = np.zeros((size, max(spec.max_actions, 1)), dtype=np.int32)  # [B, max_actions]
        self._counts = np.zeros(size, dtype=np.int32)  # [B]
        self._observations = np.zeros((size, spec.observation_size), dtype=np.float32)  # [B, observation_size]
        _start(game.rulebook, self.states, game.params, self.players, self.rng)

    def actions(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Legal actions [B, max_actions] of the movers and how many there are [B]; overwritten by the next call."""
        _actions(self.game.rulebook, self.states, self._legal, self._counts)
        return self._legal, self._counts

    def observe(self) -> NDArray[np.float32]:
        """What the movers see [B, observation_size]; overwritten by the next call."""
        _observe(self.game.rulebook, self.states, self.players, self._observations)
        return self._observations

    def features(self, actions: NDArray[np.int32], out: NDArray[np.float32]) -> None:
        """One action of each table as numbers, into `out` [B, feature_size]."""
        _features(self.game.rulebook, self.states, np.ascontiguousarray(actions, dtype=np.int32), out)

    def step(self, actions: NDArray[np.int32]) -> None:
        """One move at each table [B], and what chance does after it. Unchecked: see `check`.

        `over` and `rewards` tell which games ended with it; those have begun anew.
        """
        chosen = np.ascontiguousarray(actions, dtype=np.int32)
        if chosen.shape != self.players.shape:
            raise TapeteError(f"{len(self.players)} actions are needed, not {chosen.shape}")
        _step(
            self.game.rulebook, self.states, self.game.params, chosen, self.players, self.over, self.rewards, self.rng
        )
        self.finished += int(self.over.sum())

    def check(self, actions: NDArray[np.int32]) -> None:
        """Raises if one of the actions is not legal at its table."""
        legal, counts = self.actions()
        for i, (action, row, n) in enumerate(zip(actions, legal, counts, strict=True)):
            if action not in row[:n]:
                raise IllegalAction(f"action {action} can't be played at table {i}")

    def state(self, i: int) -> State:
        """A copy of one table's state, for looking at it."""
        return State(self.game, self.states[i].copy(), None)


class Played(NamedTuple):
    """What a run of random games amounted to."""

    games: int
    decisions: int
    steps: int  # decisions and moves of chance
    rewards: NDArray[np.float64]  # [players], added up


def random_play(game: Game, games: int, rng: Rng) -> Played:
    """Plays whole games at random, one after another, inside one kernel: for benchmarks and smoke tests."""
    state = np.zeros(game.size, dtype=np.uint8)
    out = np.zeros(max(game.spec.max_actions, game.players, 1), dtype=np.int32)
    rewards = np.zeros(game.players)
    counts = np.zeros(2, dtype=np.int64)
    _random_play(game.rulebook, state, game.params, out, games, rng.words, rewards, counts)
    return Played(games, int(counts[0]), int(counts[1]), rewards)


@helper
def _deal(rules: Any, p: Any, rng: Any) -> Any:
    """Lets chance move until a player has to; returns who that is."""
    who = rules.player(p)
    while who == CHANCE:
        rules.apply(p, rules.draw(p, rng))
        who = rules.player(p)
    return who


@kernel(types.void(RULEBOOK, STATES, DOUBLES, INTS, WORDS))
def _start(rulebook: Any, states: Any, params: Any, players: Any, rng: Any) -> None:
    rules = open_rules(rulebook)
    for i in range(len(states)):
        rules.start(state_ptr(states[i]), float64_ptr(params))
        players[i] = _deal(rules, state_ptr(states[i]), uint64_ptr(rng))


@kernel(types.void(RULEBOOK, STATES, INT_ROWS, INTS))
def _actions(rulebook: Any, states: Any, legal: Any, counts: Any) -> None:
    rules = open_rules(rulebook)
    for i in range(len(states)):
        counts[i] = rules.actions(state_ptr(states[i]), int32_ptr(legal[i]))


@kernel(types.void(RULEBOOK, STATES, INTS, FLOAT_ROWS))
def _observe(rulebook: Any, states: Any, players: Any, out: Any) -> None:
    rules = open_rules(rulebook)
    for i in range(len(states)):
        rules.observe(state_ptr(states[i]), players[i], float32_ptr(out[i]))


@kernel(types.void(RULEBOOK, STATES, INTS, FLOAT_ROWS))
def _features(rulebook: Any, states: Any, actions: Any, out: Any) -> None:
    rules = open_rules(rulebook)
    for i in range(len(states)):
        rules.features(state_ptr(states[i]), actions[i], float32_ptr(out[i]))


@kernel(types.void(RULEBOOK, STATES, DOUBLES, INTS, INTS, BYTES, DOUBLE_ROWS, WORDS))
def _step(
    rulebook: Any, states: Any, params: Any, actions: Any, players: Any, over: Any, rewards: Any, rng: Any
) -> None:
    rules = open_rules(rulebook)
    r = uint64_ptr(rng)
    for i in range(len(states)):
        p = state_ptr(states[i])
        rules.apply(p, actions[i])
        who = _deal(rules, p, r)
        over[i] = who == TERMINAL
        rewards[i] = 0.0
        if who == TERMINAL:
            rules.returns(p, float64_ptr(rewards[i]))
            rules.start(p, float64_ptr(params))
            who = _deal(rules, p, r)
        players[i] = who


@kernel(types.void(RULEBOOK, BYTES, DOUBLES, INTS, types.int64, WORDS, DOUBLES, LONGS))
def _random_play(
    rulebook: Any, state: Any, params: Any, out: Any, games: int, words: Any, rewards: Any, counts: Any
) -> None:
    rules = open_rules(rulebook)
    p, legal, rng = state_ptr(state), int32_ptr(out), uint64_ptr(words)
    payoffs = np.zeros(len(rewards))
    for _ in range(games):
        rules.start(p, float64_ptr(params))
        who = rules.player(p)
        while who != TERMINAL:
            if who == CHANCE:
                rules.apply(p, rules.draw(p, rng))
            else:
                n = rules.actions(p, legal)
                rules.apply(p, legal[below(rng, n)])
                counts[0] += 1
            counts[1] += 1
            who = rules.player(p)
        rules.returns(p, float64_ptr(payoffs))
        rewards += payoffs
