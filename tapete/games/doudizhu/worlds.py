"""Dealing the unseen cards anew: every way to hand out the 54 cards of a real pack counts the same.

Equal ranks are equal to the players, but there are more ways to get one of two kings than both, and a seat that has
played a king had one for certain. So sets are not drawn card by card, but by counting the ways that lead to them.
"""

from typing import Any

import numpy as np

from tapete.core.compile import UINT64_PTR, helper, stack_of
from tapete.core.rng import next_u64
from tapete.games.doudizhu.cards import DECK, RANKS, copies, count, size, without
from tapete.games.doudizhu.table import IN_HANDS

SOLO_RANKS = len(RANKS)
LARGEST = 17  # cards that are ever split off
ROW = LARGEST + 1
WORDS = (SOLO_RANKS + 1) * ROW

CHOOSE = np.array(
    [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 2, 1, 0, 0], [1, 3, 3, 1, 0], [1, 4, 6, 4, 1]], dtype=np.uint64
)  # [n, k] ways to choose k of n cards


ways_room = stack_of(UINT64_PTR, WORDS)


@helper
def count_ways(pool: Any, free: Any, least: Any, spared: Any, ways: Any) -> None:
    """ways[rank, n]: how many ways there are to take n free cards of this rank and higher ones, [16, 18]."""
    for n in range(free + 1):
        ways[SOLO_RANKS * ROW + n] = np.uint64(n == 0)
    for rank in range(SOLO_RANKS - 1, -1, -1):
        cards, taken = count(pool, rank), count(least, rank)
        most = cards - taken - count(spared, rank)
        for n in range(free + 1):
            total = np.uint64(0)
            for k in range(min(most, n) + 1):
                total += CHOOSE[cards, taken + k] * ways[(rank + 1) * ROW + n - k]
            ways[rank * ROW + n] = total


@helper
def split(pool: Any, number: Any, least: Any, spared: Any, rng: Any) -> Any:
    """That many cards of the pool, at random among the ways that take at least `least` and leave `spared` where it is.

    All ways are numbered, one of the numbers is drawn, and read off rank by rank.
    """
    free = number - size(least)  # cards still to take, beyond those that are certain
    ways = ways_room()
    count_ways(pool, free, least, spared, ways)
    index = next_u64(rng) % ways[free]  # at most C(54, 17) < 2**47 ways: the bias is below 1e-5
    split_off = least
    for rank in range(SOLO_RANKS):
        cards, taken = count(pool, rank), count(least, rank)
        k = 0
        here = CHOOSE[cards, taken] * ways[(rank + 1) * ROW + free]
        while index >= here:
            index -= here
            k += 1
            here = CHOOSE[cards, taken + k] * ways[(rank + 1) * ROW + free - k]
        index //= CHOOSE[cards, taken + k]
        split_off += copies(k, rank)
        free -= k
    return split_off


@helper
def redeal_hidden(s: Any, seat: Any, rng: Any) -> None:
    """Before the landlord has his three cards: all hands but the seat's own, and that one too until it is taken up."""
    none = np.uint64(0)
    keeps = s.dealt >= IN_HANDS
    pool = DECK - s.hand[seat] if keeps else DECK
    for other in range(3):
        if other != seat or not keeps:
            s.hand[other] = split(pool, size(s.hand[other]), none, none, rng)
            pool -= s.hand[other]
    s.open = split(pool, size(s.open), none, none, rng)


@helper
def redeal_play(s: Any, seat: Any, rng: Any) -> None:
    """During play: the 34 cards that were dealt to the other two face down, 17 each.

    What they have played since was among them, or among the landlord's open cards.
    """
    one, other = (seat + 1) % 3, (seat + 2) % 3
    none = np.uint64(0)
    open_one = s.open if one == s.landlord else none
    open_other = s.open if other == s.landlord else none
    pool = DECK - s.hand[seat] - s.played[seat] - open_one - open_other
    hand = split(pool, LARGEST, without(s.played[one], open_one), without(s.played[other], open_other), rng)
    s.hand[one] = open_one + hand - s.played[one]
    s.hand[other] = open_other + (pool - hand) - s.played[other]
