"""The table of Leduc poker: a card each, one on the board, and the chips."""

from collections.abc import Iterator
from typing import Any

from tapete.core.scene import Note, Part, Place, Score, Things
from tapete.core.spec import Spec
from tapete.games.leduc.notation import ROUNDS, card_name, is_shown, moves_of


def parts(spec: Spec, s: Any, seat: int | None) -> Iterator[Part]:
    """Cards, chips and the moves so far."""
    for owner in range(2):
        if s["card"][owner] >= 0:
            is_open = seat in (owner, None) or is_shown(s)
            face = card_name(s["card"][owner]) if is_open else ""
            yield Things(name="card", kind="french", faces=(face,), owner=owner)
    board = card_name(s["card"][2])
    yield Things(name="board", kind="french", faces=(board,) if board else ())
    yield Score(name="in the pot", values=tuple(float(chips) for chips in s["paid"]))
    for i, name in enumerate(ROUNDS):
        yield Note(name=name, text=" ".join(moves_of(s, i)))


def place(spec: Spec, s: Any, action: int) -> Place | None:
    """Every move is a button."""
    return None
