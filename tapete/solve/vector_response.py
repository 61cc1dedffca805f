"""Values and best responses over a public tree, in double precision: the proof of what the vectors have learnt."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import DOUBLES, FLOATS, ahead, first_of, float32_ptr, float64_ptr, kernel
from tapete.core.records import pointers
from tapete.solve.classes import GROUPINGS, Groupings
from tapete.solve.hands import (
    ROOM64,
    add_up,
    average,
    mean,
    merge,
    most,
    multiply,
    multiply_merged,
    rounded_average,
    spread,
)
from tapete.solve.leaves import LEAVES64, Leaves, gain_at
from tapete.solve.public_tree import TREE, Tree


class Question(NamedTuple):
    """What does a player gain against the other's average strategy?"""

    tree: Tree
    groupings: Groupings
    leaves: Leaves  # his payoffs
    mine: NDArray[np.float32]  # the sum of his strategies, in the layout of a ledger
    theirs: NDArray[np.float32]  # the sum of the other's
    player: int
    best: bool  # whether he responds as well as he can, or plays his own average
    least: float  # share of a move that both play at least; rarer ones are left out of their averages


QUESTION = types.NamedTuple(
    [TREE, GROUPINGS, LEAVES64, FLOATS, FLOATS, types.int64, types.boolean, types.float64], Question
)


@kernel(types.void(QUESTION, DOUBLES, DOUBLES, ROOM64))
def respond(question: Any, reach: Any, value: Any, arrays: Any) -> None:
    """Walks the tree; `value` gets what each of the player's hands gains, the other's being as likely as `reach`.

    Both are vectors over the classes of the root.
    """
    tree, groupings, leaves, best = question.tree, question.groupings, question.leaves, question.best
    room, me, them, merges = (
        pointers(arrays),
        question.player,
        1 - question.player,
        first_of(groupings.merge.reshape(-1)),
    )
    my_sums, their_sums, total = float32_ptr(question.mine), float32_ptr(question.theirs), room.total
    own_most, other_most, levels, row_size = len(value), len(reach), len(arrays.node), groupings.merge.shape[2]
    plan_size, gain_size = len(arrays.plan) // levels, len(arrays.gains) // levels
    arrays.theirs[:other_most] = reach
    room.their_row[0] = room.node[0] = room.tried[0] = 0
    level = 0
    while True:
        node, k = room.node[level], room.tried[level]
        first, slot, grouping = tree.first[node], tree.slot[node], groupings.of_node[node]
        actions, own = tree.first[node + 1] - first, tree.player[node] == me
        mine, others = groupings.width[grouping, me], groupings.width[grouping, them]
        plan, gains = ahead(room.plan, level * plan_size), ahead(room.gains, level * gain_size)
        if k == 0 and own and not best:
            average(ahead(my_sums, slot), actions, mine, question.least, total, plan)
        elif k == 0 and not own:
            average(ahead(their_sums, slot), actions, others, question.least, total, plan)
        if k < actions:
            room.tried[level] = k + 1
            row, below = room.their_row[level], (level + 1) * other_most
            here, after = ahead(room.theirs, row), ahead(room.theirs, below)
            child = tree.child[first + k]
            step = groupings.step[grouping, groupings.of_node[child]] if child >= 0 else -1
            room.their_row[level + 1] = row if own and step < 0 else below
            if step >= 0:
                fewer = groupings.width[groupings.of_node[child], them]
                into = ahead(merges, (2 * step + them) * row_size)
                if own:
                    merge(here, others, into, after, fewer)
                else:
                    multiply_merged(here, ahead(plan, k * others), others, into, after, fewer)
            elif not own:
                multiply(here, ahead(plan, k * others), others, after)
            if child < 0:
                coming = here if own else after
                gain_at(leaves, ~child, grouping, coming, others, mine, ahead(gains, k * mine))
            else:
                level += 1
                room.node[level], room.tried[level] = child, 0
            continue
        if not own:
            add_up(gains, actions, mine, total)
        elif best:
            most(gains, actions, mine, total)
        else:
            mean(gains, plan, actions, mine, total)
        if level == 0:
            break
        level -= 1
        above = groupings.of_node[room.node[level]]
        width, step = groupings.width[above, me], groupings.step[above, grouping]
        gain = ahead(room.gains, level * gain_size + (room.tried[level] - 1) * width)
        if step < 0:
            for h in range(width):
                gain[h] = total[h]
        else:
            spread(total, ahead(merges, (2 * step + me) * row_size), width, gain)
    value[:] = arrays.total[:own_most]


@kernel(types.void(TREE, GROUPINGS, FLOATS, types.int64, types.float64, FLOATS))
def averages(tree: Any, groupings: Any, sums: Any, player: int, least: float, out: Any) -> None:
    """A player's average strategy by the sums of his strategies, both in the layout of a ledger."""
    widest = 0
    for node in range(len(tree.player)):
        widest = max(widest, tree.first[node + 1] - tree.first[node])
    most = 0
    for grouping in range(len(groupings.width)):
        most = max(most, groupings.width[grouping, player])
    total, share = np.empty(most), np.empty(most * widest)
    for node in range(len(tree.player)):
        if tree.player[node] == player:
            actions, slot = tree.first[node + 1] - tree.first[node], tree.slot[node]
            width = groupings.width[groupings.of_node[node], player]
            block = ahead(float32_ptr(sums), slot)
            rounded_average(block, actions, width, least, float64_ptr(total), float64_ptr(share))
            for i in range(actions * width):
                out[slot + i] = share[i]


@kernel(types.void(TREE, GROUPINGS, FLOATS, types.int64, types.boolean[:, ::1], FLOATS))
def by_hand(tree: Any, groupings: Any, shares: Any, player: int, comes: Any, out: Any) -> None:
    """Turns the blocks [actions, classes] of all nodes of a player into [hands, actions], of hands that he comes with.

    `comes` is [his nodes, hands].
    """
    to, own = 0, -1
    for node in range(len(tree.player)):
        if tree.player[node] == player:
            own += 1
            grouping, slot = groupings.of_node[node], tree.slot[node]
            width = groupings.width[grouping, player]
            for hand in np.flatnonzero(comes[own]):
                for a in range(tree.first[node + 1] - tree.first[node]):
                    out[to] = shares[slot + a * width + groupings.label[grouping, player, hand]]
                    to += 1


@kernel(types.void(TREE, GROUPINGS, FLOATS, types.int64, types.boolean[:, ::1]))
def come_to(tree: Any, groupings: Any, shares: Any, player: int, out: Any) -> None:
    """Marks with which hands a player comes to each of his nodes by his average strategy: [his nodes, hands]."""
    hands = out.shape[1]
    comes = np.zeros((len(tree.player), hands), np.bool_)
    comes[0] = True
    own = 0
    for node in range(len(tree.player)):
        is_own = tree.player[node] == player
        grouping, slot = groupings.of_node[node], tree.slot[node]
        width = groupings.width[grouping, player]
        if is_own:
            out[own] = comes[node]
            own += 1
        for a in range(tree.first[node + 1] - tree.first[node]):
            child = tree.child[tree.first[node] + a]
            if child >= 0:
                for hand in range(hands):
                    label = groupings.label[grouping, player, hand]
                    plays = not is_own or shares[slot + a * width + label] > 0
                    comes[child, hand] = comes[node, hand] and plays
