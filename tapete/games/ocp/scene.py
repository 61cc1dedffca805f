"""The table of one-card poker: a card each, and what lies in the pot."""

from collections.abc import Iterator
from typing import Any

from tapete.core.scene import Note, Part, Place, Score, Things
from tapete.core.spec import Spec
from tapete.games.ocp.notation import card_name, is_showdown, line_text


def parts(spec: Spec, s: Any, seat: int | None) -> Iterator[Part]:
    """Cards, bets and the moves so far."""
    line, moves = s["line"][: s["turns"]], line_text(s)
    for owner in range(2):
        if s["card"][owner] >= 0:
            is_open = seat in (owner, None) or is_showdown(moves)
            face = card_name(s["cards"], s["card"][owner]) if is_open else ""
            yield Things(name="card", kind="number", faces=(face,), owner=owner)
    yield Score(name="in the pot", values=tuple(1.0 + float(sum(line[owner::2])) for owner in range(2)))
    yield Note(name="moves", text=moves)


def place(spec: Spec, s: Any, action: int) -> Place | None:
    """Both moves are buttons."""
    return None
