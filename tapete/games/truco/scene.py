"""The table of truco: the hands, the cards played, the score, and the calls."""

from collections.abc import Iterator
from typing import Any

from tapete.core.scene import Note, Part, Place, Score, Things
from tapete.core.spec import Spec
from tapete.games.truco.bets import TRUCO
from tapete.games.truco.cards import CARDS, NAMES
from tapete.games.truco.notation import bet, calls, card_name, cards

TRICKS = ("seat 0", "seat 1", "parda")  # who won them


def parts(spec: Spec, s: Any, seat: int | None) -> Iterator[Part]:
    """Hands, tricks, score, and what was called; the cards are picked up when all are dealt."""
    for owner in range(2):
        held = cards(s["hand"][owner] & ~s["played"])
        if seat is None or (seat == owner and s["dealt"] == 6):
            yield Things(name="hand", kind="spanish", faces=tuple(held), owner=owner)
        else:
            yield Things(name="hand", kind="spanish", faces=("",) * len(held), owner=owner)
    for owner in range(2):
        faces = tuple(card_name(card) for card in s["table"][owner::2] if card >= 0)
        yield Things(name="played", kind="spanish", faces=faces, owner=owner)
    yield Score(name="points", values=tuple(float(points) for points in s["score"]))
    yield Note(name="mano", text=f"seat {s['mano']}")
    yield Note(name="tricks", text=", ".join(TRICKS[winner] for winner in s["winner"] if winner >= 0))
    yield Note(name="calls", text=", ".join(f"seat {who} {call}" for who, call in calls(s)))
    yield Note(name="the hand is worth", text=str(s["level"]))
    yield Note(name="waits for an answer", text=waiting(s))
    if min(s["shown"]) >= 0:
        yield Score(name=bet(s), values=tuple(float(points) for points in s["shown"]))
    elif max(s["shown"]) >= 0:
        told = (f"seat {i} {points if points >= 0 else 'son-buenas'}" for i, points in enumerate(s["shown"]))
        yield Note(name=bet(s), text=", ".join(told))


def waiting(s: Any) -> str:
    """The bets that wait, the one first that is answered first."""
    if s["mover"] < 0:
        return ""
    bets = [call for _, call in calls(s) if call not in TRUCO][-1:] if s["waits"] else []
    return ", ".join(bets + ([TRUCO[s["asked"]]] if s["asked"] else []))


def place(spec: Spec, s: Any, action: int) -> Place | None:
    """A card is played from the hand; calls are buttons."""
    if action >= CARDS:
        return None
    return Place(part="hand", index=cards(s["hand"][s["mover"]] & ~s["played"]).index(NAMES[action]))
