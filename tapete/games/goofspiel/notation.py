"""Cards as in a French deck, the ace lowest: `Ad` to `Kd` are prizes, `As`, `Ah`, `Ac` bids of seats 0 to 2."""

from collections.abc import Iterator
from typing import Any

from tapete.core.spec import Spec

RANKS = "A23456789TJQK"
SUITS = "shc"
PRIZE = "d"


def card_name(card: int, suit: str) -> str:
    """The card as it is written."""
    return RANKS[card] + suit


def cards_of(mask: int, suit: str) -> tuple[str, ...]:
    """The cards of a set, ascending."""
    return tuple(card_name(card, suit) for card in range(len(RANKS)) if int(mask) >> card & 1)


def is_over(s: Any) -> bool:
    """Whether all cards have been played."""
    return bool(s["round"] == s["cards"])


def write(spec: Spec, s: Any, action: int) -> str:
    """A prize that chance turns up, or a bid."""
    return card_name(action, PRIZE if s["prize"][s["round"]] < 0 else SUITS[s["turn"]])


def is_secret(spec: Spec, s: Any, seat: int) -> bool:
    """Bids are secret until all have been made; where they are shown, the last one is seen at once."""
    return bool(s["sealed"] or s["turn"] < s["players"] - 1)


def waits(s: Any, seat: int) -> bool:
    """Whether the seat has made a bid that nobody else has seen yet."""
    return not is_over(s) and bool(s["bid"][seat][s["round"]] >= 0)


def result(s: Any, i: int) -> str:
    """How a round ended."""
    prize, winner = card_name(s["prize"][i], PRIZE), s["winner"][i]
    bids = ""
    if not s["sealed"]:
        shown = (card_name(s["bid"][seat][i], SUITS[seat]) for seat in range(s["players"]))
        bids = f" ({', '.join(shown)})"
    return f"nobody won {prize}{bids}" if winner >= len(SUITS) else f"seat {winner} won {prize}{bids}"


def news(spec: Spec, before: Any, s: Any) -> Iterator[str]:
    """Rounds that ended, and the next prize."""
    yield from (result(s, i) for i in range(before["round"], s["round"]))
    if not is_over(s) and s["prize"][s["round"]] != before["prize"][s["round"]]:
        yield f"the prize is {card_name(s['prize'][s['round']], PRIZE)}"


def describe(spec: Spec, s: Any, seat: int) -> str:
    """The seat's own bids, how all rounds ended, the prize, and who has bid for it."""
    own = " ".join(card_name(bid, SUITS[seat]) for bid in s["bid"][seat] if bid >= 0)
    rounds = "; ".join(result(s, i) for i in range(s["round"]))
    line = f"seat {seat}, own bids: {own or 'none'}; {rounds or 'no round ended'}"
    if is_over(s):
        return f"{line}; over"
    prize = s["prize"][s["round"]]
    return f"{line}; prize: {card_name(prize, PRIZE) if prize >= 0 else 'none'}, {s['turn']} bid for it"
