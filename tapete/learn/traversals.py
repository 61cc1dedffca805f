"""External-sampling walks through a game whose players may be networks, and what is learned from them.

A walk tries every action of one player, the walker, and draws one action of everybody else and of chance. Where the
walker has decided it notes what each action gained over his strategy, the sampled counterfactual advantages; where the
player after him has, the strategy that he drew from. A player is an evaluator that judges moves, asked in the kernel
at every decision: a network through its compiled forward pass, without PyTorch. `tapete.solve.walks` has the same walk
over a table of regrets.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    ahead,
    float32_ptr,
    float64_ptr,
    helper,
    kernel,
    uint64_ptr,
)
from tapete.core.contract import CHANCE, RULEBOOK, TERMINAL, open_rules
from tapete.core.evaluator import MakeEvaluator, open_evaluator, words_at
from tapete.core.game import Game
from tapete.core.players import RANDOM, SEATED, Seated, draw_move, seed_stream, share_out
from tapete.core.records import copy_state, pointers
from tapete.core.rng import Rng
from tapete.learn.episodes import scale_of

CHUNK = 128  # walks that a thread makes in one go
ROOM = 1024  # rows that there is room for at first

# What is counted: `counters` is [5].
WALKS = 0
LEVEL = 1  # where a walk was stopped because there was no room; -1 between walks
ADVANTAGES = 2  # rows
STRATEGIES = 3
NODES = 4  # states that were met, of players and at the end


class Rows(NamedTuple):
    """Decisions, and a number for each action of the game; 0 for those that are not legal."""

    seen: NDArray[np.float32]  # [N, observation_size]
    legal: NDArray[np.uint8]  # [N, actions]
    numbers: NDArray[np.float32]  # [N, actions] advantages in units of the highest payoff, or probabilities

    @property
    def mask(self) -> NDArray[np.bool_]:
        """What is legal: [N, actions]."""
        return self.legal.view(np.bool_)

    def first(self, count: int) -> Rows:
        """Copies of so many."""
        return Rows(self.seen[:count].copy(), self.legal[:count].copy(), self.numbers[:count].copy())

    @classmethod
    def together(cls, parts: Sequence[Rows]) -> Rows:
        """All of them, one after another."""
        seen, legal, numbers = zip(*parts, strict=True)
        return cls(np.concatenate(seen), np.concatenate(legal), np.concatenate(numbers))


class Traversed(NamedTuple):
    """What came of many walks, in the order of their numbers."""

    advantages: Rows  # of the walker
    strategies: Rows  # of the player after him
    nodes: int  # states that were met


class Stack(NamedTuple):
    """Room for a walk, level after level in flat arrays: a level is a decision of the walker that it comes back to."""

    states: NDArray[np.uint8]  # [levels, bytes]
    actions: NDArray[np.int32]  # [levels, width] legal in the state
    strategy: NDArray[np.float64]  # [levels, width]
    gains: NDArray[np.float64]  # [levels, width] what the actions led to
    choices: NDArray[np.int64]  # [levels] how many there are
    tried: NDArray[np.int64]  # [levels] which of them is being tried
    payoffs: NDArray[np.float64]  # [players]
    rng: NDArray[np.uint64]  # [4] the stream of the walk

    @classmethod
    def of(cls, game: Game) -> Stack:
        """Room for the longest game."""
        levels, width = game.spec.longest + 1, max(game.spec.max_actions, 1)
        return cls(
            np.zeros(levels * game.size, dtype=np.uint8),
            np.zeros(levels * width, dtype=np.int32),
            np.zeros(levels * width),
            np.zeros(levels * width),
            np.zeros(levels, dtype=np.int64),
            np.zeros(levels, dtype=np.int64),
            np.zeros(game.players),
            np.zeros(4, dtype=np.uint64),
        )


class Shape(NamedTuple):
    """How far it is from one level to the next."""

    size: Any  # bytes of a state
    width: Any  # most actions


class Task(NamedTuple):
    """Which walks are made."""

    walker: Any
    following: Any  # the player after him
    first: Any  # number of the first walk
    until: Any  # number after the last
    key: Any  # what names the streams of the walks, with their numbers
    scale: Any  # payoffs are given in units of it


FLOAT_ROWS, BYTE_ROWS = types.float32[:, ::1], types.uint8[:, ::1]
ROWS = types.NamedTuple([FLOAT_ROWS, BYTE_ROWS, FLOAT_ROWS], Rows)
STACK = types.NamedTuple([BYTES, INTS, DOUBLES, DOUBLES, LONGS, LONGS, DOUBLES, WORDS], Stack)
TASK = types.NamedTuple([types.int64, types.int64, types.int64, types.int64, types.uint64, types.float64], Task)


def traverse(
    game: Game, players: Sequence[MakeEvaluator], walker: int, walks: int, rng: Rng, *, threads: int = 1
) -> Traversed:
    """Makes so many walks of one player. What comes out depends on `rng`'s name and not on the threads.

    >>> from tapete.core import make
    >>> from tapete.core.players import random
    >>> made = traverse(make("kuhn"), [random, random], 0, 100, Rng(1))
    >>> made.advantages.numbers.shape[1], made.nodes > 400
    (2, True)
    """
    desks = [_Desk(game, players) for _ in range(min(threads, -(-walks // CHUNK)))]
    parts: dict[int, Traversed] = {}

    def work(desk: _Desk, start: int) -> None:
        following = (walker + 1) % game.players
        task = Task(walker, following, start, min(start + CHUNK, walks), rng.words[0], scale_of(game))
        parts[start] = desk.walk(task)

    share_out(work, desks, range(0, walks, CHUNK))
    made = [parts[start] for start in sorted(parts)]
    return Traversed(
        Rows.together([part.advantages for part in made]),
        Rows.together([part.strategies for part in made]),
        sum(part.nodes for part in made),
    )


class _Desk:
    """What one thread walks with: players of its own, because their scratch memory is, and rows that grow."""

    def __init__(self, game: Game, players: Sequence[MakeEvaluator]) -> None:
        self.game, self.stack = game, Stack.of(game)
        self.players = [make() for make in players]
        self.models = [player.model for player in self.players]
        self.seated = Seated.of(game, self.players, self.models)
        self.advantages, self.strategies = self._rows(ROOM), self._rows(ROOM)

    def _rows(self, count: int) -> Rows:
        spec = self.game.spec
        legal, numbers = np.zeros((count, spec.actions), np.uint8), np.zeros((count, spec.actions), np.float32)
        return Rows(np.zeros((count, spec.observation_size), np.float32), legal, numbers)

    def _more(self, rows: Rows) -> Rows:
        """The same with room for twice as many."""
        return Rows.together([rows, self._rows(len(rows.seen))])

    def walk(self, task: Task) -> Traversed:
        """Makes the walks of a task."""
        game, counters = self.game, np.array([task.first, -1, 0, 0, 0])
        while not _walk(
            game.rulebook, game.params, self.seated, self.stack, task, self.advantages, self.strategies, counters
        ):
            self.advantages, self.strategies = self._more(self.advantages), self._more(self.strategies)
        return Traversed(
            self.advantages.first(counters[ADVANTAGES]),
            self.strategies.first(counters[STRATEGIES]),
            int(counters[NODES]),
        )


@helper
def _ask(book: Any, state: Any, seat: int, legal: Any, n: int, seated: Any, rng: Any) -> None:
    """Writes a player's strategy into `seated.priors`."""
    function = seated.functions[seat]
    if function == RANDOM:
        for i in range(n):
            seated.priors[i] = np.float32(1.0) / np.float32(n)
    else:
        model = words_at(seated.models[seat])
        open_evaluator(function)(book, state, seat, legal, n, model, rng, seated.values, seated.priors)


@helper
def _note(rows: Any, row: int, legal: Any, n: int, numbers: Any, less: float) -> None:
    """Fills a row, but for what is seen, with numbers from which something is taken away."""
    for a in range(rows.legal.shape[1]):
        rows.legal[row, a] = 0
        rows.numbers[row, a] = 0.0
    for i in range(n):
        rows.legal[row, legal[i]] = 1
        rows.numbers[row, legal[i]] = numbers[i] - less


@helper
def _back_up(book: Any, stack: Any, shape: Shape, level: int, walker: int, value: float, rows: Any, used: int) -> Any:
    """Hands a value to the levels above, which note their advantages when it was their last.

    Returns the level that has more to try, or -1, and how many rows are used.
    """
    rules = open_rules(book)
    while level > 0:
        level -= 1
        n, k, at = stack.choices[level], stack.tried[level], level * shape.width
        gains, strategy = ahead(stack.gains, at), ahead(stack.strategy, at)
        gains[k] = value
        stack.tried[level] = k + 1
        if k + 1 < n:
            return level, used
        value = 0.0
        for a in range(n):
            value += strategy[a] * gains[a]
        rules.observe(ahead(stack.states, level * shape.size), walker, float32_ptr(rows.seen[used]))
        _note(rows, used, ahead(stack.actions, at), n, gains, value)
        used += 1
    return -1, used


@kernel(types.boolean(RULEBOOK, DOUBLES, SEATED, STACK, TASK, ROWS, ROWS, LONGS))
def _walk(
    rulebook: Any, params: Any, players: Any, arrays: Any, task: Any, advantages: Any, strategies: Any, counters: Any
) -> bool:
    """Makes walks until the task is done, or there is no room for a row; called again with more room, it goes on."""
    rules, book, seated, stack = open_rules(rulebook), uint64_ptr(rulebook), pointers(players), pointers(arrays)
    levels, walker, rng = len(arrays.tried), task.walker, stack.rng
    shape = Shape(len(arrays.states) // levels, len(arrays.actions) // levels)
    level, used, played = counters[LEVEL], counters[ADVANTAGES], counters[STRATEGIES]
    while counters[WALKS] < task.until:
        if level < 0:
            seed_stream(rng, task.key, counters[WALKS])
            rules.start(stack.states, float64_ptr(params))
            level = 0
        while True:
            state, at = ahead(stack.states, level * shape.size), level * shape.width
            legal, player = ahead(stack.actions, at), rules.player(state)
            if player == CHANCE:
                rules.apply(state, rules.draw(state, rng))
                continue
            counters[NODES] += 1
            if player == TERMINAL:
                rules.returns(state, stack.payoffs)
                value = stack.payoffs[walker] / task.scale
                level, used = _back_up(book, stack, shape, level, walker, value, advantages, used)
                if level < 0:
                    break
            else:
                n = rules.actions(state, legal)
                if n == 1:
                    rules.apply(state, legal[0])
                    continue
                # Every open level will want a row.
                if used + level >= len(advantages.seen) or played >= len(strategies.seen):
                    counters[LEVEL], counters[ADVANTAGES], counters[STRATEGIES] = level, used, played
                    counters[NODES] -= 1
                    return False
                _ask(book, state, player, legal, n, seated, rng)
                if player != walker:
                    if player == task.following:
                        rules.observe(state, player, float32_ptr(strategies.seen[played]))
                        _note(strategies, played, legal, n, seated.priors, 0.0)
                        played += 1
                    rules.apply(state, legal[draw_move(seated.priors, n, rng)])
                    continue
                for a in range(n):
                    stack.strategy[at + a] = seated.priors[a]
                stack.choices[level], stack.tried[level] = n, 0
            action = stack.actions[level * shape.width + stack.tried[level]]
            child = ahead(stack.states, (level + 1) * shape.size)
            copy_state(child, ahead(stack.states, level * shape.size), shape.size)
            level += 1
            rules.apply(child, action)
        counters[WALKS] += 1
    counters[LEVEL], counters[ADVANTAGES], counters[STRATEGIES] = level, used, played
    return True
