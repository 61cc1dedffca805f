"""Trees of open games: what a node is, and the steps of a simulation, for `mcts` and for `batch`.

The kernels are iterative and know neither the game nor what judges its leaves: both come as tables of C functions. How
a simulation chooses a child, and when a leaf gets children, are functions that `walking` and `simulating` are handed;
they make the helper that does it, and a kernel is compiled for each way of searching that is put together so.
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
from tapete.core.contract import RULEBOOK, TERMINAL, open_rules
from tapete.core.evaluator import open_evaluator
from tapete.core.rng import below
from tapete.search.records import at, copy_bytes, pointers

# A node is a move with what came of it. The children of a node are neighbours in memory, and come after it.
NODE = np.dtype(
    [
        ("total", "f8"),  # payoffs added up, of the seat that made the move
        ("action", "i4"),
        ("visits", "i4"),
        ("first", "i4"),  # the first child
        ("count", "i2"),  # children; 0: not expanded yet
        ("mover", "i2"),  # the seat to move after it, or TERMINAL; known after the first visit
        ("prior", "f4"),  # how likely it is the right move, as the evaluator thinks
        ("value", "f4"),  # what the evaluator said of the mover's prospects
    ],
    align=True,
)


class Tree(NamedTuple):
    """Nodes, the root first."""

    nodes: NDArray[np.void]  # [capacity] NODE
    used: NDArray[np.int64]  # [2] nodes in use, and the capacity


class Room(NamedTuple):
    """Where a simulation begins, and room for it."""

    root: NDArray[np.uint8]  # [bytes]
    state: NDArray[np.uint8]  # [bytes]
    legal: NDArray[np.int32]  # [max_actions]
    path: NDArray[np.int32]  # [depth] nodes from the root to the leaf
    values: NDArray[np.float64]  # [players] what the leaf is worth
    priors: NDArray[np.float32]  # [max_actions]


class Leaf(NamedTuple):
    """What judges leaves: the address of an evaluator and of its arrays."""

    address: int
    model: NDArray[np.uint64]  # [arrays]


class Plan(NamedTuple):
    """The constants of a search; `c` and `first_play` in units of payoffs."""

    size: int  # bytes of a state
    widest: int  # the most moves that there can be
    c: float  # how much it explores
    first_play: float  # PUCT takes an untried move for so much worse than what the node has shown so far
    may_stop: bool  # when memory is short, so that it can be called again with more


TREE = types.NamedTuple([from_dtype(NODE)[::1], LONGS], Tree)
ROOM = types.NamedTuple([BYTES, BYTES, INTS, INTS, DOUBLES, FLOATS], Room)
LEAF = types.NamedTuple([types.int64, WORDS], Leaf)
PLAN = types.NamedTuple([types.int64, types.int64, types.float64, types.float64, types.boolean], Plan)


# Helpers work on pointers, which kernels make of what they are called with. A rulebook is opened where it is used:
# handed on, eleven functions are copied, and each call first looks which kind of function it is.


# Choosing a child: `select(nodes, node, plan)`.


@helper
def select_uct(nodes: Any, node: int, plan: Any) -> int:
    """A child that was never tried, else the one with the highest upper bound."""
    first, count = at(nodes, node).first, at(nodes, node).count
    parent = at(nodes, node).visits
    weight = plan.c * math.sqrt(2.0 * math.log(parent)) if parent > 0 else 0.0
    best, best_score = first, -np.inf
    for i in range(first, first + count):
        n = at(nodes, i).visits
        if n == 0:
            return i
        score = (at(nodes, i).total + weight * math.sqrt(n)) / n
        if score > best_score:
            best, best_score = i, score
    return best


@helper
def select_puct(nodes: Any, node: int, plan: Any) -> int:
    """The child that is best by its value so far and by the evaluator's opinion of the move."""
    first, count = at(nodes, node).first, at(nodes, node).count
    tries, total = 1, np.float64(at(nodes, node).value)
    for i in range(first, first + count):
        tries += at(nodes, i).visits
        total += at(nodes, i).total
    untried = total / tries - plan.first_play
    weight = plan.c * math.sqrt(tries)
    best, best_score = first, -np.inf
    for i in range(first, first + count):
        n = at(nodes, i).visits
        score = (at(nodes, i).total / n if n > 0 else untried) + weight * at(nodes, i).prior / (1 + n)
        if score > best_score:
            best, best_score = i, score
    return best


# Making children.


@helper
def add_children(tree: Any, node: int, n: int) -> int:
    """Gives a node n children of which nothing is known; the first of them, or -1 where no memory is left."""
    nodes, first = tree.nodes, tree.used[0]
    if first + n > tree.used[1]:
        return -1
    tree.used[0] = first + n
    for i in range(first, first + n):
        child = at(nodes, i)
        child.total, child.action, child.visits, child.first, child.count = 0.0, -1, 0, 0, 0
        child.mover, child.prior, child.value = 0, 0.0, 0.0
    at(nodes, node).first, at(nodes, node).count = first, n
    return first


@helper
def expand_shuffled(tree: Any, node: int, legal: Any, n: int, rng: Any) -> bool:
    """Gives a node its children in random order; false where no memory is left."""
    nodes, first = tree.nodes, add_children(tree, node, n)
    if first < 0:
        return False
    for i in range(n):
        j = below(rng, i + 1)
        at(nodes, first + i).action = at(nodes, first + j).action
        at(nodes, first + j).action = legal[i]
    return True


@helper
def expand_judged(tree: Any, node: int, legal: Any, n: int, priors: Any) -> bool:
    """Gives a node its children in the order of the moves, with priors; false where no memory is left."""
    nodes, first = tree.nodes, add_children(tree, node, n)
    if first < 0:
        return False
    for i in range(n):
        at(nodes, first + i).action, at(nodes, first + i).prior = legal[i], priors[i]
    return True


# Whether a walk goes on below a node that has no children yet: `opens(rulebook, tree, node, room, rng)`.


@helper
def open_visited(rulebook: Any, tree: Any, node: int, room: Any, rng: Any) -> bool:
    """Where it was reached before (or is the root), it gets children now, and the walk goes on to one of them."""
    if node > 0 and at(tree.nodes, node).visits == 0:
        return False
    n = open_rules(rulebook).actions(room.state, room.legal)
    return expand_shuffled(tree, node, room.legal, n, rng)


@helper
def open_never(rulebook: Any, tree: Any, node: int, room: Any, rng: Any) -> bool:
    """Children come when the leaf is judged."""
    return False


# Judging a leaf: `judge(rulebook, tree, node, room, leaf, rng)` fills `room.values`.


@helper
def judge_value(rulebook: Any, tree: Any, node: int, room: Any, leaf: Any, rng: Any) -> None:
    """Asks the evaluator what the position is worth."""
    _ask(rulebook, tree, node, room, leaf, 0, rng)


@helper
def judge_moves(rulebook: Any, tree: Any, node: int, room: Any, leaf: Any, rng: Any) -> None:
    """Asks it for its opinion of the moves too, which become the children."""
    n = open_rules(rulebook).actions(room.state, room.legal)
    _ask(rulebook, tree, node, room, leaf, n, rng)
    expand_judged(tree, node, room.legal, n, room.priors)


@helper
def _ask(rulebook: Any, tree: Any, node: int, room: Any, leaf: Any, n: int, rng: Any) -> None:
    evaluate, mover = open_evaluator(np.uint64(leaf.address)), at(tree.nodes, node).mover
    evaluate(rulebook, room.state, mover, room.legal, n, leaf.model, rng, room.values, room.priors)
    at(tree.nodes, node).value = room.values[mover]


# A simulation.


def walking(select: Any, opens: Any) -> Any:
    """The way from the root to a leaf, for a way to choose children and one to make them."""

    @helper
    def descend(rulebook: Any, tree: Any, room: Any, plan: Any, rng: Any) -> int:
        """Applies the moves to the state; returns how many there were."""
        rules, nodes, path, state = open_rules(rulebook), tree.nodes, room.path, room.state
        node, depth = 0, 0
        path[0] = 0
        while at(nodes, node).mover != TERMINAL:
            if at(nodes, node).count == 0 and not opens(rulebook, tree, node, room, rng):
                break
            node = select(nodes, node, plan)
            rules.apply(state, at(nodes, node).action)
            if at(nodes, node).visits == 0:
                at(nodes, node).mover = rules.player(state)
            depth += 1
            path[depth] = node
        return depth

    return descend


@helper
def back_up(nodes: Any, path: Any, depth: int, values: Any) -> None:
    """Adds the payoffs to every node of a path, each from the viewpoint of the seat that moved there."""
    at(nodes, 0).visits += 1
    for i in range(depth, 0, -1):
        node = path[i]
        at(nodes, node).visits += 1
        at(nodes, node).total += values[at(nodes, path[i - 1]).mover]


def simulating(descend: Any, judge: Any) -> Any:
    """Simulations, for a way to a leaf and one to judge it."""

    @helper
    def simulate(rulebook: Any, tree: Any, room: Any, leaf: Any, plan: Any, rng: Any, n: int) -> int:
        """Adds n of them; returns how many were made, fewer only where `plan.may_stop` and memory is short."""
        for done in range(n):
            if plan.may_stop and tree.used[0] + plan.widest > tree.used[1]:
                return done
            copy_bytes(room.state, room.root, plan.size)
            depth = descend(rulebook, tree, room, plan, rng)
            node = room.path[depth]
            if at(tree.nodes, node).mover == TERMINAL:
                open_rules(rulebook).returns(room.state, room.values)
            else:
                judge(rulebook, tree, node, room, leaf, rng)
            back_up(tree.nodes, room.path, depth, room.values)
        return n

    return simulate


GROW = types.int64(RULEBOOK, TREE, ROOM, LEAF, PLAN, WORDS, types.int64)
descend_uct, descend_puct = walking(select_uct, open_visited), walking(select_puct, open_never)
simulate_uct, simulate_puct = simulating(descend_uct, judge_value), simulating(descend_puct, judge_moves)


@kernel(GROW)
def grow_uct(rulebook: Any, tree: Any, room: Any, leaf: Any, plan: Any, words: Any, n: int) -> int:
    """A leaf is judged when it is reached for the first time, and gets its children, shuffled, the second time."""
    return simulate_uct(
        uint64_ptr(rulebook), pointers(tree), pointers(room), pointers(leaf), plan, uint64_ptr(words), n
    )


@kernel(GROW)
def grow_puct(rulebook: Any, tree: Any, room: Any, leaf: Any, plan: Any, words: Any, n: int) -> int:
    """A leaf gets its children, with priors, when it is judged."""
    return simulate_puct(
        uint64_ptr(rulebook), pointers(tree), pointers(room), pointers(leaf), plan, uint64_ptr(words), n
    )


# Between searches.


@kernel(types.void(RULEBOOK, BYTES, TREE))
def plant(rulebook: Any, root: Any, tree: Any) -> None:
    """Makes the tree nothing but its root."""
    node = tree.nodes[0]
    node.total, node.action, node.visits, node.first, node.count = 0.0, -1, 0, 0, 0
    node.prior, node.value = 1.0, 0.0
    node.mover = open_rules(rulebook).player(state_ptr(root))
    tree.used[0] = 1


@kernel(types.int64(RULEBOOK, types.uint8[:, ::1], BYTES, TREE))
def find_node(rulebook: Any, stack: Any, target: Any, tree: Any) -> int:
    """The node of a state, not far below the root; -1 where it isn't in the tree or was never visited.

    stack [depth, bytes]: the root's state in the first row, and room for as many plies as are looked at.
    """
    rules, nodes = open_rules(rulebook), tree.nodes
    deepest = len(stack) - 1
    at = np.zeros(deepest + 1, dtype=np.int64)  # [depth] the node
    child = np.zeros(deepest + 1, dtype=np.int64)  # [depth] which of its children comes next
    depth = 0
    while depth >= 0:
        if child[depth] == 0 and np.all(stack[depth] == target):
            return at[depth]
        node = nodes[at[depth]]
        if depth == deepest or child[depth] == node.count:
            depth -= 1
            continue
        below_it = node.first + child[depth]
        child[depth] += 1
        if nodes[below_it].visits == 0:
            continue
        stack[depth + 1] = stack[depth]
        rules.apply(state_ptr(stack[depth + 1]), nodes[below_it].action)
        depth += 1
        at[depth], child[depth] = below_it, 0
    return -1


@kernel(types.void(TREE, types.int64))
def cut(tree: Any, root: int) -> None:
    """Keeps what is below a node, which becomes the root, and moves it to the front of the memory.

    Children come after their parents, and new places are never behind old ones, so one pass in order is enough.
    """
    nodes, used = tree.nodes, tree.used[0]
    kept = np.zeros(used, dtype=np.bool_)
    place = np.zeros(used, dtype=np.int32)
    kept[root] = True
    free = 0
    for old in range(root, used):
        if not kept[old]:
            continue
        first, count = nodes[old].first, nodes[old].count
        for child in range(first, first + count):
            kept[child] = True
        place[old] = free
        nodes[free] = nodes[old]
        free += 1
    # Links still are to the old places; children of one node stayed neighbours.
    for node in range(free):
        if nodes[node].count > 0:
            nodes[node].first = place[nodes[node].first]
    tree.used[0] = free
