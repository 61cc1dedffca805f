"""The table of Goofspiel: the prize, everybody's hand and bid, points, and the rounds so far."""

from collections.abc import Iterator
from typing import Any

from tapete.core.scene import Note, Part, Place, Score, Things
from tapete.core.spec import Spec
from tapete.games.goofspiel.notation import PRIZE, SUITS, card_name, cards_of, is_over, result, waits


def hand(s: Any, owner: int) -> int:
    """The cards in a hand; a bid that waits has left it."""
    return int(s["hand"][owner]) & ~(1 << int(s["bid"][owner][s["round"]]) if waits(s, owner) else 0)


def parts(spec: Spec, s: Any, seat: int | None) -> Iterator[Part]:
    """What lies on the table; bids that wait lie face down, and so do hands that nobody can know."""
    prize = "" if is_over(s) or s["prize"][s["round"]] < 0 else card_name(s["prize"][s["round"]], PRIZE)
    yield Things(name="prize", kind="french", faces=(prize,) if prize else ())
    yield Things(name="prizes to come", kind="french", faces=cards_of(s["deck"], PRIZE))
    for owner in range(s["players"]):
        is_own = seat in (owner, None)
        if waits(s, owner):
            face = card_name(s["bid"][owner][s["round"]], SUITS[owner]) if is_own else ""
            yield Things(name="bid", kind="french", faces=(face,), owner=owner)
        faces = cards_of(hand(s, owner), SUITS[owner])
        is_known = is_own or not (s["sealed"] or waits(s, owner))  # the bid that waits would be the missing card
        yield Things(name="hand", kind="french", faces=faces if is_known else ("",) * len(faces), owner=owner)
    yield Score(name="points", values=tuple(float(s["points"][owner]) for owner in range(s["players"])))
    if s["round"]:
        yield Note(name="last round", text=result(s, s["round"] - 1))


def place(spec: Spec, s: Any, action: int) -> Place | None:
    """Bids are made from the hand."""
    if is_over(s) or s["prize"][s["round"]] < 0:
        return None
    own = cards_of(s["hand"][s["turn"]], SUITS[s["turn"]])
    return Place(part="hand", index=own.index(card_name(action, SUITS[s["turn"]])))
