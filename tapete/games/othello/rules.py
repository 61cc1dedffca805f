"""Othello on bitboards. Black is seat 0 and moves first; the actions are the squares row by row, and a pass after them.

Who can't lay a disc has to pass, which is a move of its own. When neither can, the game is over at once: the two passes
that would end it are not played.
"""

from typing import Any

import numpy as np
from numba import carray

from tapete.core.compile import helper
from tapete.core.contract import TERMINAL, rule
from tapete.core.rng import mix
from tapete.games.othello.bitboard import ONE, count, legal_squares, lowest, turned

STATE = np.dtype(
    [
        ("discs", "u8", (2,)),  # of each seat, as masks
        ("legal", "u8"),  # where the mover may lay a disc; empty: a pass, or the game is over
        ("public", "u8"),  # running hash of the moves so far
        ("size", "u2"),  # of the board: 4, 6 or 8
        ("mover", "u2"),  # the seat whose turn it is, also when it can't move because the game is over
        ("over", "u2"),
        ("last", "i2"),  # the last action; -1 before the first
    ],
    align=True,
)


@helper
def view(p: Any) -> Any:
    """The record at that address."""
    return carray(p, (1,), STATE)[0]


@helper
def begin_turn(s: Any, mover: Any, own: Any, other: Any) -> None:
    """Hands the turn to a seat with these discs, and finds out what it can do."""
    legal = legal_squares(own, other, s.size)
    s.discs[mover] = own
    s.discs[ONE - mover] = other
    s.mover = mover
    s.legal = legal
    s.over = legal == 0 and legal_squares(other, own, s.size) == 0


@helper
def mask(high: float, low: float) -> Any:
    """A mask that came as two halves."""
    return (np.uint64(high) << np.uint64(32)) | np.uint64(low)


@rule
def start(p: Any, params: Any) -> None:
    s = view(p)
    black, white, mover = mask(params[1], params[2]), mask(params[3], params[4]), np.uint64(params[5])
    s.size = np.uint16(params[0])
    s.public = 0
    s.last = -1
    own, other = (black, white) if mover == 0 else (white, black)
    begin_turn(s, mover, own, other)


@rule
def player(p: Any) -> int:
    s = view(p)
    return TERMINAL if s.over else s.mover


@rule
def actions(p: Any, out: Any) -> int:
    s = view(p)
    squares = s.legal
    if squares == 0:
        out[0] = np.int32(s.size) * np.int32(s.size)
        return 1
    n = count(squares)
    for first in range(0, n, 4):  # by fours, for fewer branches: max_actions is a multiple of 4, so there is room
        for i in range(first, first + 4):
            out[i] = lowest(squares)
            squares &= squares - ONE
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
    mover = np.uint64(s.mover)
    own, other = s.discs[mover], s.discs[ONE - mover]
    if s.legal != 0:  # else the action is a pass
        disc = ONE << np.uint64(action)
        discs = turned(own, other, disc, s.size)
        own |= disc | discs
        other &= ~discs
    s.public = mix(s.public, action)
    s.last = action
    begin_turn(s, ONE - mover, other, own)


@rule
def returns(p: Any, out: Any) -> None:
    s = view(p)
    lead = count(s.discs[0]) - count(s.discs[1]) if s.over else 0
    out[0] = np.sign(lead)
    out[1] = -np.sign(lead)


@rule
def infoset(p: Any, player: int) -> Any:
    return mix(player, view(p).public)


@rule
def observe(p: Any, player: int, out: Any) -> None:
    s = view(p)
    size = np.int64(s.size)
    is_turn = not s.over and s.mover == player
    own, other = s.discs[player], s.discs[1 - player]
    legal = s.legal if is_turn else np.uint64(0)
    for square in range(size * size):
        out[square] = (own >> np.uint64(square)) & ONE
        out[size * size + square] = (other >> np.uint64(square)) & ONE
        out[2 * size * size + square] = (legal >> np.uint64(square)) & ONE
    out[3 * size * size] = is_turn


@rule
def redeal(p: Any, player: int, rng: Any) -> None:
    """Nothing is hidden."""


@rule
def features(p: Any, action: int, out: Any) -> None:
    size = np.int64(view(p).size)
    for i in range(size * size + 1):
        out[i] = i == action
