"""Weaker versions of a strategy, weaker as people are: who forgets, who doesn't look at the score, who never bluffs.

A table of the strategy has an axis for each thing that is looked at (`abstraction.py`). Who forgets one plays the
average over it; who is honest bets less on hands that are not worth it. Nothing is drawn at random.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tapete.solve.truco.abstraction import AXES, tables

Probs = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class Habits:
    """How somebody plays who is not at his best."""

    forgets: tuple[str, ...] = ()  # axes that he doesn't look at
    honesty: float = 0.0  # the share of his bets on poor hands that he leaves out
    curiosity: float = 0.0  # the share of the calls that he should decline and wants to see instead


LEVELS = {
    1: Habits(forgets=("look", "end", "mine", "his", "worth"), honesty=1.0, curiosity=0.9),
    2: Habits(forgets=("look", "end", "mine", "his"), honesty=0.9, curiosity=0.25),
    3: Habits(forgets=("look", "end"), honesty=0.7, curiosity=0.15),
    4: Habits(forgets=("look", "end"), honesty=0.4),
    5: Habits(),
}


def weakened(probs: Probs, level: int) -> Probs:
    """The strategy as somebody of that level plays it."""
    habits = LEVELS[level]
    changed = probs.copy()
    for name, table in tables(changed).items():
        names = [axis for axis, _ in AXES[name][0]]
        if "level" not in names:  # which card to play, everybody sees
            continue
        for axis in habits.forgets:
            if axis in names:
                table[:] = _without(table, names.index(axis))
        is_call = name.startswith(("call", "bet"))
        _be_honest(table, names.index("envido" if "envido" in names else "level"), habits.honesty, is_call=is_call)
        if not is_call:
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
