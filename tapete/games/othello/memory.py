"""The hash table of the endgame solver: bounds on the lead in positions that have been searched.

Two entries share a line of the cache: one that is only displaced by a search as large or larger, and one for whatever
came last. Positions are stored whole, so what is found is never another position's; on boards smaller than 8x8 the
squares around the board are stored as both players', which they never are on a larger one.
"""

from typing import Any

import numpy as np

from tapete.core.compile import ahead, helper
from tapete.core.rng import mix

OWN, OTHER, FACTS, WORTH = range(4)  # an entry: the position; bounds and best square, a byte each; date and size
ENTRY = 4
BUCKET = 2 * ENTRY
ZERO = 128  # a lead of 0 as a byte
BYTE = np.uint64(255)


@helper
def place_of(own: Any, other: Any, buckets: Any, table: Any) -> Any:
    """The two entries that may be this position's."""
    high = mix(own, other) >> np.uint64(32)
    return ahead(table, BUCKET * np.int64((high * buckets) >> np.uint64(32)))


@helper
def _find(place: Any, own: Any, other: Any, board: Any) -> int:
    """Which of the entries is this position's: 0, ENTRY, or -1 for none."""
    for entry in (0, ENTRY):
        if place[entry + OWN] == own | ~board and place[entry + OTHER] == other | ~board:
            return entry
    return -1


@helper
def recall(place: Any, own: Any, other: Any, board: Any) -> Any:
    """What is known of a position, for the functions below; 0 if nothing is."""
    entry = _find(place, own, other, board)
    return place[entry + FACTS] if entry >= 0 else np.uint64(0)


@helper
def lower_bound(known: Any) -> Any:
    """The lead is at least that."""
    return np.int64(known & BYTE) - ZERO


@helper
def upper_bound(known: Any) -> Any:
    """The lead is at most that."""
    return np.int64((known >> np.uint64(8)) & BYTE) - ZERO


@helper
def reply(known: Any) -> Any:
    """The square that was best, or the first one that was good enough."""
    return np.int64((known >> np.uint64(16)) & BYTE)


@helper
def remember(place: Any, own: Any, other: Any, board: Any, alpha: int, lead: int, square: int, worth: Any) -> None:
    """Writes down what a search with the null window above alpha has found, beside what was known of the position."""
    entry = _find(place, own, other, board)
    lower, upper = -ZERO, ZERO - 1
    if entry >= 0:
        known = place[entry + FACTS]
        lower, upper = lower_bound(known), upper_bound(known)
    elif place[WORTH] <= worth:
        entry = 0
        for word in range(ENTRY):
            place[ENTRY + word] = place[word]
    else:
        entry = ENTRY
    if lead > alpha:
        lower = max(lower, lead)
    else:
        upper = min(upper, lead)
    place[entry + OWN] = own | ~board
    place[entry + OTHER] = other | ~board
    facts = (np.uint64(square) << np.uint64(8)) | np.uint64(upper + ZERO)
    place[entry + FACTS] = (facts << np.uint64(8)) | np.uint64(lower + ZERO)
    place[entry + WORTH] = worth
