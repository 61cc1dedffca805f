"""Values and best responses over a public tree, in double precision: the proof of what the vectors have learnt."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import DOUBLES, FLOATS, ahead, float32_ptr, float64_ptr, kernel
from tapete.core.records import pointers
from tapete.solve.hands import ROOM64, add_up, average, mean, most, multiply, rounded_average
from tapete.solve.leaves import LEAVES64, Leaves, gain_at
from tapete.solve.public_tree import TREE, Tree


class Question(NamedTuple):
    """What does a player gain against the other's average strategy?"""

    tree: Tree
    leaves: Leaves  # his payoffs
    mine: NDArray[np.float32]  # the sum of his strategies, in the layout of a ledger
    theirs: NDArray[np.float32]  # the sum of the other's
    player: int
    best: bool  # whether he responds as well as he can, or plays his own average


QUESTION = types.NamedTuple([TREE, LEAVES64, FLOATS, FLOATS, types.int64, types.boolean], Question)


@kernel(types.void(QUESTION, DOUBLES, DOUBLES, ROOM64))
def respond(question: Any, reach: Any, value: Any, arrays: Any) -> None:
    """Walks the tree; `value` gets what each of the player's hands gains, the other's being as likely as `reach`."""
    tree, leaves, best, room = question.tree, question.leaves, question.best, pointers(arrays)
    my_sums, their_sums, total = float32_ptr(question.mine), float32_ptr(question.theirs), room.total
    own_hands, other_hands, levels = len(value), len(reach), len(arrays.node)
    plan_size, gain_size = len(arrays.plan) // levels, len(arrays.gains) // levels
    arrays.theirs[:other_hands] = reach
    room.their_row[0] = room.node[0] = room.tried[0] = 0
    level = 0
    while True:
        node, k = room.node[level], room.tried[level]
        first, slot = tree.first[node], tree.slot[node]
        actions, own = tree.first[node + 1] - first, tree.player[node] == question.player
        plan, gains = ahead(room.plan, level * plan_size), ahead(room.gains, level * gain_size)
        if k == 0 and own and not best:
            average(ahead(my_sums, slot), actions, own_hands, total, plan)
        elif k == 0 and not own:
            average(ahead(their_sums, slot), actions, other_hands, total, plan)
        if k < actions:
            room.tried[level] = k + 1
            row = room.their_row[level]
            room.their_row[level + 1] = row if own else (level + 1) * other_hands
            after = ahead(room.theirs, room.their_row[level + 1])
            if not own:
                multiply(ahead(room.theirs, row), ahead(plan, k * other_hands), other_hands, after)
            child = tree.child[first + k]
            if child < 0:
                gain_at(leaves, ~child, after, other_hands, own_hands, ahead(gains, k * own_hands))
            else:
                level += 1
                room.node[level], room.tried[level] = child, 0
            continue
        if not own:
            add_up(gains, actions, own_hands, total)
        elif best:
            most(gains, actions, own_hands, total)
        else:
            mean(gains, plan, actions, own_hands, total)
        if level == 0:
            break
        level -= 1
        above = ahead(room.gains, level * gain_size + (room.tried[level] - 1) * own_hands)
        for h in range(own_hands):
            above[h] = total[h]
    value[:] = arrays.total[:own_hands]


@kernel(types.void(TREE, FLOATS, types.int64, types.int64, FLOATS))
def averages(tree: Any, sums: Any, player: int, width: int, out: Any) -> None:
    """A player's average strategy by the sums of his strategies, both in the layout of a ledger."""
    widest = 0
    for node in range(len(tree.player)):
        widest = max(widest, tree.first[node + 1] - tree.first[node])
    total, share = np.empty(width), np.empty(width * widest)
    for node in range(len(tree.player)):
        if tree.player[node] == player:
            actions, slot = tree.first[node + 1] - tree.first[node], tree.slot[node]
            rounded_average(ahead(float32_ptr(sums), slot), actions, width, float64_ptr(total), float64_ptr(share))
            for i in range(actions * width):
                out[slot + i] = share[i]


@kernel(types.void(types.float32[:, :], types.int32[::1], FLOATS))
def by_hand(rows: Any, actions: Any, out: Any) -> None:
    """Turns the blocks [actions, hands] of all nodes of a player into [hands, actions]."""
    first = to = 0
    for node in range(len(actions)):
        for hand in range(rows.shape[1]):
            for a in range(actions[node]):
                out[to] = rows[first + a, hand]
                to += 1
        first += actions[node]
