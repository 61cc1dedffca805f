"""What a search over information sets remembers, and the kernels that grow and read it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import from_dtype, types
from numpy.typing import NDArray

from tapete.core.compile import (
    BYTES,
    DOUBLES,
    FLOATS,
    INTS,
    LONGS,
    WORDS,
    helper,
    kernel,
    state_ptr,
    uint64_ptr,
)
from tapete.core.contract import CHANCE, RULEBOOK, TERMINAL, open_rules
from tapete.core.evaluator import open_evaluator
from tapete.core.hashmap import find, put
from tapete.core.rng import below
from tapete.search.records import at, copy_bytes, pointers
from tapete.search.tree import LEAF

INFOSET = np.dtype(
    [
        ("visits", "i4"),
        ("slot", "i4"),  # in the hash table
        ("first", "i4"),  # of its moves
        ("count", "i4"),  # of its moves
        ("urge", "f8"),  # sqrt(2 ln visits): how much it wants to explore
    ],
    align=True,
)
# A simulation changes one move of a node and looks at all of them, so what choosing needs is kept beside the sums.
MOVE = np.dtype(
    [
        ("total", "f8"),  # payoffs of the mover, added up
        ("mean", "f8"),  # total / visits
        ("doubt", "f8"),  # 1 / sqrt(visits)
        ("action", "i4"),
        ("visits", "i4"),
    ],
    align=True,
)
# Most nodes are visited seldom, and a root and a logarithm take longer than a look into a table of them.
TABULATED = 1 << 12
URGES = np.sqrt(2 * np.log(np.maximum(np.arange(TABULATED), 1.0)))  # [visits]
DOUBTS = 1 / np.sqrt(np.maximum(np.arange(TABULATED), 1.0))  # [visits]


class Memory(NamedTuple):
    """A hash table from what a mover knows to an entry of `sets`, whose moves are neighbours in `moves`."""

    keys: NDArray[np.uint64]  # [slots, twice as many as sets]
    places: NDArray[np.int64]  # [slots] where in `sets`
    sets: NDArray[np.void]  # [capacity] INFOSET
    moves: NDArray[np.void]  # [capacity of their own] MOVE
    used: NDArray[np.int64]  # [4] sets and moves in use, and for how many there is room
    bounds: NDArray[np.float64]  # [2] the lowest and the highest payoff so far


class Room(NamedTuple):
    """Where a simulation begins, and room for it."""

    world: NDArray[np.uint8]  # [bytes] before what the seat can't know is dealt anew
    state: NDArray[np.uint8]  # [bytes]
    legal: NDArray[np.int32]  # [max_actions]
    path: NDArray[np.int64]  # [3 * depth] set, move and mover of each decision
    values: NDArray[np.float64]  # [players] what the leaf is worth
    priors: NDArray[np.float32]  # [1] the evaluator is asked for none


class Plan(NamedTuple):
    """How a search goes."""

    size: int  # bytes of a state
    widest: int  # the most moves that there can be
    players: int
    seat: int  # that searches
    c: float  # how much it explores, in units of half the range of payoffs seen so far
    random_opponents: bool  # whether the other seats play at random instead of searching for themselves
    may_stop: bool  # when memory is short, so that it can be called again with more


MEMORY = types.NamedTuple([WORDS, LONGS, from_dtype(INFOSET)[::1], from_dtype(MOVE)[::1], LONGS, DOUBLES], Memory)
ROOM = types.NamedTuple([BYTES, BYTES, INTS, LONGS, DOUBLES, FLOATS], Room)
PLAN = types.NamedTuple(
    [types.int64, types.int64, types.int64, types.int64, types.float64, types.boolean, types.boolean], Plan
)


@helper
def _remember(keys: Any, places: Any, memory: Any, slot: int, key: Any, legal: Any, n: int) -> int:
    """Makes an entry for an information set with n moves; -1 where no memory is left."""
    place, first = memory.used[0], memory.used[1]
    if place == memory.used[2] or first + n > memory.used[3]:
        return -1
    memory.used[0] += 1
    memory.used[1] += n
    put(keys, places, slot, key, place)
    entry = at(memory.sets, place)
    entry.visits, entry.slot, entry.first, entry.count, entry.urge = 0, slot, first, n, 0.0
    for i in range(n):
        move = at(memory.moves, first + i)
        move.total, move.mean, move.doubt, move.action, move.visits = 0.0, 0.0, 0.0, legal[i], 0
    return place


@helper
def select_uct(entry: Any, moves: Any, weight: float, rng: Any) -> int:
    """The move to try next: any that was never tried, else the one with the highest upper bound."""
    first, count = entry.first, entry.count
    if entry.visits < count:  # each visit so far has tried another move
        i = below(rng, count)
        while at(moves, first + i).visits > 0:
            i = i + 1 if i + 1 < count else 0
        return first + i
    bonus = weight * entry.urge
    best, best_score = first, -np.inf
    for i in range(first, first + count):
        score = at(moves, i).mean + bonus * at(moves, i).doubt
        if score > best_score:
            best, best_score = i, score
    return best


@helper
def _back_up(memory: Any, path: Any, depth: int, values: Any, players: int) -> None:
    """Adds the payoffs to every decision of a simulation, each from the viewpoint of who made it."""
    bounds = memory.bounds
    for i in range(players):
        bounds[0], bounds[1] = min(bounds[0], values[i]), max(bounds[1], values[i])
    for i in range(0, 3 * depth, 3):
        entry, move = at(memory.sets, path[i]), at(memory.moves, path[i + 1])
        entry.visits += 1
        move.visits += 1
        move.total += values[path[i + 2]]
        n, tries = entry.visits, move.visits
        entry.urge = URGES[n] if n < TABULATED else math.sqrt(2.0 * math.log(np.float64(n)))
        move.mean = move.total / tries
        move.doubt = DOUBTS[tries] if tries < TABULATED else 1.0 / math.sqrt(np.float64(tries))


@helper
def _descend(rulebook: Any, keys: Any, places: Any, memory: Any, room: Any, plan: Any, rng: Any) -> int:
    """Plays from the root to a decision that was never made before, or to the end; how many decisions were made.

    Whoever moves does what the tree says of what he knows; the new decision is remembered and made too.
    """
    rules, sets, moves, path, p, legal = (
        open_rules(rulebook),
        memory.sets,
        memory.moves,
        room.path,
        room.state,
        room.legal,
    )
    weight = plan.c * max(memory.bounds[1] - memory.bounds[0], 0.0) / 2
    depth = 0
    is_known = True
    who = rules.player(p)
    while who != TERMINAL and is_known:
        if who == CHANCE:
            rules.apply(p, rules.draw(p, rng))
        elif plan.random_opponents and who != plan.seat:
            rules.apply(p, legal[below(rng, rules.actions(p, legal))])
        else:
            key = rules.infoset(p, who)
            slot = find(keys, key)
            is_known = keys[slot] != 0
            if is_known:
                place = places[slot]
            else:
                place = _remember(keys, places, memory, slot, key, legal, rules.actions(p, legal))
                if place < 0:
                    break
            move = select_uct(at(sets, place), moves, weight, rng)
            path[3 * depth], path[3 * depth + 1], path[3 * depth + 2] = place, move, who
            depth += 1
            rules.apply(p, at(moves, move).action)
        who = rules.player(p)
    return depth


@helper
def _judge(rulebook: Any, room: Any, leaf: Any, rng: Any) -> None:
    """What the state that was reached is worth to each seat, after what chance does there."""
    rules, p = open_rules(rulebook), room.state
    who = rules.player(p)
    while who == CHANCE:
        rules.apply(p, rules.draw(p, rng))
        who = rules.player(p)
    if who == TERMINAL:
        rules.returns(p, room.values)
    else:
        evaluate = open_evaluator(np.uint64(leaf.address))
        evaluate(rulebook, p, who, room.legal, 0, leaf.model, rng, room.values, room.priors)


@kernel(types.int64(RULEBOOK, MEMORY, ROOM, LEAF, PLAN, WORDS, types.int64))
def grow(rulebook: Any, memory: Any, room: Any, leaf: Any, plan: Any, words: Any, n: int) -> int:
    """Adds n simulations; returns how many were made, fewer only where `plan.may_stop` and memory is short."""
    keys, places = memory.keys, memory.places
    known, here, judge = pointers(memory), pointers(room), pointers(leaf)
    book, rng = uint64_ptr(rulebook), uint64_ptr(words)
    for done in range(n):
        if plan.may_stop and (known.used[0] == known.used[2] or known.used[1] + plan.widest > known.used[3]):
            return done
        copy_bytes(here.state, here.world, plan.size)
        open_rules(book).redeal(here.state, plan.seat, rng)
        depth = _descend(book, keys, places, known, here, plan, rng)
        _judge(book, here, judge, rng)
        _back_up(known, here.path, depth, here.values, plan.players)
    return n


@kernel(types.int64(MEMORY, types.uint64))
def place_of(memory: Any, key: Any) -> int:
    """Where in `sets` an information set is; -1 where it isn't."""
    slot = find(memory.keys, key)
    return memory.places[slot] if memory.keys[slot] != 0 else -1


@kernel(types.int64(RULEBOOK, BYTES, MEMORY, INTS))
def follow(rulebook: Any, state: Any, memory: Any, line: Any) -> int:
    """Plays line[0] in a world and then the most visited moves, which it writes behind it; how many moves there are.

    The line ends where chance decides, where nothing is known, and at the end of the game. The state is spoilt.
    """
    rules, p = open_rules(rulebook), state_ptr(state)
    rules.apply(p, line[0])
    n = 1
    who = rules.player(p)
    while who >= 0 and n < len(line):
        slot = find(memory.keys, rules.infoset(p, who))
        if memory.keys[slot] == 0:
            break
        entry = memory.sets[memory.places[slot]]
        best = entry.first
        for i in range(entry.first, entry.first + entry.count):
            if memory.moves[i].visits > memory.moves[best].visits:
                best = i
        if memory.moves[best].visits == 0:
            break
        line[n] = memory.moves[best].action
        rules.apply(p, line[n])
        n += 1
        who = rules.player(p)
    return n


@kernel(types.void(WORDS, MEMORY))
def rehash(old_keys: Any, memory: Any) -> None:
    """Enters all sets into the empty hash table of `memory`; their slots are those of `old_keys`, and change."""
    for place in range(memory.used[0]):
        entry = memory.sets[place]
        key = old_keys[entry.slot]
        slot = find(memory.keys, key)
        put(memory.keys, memory.places, slot, key, place)
        entry.slot = slot


@kernel(types.void(MEMORY))
def forget(memory: Any) -> None:
    """Empties the memory, which is then as good as new."""
    for place in range(memory.used[0]):
        memory.keys[memory.sets[place].slot] = 0
    memory.used[0] = memory.used[1] = 0
    memory.bounds[0], memory.bounds[1] = np.inf, -np.inf
