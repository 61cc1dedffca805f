"""Hands of truco walked by external sampling, paid in match equity, and played out by the strategy that results."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import (
    BYTES,
    DOUBLES,
    LONGS,
    WORDS,
    ahead,
    first_of,
    float64_ptr,
    helper,
    kernel,
    state_ptr,
    uint64_ptr,
)
from tapete.core.contract import CHANCE, RULEBOOK, TERMINAL, open_rules
from tapete.core.game import Game
from tapete.core.records import pointers
from tapete.core.rng import below, uniform
from tapete.games.truco.moves import view
from tapete.solve.truco.abstraction import GO_ON, MOST_CHOICES, REPLY
from tapete.solve.truco.knowledge import KNOWLEDGE
from tapete.solve.truco.rows import row_of
from tapete.solve.truco.stages import action_of, choices, next_stage, stage_of
from tapete.solve.walks import choose, copy_state, positive, total_positive

LEVELS = 32  # decisions of one seat in a hand, stage by stage, and more
SIDE = 31  # points that a seat may lack: 0 to 30

# A choice that has been bad for long is only looked at now and then, as in Pluribus (Brown and Sandholm 2019).
FLOOR = -20.0  # no regret sinks lower, in matches
POOR = -15.0  # regrets below this are left out ...
LEFT_OUT = 0.95  # ... of so many walks

# How often only one way is played to the end of the hand once an envido is settled: the tricks are much the same.
PLAYED_OUT = 0.75

IN_A_ROW = 64  # hands from one score, so that the rows of that score stay in the cache
TREMBLING = 0.3  # of the walks: the one who doesn't walk makes mistakes in them


class Stack(NamedTuple):
    """Room for a walk, level after level in flat arrays."""

    states: NDArray[np.uint64]  # [levels, words of a state]
    stages: NDArray[np.int64]  # [levels]
    gains: NDArray[np.float64]  # [levels, choices] what each choice led to
    offset: NDArray[np.int64]  # [levels] block of the decision
    choices: NDArray[np.int64]  # [levels]
    tried: NDArray[np.int64]  # [levels] which of them is being tried
    shaken: NDArray[np.int64]  # [levels] whether the other has trembled since

    @classmethod
    def of(cls, game: Game) -> Stack:
        """An empty one."""
        room = [np.zeros(LEVELS, dtype=np.int64) for _ in range(5)]
        states = np.zeros(LEVELS * game.size // 8, dtype=np.uint64)
        return cls(states, room[0], np.zeros(LEVELS * MOST_CHOICES), *room[1:])


STACK = types.NamedTuple([WORDS, LONGS, DOUBLES, LONGS, LONGS, LONGS, LONGS], Stack)


@helper
def payoff(s: Any, equity: Any, seat: int) -> float:
    """How likely a seat wins the match, less a half, when a hand is over; `equity` is [what mano lacks, the other].

    Seat 0 was mano, so seat 1 is next.
    """
    chance = equity[(s.points - s.score[1]) * SIDE + s.points - s.score[0]]  # of seat 1
    return chance - 0.5 if seat == 1 else 0.5 - chance


@helper
def next_choice(block: Any, n: int, choice: int, prunes: bool) -> int:
    """The first choice from this one on that is looked at; n where there is none."""
    while choice < n and prunes and block[choice] < POOR:
        choice += 1
    return choice


@helper
def learn(block: Any, n: int, gains: Any, prunes: bool, shaken: int) -> float:
    """Updates the regrets of what was looked at, unless shaken; returns what the strategy gained."""
    total = value = even = seen = 0.0
    for a in range(n):
        if prunes and block[a] < POOR:
            continue
        total += positive(block[a])
        value += positive(block[a]) * gains[a]
        even += gains[a]
        seen += 1.0
    value = value / total if total > 0 else even / seen
    for a in range(n):
        if not shaken and not (prunes and block[a] < POOR):
            block[a] = max(block[a] + gains[a] - value, FLOOR)
    return value


@helper
def back_up(book: Any, stack: Any, level: int, value: float, prunes: bool) -> int:
    """Hands a value to the levels above, which learn when it was their last; returns the one that has more to try.

    A level from which on the other has trembled learns nothing: what it would learn is to count on it.
    """
    shaken = 0
    while level > 0:
        level -= 1
        n, gains = stack.choices[level], ahead(stack.gains, level * MOST_CHOICES)
        block = ahead(book, stack.offset[level])
        gains[stack.tried[level]] = value
        shaken |= stack.shaken[level]
        stack.shaken[level] = shaken
        stack.tried[level] = next_choice(block, n, stack.tried[level] + 1, prunes)
        if stack.tried[level] < n:
            return level
        value = learn(block, n, gains, prunes, shaken)
    return -1


@helper
def sampled(block: Any, sums: Any, n: int, rng: Any) -> int:
    """A choice of the one who doesn't walk, by regret matching; his strategy enters his average."""
    total = total_positive(block, n)
    for a in range(n):
        sums[a] += positive(block[a]) / total if total > 0 else 1.0 / n
    return int(choose(block, n, total, rng))


@helper
def draw_score(params: Any, rng: Any) -> None:
    """Any score, half of the time one that is close, as most are in a match."""
    points = int(params[0])
    one = below(rng, points)
    two = below(rng, points)
    if uniform(rng) < 0.5:
        two = min(max(one - 7 + below(rng, 15), 0), points - 1)
    params[3], params[4] = float(one), float(two)


@helper
def draw_choice(probs: Any, n: int, rng: Any) -> int:
    """One of n choices by weights that need not add up to one; where all are 0, the first."""
    total = 0.0
    for i in range(n):
        total += probs[i]
    left = uniform(rng) * total
    for i in range(n):
        left -= probs[i]
        if left < 0:
            return i
    return 0


@kernel(
    types.void(
        RULEBOOK, DOUBLES, DOUBLES, DOUBLES, BYTES, types.float64, STACK, KNOWLEDGE, DOUBLES, types.int64,
        types.boolean, types.float64, WORDS,
    )
)  # fmt: skip
def walk_hands(
    rulebook: Any,
    params: Any,
    regrets: Any,
    sums: Any,
    fixed: Any,
    share: float,
    arrays: Any,
    tables: Any,
    equities: Any,
    iterations: int,
    any_score: bool,
    tremble: float,
    words: Any,
) -> None:
    """So many hands, one walk for each seat: all choices of the walker, one of the other and of chance.

    `regrets` and `sums` (of the average strategy) have a number for each choice of each row. `equities` are [seat of
    the walker, what the next mano lacks, what the other lacks]: how likely that mano wins the match. In a `share` of
    the walks `fixed` is the strategy of the one who doesn't walk: in all of them, and the walker learns a response to
    it. In the others he makes any choice so often as `tremble` says, now and then, so that there is an answer to what
    nobody should do.
    """
    rules, stack, rng, known = open_rules(rulebook), pointers(arrays), uint64_ptr(words), pointers(tables)
    book, average, equity, other = first_of(regrets), first_of(sums), first_of(equities), first_of(fixed)
    size = 8 * (len(arrays.states) // LEVELS)
    states = state_ptr(arrays.states)
    for iteration in range(2 * iterations):
        walker = iteration & 1
        if any_score and iteration % (2 * IN_A_ROW) == 0:
            draw_score(params, rng)
        rules.start(states, float64_ptr(params))
        while rules.player(states) == CHANCE:
            rules.apply(states, rules.draw(states, rng))
        level, stage, prunes, rolls = 0, stage_of(view(states)), uniform(rng) < LEFT_OUT, False
        trembles = tremble if uniform(rng) < TREMBLING else 0.0
        is_fixed = share > 0.0 and uniform(rng) < share
        while True:
            state = ahead(states, level * size)
            s = view(state)
            if s.mover == TERMINAL:
                rolls = False
                level = back_up(book, stack, level, payoff(s, ahead(equity, walker * SIDE * SIDE), walker), prunes)
                if level < 0:
                    break
                choice = stack.tried[level]
                stage = stack.stages[level]
            else:
                n = choices(s, stage)
                choice = 0
                if n > 1:
                    offset = row_of(s, known, int(s.mover), stage)
                if n == 1 or s.mover != walker or rolls:
                    if n > 1 and s.mover == walker:
                        block = ahead(book, offset)
                        choice = choose(block, n, total_positive(block, n), rng)
                    elif n > 1 and is_fixed:
                        choice = draw_choice(ahead(other, offset), n, rng)
                    elif n > 1:
                        choice = sampled(ahead(book, offset), ahead(average, offset), n, rng)
                        if uniform(rng) < trembles:
                            choice = below(rng, n)
                            if level > 0:
                                stack.shaken[level - 1] = 1
                    action = action_of(s, stage, choice)
                    if action == GO_ON:
                        stage = next_stage(s, stage)
                    else:
                        rules.apply(state, action)
                        if s.mover != TERMINAL:
                            rolls = rolls or (stage == REPLY and not s.waits and uniform(rng) < PLAYED_OUT)
                            stage = stage_of(s)
                    continue
                choice = next_choice(ahead(book, offset), n, 0, prunes)
                if choice == n:  # all of them were bad once, in other places that are looked up here
                    for i in range(n):
                        book[offset + i] = 0.0
                    choice = 0
                stack.offset[level], stack.choices[level], stack.tried[level] = offset, n, choice
                stack.stages[level] = stage
                stack.shaken[level] = 0
            copy_state(stack.states, level, size // 8)
            level += 1
            child = ahead(states, level * size)
            s = view(child)
            action = action_of(s, stage, choice)
            if action == GO_ON:
                stage = next_stage(s, stage)
            else:
                rules.apply(child, action)
                if s.mover != TERMINAL:
                    rolls = stage == REPLY and not s.waits and uniform(rng) < PLAYED_OUT
                    stage = stage_of(s)


@kernel(types.void(RULEBOOK, DOUBLES, BYTES, BYTES, KNOWLEDGE, WORDS, types.int64, LONGS, WORDS))
def play_hands(
    rulebook: Any, params: Any, first: Any, second: Any, tables: Any, room: Any, hands: int, counts: Any, words: Any
) -> None:
    """Plays single hands by a strategy of each seat, and counts what they lack afterwards: counts[seat 0, seat 1]."""
    rules, rng, known = open_rules(rulebook), uint64_ptr(words), pointers(tables)
    mano, other = first_of(first), first_of(second)
    state = state_ptr(room)
    for _ in range(hands):
        rules.start(state, float64_ptr(params))
        while rules.player(state) == CHANCE:
            rules.apply(state, rules.draw(state, rng))
        s = view(state)
        while s.mover != TERMINAL:
            stage, probs = stage_of(s), mano if s.mover == 0 else other
            while True:
                n = choices(s, stage)
                choice = 0
                if n > 1:
                    choice = draw_choice(ahead(probs, row_of(s, known, int(s.mover), stage)), n, rng)
                action = action_of(s, stage, choice)
                if action != GO_ON:
                    break
                stage = next_stage(s, stage)
            rules.apply(state, action)
        counts[(s.points - s.score[0]) * SIDE + s.points - s.score[1]] += 1
