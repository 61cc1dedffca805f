"""Cards are written `Ks` (king of spades), moves `fold`, `check` or `call`, `bet` or `raise`."""

from collections.abc import Iterator
from typing import Any

from tapete.core.contract import CHANCE, TERMINAL
from tapete.core.spec import Spec

RANKS = "JQK"
SUITS = "sh"
ROUNDS = ("first round", "second round")


def card_name(card: int) -> str:
    """The card as it is written; empty before it is dealt."""
    return RANKS[card // 2] + SUITS[card % 2] if card >= 0 else ""


def move_name(action: int, *, owes: bool) -> str:
    """The word for a move, by whether there is something to call."""
    return ("fold", "call" if owes else "check", "raise" if owes else "bet")[action]


def write(spec: Spec, s: Any, action: int) -> str:
    """A card as chance deals it, or a move."""
    if s["mover"] == CHANCE:
        return card_name(action)
    return move_name(action, owes=s["paid"][s["mover"]] < s["paid"][1 - s["mover"]])


def moves_of(s: Any, which: int) -> list[str]:
    """The moves of a round."""
    actions = [int(move) - 1 for move in s["line"][which] if move]
    return [move_name(action, owes=2 in actions[:i]) for i, action in enumerate(actions)]


def is_shown(s: Any) -> bool:
    """Whether both cards were turned up at the end."""
    return s["mover"] == TERMINAL and s["paid"][0] == s["paid"][1]


def news(spec: Spec, before: Any, s: Any) -> Iterator[str]:
    """The card on the board, and the hands at the end."""
    if s["card"][2] > before["card"][2]:
        yield f"on the board: {card_name(s['card'][2])}"
    if is_shown(s):
        yield from (f"seat {seat} showed {card_name(s['card'][seat])}" for seat in range(2))


def describe(spec: Spec, s: Any, seat: int) -> str:
    """Own card, how many are dealt, the board, the moves so far, and the other's card if it was shown."""
    own, other, board = (card_name(s["card"][place]) or "none" for place in (seat, 1 - seat, 2))
    moves = "; ".join(f"{name}: {' '.join(moves_of(s, i)) or 'none'}" for i, name in enumerate(ROUNDS))
    shown = f", shown: {other}" if is_shown(s) else ""
    return f"seat {seat}, card {own}, {s['dealt']} dealt, board {board}, {moves}{shown}"
