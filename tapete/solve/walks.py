"""The three walks of Monte Carlo CFR (Lanctot et al. 2009), compiled once for all games.

A walk plays from the start of a game and opens a level at every decision that it comes back to; all other moves are
made in place. When there is no room for a new information set it stops where it is and says so; called again with
larger arrays it goes on as if nothing had happened. So arrays never move while a walk runs, and it works on pointers.
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
    float64_ptr,
    helper,
    kernel,
    state_ptr,
    uint64_ptr,
)
from tapete.core.contract import CHANCE, RULEBOOK, TERMINAL, open_rules
from tapete.core.hashmap import find, put
from tapete.core.records import pointers
from tapete.core.rng import below, uniform
from tapete.solve.regrets import updated

EXPLORATION = 0.6  # outcome sampling: how often the walker moves at random

# What is counted: `counters` is [5].
ITERATIONS = 0
WALKER = 1  # whose walk it is
LEVEL = 2  # where the walk was stopped; -1 between walks
USED = 3  # numbers of the book
INFOSETS = 4


class Book(NamedTuple):
    """What is remembered: a block of numbers for every information set, one block after another.

    A block has a regret for each of n actions, then n sums of the average strategy, so that both are in one or two
    lines of the cache. In chance sampling, where a walk may come to an information set more than once, n probabilities
    follow, and the iteration in which they hold.
    """

    keys: NDArray[np.uint64]  # [slots] of a hash table
    offsets: NDArray[np.int64]  # [slots] where the block begins
    numbers: NDArray[np.float64]


class Stack(NamedTuple):
    """Room for a walk, level after level in flat arrays; inside of a walk, pointers to them."""

    states: NDArray[np.uint64]  # [levels, words of a state]
    actions: NDArray[np.int32]  # [levels, width] legal in the state
    gains: NDArray[np.float64]  # [levels, width] what they led to; chance sampling: [levels, 2, width]
    reach: NDArray[np.float64]  # [levels] weight of the state; chance sampling: [levels, 2] how likely both go there
    offset: NDArray[np.int64]  # [levels] block of the decision
    choices: NDArray[np.int64]  # [levels] its actions
    tried: NDArray[np.int64]  # [levels] which of them is being tried
    mover: NDArray[np.int64]  # [levels] who decides
    payoffs: NDArray[np.float64]  # [players]


BOOK = types.NamedTuple([WORDS, LONGS, DOUBLES], Book)
STACK = types.NamedTuple([WORDS, INTS, DOUBLES, DOUBLES, LONGS, LONGS, LONGS, LONGS, DOUBLES], Stack)

# Rules, parameters, what is kept, the iteration to stop after, the generator. Whether it got there, or has no room.
WALK = types.boolean(RULEBOOK, DOUBLES, BOOK, STACK, LONGS, types.int64, WORDS)


@helper
def admit(book: Any, counters: Any, slot: int, key: Any, size: int) -> bool:
    """Makes a block for a new information set; false if there is no room for it."""
    used = counters[USED]
    if 2 * (counters[INFOSETS] + 1) > len(book.keys) or used + size > len(book.numbers):
        return False
    put(book.keys, book.offsets, slot, key, used)
    counters[USED] += size
    counters[INFOSETS] += 1
    return True


@helper
def positive(regret: float) -> float:
    """What the probability of an action is proportional to: `eagerness` where nothing is predicted, in one step."""
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
def sampled(block: Any, n: int, weight: float, rng: Any) -> Any:
    """An action of somebody who is not the walker; his strategy enters his average with that weight."""
    total = total_positive(block, n)
    if weight > 0:
        scale = weight / total if total > 0 else 0.0
        even = 0.0 if total > 0 else weight / n
        for a in range(n):
            block[n + a] += positive(block[a]) * scale + even
    return choose(block, n, total, rng)


@helper
def learn(block: Any, n: int, gains: Any) -> float:
    """Updates the regrets by what each action gained; returns what the strategy gained."""
    total = value = even = 0.0
    for a in range(n):
        total += positive(block[a])
        value += positive(block[a]) * gains[a]
        even += gains[a]
    value = value / total if total > 0 else even / n
    for a in range(n):
        block[a] = updated(block[a], gains[a] - value, 1.0, 1.0, False)
    return value


@helper
def back_up(numbers: Any, stack: Any, level: int, width: int, value: float) -> Any:
    """Hands a value to the levels above, which learn when it was their last; returns the one that has more to try."""
    while level > 0:
        level -= 1
        n, k, gains = stack.choices[level], stack.tried[level], ahead(stack.gains, level * width)
        gains[k] = value
        stack.tried[level] = k + 1
        if k + 1 < n:
            return level
        value = learn(ahead(numbers, stack.offset[level]), n, gains)
    return -1


@helper
def copy_state(states: Any, level: int, words: int) -> None:
    """To the next level."""
    state, child = ahead(states, level * words), ahead(states, (level + 1) * words)
    for i in range(words):
        child[i] = state[i]


@kernel(WALK)
def external(rulebook: Any, params: Any, book: Any, arrays: Any, counters: Any, until: int, words: Any) -> bool:
    """External sampling: every action of the walker, one action of everybody else and of chance.

    The player after the walker adds his strategy to his average where the walk meets him: as often as he and chance
    lead there.
    """
    rules, stack, rng = open_rules(rulebook), pointers(arrays), uint64_ptr(words)
    keys, offsets, numbers = book.keys, book.offsets, float64_ptr(book.numbers)
    levels, players = len(arrays.tried), len(arrays.payoffs)
    size, width = 8 * (len(arrays.states) // levels), len(arrays.actions) // levels
    states = state_ptr(arrays.states)
    walker, level = counters[WALKER], counters[LEVEL]
    while counters[ITERATIONS] < until:
        following = walker + 1 if walker + 1 < players else 0
        if level < 0:
            rules.start(states, float64_ptr(params))
            level = 0
        while True:
            state, legal = ahead(states, level * size), ahead(stack.actions, level * width)
            player = rules.player(state)
            if player == CHANCE:
                rules.apply(state, rules.draw(state, rng))
                continue
            if player == TERMINAL:
                rules.returns(state, stack.payoffs)
                level = back_up(numbers, stack, level, width, stack.payoffs[walker])
                if level < 0:
                    break
            else:
                n = rules.actions(state, legal)
                if n == 1:
                    rules.apply(state, legal[0])
                    continue
                key = rules.infoset(state, player)
                slot = find(keys, key)
                if keys[slot] == 0 and not admit(book, counters, slot, key, 2 * n):
                    counters[WALKER], counters[LEVEL] = walker, level
                    return False
                if player != walker:
                    weight = 1.0 if player == following else 0.0
                    rules.apply(state, legal[sampled(ahead(numbers, offsets[slot]), n, weight, rng)])
                    continue
                stack.offset[level], stack.choices[level], stack.tried[level] = offsets[slot], n, 0
            copy_state(stack.states, level, size // 8)
            action = stack.actions[level * width + stack.tried[level]]
            level += 1
            rules.apply(ahead(states, level * size), action)
        walker = following
        counters[ITERATIONS] += walker == 0
    counters[WALKER], counters[LEVEL] = walker, level
    return True


@helper
def explored(block: Any, n: int, rng: Any) -> Any:
    """An action of the walker, at random or by his strategy, and how likely it was drawn."""
    total = total_positive(block, n)
    k = below(rng, n) if uniform(rng) < EXPLORATION else choose(block, n, total, rng)
    return k, EXPLORATION / n + (1.0 - EXPLORATION) * probability(block, n, total, k)


@helper
def learn_one(block: Any, n: int, k: int, gain: float, gains: Any) -> float:
    """Updates the regrets when only one action was tried; returns what the strategy gained by it."""
    for a in range(n):
        gains[a] = 0.0
    gains[k] = gain
    return learn(block, n, gains)


@kernel(WALK)
def outcome(rulebook: Any, params: Any, book: Any, arrays: Any, counters: Any, until: int, words: Any) -> bool:
    """Outcome sampling: one game a walk; a level is a decision of the walker, and there is one state for all levels.

    What others and chance do is as likely in the walk as in the game, so that all weights cancel but one: how rarely
    the walker, who explores, would have come so far. The average is weighted by it too, at the player after him.
    """
    rules, stack, rng = open_rules(rulebook), pointers(arrays), uint64_ptr(words)
    keys, offsets, numbers = book.keys, book.offsets, float64_ptr(book.numbers)
    players, state = len(arrays.payoffs), state_ptr(arrays.states)
    walker, level = counters[WALKER], counters[LEVEL]
    while counters[ITERATIONS] < until:
        following = walker + 1 if walker + 1 < players else 0
        if level < 0:
            rules.start(state, float64_ptr(params))
            level = 0
            stack.reach[0] = 1.0
        player = rules.player(state)
        while player != TERMINAL:
            if player == CHANCE:
                action = rules.draw(state, rng)
            else:
                n = rules.actions(state, stack.actions)
                action = stack.actions[0]
                if n > 1:
                    key = rules.infoset(state, player)
                    slot = find(keys, key)
                    if keys[slot] == 0 and not admit(book, counters, slot, key, 2 * n):
                        counters[WALKER], counters[LEVEL] = walker, level
                        return False
                    block = ahead(numbers, offsets[slot])
                    if player == walker:
                        k, likely = explored(block, n, rng)
                        stack.offset[level], stack.choices[level], stack.tried[level] = offsets[slot], n, k
                        level += 1
                        stack.reach[level] = stack.reach[level - 1] / likely
                    else:
                        k = sampled(block, n, stack.reach[level] if player == following else 0.0, rng)
                    action = stack.actions[k]
            rules.apply(state, action)
            player = rules.player(state)
        rules.returns(state, stack.payoffs)
        value = stack.payoffs[walker] * stack.reach[level]
        while level > 0:
            level -= 1
            block, n = ahead(numbers, stack.offset[level]), stack.choices[level]
            value = learn_one(block, n, stack.tried[level], value, stack.gains)
        level = -1
        walker = following
        counters[ITERATIONS] += walker == 0
    counters[WALKER], counters[LEVEL] = walker, level
    return True


@helper
def decide(block: Any, n: int, iteration: int, reach: float) -> None:
    """Fixes the strategy for this iteration, unless that was done before, and adds it to the average."""
    if block[3 * n] != iteration:
        total = total_positive(block, n)
        for a in range(n):
            block[2 * n + a] = probability(block, n, total, a)
        block[3 * n] = iteration
    for a in range(n):
        block[n + a] += reach * block[2 * n + a]


@helper
def set_reach(numbers: Any, stack: Any, level: int) -> None:
    """How likely both players come to a level that was just entered."""
    above, now = ahead(stack.reach, 2 * (level - 1)), ahead(stack.reach, 2 * level)
    strategy = ahead(numbers, stack.offset[level - 1] + 2 * stack.choices[level - 1])
    now[0], now[1] = above[0], above[1]
    now[stack.mover[level - 1]] *= strategy[stack.tried[level - 1]]


@helper
def back_up_both(numbers: Any, stack: Any, level: int, width: int) -> Any:
    """The same as `back_up` for the payoffs of both players, of whom the mover learns."""
    values = stack.payoffs
    while level > 0:
        level -= 1
        n, k, mover = stack.choices[level], stack.tried[level], stack.mover[level]
        gains = ahead(stack.gains, 2 * level * width)  # [2, width]
        gains[k], gains[width + k] = values[0], values[1]
        stack.tried[level] = k + 1
        if k + 1 < n:
            return level
        block = ahead(numbers, stack.offset[level])
        values[0] = values[1] = 0.0
        for a in range(n):
            values[0] += block[2 * n + a] * gains[a]
            values[1] += block[2 * n + a] * gains[width + a]
        others = stack.reach[2 * level + 1 - mover]
        for a in range(n):
            gain = others * (gains[mover * width + a] - values[mover])
            block[a] = updated(block[a], gain, 1.0, 1.0, False)
    return -1


@kernel(WALK)
def chance(rulebook: Any, params: Any, book: Any, arrays: Any, counters: Any, until: int, words: Any) -> bool:
    """Chance sampling: every action of both players, who learn in the same walk; one outcome of chance."""
    rules, stack, rng = open_rules(rulebook), pointers(arrays), uint64_ptr(words)
    keys, offsets, numbers = book.keys, book.offsets, float64_ptr(book.numbers)
    levels = len(arrays.tried)
    size, width = 8 * (len(arrays.states) // levels), len(arrays.actions) // levels
    states = state_ptr(arrays.states)
    level = counters[LEVEL]
    while counters[ITERATIONS] < until:
        if level < 0:
            rules.start(states, float64_ptr(params))
            level = 0
            stack.reach[0] = stack.reach[1] = 1.0
        while True:
            state, legal = ahead(states, level * size), ahead(stack.actions, level * width)
            is_played = stack.reach[2 * level] + stack.reach[2 * level + 1] > 0
            player = rules.player(state) if is_played else TERMINAL  # where neither goes, nothing is to be learnt
            if player == CHANCE:
                rules.apply(state, rules.draw(state, rng))
                continue
            if player == TERMINAL:
                rules.returns(state, stack.payoffs)
                level = back_up_both(numbers, stack, level, width)
                if level < 0:
                    break
            else:
                n = rules.actions(state, legal)
                if n == 1:
                    rules.apply(state, legal[0])
                    continue
                key = rules.infoset(state, player)
                slot = find(keys, key)
                if keys[slot] == 0 and not admit(book, counters, slot, key, 3 * n + 1):
                    counters[LEVEL] = level
                    return False
                stack.offset[level], stack.choices[level], stack.tried[level] = offsets[slot], n, 0
                stack.mover[level] = player
                decide(ahead(numbers, offsets[slot]), n, counters[ITERATIONS] + 1, stack.reach[2 * level + player])
            copy_state(stack.states, level, size // 8)
            action = stack.actions[level * width + stack.tried[level]]
            level += 1
            set_reach(numbers, stack, level)
            rules.apply(ahead(states, level * size), action)
        counters[ITERATIONS] += 1
    counters[LEVEL] = level
    return True
