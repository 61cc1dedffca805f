"""What the roots of several trees say together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from tapete.core import Thought


def conclude(legal: list[int], roots: Iterable[NDArray[np.void]], line: Callable[[int], tuple[int, ...]]) -> Thought:
    """Adds the roots up; the move is the one tried most often, of those the best, and of those the likeliest.

    roots: of each tree the moves, with the fields action, visits and total (payoffs of the mover), and prior where
        moves are judged before they are tried.
    line: tells how play may go on, beginning with the move that was decided on.
    """
    visits, totals, priors = dict.fromkeys(legal, 0), dict.fromkeys(legal, 0.0), dict.fromkeys(legal, 0.0)
    for root in roots:
        actions = root["action"].tolist()
        for action, n, total in zip(actions, root["visits"].tolist(), root["total"].tolist(), strict=True):
            visits[action] += n
            totals[action] += total
        if "prior" in (root.dtype.names or ()):
            for action, prior in zip(actions, root["prior"].tolist(), strict=True):
                priors[action] += prior
    values = {action: totals[action] / n for action, n in visits.items() if n}
    best = max(legal, key=lambda action: (visits[action], values.get(action, -math.inf), priors[action]))
    return Thought(
        probabilities={action: float(action == best) for action in legal},
        value=values.get(best),
        values=values,
        visits=visits,
        line=line(best),
    )
