"""The rest of a hand of truco, from the second trick on, as a public tree that both ranges are solved over.

What a seat may hold is told by the ranks of its cards that are left, its *type*: 105 pairs or 14 single cards. How
likely two types meet is a matrix, the *joint weights*, in which all that is known lies: which cards are out, what was
shown, how likely either would have played as it did. Bets and cards, by rank, are public.

Cards that may be led or that may follow don't branch: whatever was played, the bets that may come are the same. So a
node stands for a sequence of bets, and has *lanes*, side by side, one for each way the cards may lie there. A tree has
a hundred nodes, and all loops over lanes and types are vector code. There are four *stages*::

    TO_LEAD   the second trick begins                        one lane
    LED       a card lies there                              a lane for each rank that may be led
    THIRD     the third trick begins                         a lane for each two cards after which it is played
    OVER      the second trick has decided the hand          a lane for each other two

The last card is no choice, so the tree ends where the leader of the third trick lays his: the follower, who sees
whether he wins, raises or bluffs, and the leader calls or declines. That game has a solution in closed form
(`last_stakes`).
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np
from numba import from_dtype, types
from numpy.typing import NDArray

from tapete.core.compile import DOUBLES, FLAGS, FLOATS, INTS, LONGS, ahead, helper
from tapete.core.records import at
from tapete.games.truco.cards import STRONGEST
from tapete.games.truco.moves import NONE, TIE

RANKS = STRONGEST + 1
PAIRS = RANKS * (RANKS + 1) // 2
TO_LEAD, LED, THIRD, OVER = range(4)  # stages
STAGES = 4
LANES = RANKS * RANKS  # at most
STAKE, LAST, ANSWER, TURN, CHOICE = range(5)  # kinds of nodes: a payoff; the last card; a bet waits; one card left; two

# What the actions of a node mean, in the order of their numbers. Of two cards, the weaker one is LOW.
FOLD, CALL, RAISE_ANSWER = range(3)  # of ANSWER
PLAY, RAISE_TURN = range(2)  # of TURN
LOW, HIGH, RAISE_CHOICE = range(3)  # of CHOICE

# The children of CHOICE: in the second trick, after leading; after following, where it goes on and where it is over.
ONWARD, ENDED, RAISED = range(3)

_pairs = list(combinations_with_replacement(range(RANKS), 2))
PAIR_OF = np.zeros((RANKS, RANKS), dtype=np.int64)  # [rank, rank] the type of two cards, in any order
for _number, (_low, _high) in enumerate(_pairs):
    PAIR_OF[_low, _high] = PAIR_OF[_high, _low] = _number

NODE = np.dtype(
    [
        ("kind", "i1"),
        ("stage", "i1"),
        ("mover", "i1"),  # who decides; of LAST: the leader
        ("turn", "i1"),  # who plays the next card
        ("level", "i1"),
        ("asked", "i1"),
        ("holder", "i1"),
        ("raises", "i1"),  # whether the mover may raise on his turn; of LAST: the follower
        ("actions", "i1"),
        ("slot", "i4"),  # where its parent has its number
        ("children", "i4", (3,)),  # their numbers, or NONE: one for each action; of CHOICE: ONWARD, ENDED, RAISED
        ("entries", "i4"),  # where the numbers of its actions begin: [action, type, lane]
        ("reach", "i4", (2,)),  # where the reach of each seat is: [type, lane]
        ("value", "i4"),  # [type, lane] of the one who learns; of CHOICE, then the same for both of his cards
        ("winner", "i4"),  # of STAKE: who wins the hand; NONE where its lanes tell
    ],
    align=True,
)
STAGE = np.dtype(
    [
        ("types", "i4", (2,)),  # of each seat
        ("lanes", "i4"),
        ("weights", "i4", (2,)),  # for each seat: where the joint weights are, [the other's type, its type, lane]
    ],
    align=True,
)

# Room for the largest tree there is: tests/solve/test_truco_rest.py grows them all.
NODES, ENTRIES, REACHES, VALUES, WEIGHTS = 200, 120_000, 160_000, 180_000, 180_000


class Rest(NamedTuple):
    """A tree and its numbers. For one thread."""

    nodes: NDArray[np.void]  # [NODES] NODE, in preorder
    stack: NDArray[np.void]  # NODE: those that wait while a tree grows
    stages: NDArray[np.void]  # [STAGES] STAGE
    led: NDArray[np.int32]  # [STAGES, LANES] the rank that was led
    followed: NDArray[np.int32]  # [STAGES, LANES] the rank that followed
    above: NDArray[np.int32]  # [STAGES, LANES] the lane of the stage before
    victor: NDArray[np.int32]  # [LANES] of OVER: who has won the hand
    weights: NDArray[np.float32]  # the joint weights of all stages
    regrets: NDArray[np.float32]  # [entries]
    sums: NDArray[np.float32]  # [entries] of the average strategy, weighed by reach
    now: NDArray[np.float32]  # [entries] the strategy of this iteration
    reach: NDArray[np.float32]
    strange: NDArray[np.float32]  # of a stranger on the seat that may be one, times how likely it is; else 0
    met: NDArray[np.float32]  # both
    values: NDArray[np.float32]
    alive: NDArray[np.int8]  # [2, NODES] whether a seat gets there at all
    stakes: NDArray[np.float64]  # [winner, level] what the hand is worth to seat 0 then
    used: NDArray[np.int64]  # of nodes, entries, reach, values, weights; then 1 + the seat of a stranger, or 0
    scratch: NDArray[np.float32]  # [4, RANKS * LANES]

    @classmethod
    def empty(cls) -> Rest:
        """Room for a tree."""

        def lanes() -> NDArray[np.int32]:
            return np.zeros(STAGES * LANES, dtype=np.int32)

        def numbers(size: int) -> NDArray[np.float32]:
            return np.zeros(size, dtype=np.float32)

        return cls(
            nodes=np.zeros(NODES, dtype=NODE),
            stack=np.zeros(NODES, dtype=NODE),
            stages=np.zeros(STAGES, dtype=STAGE),
            led=lanes(),
            followed=lanes(),
            above=lanes(),
            victor=lanes(),
            weights=numbers(WEIGHTS),
            regrets=numbers(ENTRIES),
            sums=numbers(ENTRIES),
            now=numbers(ENTRIES),
            reach=numbers(REACHES),
            strange=numbers(REACHES),
            met=numbers(REACHES),
            values=numbers(VALUES),
            alive=np.zeros(2 * NODES, dtype=np.int8),
            stakes=np.zeros(12),
            used=np.zeros(6, dtype=np.int64),
            scratch=numbers(4 * RANKS * LANES),
        )


_nodes, _stages = from_dtype(NODE)[::1], from_dtype(STAGE)[::1]
REST = types.NamedTuple([_nodes, _nodes, _stages, *[INTS] * 4, *[FLOATS] * 8, FLAGS, DOUBLES, LONGS, FLOATS], Rest)
_NODES, _ENTRIES, _REACH, _VALUES, _WEIGHTS, _STRANGER = range(6)  # places in `used`


# Stages


@helper
def take(rest: Any, what: int, count: int) -> int:
    """The next `count` places of an array."""
    first = rest.used[what]
    rest.used[what] = first + count
    return int(first)


@helper
def size_of(rest: Any, node: Any, seat: int) -> int:
    """Types times lanes."""
    stage = at(rest.stages, node.stage)
    return int(stage.types[seat]) * int(stage.lanes)


@helper
def begin(rest: Any) -> None:
    """Nothing is in use but the joint weights of the first stage, all of them zero."""
    for i in range(6):
        rest.used[i] = 0
    open_stage(rest, TO_LEAD, PAIRS, PAIRS, 1)
    for i in range(2 * PAIRS * PAIRS):
        rest.weights[i] = np.float32(0)


@helper
def open_stage(rest: Any, number: int, types0: int, types1: int, lanes: int) -> None:
    """Room for the joint weights of a stage."""
    stage = at(rest.stages, number)
    stage.types[0], stage.types[1], stage.lanes = types0, types1, lanes
    for seat in range(2):
        stage.weights[seat] = take(rest, _WEIGHTS, types0 * types1 * lanes)


@helper
def turn_weights(rest: Any, number: int) -> None:
    """The weights for seat 0, made from those for seat 1."""
    stage = at(rest.stages, number)
    n0, n1, lanes = int(stage.types[0]), int(stage.types[1]), int(stage.lanes)
    rows, columns = ahead(rest.weights, stage.weights[1]), ahead(rest.weights, stage.weights[0])
    for i in range(n0):
        for j in range(n1):
            for lane in range(lanes):
                columns[(j * n0 + i) * lanes + lane] = rows[(i * n1 + j) * lanes + lane]


@helper
def note_lane(rest: Any, stage: int, above: int, led: int, followed: int) -> int:
    """One lane more."""
    lane = int(at(rest.stages, stage).lanes)
    place = stage * LANES + lane
    rest.above[place], rest.led[place], rest.followed[place] = above, led, followed
    at(rest.stages, stage).lanes = lane + 1
    return lane


@helper
def weight_of(rest: Any, stage: Any, seat: int, own: int, other: int, lane: int) -> Any:
    """How likely a seat's type meets a type of the other's."""
    return rest.weights[stage.weights[seat] + (other * stage.types[seat] + own) * stage.lanes + lane]


@helper
def can_play(rest: Any, number: int, seat: int, rank: int, lane: int) -> bool:
    """Whether a seat that has two cards may hold one of this rank."""
    stage = at(rest.stages, number)
    for card in range(RANKS):
        for other in range(stage.types[1 - seat]):
            if weight_of(rest, stage, seat, int(PAIR_OF[rank, card]), other, lane) > 0:
                return True
    return False


@helper
def fill_stage(rest: Any, number: int, source: int, seat: int) -> None:
    """The joint weights after a seat has played one of two cards, in every lane."""
    before, after, other = at(rest.stages, source), at(rest.stages, number), 1 - seat
    lanes, n = int(after.lanes), int(before.types[other])
    open_stage(rest, number, RANKS if seat == 0 else n, RANKS if seat == 1 else n, lanes)
    n1 = int(after.types[1])
    rows = ahead(rest.weights, after.weights[1])
    for lane in range(lanes):
        place = number * LANES + lane
        rank, above = int(rest.led[place] if number == LED else rest.followed[place]), int(rest.above[place])
        for card in range(RANKS):
            pair = int(PAIR_OF[rank, card])
            for j in range(n):
                weight = weight_of(rest, before, seat, pair, j, above)
                place1 = card * n1 + j if seat == 0 else j * n1 + card
                rows[place1 * lanes + lane] = weight
    turn_weights(rest, number)


@helper
def victor_of(first: int, follower: int, led: int, followed: int) -> int:
    """Who has won the hand with the second trick, or NONE; `first` has won the first."""
    if led == followed:
        return first if first != TIE else NONE
    second = follower if followed > led else 1 - follower
    return second if first in (TIE, second) else NONE


@helper
def lay_lanes(rest: Any, first: int, leader: int) -> None:
    """All stages after the first, whose joint weights are there."""
    turn_weights(rest, TO_LEAD)
    for number in range(LED, STAGES):
        at(rest.stages, number).lanes = 0
    for rank in range(RANKS):
        if can_play(rest, TO_LEAD, leader, rank, 0):
            note_lane(rest, LED, 0, rank, NONE)
    fill_stage(rest, LED, TO_LEAD, leader)
    follower = 1 - leader
    for above in range(at(rest.stages, LED).lanes):
        led = int(rest.led[LED * LANES + above])
        for rank in range(RANKS):
            if can_play(rest, LED, follower, rank, above):
                victor = victor_of(first, follower, led, rank)
                lane = note_lane(rest, THIRD if victor == NONE else OVER, above, led, rank)
                if victor != NONE:
                    rest.victor[lane] = victor
    for number in range(THIRD, STAGES):
        fill_stage(rest, number, LED, follower)


# Growing a tree


@helper
def wait(rest: Any, top: int, parent: Any, slot: int, stage: int) -> Any:
    """A child of the parent, on the stack. The reach of who doesn't move is the parent's, if the stage is the same."""
    node, mover = at(rest.stack, top), int(parent.mover)
    node.turn, node.level, node.asked, node.holder = parent.turn, parent.level, parent.asked, parent.holder
    node.mover, node.kind, node.stage, node.slot, node.winner = parent.mover, TURN, stage, slot, NONE
    for seat in range(2):
        node.reach[seat] = parent.reach[seat]
        if seat == mover or stage != parent.stage:
            node.reach[seat] = take(rest, _REACH, size_of(rest, node, seat))
    return node


@helper
def wait_for_raise(rest: Any, top: int, parent: Any, slot: int) -> None:
    """The mover raises; what was asked is accepted by that."""
    node = wait(rest, top, parent, slot, int(parent.stage))
    node.level = max(parent.level, parent.asked)
    node.asked = node.level + 1
    node.mover = 1 - parent.mover


@helper
def grow_answer(rest: Any, node: Any, number: int, top: int) -> int:
    """No quiero, quiero, and raising higher."""
    stage, slot = int(node.stage), 3 * number
    node.kind, node.actions = ANSWER, 2 + (node.asked < 4)
    child = wait(rest, top, node, slot + FOLD, stage)
    child.kind, child.winner = STAKE, 1 - node.mover
    child = wait(rest, top + 1, node, slot + CALL, stage)
    child.level, child.asked, child.holder, child.mover = node.asked, 0, node.mover, node.turn
    if node.asked < 4:
        wait_for_raise(rest, top + 2, node, slot + RAISE_ANSWER)
    return top + int(node.actions)


@helper
def grow_choice(rest: Any, node: Any, number: int, top: int, next_leader: int) -> int:
    """The seat that leads or follows in the second trick, two cards in hand."""
    slot = 3 * number
    node.kind, node.actions = CHOICE, 2 + node.raises
    if node.stage == TO_LEAD:
        child = wait(rest, top, node, slot + ONWARD, LED)
        child.turn = child.mover = 1 - node.turn
        top += 1
    else:
        if at(rest.stages, THIRD).lanes > 0:
            child = wait(rest, top, node, slot + ONWARD, THIRD)
            child.turn = child.mover = next_leader
            top += 1
        if at(rest.stages, OVER).lanes > 0:
            child = wait(rest, top, node, slot + ENDED, OVER)
            child.kind = STAKE
            top += 1
    if node.raises:
        wait_for_raise(rest, top, node, slot + RAISED)
        top += 1
    return top


@helper
def grow_turn(rest: Any, node: Any, number: int, top: int) -> int:
    """The leader of the third trick may raise, or lays his last card."""
    node.kind, node.actions = TURN, 2
    child = wait(rest, top, node, 3 * number + PLAY, THIRD)
    child.kind = LAST
    wait_for_raise(rest, top + 1, node, 3 * number + RAISE_TURN)
    return top + 2


@helper
def may_raise(node: Any, seat: int) -> bool:
    """Whether a seat may raise when it is its turn."""
    return node.level < 4 and (node.holder == NONE or node.holder == seat)


@helper
def take_root(rest: Any, leader: int, level: int, holder: int) -> None:
    """The root, on the stack: the leader is to lead."""
    node = at(rest.stack, 0)
    node.kind, node.stage, node.slot, node.winner = CHOICE, TO_LEAD, NONE, NONE
    node.level, node.asked, node.holder = level, 0, holder
    node.turn = node.mover = leader
    for seat in range(2):
        node.reach[seat] = take(rest, _REACH, PAIRS)
        for i in range(PAIRS):
            rest.reach[node.reach[seat] + i] = np.float32(1)


@helper
def grow(rest: Any, first: int, leader: int) -> None:
    """Grows the tree from the root that waits on the stack; `first` is the winner of the first trick.

    :param leader: of the second trick. It is played on if he ties after a parda, or loses after having won.
    """
    next_leader = leader if first == TIE else 1 - leader
    top = 1
    while top > 0:
        top -= 1
        number = take(rest, _NODES, 1)
        node, source = at(rest.nodes, number), at(rest.stack, top)
        node.kind, node.stage, node.mover, node.turn = source.kind, source.stage, source.mover, source.turn
        node.level, node.asked, node.holder, node.winner = source.level, source.asked, source.holder, source.winner
        node.slot, node.actions, node.raises = source.slot, 0, 0
        for seat in range(2):
            node.reach[seat] = source.reach[seat]
        for i in range(3):
            node.children[i] = NONE
        if node.slot != NONE:
            at(rest.nodes, node.slot // 3).children[node.slot % 3] = number
        if node.kind == STAKE:
            pass
        elif node.asked:
            top = grow_answer(rest, node, number, top)
        elif node.stage < THIRD:
            node.raises = may_raise(node, int(node.turn))
            top = grow_choice(rest, node, number, top, next_leader)
        elif node.kind != LAST and may_raise(node, int(node.turn)):
            top = grow_turn(rest, node, number, top)
        else:
            node.kind, node.mover = LAST, node.turn
            node.raises = may_raise(node, 1 - int(node.turn))
        node.entries = take(rest, _ENTRIES, node.actions * size_of(rest, node, int(node.mover)))
        size = max(size_of(rest, node, 0), size_of(rest, node, 1))
        node.value = take(rest, _VALUES, 3 * size if node.kind == CHOICE else size)
