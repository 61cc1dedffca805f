"""A matrix game: seat 0 chooses a row, then seat 1, who can't see it, a column; a table tells what both get."""

from typing import Any

import numpy as np
from numba import carray

from tapete.core.compile import helper
from tapete.core.contract import TERMINAL, rule
from tapete.core.rng import below, mix
from tapete.games.matrix.spec import SHAPE

NOT_CHOSEN = -1

STATE = np.dtype(
    [
        ("shape", "i4", (2,)),  # how many rows, how many columns
        ("choice", "i4", (2,)),  # the row, the column
    ],
    align=True,
)
RECORD = STATE.itemsize // 8  # doubles that the record takes; behind it come the payoffs, [seat, row, column]


@helper
def view(p: Any) -> Any:
    """The record at that address."""
    return carray(p, (1,), STATE)[0]


@helper
def numbers(p: Any, cells: int) -> Any:
    """The whole state as doubles; payoffs begin at RECORD."""
    return carray(p, (RECORD + 2 * cells,), np.float64)


@rule
def start(p: Any, params: Any) -> None:
    s = view(p)
    s.shape[0] = np.int32(params[0])
    s.shape[1] = np.int32(params[1])
    s.choice[0] = s.choice[1] = NOT_CHOSEN
    cells = s.shape[0] * s.shape[1]
    payoffs = numbers(p, cells)
    for i in range(2 * cells):
        payoffs[RECORD + i] = params[SHAPE + i]


@helper
def turn(s: Any) -> int:
    """How many have chosen, which is also who chooses next."""
    return (s.choice[0] != NOT_CHOSEN) + (s.choice[1] != NOT_CHOSEN)


@rule
def player(p: Any) -> int:
    seat = turn(view(p))
    return seat if seat < 2 else TERMINAL


@rule
def actions(p: Any, out: Any) -> int:
    s = view(p)
    n = s.shape[turn(s)]
    for i in range(n):
        out[i] = i
    return n


@rule
def outcomes(p: Any, out: Any, probs: Any) -> int:
    return 0


@rule
def draw(p: Any, rng: Any) -> int:
    return 0


@rule
def apply(p: Any, action: int) -> None:
    s = view(p)
    s.choice[turn(s)] = action


@rule
def returns(p: Any, out: Any) -> None:
    s = view(p)
    out[0] = out[1] = 0.0
    if turn(s) == 2:
        cells = s.shape[0] * s.shape[1]
        payoffs = numbers(p, cells)
        at = RECORD + s.choice[0] * s.shape[1] + s.choice[1]
        out[0] = payoffs[at]
        out[1] = payoffs[at + cells]


@rule
def infoset(p: Any, player: int) -> Any:
    s = view(p)
    key = mix(mix(player, turn(s)), s.choice[player])
    return mix(key, s.choice[1 - player]) if turn(s) == 2 else key


@rule
def observe(p: Any, player: int, out: Any) -> None:
    s = view(p)
    for i in range(4 + max(s.shape[0], s.shape[1])):
        out[i] = 0.0
    out[player] = 1.0
    for seat in range(turn(s)):
        out[2 + seat] = 1.0
    if s.choice[player] != NOT_CHOSEN:
        out[4 + s.choice[player]] = 1.0


@rule
def redeal(p: Any, player: int, rng: Any) -> None:
    s = view(p)
    if player == 1 and turn(s) == 1:  # any row may have been chosen; after the game both are known
        s.choice[0] = below(rng, s.shape[0])


@rule
def features(p: Any, action: int, out: Any) -> None:
    s = view(p)
    for i in range(max(s.shape[0], s.shape[1])):
        out[i] = i == action
