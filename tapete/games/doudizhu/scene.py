"""The table of Dou Dizhu: hands, the landlord's open cards, what lies on the table and what was played before.

Faces of the kind "french" are ranks without a suit, since this game has none: 3456789TJQKA2, B and R (the jokers).
"""

from collections.abc import Iterator
from typing import Any

from tapete.core.contract import TERMINAL
from tapete.core.scene import Note, Part, Place, Score, Things
from tapete.core.spec import Spec
from tapete.games.doudizhu.cards import DECK_SIZE, text
from tapete.games.doudizhu.moves import CARDS, MOVES, PASS
from tapete.games.doudizhu.notation import CALLS, hand_text, is_auction, last_moves, open_text, role


def row(name: str, cards: str, owner: int | None = None, hidden: int = 0) -> Things:
    """Cards in a row, or that many face down."""
    return Things(name=name, kind="french", faces=tuple(cards) or ("",) * hidden, owner=owner)


def parts(spec: Spec, s: Any, seat: int | None) -> Iterator[Part]:
    """Everything that lies on the table."""
    for owner in range(3):
        hand = text(s["hand"][owner])
        if seat is None:
            yield row("hand", hand, owner)
        else:
            yield row("hand", hand_text(s, owner) if owner == seat else "", owner, hidden=len(hand))
    yield row("open", text(s["open"]) if seat is None else open_text(s), hidden=len(text(s["open"])))
    yield Score(name="cards", values=tuple(float(len(text(hand))) for hand in s["hand"]))
    for owner in range(3):
        if role(s, owner):
            yield Note(name=f"seat {owner}", text="landlord" if owner == s["landlord"] else "peasant")
    if s["bidding"] and s["dealt"] < DECK_SIZE:
        for owner, call in enumerate(s["calls"]):
            if call >= 0:
                yield Note(name=f"seat {owner}", text=CALLS[call])
    if s["dealt"] == DECK_SIZE:
        yield from play_parts(s)
    if is_auction(s):
        yield Note(name="bid", text=f"the highest bid is {s['bid']}" if s["bid"] else "nobody has bid yet")


def play_parts(s: Any) -> Iterator[Part]:
    """What has been played, and what has to be beaten."""
    for owner, move in enumerate(last_moves(s)):
        yield row("last move", move.removesuffix("pass"), owner)
        if move == "pass":
            yield Note(name=f"last move of seat {owner}", text="pass")
        yield row("played", text(s["played"][owner]), owner)
    yield Note(name="stake", text=str(s["bid"] << s["bombs"]))
    if s["mover"] == TERMINAL:
        landlord_won = not s["hand"][s["landlord"]]
        yield Note(name="won", text="the landlord" if landlord_won else "the peasants")
    elif s["kind"]:
        yield Note(name="to beat", text=text(s["history"][-1] or s["history"][-2]))
    else:
        yield Note(name="to beat", text="nothing, lead any move")


def place(spec: Spec, s: Any, action: int) -> Place | None:
    """The lowest card of the move in the mover's hand; passing and bidding are buttons."""
    if action == PASS or action >= MOVES:
        return None
    return Place(part="hand", index=text(s["hand"][s["mover"]]).index(text(CARDS[action])[0]))
