"""The table of Othello: the board and how many discs each has on it."""

from collections.abc import Iterator
from typing import Any

from tapete.core.scene import Board, Note, Part, Place, Score
from tapete.core.spec import Spec
from tapete.games.othello.notation import COLOURS, PASS, cells, write

BOARD = "board"


def parts(spec: Spec, s: Any, seat: int | None) -> Iterator[Part]:
    """The board with the square of the last disc, the count, and what is to be said."""
    size = int(s["size"])
    squares = tuple(cells(s, (*COLOURS, "")))
    yield Board(
        name=BOARD,
        kind="disc",
        rows=tuple("12345678"[:size]),
        columns=tuple("abcdefgh"[:size]),
        cells=squares,
        last=int(s["last"]) if 0 <= s["last"] < size * size else None,
    )
    yield Score(name="discs", values=tuple(float(squares.count(colour)) for colour in COLOURS))
    yield Note(name="turn", text=_turn(spec, s))


def _turn(spec: Spec, s: Any) -> str:
    """Whose turn it is, why, and what he has to do."""
    if s["over"]:
        return "neither can move: the game is over"
    mover, other = f"{COLOURS[s['mover']]} (seat {s['mover']})", COLOURS[1 - s["mover"]]
    if s["legal"] == 0:
        return f"{mover} can only pass"
    passed = s["last"] >= 0 and write(spec, s, int(s["last"])) == PASS
    return f"{other} passed, {mover} to move again" if passed else f"{mover} to move"


def place(spec: Spec, s: Any, action: int) -> Place | None:
    """A square of the board; a pass is a button."""
    return Place(part=BOARD, index=action) if action < s["size"] ** 2 else None
