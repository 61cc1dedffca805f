"""What a search over information sets remembers, and the room that it needs: records of arrays.

A tree is the words of five records, one behind the other (`core/records.py`). Kernels and helpers are handed the
address of the first word and open what they need: records that are handed on are copied, and 21 arrays from Python take
longer than a small search.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import from_dtype, types
from numpy.typing import NDArray

from tapete.core.compile import BYTES, DOUBLE_ROWS, DOUBLES, FLOATS, INTS, LONGS, STATES, WORDS, helper
from tapete.core.hashmap import find_among
from tapete.core.records import opener
from tapete.search.tree import LEAF, Leaf

INFOSET = np.dtype(
    [
        ("visits", "i4"),
        ("slot", "i4"),  # in the hash table
        ("first", "i4"),  # of its moves
        ("count", "i4"),  # of its moves
        ("choice", "i4"),  # which of its moves comes next, or UNDECIDED
    ],
    align=True,
)
# A simulation changes one move of a node and looks at all of them, so what choosing needs is kept beside the sums. The
# next choice is made right then: nobody waits for it, as the next simulation would on its way down.
UNDECIDED = -1
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
WORLD = np.dtype(
    [
        ("key", "u8"),  # of what its mover knows
        ("place", "i4"),  # where the tree has that information set; -1 where that, or a payoff, was not looked at
        ("links", "i4"),  # where they begin, one for each of its moves
        ("count", "i4"),  # of its moves
        ("mover", "i4"),  # or CHANCE, or TERMINAL
    ],
    align=True,
)

MOST_WORLDS = 1 << 9  # at most: a small game has fewer, and for a large one they are in vain
LINKS_EACH = 4  # for which there is room, on the average
SLOTS_EACH = 2
NOT_MET = 0  # in a slot or in a link; the first world is number 1


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
    path: NDArray[np.int64]  # [3 * depth] set, which of its moves, and mover of each decision
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
    random_opponents: int  # whether the other seats play at random instead of searching for themselves
    may_stop: int  # when memory is short, so that it can be called again with more


class Worlds(NamedTuple):
    """A hash table from the bytes of a state to the number of a world, and what is known of each."""

    slots: NDArray[np.int32]  # [a power of two, more than worlds] its number, or NOT_MET
    worlds: NDArray[np.void]  # [1 + capacity] WORLD
    states: NDArray[np.uint8]  # [1 + capacity, bytes]
    payoffs: NDArray[np.float64]  # [1 + capacity, players] where the game is over
    links: NDArray[np.int32]  # [capacity of their own] the world after a move, or NOT_MET
    met: NDArray[np.int64]  # [3] worlds and links in use; whether there was room for all that were met so far
    mask: int  # slots less one
    capacity: int
    links_capacity: int

    @classmethod
    def within(cls, memory: int, size: int, players: int) -> Worlds:
        """Room for as many as fit into so many bytes, for states of a size."""
        capacity = min(MOST_WORLDS, memory // bytes_each(size, players))
        slots = 1 << (SLOTS_EACH * capacity).bit_length()
        return cls(
            slots=np.zeros(slots, dtype=np.int32),
            worlds=np.empty(1 + capacity, dtype=WORLD),
            states=np.empty((1 + capacity, size), dtype=np.uint8),
            payoffs=np.empty((1 + capacity, players)),
            links=np.empty(LINKS_EACH * capacity, dtype=np.int32),
            met=np.array([0, 0, capacity > 0]),
            mask=slots - 1,
            capacity=capacity,
            links_capacity=LINKS_EACH * capacity,
        )


def bytes_each(size: int, players: int) -> int:
    """What a world takes, with its part of the other arrays, where states have a size."""
    return size + WORLD.itemsize + 8 * players + 4 * (LINKS_EACH + 2 * SLOTS_EACH)


NUMBER = types.int64
MEMORY = types.NamedTuple([WORDS, LONGS, from_dtype(INFOSET)[::1], from_dtype(MOVE)[::1], LONGS, DOUBLES], Memory)
WORLDS = types.NamedTuple(
    [INTS, from_dtype(WORLD)[::1], STATES, DOUBLE_ROWS, INTS, LONGS, NUMBER, NUMBER, NUMBER], Worlds
)
ROOM = types.NamedTuple([BYTES, BYTES, INTS, LONGS, DOUBLES, FLOATS], Room)
PLAN = types.NamedTuple([*(NUMBER,) * 4, types.float64, types.float64, NUMBER, NUMBER], Plan)
WORLDS_AT = len(Memory._fields)
ROOM_AT = WORLDS_AT + len(Worlds._fields)
LEAF_AT = ROOM_AT + len(Room._fields)
PLAN_AT = LEAF_AT + len(Leaf._fields)
open_memory, open_worlds, open_room = opener(MEMORY), opener(WORLDS, WORLDS_AT), opener(ROOM, ROOM_AT)
open_leaf, open_plan = opener(LEAF, LEAF_AT), opener(PLAN, PLAN_AT)


@helper
def slot_of(memory: Any, key: Any) -> int:
    """The slot that has the key, or the empty one where it belongs."""
    return find_among(memory.keys, 2 * memory.used[2], key)


@helper
def note_decision(path: Any, depth: int, place: int, i: int, who: int) -> None:
    """Writes down which move was decided on, as the next decision of a simulation."""
    path[3 * depth], path[3 * depth + 1], path[3 * depth + 2] = place, i, who
