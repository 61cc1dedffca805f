"""Cards are numbers; moves are `heads` and `tails`, `pass` and `ask`, `stop` and `show`."""

from collections.abc import Iterator
from typing import Any

from tapete.core.spec import Spec

COIN = ("heads", "tails")
MOVES = (COIN, ("pass", "ask"), ("stop", "show"))


def write(spec: Spec, s: Any, action: int) -> str:
    """A card, or a move."""
    return str(action + 1) if s["card"][1] < 0 else MOVES[s["turns"]][action]


def is_secret(spec: Spec, s: Any, seat: int) -> bool:
    """The coin is hidden, all else is open."""
    return s["card"][1] >= 0 and s["turns"] == 0


def news(spec: Spec, before: Any, s: Any) -> Iterator[str]:
    """What was told and turned up."""
    if s["higher"] > before["higher"]:
        yield f"seat {s['higher']} has the higher card"
    if s["shown"] == 0:
        yield f"the coin showed {COIN[s['coin']]}"
    if s["shown"] == 1:
        yield f"the cards were {s['card'][0] + 1} and {s['card'][1] + 1}"


def describe(spec: Spec, s: Any, seat: int) -> str:
    """All that the seat sees."""
    dealt = (s["card"] >= 0).sum()
    coin = COIN[s["coin"]] if (seat == 0 or s["shown"] == 0) and s["coin"] >= 0 else "hidden"
    line = f"seat {seat}, card {s['card'][seat] + 1}, {dealt} dealt, {s['turns']} moves, coin {coin}"
    other = f", other's card {s['card'][1 - seat] + 1}" if s["shown"] == 1 else ""
    return f"{line}, asked {s['asked']}, higher {s['higher']}, shown {s['shown']}{other}"
