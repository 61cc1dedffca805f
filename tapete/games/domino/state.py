"""The record in which a game of dominó lives."""

from typing import Any

import numpy as np
from numba import carray

from tapete.core.compile import helper
from tapete.games.domino.tiles import HIGHEST, TILES

LEFT, RIGHT = 0, 1  # the ends of the line

# What happens next: a tile is dealt; a player lays, takes or passes; he is given the tile that he took; he lays it or
# passes; nothing.
DEAL, PLAY, GIVE, TAKEN, OVER = range(5)

MOST = len(TILES)

STATE = np.dtype(
    [
        ("public", "u8"),  # key of all moves of the players so far
        ("hand", "u8", (2,)),  # a set of tiles is a mask: tile t is bit t
        ("dealt", "u8", (2,)),  # the hands at the start
        ("boneyard", "u8"),
        ("laid", "u8", (2,)),  # tiles that each seat laid, but for
        ("laid_at_once", "u8", (2,)),  # tiles that it laid in the turn in which it took them
        ("tiles", "i1"),  # in the game
        ("numbers", "i1"),  # on half a tile: 0 .. numbers - 1
        ("each", "i1"),  # tiles that a player is dealt
        ("given", "i1"),  # tiles dealt so far
        ("stage", "i1"),
        ("turn", "i1"),
        ("passed", "i1"),  # whether the last turn was a pass
        ("length", "i1"),  # of the line
        ("ends", "i1", (2,)),  # open numbers; -1 before the first tile
        ("line", "i1", (MOST,)),  # 2 x tile + end, in the order in which they were laid
        ("keeps", "i1", (2,)),  # tiles taken and not laid at once
        ("kept", "i1", (2, MOST)),  # those tiles, in the order in which they were taken
        # What everybody can tell of where tiles came from, as a number of a tile kept, from 1; 0 is the deal.
        ("lacks", "i1", (2, HIGHEST + 1)),  # a tile in hand with that number was kept no earlier than this
        ("earliest", "i1", (MOST,)),  # a tile that was laid was kept no earlier,
        ("latest", "i1", (MOST,)),  # and no later than this
    ],
    align=True,
)


@helper
def view(p: Any) -> Any:
    """The record at that address."""
    return carray(p, (1,), STATE)[0]


@helper
def has_looked(s: Any, seat: int) -> bool:
    """A player looks at his tiles once he has all of them: in which order they came, he doesn't know."""
    return s.given >= s.each * (seat + 1)
