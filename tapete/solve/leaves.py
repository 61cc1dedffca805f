"""The ends of a public tree: what every hand of one player gains there against every hand of the other."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import DOUBLE_ROWS, DOUBLES, FLOAT_ROWS, FLOATS, LONGS, ahead, first_of, helper, kernel
from tapete.core.errors import TapeteError
from tapete.solve.classes import Groupings

LONG_ROWS = types.int64[:, ::1]
LARGE = 64  # hands; from here on it is worth asking whether it only matters whose hand is higher


class Leaves(NamedTuple):
    """What a player gains at each kind of terminal, as the nodes above it tell hands apart."""

    dense: NDArray[Any]  # matrices one after another, [classes of the other, own classes (padded)] each
    place: NDArray[np.int64]  # [groupings, leaves] where the matrix begins
    classes: NDArray[np.int64]  # [groupings] of the other
    ordered: NDArray[Any]  # [leaves, 3] where it only matters whose hand is higher: his is lower, equal, higher

    @classmethod
    def of(cls, payoffs: NDArray[np.float64], groupings: Groupings) -> tuple[Leaves, Leaves]:
        """Both players', from what the first gains [leaves, his hands, hands of the second], chance left out."""
        kinds, rows, columns = payoffs.shape
        ordered = np.zeros((kinds, 3))
        if rows == columns >= LARGE and len(groupings.width) == 1 and _read_ordered(payoffs, ordered):
            nothing = (np.zeros(0), np.zeros((1, kinds), dtype=np.int64), np.zeros(1, dtype=np.int64))
            return cls(*nothing, ordered), cls(*nothing, -ordered[:, ::-1].copy())
        second = cls._dense(-payoffs, groupings, 1)
        return cls._dense(payoffs.transpose(0, 2, 1), groupings, 0), second

    @classmethod
    def _dense(cls, payoffs: NDArray[np.float64], groupings: Groupings, me: int) -> Leaves:
        """One player's, from his payoffs [leaves, hands of the other, his hands]."""
        classes = groupings.label.max(axis=2).astype(np.int64) + 1  # [groupings, players]
        place = np.zeros(groupings.ends.shape, dtype=np.int64)
        matrices: list[NDArray[np.float64]] = []
        size = 0
        for g, leaf in np.argwhere(groupings.ends).tolist():
            mine, theirs = (groupings.label[g, p, : payoffs.shape[2 - (p != me)]] for p in (me, 1 - me))
            matrix = np.zeros((classes[g, 1 - me], groupings.width[g, me]))
            one_of_each = np.ix_(*(np.unique(label, return_index=True)[1] for label in (theirs, mine)))
            matrix[:, : classes[g, me]] = payoffs[leaf][one_of_each]
            if (matrix[np.ix_(theirs, mine)] != payoffs[leaf]).any():
                raise TapeteError("these payoffs tell hands apart that are one in the tree")
            place[g, leaf] = size
            size += matrix.size
            matrices.append(matrix.ravel())
        return cls(np.concatenate(matrices), place, classes[:, 1 - me].copy(), np.zeros((0, 3)))

    def single(self) -> Leaves:
        """The same with half the digits, for learning."""
        return self._replace(dense=self.dense.astype(np.float32), ordered=self.ordered.astype(np.float32))


LEAVES32 = types.NamedTuple([FLOATS, LONG_ROWS, LONGS, FLOAT_ROWS], Leaves)
LEAVES64 = types.NamedTuple([DOUBLES, LONG_ROWS, LONGS, DOUBLE_ROWS], Leaves)


@kernel(types.boolean(types.float64[:, :, ::1], types.float64[:, ::1]))
def _read_ordered(payoffs: Any, out: Any) -> bool:
    """The three numbers of each matrix, above, on and below the diagonal; false where one has more."""
    for leaf in range(len(payoffs)):
        matrix = payoffs[leaf]
        out[leaf, 0], out[leaf, 1], out[leaf, 2] = matrix[0, 1], matrix[0, 0], matrix[1, 0]
        for i in range(len(matrix)):
            for j in range(len(matrix)):
                if matrix[i, j] != out[leaf, 0 if i < j else 1 if i == j else 2]:
                    return False
    return True


@helper
def gain_at(leaves: Any, leaf: int, grouping: int, theirs: Any, others: int, width: int, out: Any) -> None:
    """What each of the player's hands gains at a terminal, the other's hands being as likely as `theirs` [others].

    Both are told apart as in that grouping, the one of the node above.
    """
    if len(leaves.ordered) > 0:
        lower, equal, higher = leaves.ordered[leaf, 0], leaves.ordered[leaf, 1], leaves.ordered[leaf, 2]
        below, above = theirs[0] * 0, theirs[0] * 0
        for h in range(others):
            above += theirs[h]
        for h in range(others):
            above -= theirs[h]
            out[h] = lower * above + equal * theirs[h] + higher * below
            below += theirs[h]
        return
    for h in range(width):
        out[h] = 0
    matrix = ahead(first_of(leaves.dense), leaves.place[grouping, leaf])
    for o in range(leaves.classes[grouping]):
        reach = theirs[o]
        row = ahead(matrix, o * width)
        for h in range(width):
            out[h] += reach * row[h]
