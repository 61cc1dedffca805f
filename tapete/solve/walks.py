"""The three walks of Monte Carlo CFR, compiled once for all games.

A walk begins at the start of a game and keeps a level for every decision that it comes back to; moves of chance, and of
players whose actions are sampled, are made in place. When a new information set finds no room, the walk stops where it
is and says so; called again with larger arrays, it goes on as if nothing had happened. So arrays never move while a
walk runs, and its pointers are taken once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import (
    DOUBLES,
    INTS,
    LONGS,
    WORDS,
    ahead,
    first_of,
    float64_ptr,
    helper,
    int32_ptr,
    kernel,
    state_ptr,
    uint64_ptr,
)
from tapete.core.contract import CHANCE, TABLE, TERMINAL, open_rules
from tapete.core.rng import below, uniform
from tapete.solve.hashmap import find, put
from tapete.solve.regrets import updated

EXPLORATION = 0.6  # of outcome sampling: the share of its own decisions that the walker makes at random
FULL = -1  # instead of an offset: there is no room for a new information set

# What is counted; `counters` is [5].
ITERATIONS = 0
WALKER = 1  # whose walk it is
LEVEL = 2  # of the walk that was stopped; -1 between walks
USED = 3  # numbers of the book
INFOSETS = 4


class Book(NamedTuple):
    """What is remembered, by information set: a block of numbers, the next one right behind it.

    A block has n regrets and n sums of the average strategy, n being the actions. Where a walk may come to an
    information set more than once (chance sampling), n probabilities follow and the iteration they are of.
    """

    keys: NDArray[np.uint64]  # [slots] of a hash table
    offsets: NDArray[np.int64]  # [slots] where the block begins
    numbers: NDArray[np.float64]


class Stack(NamedTuple):
    """Room for a walk, level by level."""

    states: NDArray[np.uint64]  # [levels * words of a state]
    actions: NDArray[np.int32]  # [levels * most actions] legal at the level's state
    gains: NDArray[np.float64]  # [levels * most actions * 2] what they led to; chance sampling: for both players
    offset: NDArray[np.int64]  # [levels] block of the level's decision
    count: NDArray[np.int64]  # [levels] its actions
    tried: NDArray[np.int64]  # [levels] the action that is being tried
    mover: NDArray[np.int64]  # [levels] who decides
    reach: NDArray[np.float64]  # [(levels + 1) * 2] what led to the level's state, as the walk weighs it
    payoffs: NDArray[np.float64]  # [players]


BOOK = types.NamedTuple([WORDS, LONGS, DOUBLES], Book)
STACK = types.NamedTuple([WORDS, INTS, DOUBLES, LONGS, LONGS, LONGS, LONGS, DOUBLES, DOUBLES], Stack)

# The rules and their parameters, what is kept, the iteration to stop after, and the generator; whether it got there.
WALK = types.boolean(TABLE, DOUBLES, BOOK, STACK, LONGS, types.int64, WORDS)


@helper
def admit(keys: Any, offsets: Any, room: int, counters: Any, slot: int, key: Any, size: int) -> bool:
    """Makes a block for a new information set; false if there is no room for it."""
    used = counters[USED]
    if 2 * (counters[INFOSETS] + 1) > len(keys) or used + size > room:
        return False
    put(keys, offsets, slot, key, used)
    counters[USED] += size
    counters[INFOSETS] += 1
    return True


@helper
def positive(regret: float) -> float:
    """What the probability of an action is proportional to."""
    return max(regret, 0.0)


@helper
def total_positive(block: Any, n: int) -> float:
    """Over all actions."""
    total = 0.0
    for a in range(n):
        total += positive(block[a])
    return total


@helper
def probability(block: Any, n: int, total: float, a: int) -> float:
    """Of an action, by regret matching; where no regret is positive, all are as likely."""
    return positive(block[a]) / total if total > 0 else 1.0 / n


@helper
def choose(block: Any, n: int, total: float, rng: Any) -> Any:
    """An action, drawn by regret matching."""
    if total <= 0:
        return below(rng, n)
    left = uniform(rng) * total
    for a in range(n - 1):
        left -= positive(block[a])
        if left < 0:
            return a
    return n - 1


@helper
def add_to_average(block: Any, n: int, total: float, weight: float) -> None:
    """Adds the strategy to the sums."""
    if total > 0:
        scale = weight / total
        for a in range(n):
            block[n + a] += positive(block[a]) * scale
    else:
        for a in range(n):
            block[n + a] += weight / n


@helper
def learn(block: Any, n: int, gains: Any) -> float:
    """Updates the regrets by what each action gained; returns what the strategy gained."""
    total = value = plain = 0.0
    for a in range(n):
        total += positive(block[a])
        value += positive(block[a]) * gains[a]
        plain += gains[a]
    value = value / total if total > 0 else plain / n
    for a in range(n):
        block[a] = updated(block[a], gains[a] - value, 1.0, 1.0, False)
    return value


@helper
def copy_state(states: Any, level: int, size: int) -> None:
    """To the next level."""
    state = ahead(states, level * (size // 8))
    child = ahead(state, size // 8)
    for i in range(size // 8):
        child[i] = state[i]


@kernel(WALK)
def external(table: Any, params: Any, book: Any, stack: Any, counters: Any, until: int, words: Any) -> bool:
    """External sampling: all actions of the walker, one of everybody else's and of chance.

    The strategy of the player after the walker enters the average where the walk meets it: as often as its own moves
    lead there.
    """
    rules = open_rules(table)
    keys, offsets, numbers = book.keys, book.offsets, float64_ptr(book.numbers)
    room = len(book.numbers)
    states, actions, gains = state_ptr(stack.states), int32_ptr(stack.actions), float64_ptr(stack.gains)
    offset, count, tried = first_of(stack.offset), first_of(stack.count), first_of(stack.tried)
    rng, payoffs = uint64_ptr(words), float64_ptr(stack.payoffs)
    levels, players = len(stack.tried), len(stack.payoffs)
    size, width = 8 * (len(stack.states) // levels), len(stack.actions) // levels
    walker, level = counters[WALKER], counters[LEVEL]
    while counters[ITERATIONS] < until:
        following = walker + 1 if walker + 1 < players else 0
        if level < 0:
            level = 0
            rules.start(states, float64_ptr(params))
        while level >= 0:
            p, legal = ahead(states, level * size), ahead(actions, level * width)
            player = rules.player(p)
            if player == CHANCE:
                rules.apply(p, rules.draw(p, rng))
                continue
            if player == TERMINAL:
                rules.returns(p, payoffs)
                value = payoffs[walker]
                level -= 1
                while level >= 0:
                    gained = ahead(gains, level * width)
                    gained[tried[level]] = value
                    tried[level] += 1
                    if tried[level] < count[level]:
                        break
                    value = learn(ahead(numbers, offset[level]), count[level], gained)
                    level -= 1
                if level < 0:
                    break
            else:
                n = rules.actions(p, legal)
                if n == 1:
                    rules.apply(p, legal[0])
                    continue
                key = rules.infoset(p, player)
                slot = find(keys, key)
                if keys[slot] == 0 and not admit(keys, offsets, room, counters, slot, key, 2 * n):
                    counters[WALKER], counters[LEVEL] = walker, level
                    return False
                here = offsets[slot]
                if player != walker:
                    block = ahead(numbers, here)
                    total = total_positive(block, n)
                    k = choose(block, n, total, rng)
                    if player == following:
                        add_to_average(block, n, total, 1.0)
                    rules.apply(p, legal[k])
                    continue
                offset[level], count[level], tried[level] = here, n, 0
            copy_state(uint64_ptr(stack.states), level, size)
            rules.apply(ahead(states, (level + 1) * size), ahead(actions, level * width)[tried[level]])
            level += 1
        walker = following
        counters[ITERATIONS] += walker == 0
    counters[WALKER], counters[LEVEL] = walker, level
    return True
