"""Hands that nothing can tell apart any more are one.

Once four fives were claimed in Dudo it only matters whether a player has two fives, two sixes or neither: three classes
instead of twenty-one hands, and most of the tree lies below such claims. Hands of a player of which no terminal below
a node pays different amounts are a class there. Nothing is lost by it: they gain the same whatever both players do, so
one regret serves them all; and the other player meets a class as a whole, so that he can't tell its average strategy
from those of its hands.

What both players' hands are at a node is a grouping. That of a node refines those of all nodes below it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import INT_ROWS, INTS, kernel

LANES = 8  # vectors are padded to a multiple of this, or to half of it
DIGITS = 14  # payoffs that differ behind these are the same
MOST = 256  # hands; with more, all are told apart: to compare them would take longer than it saves


class Groupings(NamedTuple):
    """What the hands of both players are, as kernels take it: `g` is a grouping, `p` a player, `c` a class."""

    of_node: NDArray[np.int32]  # [nodes] its grouping
    label: NDArray[np.int32]  # [g, p, hands of whoever has more] the class of each hand; -1 behind the last
    width: NDArray[np.int64]  # [g, p] how many classes there are, padded
    step: NDArray[np.int32]  # [g of a node, g of a child] the row of `merge`; -1: nothing is merged
    merge: NDArray[np.int32]  # [steps, p, c of the node, padded] the class of the child that has it in it
    ends: NDArray[np.int32]  # [g, leaves] 1: a node of that grouping has a terminal of that kind below it


CUBE = types.int32[:, :, ::1]
GROUPINGS = types.NamedTuple([INTS, CUBE, types.int64[:, ::1], INT_ROWS, CUBE, INT_ROWS], Groupings)


def padded(classes: int) -> int:
    """The length of a vector over so many classes, such that vector code over it has no rest."""
    return 4 if classes <= 4 else -(-classes // LANES) * LANES


def group_hands(
    first: NDArray[np.int32],
    child: NDArray[np.int32],
    shape: tuple[int, int, int],
    payoffs: Callable[[], NDArray[np.float64]],
) -> Groupings:
    """The groupings of a tree.

    `first` and `child` are its edges, `payoffs` of that shape [leaves, hands of 0, hands of 1] what the first player
    gains at each kind of terminal, as if all hands were as likely as any; asked for only if hands are compared.
    """
    kinds, *hands = shape
    known: dict[bytes, int] = {}
    labels: list[NDArray[np.int32]] = []  # [2, hands of whoever has more] each

    def number(parts: Iterator[NDArray[Any]]) -> int:
        """The grouping in which hands are together where all columns of their part are equal: [hands, any] a player."""
        label = np.full((2, max(hands)), -1, dtype=np.int32)
        for p, part in enumerate(parts):
            label[p, : hands[p]] = _by_appearance(part)
        found = known.setdefault(label.tobytes(), len(labels))
        if found == len(labels):
            labels.append(label)
        return found

    def join(a: int, b: int) -> int:
        return number(np.stack([labels[a][p], labels[b][p]], axis=1)[: hands[p]] for p in range(2))

    if max(hands) > MOST:
        leaves = [number(np.arange(n)[:, None] for n in hands)] * kinds
    else:
        near = np.round(payoffs(), DIGITS) + 0.0  # so that there is one zero
        leaves = [number(iter((matrix, matrix.T))) for matrix in near]
    of_leaf, of_node = np.array(leaves, dtype=np.int32), np.full(len(first) - 1, -1, dtype=np.int32)
    table = np.full((len(labels), len(labels)), -1, dtype=np.int32)  # what two groupings are together
    stopped = np.array([len(of_node) - 1, 0, 0], dtype=np.int32)
    while not _join_up(first, child, of_leaf, table, of_node, stopped):
        a, b = int(stopped[1]), int(stopped[2])
        both = join(a, b)
        table = np.pad(table, (0, len(labels) - len(table)), constant_values=-1)
        table[a, b] = table[b, a] = both
    meet, ends = (np.zeros((len(labels), n), dtype=np.int32) for n in (len(labels), kinds))
    _meet(first, child, of_node, meet, ends)
    return _laid_out(np.stack(labels), of_node, meet > 0, ends)


def _by_appearance(rows: NDArray[Any]) -> NDArray[np.int32]:
    """Which rows are equal: each has the number of the first that is, numbers without gaps."""
    _, at, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(at)).astype(np.int32)[inverse.ravel()]


def _laid_out(
    label: NDArray[np.int32], of_node: NDArray[np.int32], meet: NDArray[np.bool_], ends: NDArray[np.int32]
) -> Groupings:
    """All that kernels want to know; `meet` tells which groupings a node and its child have."""
    counts = label.max(axis=2) + 1
    width = np.array([[padded(int(n)) for n in row] for row in counts], dtype=np.int64)
    step = np.full(meet.shape, -1, dtype=np.int32)
    rows: list[NDArray[np.int32]] = []
    for a, b in np.argwhere(meet & ~np.eye(len(label), dtype=bool)).tolist():
        step[a, b] = len(rows)
        row = np.empty((2, int(width.max())), dtype=np.int32)
        for p in range(2):
            hands = label[a, p] >= 0
            row[p] = width[b, p] - 1
            row[p, label[a, p][hands]] = label[b, p][hands]
        rows.append(row)
    merge = np.stack(rows) if rows else np.zeros((0, 2, int(width.max())), dtype=np.int32)
    return Groupings(of_node, label, width, step, merge, ends)


@kernel(types.boolean(INTS, INTS, INTS, INT_ROWS, INTS, INTS))
def _join_up(first: Any, child: Any, of_leaf: Any, table: Any, of_node: Any, stopped: Any) -> bool:
    """Fills in the groupings of nodes, from the last to the first; false where two meet of which the table has nothing.

    `stopped` are then the node and the two.
    """
    for node in range(stopped[0], -1, -1):
        found = -1
        for edge in range(first[node], first[node + 1]):
            below = of_node[child[edge]] if child[edge] >= 0 else of_leaf[~child[edge]]
            if found < 0 or found == below:
                found = below
            elif table[found, below] < 0:
                stopped[0], stopped[1], stopped[2] = node, found, below
                return False
            else:
                found = table[found, below]
        of_node[node] = found
    return True


@kernel(types.void(INTS, INTS, INTS, INT_ROWS, INT_ROWS))
def _meet(first: Any, child: Any, of_node: Any, meet: Any, ends: Any) -> None:
    """Marks the groupings of all nodes and their children, and those of all nodes and the terminals below them."""
    for node in range(len(of_node)):
        for edge in range(first[node], first[node + 1]):
            if child[edge] >= 0:
                meet[of_node[node], of_node[child[edge]]] = 1
            else:
                ends[of_node[node], ~child[edge]] = 1
