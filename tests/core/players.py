"""Small compiled players for tests: what they do can be worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapete.core.contract import open_rules
from tapete.core.evaluator import Evaluator, evaluator, longs_at


@evaluator
def _index(
    rulebook: Any, state: Any, seat: int, legal: Any, n: int, model: Any, rng: Any, values: Any, priors: Any
) -> None:
    """The move at an index of the legal ones, counted from the end where it is negative."""
    wanted = longs_at(model[0])[0]
    chosen = min(wanted, n - 1) if wanted >= 0 else max(n + wanted, 0)
    for i in range(n):
        priors[i] = 1.0 if i == chosen else 0.0


@evaluator
def _by_knowledge(
    rulebook: Any, state: Any, seat: int, legal: Any, n: int, model: Any, rng: Any, values: Any, priors: Any
) -> None:
    """Probabilities proportional to 1, 2, ..., n, turned round by what the seat knows."""
    turn = np.int64(open_rules(rulebook).infoset(state, seat) & np.uint64(1023))
    for i in range(n):
        priors[i] = (1.0 + (i + turn) % n) / (0.5 * n * (n + 1))


@evaluator
def _peeking(
    rulebook: Any, state: Any, seat: int, legal: Any, n: int, model: Any, rng: Any, values: Any, priors: Any
) -> None:
    """What no player may do: looks at what the next seat knows."""
    turn = np.int64(open_rules(rulebook).infoset(state, 1 - seat) & np.uint64(1023))
    for i in range(n):
        priors[i] = 1.0 if i == turn % n else 0.0


@evaluator
def _shouting(
    rulebook: Any, state: Any, seat: int, legal: Any, n: int, model: Any, rng: Any, values: Any, priors: Any
) -> None:
    """Says of every move that it is the one."""
    for i in range(n):
        priors[i] = 1.0


@evaluator
def _spoiling(
    rulebook: Any, state: Any, seat: int, legal: Any, n: int, model: Any, rng: Any, values: Any, priors: Any
) -> None:
    """Tries a move out on the state itself."""
    open_rules(rulebook).apply(state, legal[0])
    for i in range(n):
        priors[i] = 1.0 / n


def stubborn(index: int) -> Evaluator:
    """Always makes the move at this index."""
    return Evaluator(_index, (np.array([index]),), priors=True, values=False)


def first_move() -> Evaluator:
    return stubborn(0)


def last_move() -> Evaluator:
    return stubborn(-1)


def knowing() -> Evaluator:
    """Plays by its information set."""
    return Evaluator(_by_knowledge, priors=True, values=False)


def peeking() -> Evaluator:
    return Evaluator(_peeking, priors=True, values=False)


def shouting() -> Evaluator:
    return Evaluator(_shouting, priors=True, values=False)


def spoiling() -> Evaluator:
    return Evaluator(_spoiling, priors=True, values=False)
