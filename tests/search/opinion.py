"""The compiled twin of `naive.opinion`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tapete.core.contract import open_rules
from tapete.core.evaluator import Evaluator, evaluator, floats_at, longs_at, words_at

WIDTH = 3  # moves that there may be, at most


@evaluator
def opinion(
    rulebook: Any, state: Any, seat: int, legal: Any, n: int, model: Any, rng: Any, values: Any, priors: Any
) -> None:
    rules = open_rules(rulebook)
    value = np.float64(rules.infoset(state, seat) % np.uint64(1024)) / 512 - 1
    values[seat] = value
    values[1 - seat] = -value
    for i in range(n):
        priors[i] = 2.0 ** -min(i + 1, n - 1) if n > 1 else 1.0


@evaluator
def reversed_opinion(
    rulebook: Any, state: Any, seat: int, legal: Any, n: int, model: Any, rng: Any, values: Any, priors: Any
) -> None:
    values[0] = values[1] = 0.0
    for i in range(n):
        priors[i] = 2.0 ** -(n - i)


@evaluator
def written_down(
    rulebook: Any, state: Any, seat: int, legal: Any, n: int, model: Any, rng: Any, values: Any, priors: Any
) -> None:
    """Priors by the key of the information set: how many there are, keys [sets], numbers [sets, WIDTH]."""
    key, count = open_rules(rulebook).infoset(state, seat), longs_at(model[0])[0]
    keys, numbers = words_at(model[1]), floats_at(model[2])
    for i in range(n):
        priors[i] = 1.0 / n
    for row in range(count):
        if keys[row] == key:
            for i in range(n):
                priors[i] = numbers[WIDTH * row + i]


def evaluator_of(table: Mapping[int, Sequence[float]]) -> Evaluator:
    """An evaluator whose priors are in a table, and which has no opinion of states."""
    numbers = np.zeros((len(table), WIDTH), dtype=np.float32)
    for row, shares in enumerate(table.values()):
        numbers[row, : len(shares)] = shares
    arrays = (np.array([len(table)]), np.array(list(table), dtype=np.uint64), numbers)
    return Evaluator(written_down, arrays, priors=True, values=False)
