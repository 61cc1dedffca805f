"""Weaker versions of a strategy, weaker as people are: who forgets, who doesn't look at the score, who never bluffs.

A table of the strategy has an axis for each thing that is looked at (`abstraction.py`). Who forgets one plays the
average over it; who is honest bets less on hands that are not worth it. Nothing is drawn at random.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tapete.solve.truco.abstraction import AXES, tables
from tapete.solve.truco.blueprint import STEPS, in_steps
from tapete.solve.truco.knowledge import PAIRS, TRIPLES

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


def _poorer_half(holdings: list[tuple[int, ...]]) -> NDArray[np.bool_]:
    strengths = np.sum(holdings, axis=1)
    return np.asarray(strengths < np.median(strengths))


POOR = {len(holdings): _poorer_half(holdings) for holdings in (TRIPLES, PAIRS)}  # [cards] of holdings of three, of two


def weakened(steps: NDArray[np.uint8], level: int) -> NDArray[np.uint8]:
    """The strategy, in 255ths, as somebody of that level plays it."""
    habits = LEVELS[level]
    if habits == Habits():
        return steps
    changed = (steps / np.float32(STEPS)).astype(np.float32)
    for name, table in tables(changed).items():
        names = [axis for axis, _ in AXES[name][0]]
        if name.startswith(("lead", "follow")):  # which card to play, everybody sees
            continue
        for axis in habits.forgets:
            if axis in names:
                table[:] = _without(table, names.index(axis))
        is_call = name.startswith(("call", "bet"))
        measure = next(axis for axis in ("envido", "level", "cards") if axis in names)
        hands = np.moveaxis(table, names.index(measure), 0)
        poor = POOR[len(hands)] if measure == "cards" else slice(len(hands) // 2)
        hands[poor] = _honest(hands[poor], habits.honesty, is_call=is_call)
        if not is_call:
            seen = table[..., 0] * habits.curiosity
            table[..., 0] -= seen
            table[..., 1] += seen
    return in_steps(changed)


def _without(table: Probs, axis: int) -> Probs:
    """The average over an axis, of the rows that walks have met; those that they have not met stay empty."""
    total = table.sum(axis=-1, keepdims=True)
    shares = np.divide(table, total, out=np.zeros_like(table), where=total > 0)
    met = (total > 0).sum(axis=axis, keepdims=True)
    return np.broadcast_to(shares.sum(axis=axis, keepdims=True) / np.maximum(met, 1), table.shape)


def _honest(hands: Probs, honesty: float, *, is_call: bool) -> Probs:
    """Without bets, or with fewer: who would have bet goes on, or declines."""
    first, honest = 1 if is_call else 2, hands.copy()  # choices from the first on are bets
    lies = hands[..., first:] * honesty
    honest[..., first:] -= lies
    honest[..., 0] += lies.sum(axis=-1)
    return honest
