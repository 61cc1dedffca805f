"""What the roots of several trees say together."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from tapete.core import Thought


def conclude(legal: list[int], roots: Iterable[NDArray[np.void]]) -> Thought:
    """Adds the roots up; the move is the one tried most often, and of those the best.

    A root is an array of its moves, with the fields action, visits and total (payoffs of the mover).
    """
    visits, totals = dict.fromkeys(legal, 0), dict.fromkeys(legal, 0.0)
    for root in roots:
        for move in root:
            visits[int(move["action"])] += int(move["visits"])
            totals[int(move["action"])] += float(move["total"])
    values = {action: totals[action] / n for action, n in visits.items() if n}
    best = max(legal, key=lambda action: (visits[action], values.get(action, -math.inf)))
    return Thought(
        probabilities={action: float(action == best) for action in legal},
        value=values.get(best),
        values=values,
        visits=visits,
        line=(best,),
    )
