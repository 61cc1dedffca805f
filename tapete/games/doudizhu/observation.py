"""What a seat sees as numbers, equal to what DouZero's `get_obs` gives for the same position.

Every `write_...` function fills `out` from place `at` on and returns the next free place.
"""

from typing import Any

import numpy as np

from tapete.core.compile import helper
from tapete.games.doudizhu.cards import DECK, PAIR_RANKS, count, size
from tapete.games.doudizhu.table import HIGHEST_BID, IN_HANDS, MOST_THROWN, MOVES_KEPT, NOBODY

LANDLORD_SIZE = 20
PEASANT_SIZE = 17
BOMB_COUNTS = 15
MOST_COUNTED = 11  # moves that empty a hand
ROLE_SIZE = 430  # numbers of a peasant's observation before the history; the landlord's has 319
UNARY = np.tri(5, 4, -1, dtype=np.float32)  # [number of cards, 4]: that many ones
BLACK_JOKER, RED_JOKER = PAIR_RANKS, PAIR_RANKS + 1
CALL_WIDTH = HIGHEST_BID + 2  # not yet, pass, 1, 2, 3


@helper
def write_cards(cards: Any, out: Any, at: Any) -> Any:
    """54 numbers: for each rank four, of which as many are 1 as there are cards, then one for each joker."""
    for rank in range(PAIR_RANKS):
        number = count(cards, rank)
        for i in range(4):
            out[at + 4 * rank + i] = UNARY[number, i]
    out[at + 52] = np.float32(count(cards, BLACK_JOKER))
    out[at + 53] = np.float32(count(cards, RED_JOKER))
    return at + 54


@helper
def write_one_hot(index: Any, width: Any, out: Any, at: Any) -> Any:
    """A 1 at the index, if it is within the width, and zeros."""
    for i in range(width):
        out[at + i] = np.float32(i == index)
    return at + width


@helper
def write_count(cards: Any, most: Any, out: Any, at: Any) -> Any:
    """How many cards there are, from 1 to the most, one-hot."""
    return write_one_hot(size(cards) - 1, most, out, at)


@helper
def to_beat(s: Any) -> Any:
    """The cards that lie on the table: those of the last move, or of the one before if that was a pass."""
    last = s.history[MOVES_KEPT - 1]
    return last if last else s.history[MOVES_KEPT - 2]


@helper
def last_move(s: Any, role: Any) -> Any:
    """What the landlord (0), the peasant after him (1) or the one before him (2) played last, none for a pass."""
    return s.history[MOVES_KEPT - 1 - (s.moves + 2 - role) % 3]


@helper
def own_hand(s: Any, seat: Any) -> Any:
    """The seat's cards, which it takes up when all hands are dealt."""
    return s.hand[seat] if s.dealt >= IN_HANDS else np.uint64(0)


@helper
def write_hand(s: Any, seat: Any, out: Any, at: Any) -> Any:
    """The seat's own cards, and those it has not seen yet."""
    hand = own_hand(s, seat)
    at = write_cards(hand, out, at)
    return write_cards(DECK - hand - s.played[0] - s.played[1] - s.played[2], out, at)


@helper
def write_landlord(s: Any, seat: Any, out: Any, at: Any) -> Any:
    """319 numbers."""
    down, up = (seat + 1) % 3, (seat + 2) % 3
    at = write_hand(s, seat, out, at)
    at = write_cards(to_beat(s), out, at)
    at = write_cards(s.played[up], out, at)
    at = write_cards(s.played[down], out, at)
    at = write_count(s.hand[up], PEASANT_SIZE, out, at)
    at = write_count(s.hand[down], PEASANT_SIZE, out, at)
    return write_one_hot(s.bombs, BOMB_COUNTS, out, at)


@helper
def write_peasant(s: Any, seat: Any, role: Any, out: Any, at: Any) -> Any:
    """430 numbers."""
    landlord, mate = s.landlord, 3 - s.landlord - seat
    at = write_hand(s, seat, out, at)
    at = write_cards(s.played[landlord], out, at)
    at = write_cards(s.played[mate], out, at)
    at = write_cards(to_beat(s), out, at)
    at = write_cards(last_move(s, 0), out, at)
    at = write_cards(last_move(s, 3 - role), out, at)
    at = write_count(s.hand[landlord], LANDLORD_SIZE, out, at)
    at = write_count(s.hand[mate], PEASANT_SIZE, out, at)
    return write_one_hot(s.bombs, BOMB_COUNTS, out, at)


@helper
def write_auction(s: Any, seat: Any, role: Any, out: Any, at: Any) -> Any:
    """The seat's role, the calls of all seats beginning with its own, and how many deals were thrown in."""
    at = write_one_hot(role, 3, out, at)
    for i in range(3):
        at = write_one_hot(s.calls[(seat + i) % 3] + 1, CALL_WIDTH, out, at)
    return write_one_hot(s.thrown, MOST_THROWN + 1, out, at)


@helper
def write_observation(s: Any, seat: Any, out: Any) -> None:
    """Everything: what goes before the history depends on the seat's role."""
    at = 0
    is_auction_over = s.landlord != NOBODY and (s.dealt > IN_HANDS or s.mover < 0)
    role = (seat - s.landlord + 3) % 3 if is_auction_over else NOBODY
    if s.bidding:
        at = write_auction(s, seat, role, out, at)
    end = at + ROLE_SIZE
    if role > 0:
        at = write_peasant(s, seat, role, out, at)
    elif role == 0:
        at = write_landlord(s, seat, out, at)
    else:
        at = write_hand(s, seat, out, at)
    if s.bidding:
        while at < end:
            out[at] = 0.0
            at += 1
    for i in range(MOVES_KEPT):
        at = write_cards(s.history[i], out, at)
