"""Taking moves back: what a player would have done before the last move, had he had these cards."""

from typing import Any

import numpy as np

from tapete.core.compile import helper
from tapete.core.worlds import UNKNOWN, taking_back
from tapete.games.doudizhu.moves import BOMB, CARDS, KIND, LENGTH, NOTHING, PASS, RANK
from tapete.games.doudizhu.table import MOVES_KEPT, view

BY_CARDS = np.argsort(CARDS)  # ids, by their cards as numbers
SORTED = CARDS[BY_CARDS]


@helper
def id_of(cards: Any) -> Any:
    """The move that is made of these cards."""
    low, high = 0, len(SORTED) - 1
    while low < high:
        middle = (low + high) // 2
        if SORTED[middle] < cards:
            low = middle + 1
        else:
            high = middle
    return BY_CARDS[low]


@taking_back
def take_back(p: Any) -> int:
    """The last move of those that are kept; of the history before it, the oldest are forgotten."""
    s = view(p)
    if s.moves == 0:
        return UNKNOWN
    cards = s.history[MOVES_KEPT - 1]
    for i in range(MOVES_KEPT - 1, 0, -1):
        s.history[i] = s.history[i - 1]
    s.history[0] = np.uint64(0)
    action = id_of(cards)
    s.moves -= 1
    s.mover = (s.landlord + s.moves) % 3
    s.hand[s.mover] += cards
    s.played[s.mover] -= cards
    s.bombs -= KIND[action] >= BOMB
    s.leads -= action != PASS and s.mover == s.landlord
    beaten = PASS
    s.passes = 0
    if s.moves > 0:
        for back in range(min(2, s.moves)):
            if beaten == PASS:
                s.passes = back
                beaten = id_of(s.history[MOVES_KEPT - 1 - back])
    s.kind, s.length, s.rank = KIND[beaten], LENGTH[beaten], RANK[beaten]
    if beaten == PASS:
        s.kind, s.passes = NOTHING, 2 if s.moves else 0
    return action
