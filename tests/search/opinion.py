"""The compiled twin of `naive.opinion`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapete.core.contract import open_rules
from tapete.core.evaluator import evaluator


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
