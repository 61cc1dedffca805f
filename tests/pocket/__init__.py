"""Truco with few cards and without envido, so small that it can be played out: the end of a hand after pardas.

What may be played and bid, what beats what, and payoffs are those of Truco itself, whose state has it that an envido
was called and is over; only the pack is smaller.
"""

from __future__ import annotations

from dataclasses import replace

from tapete.core import Game
from tapete.games.truco import truco
from tapete.games.truco.cards import NAMES

PARDAS = ("3b 3c", "2b 2c")  # the cards of mano and of the other in the tricks that were played
WON = "3b 2c"  # the same of a first trick that mano has won


def pocket(pack: str, *, tricks: int, level: int = 1, won: bool = False) -> Game:
    """A hand after so many pardas, worth `level` already, the cards left of both from the pack; paid in points.

    :param won: mano has won the first trick instead.
    """
    cards = [NAMES.index(name) for name in pack.split()]
    spec = replace(truco(hand=True), name=f"pocket-truco({pack},{tricks},{level},{won})")
    return Game(
        replace(spec, params=(*spec.params, tricks, level, sum(1 << card for card in cards), won)), "tests.pocket"
    )
