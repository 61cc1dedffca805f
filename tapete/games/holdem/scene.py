"""The table of hold'em: two cards a seat, the board, and the chips."""

from collections.abc import Iterator
from typing import Any

from tapete.core.contract import CHANCE, TERMINAL
from tapete.core.scene import Note, Part, Place, Score, Things
from tapete.core.spec import Spec
from tapete.games.holdem import STREETS
from tapete.games.holdem.notation import (
    board_faces,
    card_name,
    hand_faces,
    hand_name,
    moves_of,
    seats_playing,
    winning_five,
)


def parts(spec: Spec, s: Any, seat: int | None) -> Iterator[Part]:
    """Hands, the board, who has paid what, and what staying in costs. A folded hand is only there for its owner."""
    seats = range(s["players"])
    playing = seats_playing(s)
    for owner in seats:
        faces = hand_faces(s, owner, seat) if owner in playing or seat in (owner, None) else ()
        yield Things(name="hand", kind="french", faces=faces, owner=owner)
    yield Things(name="board", kind="french", faces=board_faces(s, seat))
    paid = s["paid"][: s["players"]]
    yield Score(name="bet on this street", values=tuple(float(max(0, chips - s["opening"])) for chips in paid))
    yield Score(name="in the pot", values=tuple(float(chips) for chips in paid))
    yield Note(name="pot", text=str(int(paid.sum())))
    yield Note(name="button", text=f"seat {0 if s['players'] == 2 else s['players'] - 1}")
    if out := [f"seat {owner}" for owner in seats if owner not in playing]:
        yield Note(name="folded", text=", ".join(out))
    if seat is not None and all(hand_faces(s, seat, seat)) and s["dealt"] >= 2 * s["players"]:
        board = [card for card in s["board"] if card >= 0] if all(board_faces(s, seat)) else []
        yield Note(name="your hand", text=hand_name([*s["hole"][seat], *board]), owner=seat)
    if s["mover"] == TERMINAL and s["active"] > 1:
        yield Note(name="won by", text=" ".join(map(card_name, winning_five(s))))
    if s["mover"] not in (CHANCE, TERMINAL):
        yield Note(name="to call", text=str(int(s["price"] - s["paid"][s["mover"]])))
    for street, name in enumerate(STREETS[: s["street"] + 1]):
        yield Note(name=name, text=", ".join(f"seat {mover} {move}" for mover, move in moves_of(s, street)))


def place(spec: Spec, s: Any, action: int) -> Place | None:
    """Every move is a button."""
    return None
