"""A session of poker: the hands that the same people have played one after another, as players keep them.

A hand is a table of its own, and the next one is linked to it (`Table.next`). Everybody moves on by a seat each time,
so a player is known by how far he sits from the one who asks.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tapete.core import make
from tapete.games.holdem import histories
from tapete.games.holdem.histories.hand import CENTS, Hand, distinct
from tapete.games.holdem.histories.statistics import Book
from tapete.web.records import endings
from tapete.web.table import NAMELESS, Refused, Seat

MOST = 500  # hands that are looked at, the last ones


class Played(NamedTuple):
    """A finished hand as the store has it."""

    game: str
    seats: list[Seat]
    moves: list[int]


def session(played: list[Played], owner: str) -> dict[str, Any]:
    """What the one who asks has won hand by hand, and how everybody at the table plays; nothing of cards not shown."""
    hands = list(_hands(played, owner))
    book = Book()
    for hand, _ in hands:
        book.add(hand)
    won = [hand.net[mine] / CENTS for hand, mine in hands]
    return {
        "hands": len(hands),
        "curve": [0.0, *itertools.accumulate(won)],
        "players": [{"name": name, **book.players[name].figures()} for name in _names(played, owner)] if hands else [],
    }


def text(played: list[Played], owner: str, ending: str) -> str:
    """The hands of a session in one file, with the cards that the one who asks has seen."""
    form = histories.format_of(Path(f"hands{ending}"))
    return "".join(form.text_of(hand) for hand, _ in _hands(played, owner))


def _hands(played: list[Played], owner: str) -> Iterator[tuple[Hand, int]]:
    """Each hand as one player saw it, and his place in it."""
    names = _names(played, owner)
    for number, hand in enumerate(played, 1):
        mine = _place(hand, owner)
        around = [names[(seat - mine) % len(names)] for seat in range(len(names))]
        yield histories.of_game(make(hand.game), hand.moves, around, number=number).seen_by(mine), mine


def _names(played: list[Played], owner: str) -> list[str]:
    """The players as they sit around the one who asks, who is the first; no two have the same name."""
    if not played:
        return []
    seats, mine = played[0].seats, _place(played[0], owner)
    return distinct([seat.name or NAMELESS for seat in seats[mine:] + seats[:mine]])


def _place(hand: Played, owner: str) -> int:
    place = next((i for i, seat in enumerate(hand.seats) if seat.owner == owner and owner), None)
    if place is None:
        raise Refused("seat", "only those who play here may do that")
    return place


def checked(game: str, ending: str) -> None:
    """Refuses what is no poker, or no format of its histories."""
    found = endings(make(game))
    if not found or ending not in ("", *found):
        raise Refused("no-history", f"{game} is not written to {ending[:20] or 'such'} files")
