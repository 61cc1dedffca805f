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
    moves = dict.fromkeys(legal, (0, 0.0, 0.0))  # visits, payoffs, priors
    for root in roots:
        for action, n, total, prior in root:
            others = moves[action]
            moves[action] = (others[0] + n, others[1] + total, others[2] + prior)
    visits, values = {}, {}
    best, most = legal[0], (-1, 0.0, 0.0)
    for action, (n, total, prior) in moves.items():
        visits[action] = n
        value = -math.inf
        if n:
            value = values[action] = total / n
        rank = (n, value, prior)
        if rank > most:
            best, most = action, rank
    probabilities = dict.fromkeys(legal, 0.0)
    probabilities[best] = 1.0
    return Thought(
        probabilities=probabilities,
        value=values.get(best),
        values=values,
        visits=visits,
        line=line(best),
    )
