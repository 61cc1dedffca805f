"""The ends of a public tree: what every hand of one player gains there against every hand of the other."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import FLOAT_ROWS, first_of, helper, kernel

LARGE = 64  # hands; from here on it is worth asking whether it only matters whose hand is higher


class Leaves(NamedTuple):
    """What a player gains at each kind of terminal, chance counted in."""

    dense: NDArray[Any]  # [leaves, hands of the other, hands of his own (padded)]; empty where `ordered` serves
    ordered: NDArray[Any]  # [leaves, 3] where it only matters whose hand is higher: his is lower, equal, higher

    @classmethod
    def of(cls, payoffs: NDArray[np.float64], widths: tuple[int, int]) -> tuple[Leaves, Leaves]:
        """Both players', from what the first gains [leaves, his hands, hands of the second]."""
        kinds, rows, columns = payoffs.shape
        ordered = np.zeros((kinds, 3))
        if rows == columns >= LARGE and _read_ordered(payoffs, ordered):
            nothing = np.zeros((0, 0, 0))
            return cls(nothing, ordered), cls(nothing, -ordered[:, ::-1].copy())
        first, second = np.zeros((kinds, columns, widths[0])), np.zeros((kinds, rows, widths[1]))
        first[:, :, :rows] = payoffs.transpose(0, 2, 1)
        second[:, :, :columns] = -payoffs
        nothing = np.zeros((0, 3))
        return cls(first, nothing), cls(second, nothing)

    def single(self) -> Leaves:
        """The same with half the digits, for learning."""
        return Leaves(self.dense.astype(np.float32), self.ordered.astype(np.float32))


LEAVES32 = types.NamedTuple([types.float32[:, :, ::1], FLOAT_ROWS], Leaves)
LEAVES64 = types.NamedTuple([types.float64[:, :, ::1], types.float64[:, ::1]], Leaves)


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
def gain_at(leaves: Any, leaf: int, theirs: Any, others: int, width: int, out: Any) -> None:
    """What each of the player's hands gains at a terminal, the other's hands being as likely as `theirs` [others]."""
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
    for o in range(leaves.dense.shape[1]):
        reach = theirs[o]
        row = first_of(leaves.dense[leaf, o])
        for h in range(width):
            out[h] += reach * row[h]
