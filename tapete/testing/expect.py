"""Failing with a message, and the statistics that tell whether two ways to draw are one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, hypergeom

from tapete.core.game import State

SIGNIFICANCE = 1e-6
CATEGORIES = 8  # values of a number that are told apart; of more, the commonest, and
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)  # how many are above these


class BrokenContract(AssertionError):
    """A game that does not do what the contract says."""


def expect(condition: bool, message: str, state: State | None = None) -> None:
    """Fails with a message and the moves that led there."""
    if not condition:
        raise BrokenContract(message + (f"\n  in: {moves(state)}" if state is not None else ""))


def moves(state: State) -> str:
    """The moves of a state; in a game that can't even write them, their numbers."""
    try:
        return str(state) if state.history is not None else f"a world of {state.game}"
    except Exception:
        return f"{state.game}, actions {state.history}"


def expect_frequencies(observed: Sequence[int], probs: Sequence[float], what: str, state: State) -> None:
    """Pearson's test, cells with less than five expected put together."""
    total = sum(observed)
    cells: list[tuple[float, float]] = []
    rest_seen = rest_due = 0.0
    for seen, prob in zip(observed, probs, strict=True):
        if total * prob >= 5:
            cells.append((seen, total * prob))
        else:
            rest_seen, rest_due = rest_seen + seen, rest_due + total * prob
    if rest_due >= 5:
        cells.append((rest_seen, rest_due))
    if len(cells) < 2:
        return
    statistic = sum((seen - due) ** 2 / due for seen, due in cells)
    p = float(chi2.sf(statistic, len(cells) - 1))
    expect(
        p > SIGNIFICANCE, f"{what} has the wrong frequencies (chi-square p = {p:.2g} over {len(cells)} cells)", state
    )


def least_alike(ours: NDArray[np.float32], theirs: NDArray[np.float32]) -> tuple[float, str, int]:
    """The column in which two samples of rows differ most, [n, columns] and [m, columns].

    Returns (p, what differs, column): how likely a difference as large is by accident in any of the columns. That is
    Fisher's exact test for each of the commonest values of a column, and for being above its quantiles, times the
    number of tests.
    """
    n, both = len(ours), np.concatenate([ours, theirs])
    varies, is_yes_or_no = (both != both[0]).any(axis=0), ((both == 0) | (both == 1)).all(axis=0)
    columns = np.flatnonzero(varies & is_yes_or_no).tolist()  # of each test: the column,
    marks = list(both.T[columns] == 1)  # the rows that are marked,
    values = ["is 1"] * len(columns)  # and why
    for column in np.flatnonzero(varies & ~is_yes_or_no):
        cells = both[:, column]
        found, counts = np.unique(cells, return_counts=True)
        commonest = found[np.argsort(-counts, kind="stable")[:CATEGORIES]]
        steps = np.quantile(cells, QUANTILES) if len(found) > CATEGORIES else []
        marks += [cells == value for value in commonest] + [cells > step for step in steps]
        values += [f"is {value:g}" for value in commonest] + [f"is above {step:g}" for step in steps]
        columns += [int(column)] * (len(commonest) + len(steps))
    if not marks:
        return 1.0, "", 0
    marked = np.array(marks)  # [tests, n + m]
    first, total = marked[:, :n].sum(axis=1), marked.sum(axis=1)
    low = hypergeom.cdf(first, len(both), total, n)
    high = hypergeom.sf(first - 1, len(both), total, n)
    p = np.minimum(1.0, 2 * np.minimum(low, high) * len(marked))
    worst = int(p.argmin())
    shares = first[worst] / n, (total[worst] - first[worst]) / len(theirs)
    return float(p[worst]), f"{values[worst]} in {shares[0]:.0%} of them, in {shares[1]:.0%} of its own", columns[worst]
