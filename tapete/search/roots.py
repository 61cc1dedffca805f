"""What the roots of several trees say together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from tapete.core import Thought

Tried = tuple[int, int, float, float]  # a move at a root: action, visits, payoffs of the mover added up, prior


def conclude(legal: list[int], roots: Iterable[Iterable[Tried]], line: Callable[[int], tuple[int, ...]]) -> Thought:
    """Adds the roots up; the move is the one tried most often, of those the best, and of those the likeliest.

    roots: the moves at the root of each tree; the prior is 0 where moves are not judged before they are tried.
    line: tells how play may go on, beginning with the move that was decided on.
    """
    visits, totals, priors = dict.fromkeys(legal, 0), dict.fromkeys(legal, 0.0), dict.fromkeys(legal, 0.0)
    for root in roots:
        for action, n, total, prior in root:
            visits[action] += n
            totals[action] += total
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
