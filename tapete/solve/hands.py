"""Vectors over private hands: what the walks through a public tree do with a whole vector at a time.

A vector has a number for every class of hands that can still be told apart (`classes.py`). The helpers take pointers.
`width` is a number of classes, padded, so that every loop becomes vector code without a rest; a block [actions, width]
has a vector for each action of a node. `total` is a vector [width] to work in.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import DOUBLES, FLOATS, LONGS, ahead, helper
from tapete.solve.regrets import TINY, eagerness


class Room(NamedTuple):
    """Room for a walk by one player, level after level in flat arrays; inside of a kernel, pointers to them.

    A level is a node on the way from the root of the walk. The arrays are all float32 or all float64.
    """

    mine: NDArray[
        Any
    ]  # [levels + 1, own classes] how likely the player comes there with each class of hands, its deal counted in
    theirs: NDArray[Any]  # [levels + 1, classes of the other] the same of the other player
    plan: NDArray[Any]  # [levels, actions, classes of whoever has more] the strategy of who moves
    gains: NDArray[Any]  # [levels, actions, own classes] what each action is worth to one hand of them
    total: NDArray[Any]  # [classes of whoever has more] what the node that is left is worth; room for sums
    node: NDArray[np.int64]  # [levels]
    tried: NDArray[np.int64]  # [levels] how many of its actions were tried
    my_row: NDArray[np.int64]  # [levels + 1] where in `mine` it stands: who didn't move is as likely there as before
    their_row: NDArray[np.int64]  # [levels + 1]

    @classmethod
    def of(cls, levels: int, actions: int, widths: tuple[int, int], dtype: Any) -> Room:
        """For so many decisions in a row, of so many actions at most; `widths` are the largest, his and the other's."""
        own, others = widths
        sizes = ((levels + 1) * own, (levels + 1) * others, levels * actions * max(widths), levels * actions * own)
        vectors = [np.empty(size, dtype=dtype) for size in (*sizes, max(widths))]
        return cls(*vectors, *(np.zeros(n, dtype=np.int64) for n in (levels, levels, levels + 1, levels + 1)))


ROOM32 = types.NamedTuple([FLOATS] * 5 + [LONGS] * 4, Room)
ROOM64 = types.NamedTuple([DOUBLES] * 5 + [LONGS] * 4, Room)


@helper
def match_regrets(regrets: Any, gains: Any, predictive: bool, actions: int, width: int, total: Any, out: Any) -> None:
    """Regret matching for every hand at a node: the strategy [actions, width]."""
    for h in range(width):
        total[h] = 0
    for a in range(actions):
        r, o = ahead(regrets, a * width), ahead(out, a * width)
        if predictive:
            g = ahead(gains, a * width)
            for h in range(width):
                eager = eagerness(r[h], g[h])
                o[h] = eager
                total[h] += eager
        else:
            for h in range(width):
                eager = eagerness(r[h], np.float32(0))
                o[h] = eager
                total[h] += eager
    share(actions, width, total, out, np.float32(1))


@helper
def share(actions: int, width: int, total: Any, out: Any, one: Any) -> None:
    """Divides by the total, hand by hand; where that is zero all actions are as likely. `one` tells the precision."""
    even = one / actions
    for h in range(width):
        total[h] = one / total[h] if total[h] > TINY else one * 0
    for a in range(actions):
        o = ahead(out, a * width)
        for h in range(width):
            o[h] = o[h] * total[h] if total[h] > 0 else even


@helper
def leave_out(actions: int, width: int, least: float, total: Any, out: Any) -> None:
    """Takes moves out of a strategy that are played more rarely than that, the likeliest never."""
    for h in range(width):
        most = 0.0
        for a in range(actions):
            most = max(most, out[a * width + h])
        for a in range(actions):
            if out[a * width + h] < min(least, most):
                out[a * width + h] = 0
    add_up(out, actions, width, total)
    share(actions, width, total, out, 1.0)


@helper
def rounded_average(sums: Any, actions: int, width: int, least: float, total: Any, out: Any) -> None:
    """The average strategy at a node, by the sums of all strategies, as a file has it: [actions, width]."""
    for i in range(actions * width):
        out[i] = sums[i]
    add_up(out, actions, width, total)
    share(actions, width, total, out, 1.0)
    if least > 0:
        leave_out(actions, width, least, total, out)
    for i in range(actions * width):
        out[i] = np.float32(out[i])


@helper
def average(sums: Any, actions: int, width: int, least: float, total: Any, out: Any) -> None:
    """The same, and nothing left of the rounding: a proof is one for the strategy in the file."""
    rounded_average(sums, actions, width, least, total, out)
    add_up(out, actions, width, total)
    share(actions, width, total, out, 1.0)


@helper
def multiply(x: Any, y: Any, width: int, out: Any) -> None:
    """The products of two vectors; the tiniest are zero, since the processor is slow with them."""
    for h in range(width):
        product = x[h] * y[h]
        out[h] = product if product > TINY else product * 0


@helper
def multiply_merged(x: Any, y: Any, width: int, into: Any, out: Any, fewer: int) -> None:
    """The same, added up by the classes that those of the vectors are part of: `into` [width] numbers below `fewer`."""
    for h in range(fewer):
        out[h] = 0
    for h in range(width):
        product = x[h] * y[h]
        out[into[h]] += product if product > TINY else product * 0


@helper
def merge(x: Any, width: int, into: Any, out: Any, fewer: int) -> None:
    """How likely classes are of which those of `x` are parts."""
    for h in range(fewer):
        out[h] = 0
    for h in range(width):
        out[into[h]] += x[h]


@helper
def spread(x: Any, into: Any, width: int, out: Any) -> None:
    """What classes are worth that are parts of those of `x`."""
    for h in range(width):
        out[h] = x[into[h]]


@helper
def add_up(block: Any, actions: int, width: int, out: Any) -> None:
    """The sum over actions: what a node of the other player is worth, by what its actions are."""
    for h in range(width):
        out[h] = 0
    for a in range(actions):
        g = ahead(block, a * width)
        for h in range(width):
            out[h] += g[h]


@helper
def mean(gains: Any, strategy: Any, actions: int, width: int, out: Any) -> None:
    """What a node of the player's own is worth if he plays that strategy."""
    for h in range(width):
        out[h] = 0
    for a in range(actions):
        g, s = ahead(gains, a * width), ahead(strategy, a * width)
        for h in range(width):
            out[h] += g[h] * s[h]


@helper
def most(gains: Any, actions: int, width: int, out: Any) -> None:
    """What a node of the player's own is worth if he plays the best action with every hand."""
    for h in range(width):
        out[h] = gains[h]
    for a in range(1, actions):
        g = ahead(gains, a * width)
        for h in range(width):
            out[h] = max(out[h], g[h])
