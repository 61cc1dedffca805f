"""Worlds that a search has met before, and what comes after each of their moves.

In a small game simulations meet the same states over and over. A world that is remembered knows who moves in it, what
he knows, where each move leads and what it pays at the end; so a simulation follows links from world to world, and asks
the rules for `redeal` and for what chance does, for nothing else. It draws the same random numbers as without, and the
tree grows to the same bits. There is room for few worlds: in a large game it is soon full, and simulations go on
without it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapete.core.compile import ahead, helper, innermost
from tapete.core.contract import CHANCE, TERMINAL, open_rules
from tapete.core.records import at, copy_state, words_behind
from tapete.core.rng import below
from tapete.search.memory import (
    NOT_MET,
    note_decision,
    open_memory,
    open_plan,
    open_room,
    open_worlds,
    slot_of,
)


@innermost
def _mixed(mixed: Any, word: Any) -> Any:
    """Chains a word onto a hash."""
    return (((mixed << np.uint64(5)) | (mixed >> np.uint64(59))) ^ word) * np.uint64(0x9E3779B97F4A7C15)


@innermost
def _slot_of(worlds: Any, state: Any, size: int) -> Any:
    """The slot that has the world of these bytes, or the empty one where it belongs."""
    words, n = words_behind(state), size >> 3
    a, b = np.uint64(0), np.uint64(0)  # two chains in turn, which don't wait for each other
    for i in range(n):
        a, b = b, _mixed(a, words[i])
    slot = np.int64(_mixed(a, b) >> np.uint64(40)) & worlds.mask
    while worlds.slots[slot] != NOT_MET:
        known = words_behind(ahead(worlds.states, worlds.slots[slot] * size))
        i = 0
        while i < n and known[i] == words[i]:
            i += 1
        if i == n:
            break
        slot = (slot + 1) & worlds.mask
    return slot


@innermost
def _meet(rulebook: Any, tree: Any) -> int:
    """The number of the world that the state is, which is remembered if it is new; NOT_MET where there is no room."""
    worlds = open_worlds(tree)
    slot = _slot_of(worlds, open_room(tree).state, open_plan(tree).size)
    here = worlds.slots[slot]
    return here if here != NOT_MET else _enter(rulebook, tree, slot)


@helper
def _enter(rulebook: Any, tree: Any, slot: int) -> int:
    """Remembers a new world."""
    rules, worlds, room, plan = open_rules(rulebook), open_worlds(tree), open_room(tree), open_plan(tree)
    p = room.state
    here, first, who = worlds.met[0] + 1, worlds.met[1], rules.player(p)
    n = rules.actions(p, room.legal) if who >= 0 else 0
    if here > worlds.capacity or first + n > worlds.links_capacity:
        worlds.met[2] = 0
        return NOT_MET
    worlds.met[0], worlds.met[1] = here, first + n
    worlds.slots[slot] = here
    copy_state(ahead(worlds.states, here * plan.size), p, plan.size)
    world = at(worlds.worlds, here)
    world.place, world.links, world.count, world.mover = -1, first, n, who
    for i in range(first, first + n):
        worlds.links[i] = NOT_MET
    if who >= 0:
        world.key = rules.infoset(p, who)
    elif who == TERMINAL:
        rules.returns(p, ahead(worlds.payoffs, here * plan.players))
    return here


@helper
def _return_to(tree: Any, here: int) -> None:
    """The state is that world from now on."""
    size = open_plan(tree).size
    copy_state(open_room(tree).state, ahead(open_worlds(tree).states, here * size), size)


@helper
def _draw(rulebook: Any, tree: Any, here: int, rng: Any) -> int:
    """Chance moves; the world after it, or NOT_MET where there is no room."""
    rules, p = open_rules(rulebook), open_room(tree).state
    _return_to(tree, here)
    rules.apply(p, rules.draw(p, rng))
    return _meet(rulebook, tree)


@helper
def _go(rulebook: Any, tree: Any, here: int, i: int) -> int:
    """Makes the i-th of the moves, for the first time; the world after it, or NOT_MET where there is no room."""
    rules, room, worlds = open_rules(rulebook), open_room(tree), open_worlds(tree)
    _return_to(tree, here)
    rules.actions(room.state, room.legal)
    rules.apply(room.state, room.legal[i])
    there = _meet(rulebook, tree)
    worlds.links[at(worlds.worlds, here).links + i] = there
    return there


@helper
def _look_up(tree: Any, world: Any) -> int:
    """Where the tree has what the mover knows; -1 where it hasn't."""
    memory = open_memory(tree)
    slot = slot_of(memory, world.key)
    if memory.keys[slot] != 0:
        world.place = memory.places[slot]
    return world.place


@helper
def forget_places(worlds: Any) -> None:
    """Nothing is known any more of where the tree has what."""
    for here in range(1, worlds.met[0] + 1):
        at(worlds.worlds, here).place = -1


def recalling(select: Any, descend: Any, judge: Any, widen: Any) -> Any:
    """A simulation, for ways to choose moves, to go on where nothing is remembered, to judge and to add up."""

    @innermost
    def play(rulebook: Any, tree: Any, rng: Any) -> Any:
        """Plays from the state of the room to a leaf; how many decisions that took, and what the leaf is worth."""
        worlds, room, plan = open_worlds(tree), open_room(tree), open_plan(tree)
        depth = 0
        here = _meet(rulebook, tree) if worlds.met[2] else NOT_MET
        while here != NOT_MET:
            world = at(worlds.worlds, here)
            who = world.mover
            if who == CHANCE:
                here = _draw(rulebook, tree, here, rng)
                continue
            if who == TERMINAL:
                values = ahead(worlds.payoffs, here * plan.players)
                if world.place < 0:  # they are new
                    widen(tree, values)
                    world.place = 0
                return depth, values
            if plan.random_opponents and who != plan.seat:
                i = below(rng, world.count)
            else:
                place = world.place if world.place >= 0 else _look_up(tree, world)
                if place < 0:
                    _return_to(tree, here)
                    break
                i = select(tree, place, rng)
                note_decision(room.path, depth, place, i, who)
                depth += 1
            there = worlds.links[world.links + i]
            here = there if there != NOT_MET else _go(rulebook, tree, here, i)
        depth = descend(rulebook, tree, rng, depth)
        judge(rulebook, tree, rng)
        widen(tree, room.values)
        return depth, room.values

    return play
