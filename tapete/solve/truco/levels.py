"""Weaker versions of a strategy, weaker as people are: who forgets, who doesn't look at the score, who never bluffs.

A table of the strategy has an axis for each thing that is looked at (`rows.py`). Who forgets one plays the average over
it; who is honest bets less on hands that are not worth it. Nothing is drawn at random.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tapete.solve.truco import rows
from tapete.solve.truco.knowledge import FIRST_LEVELS, LATER_LEVELS, LOOKS
from tapete.solve.truco.rows import TABLES

Probs = NDArray[np.float32]

AXES: dict[str, tuple[tuple[str, int], ...]] = {
    "call": (
        ("place", rows.CALL_PLACES),
        ("envido", rows.ENVIDOS),
        ("levels", rows.CALL_LEVELS),
        ("score", rows.SCORES**2),
    ),
    "reply": (
        ("place", 4 * rows.N_CHAINS),
        ("envido", rows.ENVIDOS),
        ("levels", rows.REPLY_LEVELS),
        ("score", rows.SCORES**2),
    ),
    "bet0": (
        ("place", 2),
        ("levels", FIRST_LEVELS),
        ("ends", rows.FIRST_ENDS),
        ("worth", rows.WORTHS),
        ("score", rows.NEAR**2),
    ),
    "answer0": (
        ("place", rows.FIRST_ANSWERS),
        ("levels", FIRST_LEVELS),
        ("ends", rows.FIRST_ENDS),
        ("worth", rows.ASKS),
        ("score", rows.NEAR**2),
    ),
}
for _trick in (1, 2):
    _later = (("levels", LATER_LEVELS), ("looks", LOOKS), ("ends", rows.ENDS))
    AXES[f"bet{_trick}"] = (("place", rows.N_STANDINGS), *_later, ("worth", rows.WORTHS), ("score", rows.NEAR**2))
    AXES[f"answer{_trick}"] = (("place", 2 * rows.N_STANDINGS), *_later, ("worth", rows.ASKS), ("score", rows.NEAR**2))


@dataclass(frozen=True, kw_only=True)
class Habits:
    """How somebody plays who is not at his best."""

    forgets: tuple[str, ...] = ()  # axes that he doesn't look at
    honesty: float = 0.0  # the share of his bets on poor hands that he leaves out
    curiosity: float = 0.0  # the share of the calls that he should decline and wants to see instead


LEVELS = {
    1: Habits(forgets=("looks", "ends", "score", "worth"), honesty=1.0, curiosity=0.5),
    2: Habits(forgets=("looks", "ends", "score"), honesty=0.9, curiosity=0.3),
    3: Habits(forgets=("looks", "ends"), honesty=0.7, curiosity=0.15),
    4: Habits(forgets=("looks",), honesty=0.35),
    5: Habits(),
}


def weakened(probs: Probs, level: int) -> Probs:
    """The strategy as somebody of that level plays it."""
    habits = LEVELS[level]
    changed = probs.copy()
    for name, axes in AXES.items():
        begin, count, width = TABLES[name]
        names = [axis for axis, _ in axes]
        table = changed[begin : begin + count * width].reshape(*(size for _, size in axes), width)
        for axis in habits.forgets:
            if axis in names:
                table[:] = _without(table, names.index(axis))
        good = "envido" if name in ("call", "reply") else "levels"
        _be_honest(table, names.index(good), habits.honesty, is_call=name.startswith(("call", "bet")))
        if not name.startswith(("call", "bet")):
            seen = table[..., 0] * habits.curiosity
            table[..., 0] -= seen
            table[..., 1] += seen
    return changed


def _without(table: Probs, axis: int) -> Probs:
    """The average over an axis, of the rows that walks have met; those that they have not met stay empty."""
    total = table.sum(axis=-1, keepdims=True)
    shares = np.divide(table, total, out=np.zeros_like(table), where=total > 0)
    met = (total > 0).sum(axis=axis, keepdims=True)
    return np.broadcast_to(shares.sum(axis=axis, keepdims=True) / np.maximum(met, 1), table.shape)


def _be_honest(table: Probs, axis: int, honesty: float, *, is_call: bool) -> None:
    """Bets on the poorer half of the hands are left out: who would have bet goes on, or declines."""
    first = 1 if is_call else 2  # choices from here on are bets
    poor = [slice(None)] * (table.ndim - 1)
    poor[axis] = slice(0, table.shape[axis] // 2)
    hands = table[tuple(poor)]
    lies = hands[..., first:] * honesty
    hands[..., first:] -= lies
    hands[..., 0] += lies.sum(axis=-1)
