"""Moves are their cards, lowest first, `34567`, `444K`, `BR`, or `pass`; bids `bid1` to `bid3`; chance deals a rank."""

from collections.abc import Iterator
from typing import Any

from tapete.core.contract import CHANCE, TERMINAL
from tapete.core.spec import Spec
from tapete.games.doudizhu.cards import DECK_SIZE, RANKS, text
from tapete.games.doudizhu.moves import CARDS, MOVES, PASS
from tapete.games.doudizhu.table import IN_HANDS, NOBODY

ROLES = ("landlord", "down", "up")
CALLS = ("pass", "bid1", "bid2", "bid3")


def write(spec: Spec, s: Any, action: int) -> str:
    """A card as chance deals it, a bid, or a move."""
    if s["mover"] == CHANCE:
        return RANKS[action]
    if action >= MOVES:
        return CALLS[action - MOVES + 1]
    return "pass" if action == PASS else text(CARDS[action])


def is_auction(s: Any) -> bool:
    """Whether the players are bidding."""
    return bool(s["dealt"] == IN_HANDS and s["mover"] != CHANCE)


def role(s: Any, seat: int) -> str:
    """Landlord, or the peasant after him (down) or before him (up); empty until the auction is over."""
    return "" if s["landlord"] == NOBODY or is_auction(s) else ROLES[(seat - s["landlord"]) % 3]


def team(spec: Spec, s: Any, seat: int) -> str:
    """The landlord is alone, the peasants win and lose together; empty until the auction is over."""
    return {"": "", "landlord": "landlord"}.get(role(s, seat), "peasants")


def hand_text(s: Any, seat: int) -> str:
    """The seat's cards; none until all hands are dealt."""
    return text(s["hand"][seat]) if s["dealt"] >= IN_HANDS else ""


def open_text(s: Any) -> str:
    """The landlord's three cards; none until they are turned up."""
    return text(s["open"]) if s["dealt"] == DECK_SIZE else ""


def trace(s: Any) -> list[tuple[int, str]]:
    """The last moves, fifteen at most, the newest last: who played what."""
    kept = min(len(s["history"]), int(s["moves"]))
    return [
        (int(s["landlord"] + s["moves"] - back) % 3, text(s["history"][-back]) or "pass") for back in range(kept, 0, -1)
    ]


def last_moves(s: Any) -> list[str]:
    """What each seat played in its last turn; empty before its first."""
    moves = [""] * 3
    for seat, move in trace(s)[-3:]:
        moves[seat] = move
    return moves


def news(spec: Spec, before: Any, s: Any) -> Iterator[str]:
    """What came of the auction, what a bomb did, and who won."""
    if s["thrown"] > before["thrown"]:
        yield "all passed: the cards are dealt again"
    if s["bidding"] and s["dealt"] == DECK_SIZE > before["dealt"]:
        yield f"landlord: seat {s['landlord']}, for {s['bid']}; the open cards are {open_text(s)}"
    if s["bombs"] > before["bombs"]:
        yield f"a bomb: the stake is {s['bid'] << s['bombs']} now"
    if s["mover"] == TERMINAL:
        yield f"the {'peasants' if s['hand'][s['landlord']] else 'landlord'} won"


def describe(spec: Spec, s: Any, seat: int) -> str:
    """The seat's cards, what has been called and played, and who is to move."""
    hands = "/".join(str(len(text(hand))) for hand in s["hand"])
    parts = [f"seat {seat}{f' ({role(s, seat)})' if role(s, seat) else ''}", f"hand {hand_text(s, seat) or 'none'}"]
    if s["bidding"]:
        calls = " ".join(CALLS[call] if call >= 0 else "-" for call in s["calls"])
        parts += [f"deal {s['thrown'] + 1}", f"calls {calls}"]
    parts += [f"dealt {s['dealt']}", f"left {hands}"]
    if s["dealt"] == DECK_SIZE:
        played = "/".join(text(cards) or "-" for cards in s["played"])
        last = " ".join(move or "-" for move in last_moves(s))
        parts += [f"open {open_text(s)}", f"played {played}", f"last {last}", f"stake {s['bid'] << s['bombs']}"]
    if s["mover"] != CHANCE:
        parts.append("over" if s["mover"] == TERMINAL else f"seat {s['mover']} to move")
    return ", ".join(parts)
