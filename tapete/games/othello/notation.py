"""Squares are written by column and row, `a1` in the top left corner; the other move is `pass`.

A position is written row by row from the top, X a black disc, O a white one, - an empty square, then who is to move.
"""

from typing import Any, NamedTuple

from tapete.core.errors import TapeteError
from tapete.core.spec import Spec

COLOURS = ("black", "white")  # by seat
SIGNS = "XO"  # likewise
EMPTY = "-"
PASS = "pass"


class Position(NamedTuple):
    """Where the discs lie, as masks with a bit a square, row by row from the lowest; and the seat to move."""

    black: int
    white: int
    mover: int


def start_position(size: int) -> str:
    """The usual start: two discs each in the middle, crosswise, and black moves."""
    above = size * (size // 2 - 1) + size // 2 - 1  # squares before the first of the four in the middle
    between = EMPTY * (size - 2)
    return f"{EMPTY * above}OX{between}XO{EMPTY * above} X"


def read_position(size: int, text: str) -> Position:
    """The position that a text tells; spaces don't matter, nor does the case.

    >>> read_position(4, "---- -OX- -XO- ---- X")
    Position(black=576, white=1056, mover=0)
    """
    signs = "".join(text.upper().split())
    squares, mover = signs[:-1], signs[-1:]
    if len(squares) != size * size or not set(squares) <= {*SIGNS, EMPTY} or mover not in SIGNS:
        raise TapeteError(
            f"a position is {size * size} squares of X, O and -, and X or O for who is to move, not {text!r}"
        )
    middle = start_position(size)
    if any(square == EMPTY and usual != EMPTY for square, usual in zip(squares, middle, strict=False)):
        raise TapeteError(f"the four squares in the middle always have discs on them, but not in {text!r}")
    black, white = (sum(1 << i for i, square in enumerate(squares) if square == sign) for sign in SIGNS)
    return Position(black, white, SIGNS.index(mover))


def cells(s: Any, names: tuple[str, str, str]) -> list[str]:
    """The squares row by row, each as the name of black, of white, or of nobody."""
    size = int(s["size"])
    black, white = map(int, s["discs"])
    return [names[0] if black >> i & 1 else names[1] if white >> i & 1 else names[2] for i in range(size * size)]


def write_position(s: Any) -> str:
    """The position as `read_position` reads it: the squares, a space, and who is to move."""
    return f"{''.join(cells(s, (*SIGNS, EMPTY)))} {SIGNS[s['mover']]}"


def write(spec: Spec, s: Any, action: int) -> str:
    """A square, or `pass`."""
    row, column = divmod(action, int(s["size"]))
    return PASS if row == s["size"] else f"{'abcdefgh'[column]}{row + 1}"


def describe(spec: Spec, s: Any, seat: int) -> str:
    """The position, which is all there is, and the move that led to it."""
    last = "none" if s["last"] < 0 else write(spec, s, int(s["last"]))
    over = ", game over" if s["over"] else ""
    return f"seat {seat} ({COLOURS[seat]}), {write_position(s)}, last move {last}{over}"
