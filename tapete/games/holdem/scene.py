"""The table of hold'em: two cards a seat, the board, and the chips."""

from collections.abc import Iterator
from typing import Any

from tapete.core.contract import CHANCE, TERMINAL
from tapete.core.scene import Note, Part, Place, Score, Things
from tapete.core.spec import Spec
from tapete.games.holdem import STREETS
from tapete.games.holdem.notation import board_faces, hand_faces, line_text, seats_playing


def parts(spec: Spec, s: Any, seat: int | None) -> Iterator[Part]:
    """Hands, the board, who has paid what, and what staying in costs. A folded hand is only there for its owner."""
    seats = range(s["players"])
    playing = seats_playing(s)
    for owner in seats:
        if owner in playing or seat in (owner, None):
            yield Things(name="hand", kind="french", faces=hand_faces(s, owner, seat), owner=owner)
    yield Things(name="board", kind="french", faces=board_faces(s, seat))
    paid = s["paid"][: s["players"]]
    yield Score(name="bet", values=tuple(float(max(0, chips - s["opening"])) for chips in paid))
    yield Score(name="paid", values=tuple(float(chips) for chips in paid))
    yield Note(name="pot", text=str(int(paid.sum())))
    yield Note(name="street", text=STREETS[s["street"]])
    yield Note(name="button", text=str(0 if s["players"] == 2 else s["players"] - 1))
    folded = [str(owner) for owner in seats if owner not in playing]
    yield Note(name="folded", text=" ".join(folded))
    if s["mover"] not in (CHANCE, TERMINAL):
        yield Note(name="to call", text=str(int(s["price"] - s["paid"][s["mover"]])))
    yield Note(name="moves", text=line_text(s))


def place(spec: Spec, s: Any, action: int) -> Place | None:
    """Every move is a button."""
    return None
