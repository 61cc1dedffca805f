"""What a search over information sets remembers, and the kernels that grow and read it.

How a simulation chooses a move, what it does at an information set that is new to it, and what it notes about a move
are functions that `walking`, `recalling`, `simulating` and `backing` are handed, as in `tree`: a kernel is compiled for
each way of searching that is put together so. A node is what its mover knows, so its moves are legal in every world
that leads to it, and so are those that its priors are of.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types

from tapete.core.compile import INTS, WORDS, helper, innermost, kernel, uint64_ptr
from tapete.core.contract import CHANCE, RULEBOOK, TERMINAL, open_rules
from tapete.core.evaluator import open_evaluator
from tapete.core.hashmap import put
from tapete.core.players import draw_move
from tapete.core.records import at, copy_state
from tapete.core.rng import below
from tapete.search.memory import (
    UNDECIDED,
    note_decision,
    open_leaf,
    open_memory,
    open_plan,
    open_room,
    open_worlds,
    slot_of,
)
from tapete.search.recall import forget_places, recalling

# Most nodes are visited seldom, and a root and a logarithm take longer than a look into a table of them.
TABULATED = 1 << 12
URGES = np.sqrt(2 * np.log(np.maximum(np.arange(TABULATED), 1.0)))  # [visits]
DOUBTS = 1 / np.sqrt(np.maximum(np.arange(TABULATED), 1.0))  # [visits]


@helper
def _remember(tree: Any, slot: int, key: Any, n: int) -> int:
    """Makes an entry for an information set with n moves, those in the room; -1 where no memory is left."""
    memory, legal = open_memory(tree), open_room(tree).legal
    place, first = memory.used[0], memory.used[1]
    if place == memory.used[2] or first + n > memory.used[3]:
        return -1
    memory.used[0] += 1
    memory.used[1] += n
    put(memory.keys, memory.places, slot, key, place)
    entry = at(memory.sets, place)
    entry.visits, entry.slot, entry.first, entry.count, entry.choice = 0, slot, first, n, UNDECIDED
    for i in range(n):
        move = at(memory.moves, first + i)
        move.total, move.mean, move.doubt, move.action, move.visits = 0.0, 0.0, 0.0, legal[i], 0
    return place


@helper
def _half(memory: Any) -> float:
    """Half the range of payoffs so far."""
    return max(memory.bounds[1] - memory.bounds[0], 0.0) / 2


# Choosing a move: `choose(tree, place)` in the information set that is there; which of its moves, or UNDECIDED where
# some were never tried and chance picks one of them.


@innermost
def choose_uct(tree: Any, place: int) -> int:
    """The move with the highest upper bound."""
    memory = open_memory(tree)
    entry = at(memory.sets, place)
    n, count = entry.visits, entry.count
    if n < count:  # each visit so far has tried another move
        return UNDECIDED
    urge = URGES[np.uint32(n)] if n < TABULATED else math.sqrt(2.0 * math.log(np.float64(n)))
    bonus = memory.bounds[2] * urge
    first, second = at(memory.moves, entry.first), at(memory.moves, entry.first + 1)
    best, best_score = 0, first.mean + bonus * first.doubt
    if count == 1:
        return 0
    score = second.mean + bonus * second.doubt  # many a node has two moves, and a loop takes longer to set up
    if score > best_score:
        best, best_score = 1, score
    for i in range(2, count):
        move = at(memory.moves, entry.first + i)
        score = move.mean + bonus * move.doubt
        if score > best_score:
            best, best_score = i, score
    return best


@innermost
def choose_puct(tree: Any, place: int) -> int:
    """The move that is best by its value so far and by the evaluator's opinion of it; of equals the likeliest."""
    memory, plan = open_memory(tree), open_plan(tree)
    entry, half = at(memory.sets, place), _half(memory)
    first, count, tries = entry.first, entry.count, entry.visits
    total = 0.0
    for i in range(first, first + count):
        total += at(memory.moves, i).total
    untried = (total / tries if tries > 0 else 0.0) - plan.first_play * half
    weight = plan.c * half * math.sqrt(1.0 + tries)
    best, best_score, best_prior = 0, -np.inf, -np.inf
    for i in range(count):
        move = at(memory.moves, first + i)
        n, prior = move.visits, move.doubt
        score = (move.mean if n > 0 else untried) + weight * prior / (1 + n)
        if score > best_score or (score == best_score and prior > best_prior):
            best, best_score, best_prior = i, score, prior
    return best


def selecting(choose: Any) -> Any:
    """The move that comes next, for a way to choose one."""

    @innermost
    def select(tree: Any, place: int, rng: Any) -> int:
        """Which of the moves of an information set."""
        memory = open_memory(tree)
        entry = at(memory.sets, place)
        i = entry.choice
        if i == UNDECIDED:
            i = choose(tree, place)
        if i == UNDECIDED:
            i = below(rng, entry.count)
            while at(memory.moves, entry.first + i).visits > 0:
                i = i + 1 if i + 1 < entry.count else 0
        return i

    return select


# What is noted about a move that was tried once more, for the next choice: `note(move)`.


@helper
def note_doubt(move: Any) -> None:
    """How little is known of it."""
    tries = move.visits
    move.doubt = DOUBTS[np.uint32(tries)] if tries < TABULATED else 1.0 / math.sqrt(np.float64(tries))


@helper
def note_nothing(move: Any) -> None:
    """The prior stays."""


@helper
def widen(tree: Any, values: Any) -> None:
    """Takes note of payoffs. When their range grows, which is seldom, all choices are made anew."""
    memory = open_memory(tree)
    lowest, highest = memory.bounds[0], memory.bounds[1]
    for i in range(open_plan(tree).players):
        lowest, highest = min(lowest, values[i]), max(highest, values[i])
    if lowest < memory.bounds[0] or highest > memory.bounds[1]:
        memory.bounds[0], memory.bounds[1] = lowest, highest
        memory.bounds[2] = open_plan(tree).c * _half(memory)
        for place in range(memory.used[0]):
            at(memory.sets, place).choice = UNDECIDED


def backing(choose: Any, note: Any) -> Any:
    """The end of a simulation, for a way to choose moves and one to note what came of them."""

    @innermost
    def back_up(tree: Any, depth: int, values: Any) -> None:
        """Adds the payoffs to every decision of a simulation, each from the viewpoint of who made it."""
        memory, path = open_memory(tree), open_room(tree).path
        for i in range(0, 3 * depth, 3):
            entry = at(memory.sets, path[i])
            move = at(memory.moves, entry.first + path[i + 1])
            entry.visits += 1
            move.visits += 1
            move.total += values[path[i + 2]]
            move.mean = move.total / move.visits
            note(move)
            entry.choice = choose(tree, path[i])

    return back_up


# What happens at an information set that is new: `meet(rulebook, tree, slot, key, who, rng)` returns where in `sets` it
# is now, if a move is to be made there too; else -1, and the simulation is over.


@helper
def meet_and_move(rulebook: Any, tree: Any, slot: int, key: Any, who: int, rng: Any) -> int:
    """It is remembered; what comes after a first move there is judged."""
    room = open_room(tree)
    return _remember(tree, slot, key, open_rules(rulebook).actions(room.state, room.legal))


@helper
def _evaluate(rulebook: Any, tree: Any, who: int, n: int, rng: Any) -> None:
    """Asks what the state is worth to each seat, and of which moves the evaluator thinks how much."""
    room, leaf = open_room(tree), open_leaf(tree)
    evaluate = open_evaluator(np.uint64(leaf.address))
    evaluate(rulebook, room.state, who, room.legal, n, leaf.model, rng, room.values, room.priors)


@helper
def _ask(rulebook: Any, tree: Any, slot: int, key: Any, who: int, rng: Any) -> int:
    """Asks what it is worth and what its moves are, which is remembered; how many moves there are."""
    room, memory = open_room(tree), open_memory(tree)
    n = open_rules(rulebook).actions(room.state, room.legal)
    _evaluate(rulebook, tree, who, n, rng)
    place = _remember(tree, slot, key, n)
    if place >= 0:
        first = at(memory.sets, place).first
        for i in range(n):
            at(memory.moves, first + i).doubt = np.float64(room.priors[i])
    return n


@helper
def meet_and_judge(rulebook: Any, tree: Any, slot: int, key: Any, who: int, rng: Any) -> int:
    """It is judged, and its moves too."""
    _ask(rulebook, tree, slot, key, who, rng)
    return -1


@helper
def meet_and_play(rulebook: Any, tree: Any, slot: int, key: Any, who: int, rng: Any) -> int:
    """Its moves are judged; all play on to the end as the evaluator would, because it has no opinion of states."""
    rules, room = open_rules(rulebook), open_room(tree)
    p, legal = room.state, room.legal
    n = _ask(rulebook, tree, slot, key, who, rng)
    while True:
        rules.apply(p, legal[draw_move(room.priors, n, rng)])
        who = rules.player(p)
        while who == CHANCE:
            rules.apply(p, rules.draw(p, rng))
            who = rules.player(p)
        if who == TERMINAL:
            return -1
        n = rules.actions(p, legal)
        _evaluate(rulebook, tree, who, n, rng)


# A simulation.


def walking(select: Any, meet: Any) -> Any:
    """The way from the root, for a way to choose moves and one to go on where nothing is known yet."""

    @helper
    def descend(rulebook: Any, tree: Any, rng: Any, depth: int) -> int:
        """Plays to an information set that is new, or to the end; returns how many decisions were made by then.

        Whoever moves does what the tree says of what he knows. `depth` decisions were made before.
        """
        rules, memory, room, plan = open_rules(rulebook), open_memory(tree), open_room(tree), open_plan(tree)
        p, legal = room.state, room.legal
        is_known = True
        who = rules.player(p)
        while who != TERMINAL and is_known:
            if who == CHANCE:
                rules.apply(p, rules.draw(p, rng))
            elif plan.random_opponents and who != plan.seat:
                rules.apply(p, legal[below(rng, rules.actions(p, legal))])
            else:
                key = rules.infoset(p, who)
                slot = slot_of(memory, key)
                is_known = memory.keys[slot] != 0
                place = memory.places[slot] if is_known else meet(rulebook, tree, slot, key, who, rng)
                if place < 0:
                    break
                i = select(tree, place, rng)
                note_decision(room.path, depth, place, i, who)
                depth += 1
                rules.apply(p, at(memory.moves, at(memory.sets, place).first + i).action)
            who = rules.player(p)
        return depth

    return descend


# Judging what was reached: `judge(rulebook, tree, rng)` fills `room.values`.


@helper
def judge_end(rulebook: Any, tree: Any, rng: Any) -> None:
    """The payoffs, if the game is over; else `meet_and_judge` has asked the evaluator."""
    rules, room = open_rules(rulebook), open_room(tree)
    if rules.player(room.state) == TERMINAL:
        rules.returns(room.state, room.values)


@helper
def judge_leaf(rulebook: Any, tree: Any, rng: Any) -> None:
    """What the state that was reached is worth to each seat, after what chance does there."""
    rules, room = open_rules(rulebook), open_room(tree)
    p = room.state
    who = rules.player(p)
    while who == CHANCE:
        rules.apply(p, rules.draw(p, rng))
        who = rules.player(p)
    if who == TERMINAL:
        rules.returns(p, room.values)
    else:
        _evaluate(rulebook, tree, who, 0, rng)


@innermost
def _deal(rulebook: Any, tree: Any, rng: Any) -> None:
    """A world to begin a simulation in."""
    room, plan = open_room(tree), open_plan(tree)
    copy_state(room.state, room.world, plan.size)
    open_rules(rulebook).redeal(room.state, plan.seat, rng)


@innermost
def _is_full(tree: Any) -> Any:
    """Whether the next simulation might find too little memory."""
    used, plan = open_memory(tree).used, open_plan(tree)
    return plan.may_stop and (used[0] == used[2] or used[1] + plan.widest > used[3])


def simulating(play: Any, back_up: Any) -> Any:
    """Simulations, for a way to play one and one to add up what it was worth."""

    @innermost
    def simulate(rulebook: Any, words: Any, stream: Any, n: int) -> int:
        """Adds n of them; returns how many were made, fewer only where `plan.may_stop` and memory is short.

        The next world is dealt before the last simulation is added up: what rules write takes a while to arrive.
        """
        book, tree, rng = uint64_ptr(rulebook), uint64_ptr(words), uint64_ptr(stream)
        done, goes_on = 0, n > 0 and not _is_full(tree)
        if goes_on:
            _deal(book, tree, rng)
        while goes_on:
            depth, values = play(book, tree, rng)
            done += 1
            goes_on = done < n and not _is_full(tree)
            if goes_on:
                _deal(book, tree, rng)
            back_up(tree, depth, values)
        return done

    return simulate


def growing(choose: Any, meet: Any, judge: Any, note: Any) -> Any:
    """All of it together."""
    select = selecting(choose)
    return simulating(recalling(select, walking(select, meet), judge, widen), backing(choose, note))


GROW = types.int64(RULEBOOK, WORDS, WORDS, types.int64)
simulate_uct = growing(choose_uct, meet_and_move, judge_leaf, note_doubt)
simulate_puct = growing(choose_puct, meet_and_judge, judge_end, note_nothing)
simulate_played = growing(choose_puct, meet_and_play, judge_end, note_nothing)


@kernel(GROW)
def grow_uct(rulebook: Any, words: Any, stream: Any, n: int) -> int:
    """Moves that were never tried come first; a leaf is what comes after one of them."""
    return simulate_uct(rulebook, words, stream, n)


@kernel(GROW)
def grow_puct(rulebook: Any, words: Any, stream: Any, n: int) -> int:
    """Moves come by what the evaluator thinks of them; a leaf is an information set that is new."""
    return simulate_puct(rulebook, words, stream, n)


@kernel(GROW)
def grow_played(rulebook: Any, words: Any, stream: Any, n: int) -> int:
    """The same for an evaluator that judges moves only: what a leaf is worth is found out by playing on with it."""
    return simulate_played(rulebook, words, stream, n)


@kernel(types.int64(RULEBOOK, WORDS), is_short=True)
def root_of(rulebook: Any, words: Any) -> int:
    """The place of what the seat knows where the search began; -1 where nothing is known of it."""
    tree = uint64_ptr(words)
    memory = open_memory(tree)
    slot = slot_of(memory, open_rules(rulebook).infoset(open_room(tree).world, open_plan(tree).seat))
    return memory.places[slot] if memory.keys[slot] != 0 else -1


@kernel(types.int64(RULEBOOK, WORDS, INTS), is_short=True)
def follow(rulebook: Any, words: Any, line: Any) -> int:
    """Plays line[0] where the search began and then the most visited moves, which it writes behind it; how many.

    The line ends where chance decides, where nothing is known, and at the end of the game.
    """
    tree = uint64_ptr(words)
    rules, memory, room = open_rules(rulebook), open_memory(tree), open_room(tree)
    p, moves = room.state, memory.moves
    copy_state(p, room.world, open_plan(tree).size)
    rules.apply(p, line[0])
    n = 1
    who = rules.player(p)
    while who >= 0 and n < len(line):
        slot = slot_of(memory, rules.infoset(p, who))
        if memory.keys[slot] == 0:
            break
        entry = at(memory.sets, memory.places[slot])
        best = entry.first
        for i in range(entry.first, entry.first + entry.count):
            if at(moves, i).visits > at(moves, best).visits:
                best = i
        if at(moves, best).visits == 0:
            break
        line[n] = at(moves, best).action
        rules.apply(p, line[n])
        n += 1
        who = rules.player(p)
    return n


@kernel(types.void(WORDS, WORDS))
def rehash(old_keys: Any, words: Any) -> None:
    """Enters all sets into the empty hash table of a memory; their slots are those of `old_keys`, and change."""
    memory = open_memory(uint64_ptr(words))
    for place in range(memory.used[0]):
        entry = at(memory.sets, place)
        key = old_keys[entry.slot]
        slot = slot_of(memory, key)
        put(memory.keys, memory.places, slot, key, place)
        entry.slot = slot


@kernel(types.void(WORDS), is_short=True)
def forget(words: Any) -> None:
    """Empties the memory, which is then as good as new. Worlds are as they are, whatever the tree makes of them."""
    tree = uint64_ptr(words)
    memory = open_memory(tree)
    for place in range(memory.used[0]):
        memory.keys[at(memory.sets, place).slot] = 0
    memory.used[0] = memory.used[1] = 0
    memory.bounds[0], memory.bounds[1] = np.inf, -np.inf
    forget_places(open_worlds(tree))
