"""What the roots of several trees say together."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from tapete.core import Thought


def conclude(legal: list[int], roots: Iterable[NDArray[np.void]]) -> Thought:
    """Adds the roots up; the move is the one tried most often, of those the best, and of those the likeliest.

    A root is an array of its moves, with the fields action, visits and total (payoffs of the mover), and prior where
    moves are judged before they are tried.
    """
    visits, totals, priors = dict.fromkeys(legal, 0), dict.fromkeys(legal, 0.0), dict.fromkeys(legal, 0.0)
    for root in roots:
        for move in root:
            visits[int(move["action"])] += int(move["visits"])
            totals[int(move["action"])] += float(move["total"])
            priors[int(move["action"])] += float(move["prior"]) if "prior" in (root.dtype.names or ()) else 0.0
    values = {action: totals[action] / n for action, n in visits.items() if n}
    best = max(legal, key=lambda action: (visits[action], values.get(action, -math.inf), priors[action]))
    return Thought(
        probabilities={action: float(action == best) for action in legal},
        value=values.get(best),
        values=values,
        visits=visits,
        line=(best,),
    )
