"""Nash equilibria of two-player zero-sum games by linear programming, with HiGHS.

In the sequence form (Koller, Megiddo and von Stengel, 1996) the plans x of the first player and y of the second are
vectors with E x = e and F y = f, and x A y is what the first gains. Against x, the second loses the least that he can:
min over y of x A y, which by duality is the largest f q with F' q <= A' x. So the best x is part of one linear program,
and the best y is what its constraints F' q <= A' x cost. A matrix game is the same with one information set each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.optimize import linprog

from tapete.core.errors import TapeteError
from tapete.solve.matching import checked_payoffs
from tapete.solve.sequence_form import SequenceForm, Treeplex

LIMIT = 200_000  # payoffs; a dense table of so many takes a second
TOLERANCE = 1e-10  # the tightest that HiGHS allows


class Equilibrium(NamedTuple):
    """A value to the first player, and the strategies that make sure of it: mixed ones, or plans."""

    value: float
    x: NDArray[np.float64]
    y: NDArray[np.float64]


def solve_matrix(first: ArrayLike, second: ArrayLike | None = None) -> Equilibrium:
    """An equilibrium of the matrix game in which the first player gets `first`, and the second loses it.

    What the second gets may be given, to be checked: `solve_matrix(*payoffs(game))`.

    >>> solve_matrix([[0, -1, 1], [1, 0, -1], [-1, 1, 0]]).x.round(4).tolist()
    [0.3333, 0.3333, 0.3333]
    """
    gains, losses = checked_payoffs(first, np.negative(first) if second is None else second)
    if (gains != -losses).any():
        raise TapeteError("a linear program needs a zero-sum game: what one gains, the other loses")
    _check_size(gains.size)
    value, x, y = _solve(sparse.csr_array(gains), *(sparse.csr_array(np.ones((1, n))) for n in gains.shape))
    return Equilibrium(value, x / x.sum(), y / y.sum())


def solve_form(form: SequenceForm) -> Equilibrium:
    """An equilibrium of an extensive game, as plans: how likely a player makes all his moves of a sequence."""
    start, column, value = form.payoffs[0]
    _check_size(len(value))
    shape = (form.plexes[0].sequences, form.plexes[1].sequences)
    payoffs = sparse.csr_array((value, column, start), shape=shape)
    return _solve(payoffs, *(_constraints(plex) for plex in form.plexes))


def _check_size(entries: int) -> None:
    if entries > LIMIT:
        raise TapeteError(f"{entries} payoffs are too many for a linear program (at most {LIMIT}); try CFR")


def _constraints(plex: Treeplex) -> sparse.csr_array:
    """[1 + infosets, sequences]: the empty sequence is played; what leads to an information set goes on from it."""
    infosets = 1 + np.arange(len(plex.parent))
    rows = np.concatenate([[0], infosets, np.repeat(infosets, np.diff(plex.first))])
    columns = np.concatenate([[0], plex.parent, np.arange(1, plex.sequences)])
    signs = np.concatenate([[1.0], np.full(len(infosets), -1.0), np.ones(plex.sequences - 1)])
    return sparse.csr_array((signs, (rows, columns)), shape=(len(infosets) + 1, plex.sequences))


def _solve(payoffs: sparse.csr_array, e: sparse.csr_array, f: sparse.csr_array) -> Equilibrium:
    """The program over (x, q): the most of q[0] with F' q <= A' x and E x = (1, 0, ..., 0), as f is the same."""
    sequences, values = payoffs.shape[0], f.shape[0]
    objective = np.zeros(sequences + values)
    objective[sequences] = -1.0
    result = linprog(
        objective,
        A_ub=sparse.hstack([-payoffs.T, f.T], format="csr"),
        b_ub=np.zeros(payoffs.shape[1]),
        A_eq=sparse.hstack([e, sparse.csr_array((e.shape[0], values))], format="csr"),
        b_eq=np.eye(1, e.shape[0])[0],
        bounds=[(0, None)] * sequences + [(None, None)] * values,
        method="highs",
        options={"primal_feasibility_tolerance": TOLERANCE, "dual_feasibility_tolerance": TOLERANCE},
    )
    if not result.success:
        raise TapeteError(f"HiGHS found no equilibrium: {result.message}")
    x, y = result.x[:sequences], -result.ineqlin.marginals
    return Equilibrium(0.0 - float(result.fun), np.maximum(x, 0.0), np.maximum(y, 0.0))
