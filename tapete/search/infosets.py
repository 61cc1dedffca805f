"""What a search over information sets remembers, and the kernels that grow and read it.

How a simulation chooses a move, what it does at an information set that is new to it, and what it notes about a move
are functions that `walking`, `simulating` and `backing` are handed, as in `tree`: a kernel is compiled for each way of
searching that is put together so. A node is what its mover knows, so its moves are legal in every world that leads to
it, and so are those that its priors are of.
"""

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
from tapete.core.players import draw_move
from tapete.core.records import at, copy_state, pointers
from tapete.core.rng import below
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
        ("doubt", "f8"),  # how much it is explored: 1 / sqrt(visits); where moves are judged, the prior
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
    priors: NDArray[np.float32]  # [max_actions]


class Plan(NamedTuple):
    """How a search goes."""

    size: int  # bytes of a state
    widest: int  # the most moves that there can be
    players: int
    seat: int  # that searches
    c: float  # how much it explores, in units of half the range of payoffs seen so far
    first_play: float  # PUCT takes an untried move for so much worse than what the node has shown, in the same units
    random_opponents: bool  # whether the other seats play at random instead of searching for themselves
    may_stop: bool  # when memory is short, so that it can be called again with more


MEMORY = types.NamedTuple([WORDS, LONGS, from_dtype(INFOSET)[::1], from_dtype(MOVE)[::1], LONGS, DOUBLES], Memory)
ROOM = types.NamedTuple([BYTES, BYTES, INTS, LONGS, DOUBLES, FLOATS], Room)
PLAN = types.NamedTuple([*(types.int64,) * 4, types.float64, types.float64, types.boolean, types.boolean], Plan)


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


# Choosing a move: `select(entry, moves, plan, half, rng)`; `half` is half the range of payoffs.


@helper
def select_uct(entry: Any, moves: Any, plan: Any, half: float, rng: Any) -> int:
    """The move to try next: any that was never tried, else the one with the highest upper bound."""
    first, count = entry.first, entry.count
    if entry.visits < count:  # each visit so far has tried another move
        i = below(rng, count)
        while at(moves, first + i).visits > 0:
            i = i + 1 if i + 1 < count else 0
        return first + i
    bonus = plan.c * half * entry.urge
    best, best_score = first, -np.inf
    for i in range(first, first + count):
        score = at(moves, i).mean + bonus * at(moves, i).doubt
        if score > best_score:
            best, best_score = i, score
    return best


@helper
def select_puct(entry: Any, moves: Any, plan: Any, half: float, rng: Any) -> int:
    """The move that is best by its value so far and by the evaluator's opinion of it; of equals the likeliest."""
    first, count, tries = entry.first, entry.count, entry.visits
    total = 0.0
    for i in range(first, first + count):
        total += at(moves, i).total
    untried = (total / tries if tries > 0 else 0.0) - plan.first_play * half
    weight = plan.c * half * math.sqrt(1.0 + tries)
    best, best_score, best_prior = first, -np.inf, -np.inf
    for i in range(first, first + count):
        n, prior = at(moves, i).visits, at(moves, i).doubt
        score = (at(moves, i).mean if n > 0 else untried) + weight * prior / (1 + n)
        if score > best_score or (score == best_score and prior > best_prior):
            best, best_score, best_prior = i, score, prior
    return best


# What is noted about a move that was tried once more, for the next choice: `note(entry, move)`.


@helper
def note_doubt(entry: Any, move: Any) -> None:
    """How much the node wants to explore, and how little is known of the move."""
    n, tries = entry.visits, move.visits
    entry.urge = URGES[n] if n < TABULATED else math.sqrt(2.0 * math.log(np.float64(n)))
    move.doubt = DOUBTS[tries] if tries < TABULATED else 1.0 / math.sqrt(np.float64(tries))


@helper
def note_nothing(entry: Any, move: Any) -> None:
    """The prior stays."""


def backing(note: Any) -> Any:
    """The end of a simulation, for a way to note what came of it."""

    @helper
    def back_up(memory: Any, path: Any, depth: int, values: Any, players: int) -> None:
        """Adds the payoffs to every decision of a simulation, each from the viewpoint of who made it."""
        bounds = memory.bounds
        for i in range(players):
            bounds[0], bounds[1] = min(bounds[0], values[i]), max(bounds[1], values[i])
        for i in range(0, 3 * depth, 3):
            entry, move = at(memory.sets, path[i]), at(memory.moves, path[i + 1])
            entry.visits += 1
            move.visits += 1
            move.total += values[path[i + 2]]
            move.mean = move.total / move.visits
            note(entry, move)

    return back_up


# What happens at an information set that is new: `meet(rulebook, keys, places, memory, slot, key, room, leaf, who,
# rng)` returns where in `sets` it is now, if a move is to be made there too; else -1, and the simulation is over.


@helper
def meet_and_move(
    rulebook: Any, keys: Any, places: Any, memory: Any, slot: int, key: Any, room: Any, leaf: Any, who: int, rng: Any
) -> int:
    """It is remembered; what comes after a first move there is judged."""
    rules, p, legal = open_rules(rulebook), room.state, room.legal
    return _remember(keys, places, memory, slot, key, legal, rules.actions(p, legal))


@helper
def _ask(
    rulebook: Any, keys: Any, places: Any, memory: Any, slot: int, key: Any, room: Any, leaf: Any, who: int, rng: Any
) -> int:
    """Asks what it is worth and what its moves are, which is remembered; how many moves there are."""
    rules, p, legal, evaluate = (
        open_rules(rulebook),
        room.state,
        room.legal,
        open_evaluator(np.uint64(leaf.address)),
    )
    n = rules.actions(p, legal)
    evaluate(rulebook, p, who, legal, n, leaf.model, rng, room.values, room.priors)
    place = _remember(keys, places, memory, slot, key, legal, n)
    if place >= 0:
        first = at(memory.sets, place).first
        for i in range(n):
            at(memory.moves, first + i).doubt = np.float64(room.priors[i])
    return n


@helper
def meet_and_judge(
    rulebook: Any, keys: Any, places: Any, memory: Any, slot: int, key: Any, room: Any, leaf: Any, who: int, rng: Any
) -> int:
    """It is judged, and its moves too."""
    _ask(rulebook, keys, places, memory, slot, key, room, leaf, who, rng)
    return -1


@helper
def meet_and_play(
    rulebook: Any, keys: Any, places: Any, memory: Any, slot: int, key: Any, room: Any, leaf: Any, who: int, rng: Any
) -> int:
    """Its moves are judged; all play on to the end as the evaluator would, because it has no opinion of states."""
    rules, p, evaluate = open_rules(rulebook), room.state, open_evaluator(np.uint64(leaf.address))
    n = _ask(rulebook, keys, places, memory, slot, key, room, leaf, who, rng)
    while True:
        rules.apply(p, room.legal[draw_move(room.priors, n, rng)])
        who = rules.player(p)
        while who == CHANCE:
            rules.apply(p, rules.draw(p, rng))
            who = rules.player(p)
        if who == TERMINAL:
            return -1
        n = rules.actions(p, room.legal)
        evaluate(rulebook, p, who, room.legal, n, leaf.model, rng, room.values, room.priors)


# A simulation.


def walking(select: Any, meet: Any) -> Any:
    """The way from the root, for a way to choose moves and one to go on where nothing is known yet."""

    @helper
    def descend(rulebook: Any, keys: Any, places: Any, memory: Any, room: Any, leaf: Any, plan: Any, rng: Any) -> int:
        """Plays to an information set that is new, or to the end; returns how many decisions were made.

        Whoever moves does what the tree says of what he knows.
        """
        rules, sets, moves, path, p, legal = (
            open_rules(rulebook),
            memory.sets,
            memory.moves,
            room.path,
            room.state,
            room.legal,
        )
        half = max(memory.bounds[1] - memory.bounds[0], 0.0) / 2
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
                    place = meet(rulebook, keys, places, memory, slot, key, room, leaf, who, rng)
                    if place < 0:
                        break
                move = select(at(sets, place), moves, plan, half, rng)
                path[3 * depth], path[3 * depth + 1], path[3 * depth + 2] = place, move, who
                depth += 1
                rules.apply(p, at(moves, move).action)
            who = rules.player(p)
        return depth

    return descend


# Judging what was reached: `judge(rulebook, room, leaf, rng)` fills `room.values`.


@helper
def judge_end(rulebook: Any, room: Any, leaf: Any, rng: Any) -> None:
    """The payoffs, if the game is over; else `meet_and_judge` has asked the evaluator."""
    rules, p = open_rules(rulebook), room.state
    if rules.player(p) == TERMINAL:
        rules.returns(p, room.values)


@helper
def judge_leaf(rulebook: Any, room: Any, leaf: Any, rng: Any) -> None:
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


def simulating(descend: Any, judge: Any, back_up: Any) -> Any:
    """Simulations, for a way from the root, one to judge where it ends and one to add that up."""

    @helper
    def simulate(rulebook: Any, memory: Any, room: Any, leaf: Any, plan: Any, words: Any, n: int) -> int:
        """Adds n of them; returns how many were made, fewer only where `plan.may_stop` and memory is short."""
        keys, places = memory.keys, memory.places
        known, here, leaves = pointers(memory), pointers(room), pointers(leaf)
        book, rng = uint64_ptr(rulebook), uint64_ptr(words)
        for done in range(n):
            if plan.may_stop and (known.used[0] == known.used[2] or known.used[1] + plan.widest > known.used[3]):
                return done
            copy_state(here.state, here.world, plan.size)
            open_rules(book).redeal(here.state, plan.seat, rng)
            depth = descend(book, keys, places, known, here, leaves, plan, rng)
            judge(book, here, leaves, rng)
            back_up(known, here.path, depth, here.values, plan.players)
        return n

    return simulate


GROW = types.int64(RULEBOOK, MEMORY, ROOM, LEAF, PLAN, WORDS, types.int64)
simulate_uct = simulating(walking(select_uct, meet_and_move), judge_leaf, backing(note_doubt))
simulate_puct = simulating(walking(select_puct, meet_and_judge), judge_end, backing(note_nothing))
simulate_played = simulating(walking(select_puct, meet_and_play), judge_end, backing(note_nothing))


@kernel(GROW)
def grow_uct(rulebook: Any, memory: Any, room: Any, leaf: Any, plan: Any, words: Any, n: int) -> int:
    """Moves that were never tried come first; a leaf is what comes after one of them."""
    return simulate_uct(rulebook, memory, room, leaf, plan, words, n)


@kernel(GROW)
def grow_puct(rulebook: Any, memory: Any, room: Any, leaf: Any, plan: Any, words: Any, n: int) -> int:
    """Moves come by what the evaluator thinks of them; a leaf is an information set that is new."""
    return simulate_puct(rulebook, memory, room, leaf, plan, words, n)


@kernel(GROW)
def grow_played(rulebook: Any, memory: Any, room: Any, leaf: Any, plan: Any, words: Any, n: int) -> int:
    """The same for an evaluator that judges moves only: what a leaf is worth is found out by playing on with it."""
    return simulate_played(rulebook, memory, room, leaf, plan, words, n)


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
