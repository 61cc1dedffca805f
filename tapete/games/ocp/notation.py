"""Cards are numbers from 1, or J Q K where there are three; moves are `pass` (check, fold) and `bet` (bet, call)."""

from collections.abc import Iterator
from typing import Any

from tapete.core.spec import Spec

MOVES = ("pass", "bet")


def card_name(cards: int, card: int) -> str:
    """The card as it is written; empty before it is dealt."""
    if card < 0:
        return ""
    return "JQK"[card] if cards == 3 else str(card + 1)


def write(spec: Spec, s: Any, action: int) -> str:
    """A card as chance deals it, or a move."""
    return MOVES[action] if s["card"][1] >= 0 else card_name(s["cards"], action)


def news(spec: Spec, before: Any, s: Any) -> Iterator[str]:
    """Both cards, where they are turned up."""
    if is_showdown(line_text(s)):
        yield from (f"seat {seat} showed {card_name(s['cards'], card)}" for seat, card in enumerate(s["card"]))


def line_text(s: Any) -> str:
    """The moves so far."""
    return " ".join(MOVES[move] for move in s["line"][: s["turns"]])


def describe(spec: Spec, s: Any, seat: int) -> str:
    """The seat's own card, who has one, and the moves so far."""
    own = card_name(s["cards"], s["card"][seat]) or "none"
    dealt = sum(s["card"] >= 0)
    line = line_text(s)
    shown = f", shown: {card_name(s['cards'], s['card'][1 - seat])}" if is_showdown(line) else ""
    return f"seat {seat}, card {own}, {dealt} dealt, moves: {line or 'none'}{shown}"


def is_showdown(line: str) -> bool:
    """Whether the moves end in both cards being turned up."""
    return line in ("pass pass", "bet bet", "pass bet bet")
