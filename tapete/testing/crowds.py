"""Many worlds of one game at once, for checks that lead hundreds of them through a game."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from tapete.core.compile import (
    BYTES,
    DOUBLES,
    FLAGS,
    FLOAT_ROWS,
    INTS,
    STATES,
    WORDS,
    float32_ptr,
    float64_ptr,
    helper,
    int32_ptr,
    kernel,
    state_ptr,
    uint64_ptr,
)
from tapete.core.contract import CHANCE, RULEBOOK, open_rules
from tapete.core.records import copy_state
from tapete.core.rng import uniform


@kernel(types.void(RULEBOOK, STATES, types.int64, WORDS))
def redeal_all(rulebook: Any, worlds: Any, seat: int, words: Any) -> None:
    """What the seat can't know is dealt anew in every world [worlds, bytes]."""
    for i in range(len(worlds)):
        open_rules(rulebook).redeal(state_ptr(worlds[i]), seat, uint64_ptr(words))


@kernel(types.void(RULEBOOK, STATES, types.int64, types.uint64, types.int64, INTS, FLAGS))
def repeat(rulebook: Any, worlds: Any, seat: int, known: Any, action: int, legal: Any, kept: Any) -> None:
    """Makes a move where it is legal; `kept` [worlds] are those where the seat then knows what it is to know."""
    rules, out = open_rules(rulebook), int32_ptr(legal)
    for i in range(len(worlds)):
        world = state_ptr(worlds[i])
        for j in range(rules.actions(world, out)):
            if out[j] == action:
                rules.apply(world, action)
                kept[i] = rules.infoset(world, seat) == known
                break


@kernel(types.void(RULEBOOK, STATES, types.int64, types.uint64, WORDS, FLAGS))
def draw(rulebook: Any, worlds: Any, seat: int, known: Any, words: Any, kept: Any) -> None:
    """Chance moves; `kept` [worlds] are those where the seat then knows what it is to know."""
    rules = open_rules(rulebook)
    for i in range(len(worlds)):
        world = state_ptr(worlds[i])
        rules.apply(world, rules.draw(world, uint64_ptr(words)))
        kept[i] = rules.infoset(world, seat) == known


@helper
def _options(rulebook: Any, world: Any, legal: Any, probs: Any) -> int:
    """What can happen next, each as likely as `probs` say, moves of players all alike; how many they are."""
    rules = open_rules(rulebook)
    if rules.player(world) == CHANCE:
        return rules.outcomes(world, legal, probs)
    n = rules.actions(world, legal)
    for j in range(n):
        probs[j] = 1.0
    return n


@kernel(types.void(RULEBOOK, STATES, types.int64, types.uint64, WORDS, INTS, DOUBLES, BYTES, BYTES, DOUBLES))
def try_all(
    rulebook: Any,
    worlds: Any,  # [worlds, bytes] each becomes one of those that it can lead to, where there are any
    seat: int,
    known: Any,  # what the seat is to know then
    words: Any,
    legal: Any,  # [max_actions or outcomes] room
    probs: Any,  # the same
    after: Any,  # [bytes] room
    chosen: Any,  # [bytes] room
    totals: Any,  # [worlds] out: how likely it was in all that the seat knows that
) -> None:
    """Everything that can happen in a world is tried, and one of what leads there stays, by how likely it is."""
    rules, size = open_rules(rulebook), worlds.shape[1]
    for i in range(len(worlds)):
        world = state_ptr(worlds[i])
        totals[i] = 0.0
        for j in range(_options(rulebook, world, int32_ptr(legal), float64_ptr(probs))):
            copy_state(state_ptr(after), world, size)
            rules.apply(state_ptr(after), legal[j])
            if rules.infoset(state_ptr(after), seat) == known:
                totals[i] += probs[j]
                if uniform(uint64_ptr(words)) * totals[i] < probs[j]:  # so that the last to stay is any of them
                    copy_state(state_ptr(chosen), state_ptr(after), size)
        if totals[i] > 0:
            copy_state(world, state_ptr(chosen), size)


@kernel(types.void(RULEBOOK, STATES, INTS, types.int64, types.int64, INTS, FLOAT_ROWS))
def look_all(rulebook: Any, worlds: Any, others: Any, size: int, buckets: int, legal: Any, table: Any) -> None:
    """What these seats observe, `size` numbers each, and their moves, counted in buckets [worlds, columns]."""
    rules = open_rules(rulebook)
    for i in range(len(worlds)):
        world, moves = state_ptr(worlds[i]), len(others) * size
        mover = rules.player(world)
        for k in range(len(others)):
            rules.observe(world, others[k], float32_ptr(table[i, k * size : (k + 1) * size]))
            if mover == others[k]:
                for j in range(rules.actions(world, int32_ptr(legal))):
                    table[i, moves + np.int64(legal[j]) % buckets] += np.float32(1)
