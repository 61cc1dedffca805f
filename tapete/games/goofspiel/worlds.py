"""Bids that may have been made in secret, if two play with sealed bids.

A round tells a seat that the other's bid was lower than its own, higher, or the same. All sequences of bids that agree
with that are equally likely, so one is drawn round by round, each card as often as there are ways to go on after it.
The ways are counted: bids below one's own are counted one after the other, lowest first; bids above are counted as all
bids but those that are not above (inclusion and exclusion).
"""

from typing import Any

import numpy as np

from tapete.core.compile import helper
from tapete.core.rng import uniform
from tapete.games.goofspiel import MOST_CARDS, MOST_PLAYERS

NOBODY = MOST_PLAYERS
FREE = -1  # a bid about which nothing is known


@helper
def own_bid_of(s: Any, player: int, first: int, card: int) -> int:
    """The round since `first`, already decided, in which the player bid that card; FREE if there is none."""
    for i in range(first, s.round):
        if s.bid[player, i] == card:
            return i
    return FREE


@helper
def count_ways(s: Any, player: int, first: int, left: Any, ways: Any) -> float:
    """Ways to give some of the cards `left` to the other's bids from the round `first` on.

    A seat's bids are all different, so going through its cards is going through the rounds. `ways` is memory to count
    in: [bids that were counted as not being above], with their sign. Every number is whole and below 2^53.
    """
    for k in range(MOST_CARDS + 1):
        ways[k] = k == 0
    below, above = 0, 0  # rounds so far with a lower, a higher bid of the other
    fewer = 0  # cards left that are below this one
    for card in range(s.cards):
        is_left = (left >> np.uint16(card)) & np.uint16(1)
        i = own_bid_of(s, player, first, card)
        if i != FREE and s.winner[i] == player:
            for k in range(above + 1):
                ways[k] *= max(fewer - below - k, 0)
            below += 1
        elif i != FREE and s.winner[i] != NOBODY:
            for k in range(above, -1, -1):
                ways[k + 1] -= ways[k] * max(fewer + is_left - below - k, 0)
            above += 1
        fewer += is_left
    total = 0.0
    for k in range(above + 1):
        rest = ways[k]
        for j in range(above - k):  # any card that is not taken yet
            rest *= max(fewer - below - k - j, 0)
        total += rest
    return total


@helper
def redeal_bids(s: Any, player: int, rng: Any) -> None:
    """Draws the other's bids anew, of this round too if it was made."""
    other = 1 - player
    ways = np.empty(MOST_CARDS + 1)
    left = np.uint16((1 << np.int64(s.cards)) - 1)
    for i in range(s.round):  # equal bids are known
        if s.winner[i] == NOBODY:
            left &= ~(np.uint16(1) << np.uint16(s.bid[player, i]))
    for i in range(s.round):
        if s.winner[i] != NOBODY:
            card = draw_bid(s, player, i, left, ways, rng)
            s.bid[other, i] = card
            left &= ~(np.uint16(1) << np.uint16(card))
    s.hand[other] = left
    if s.turn > other and s.round < s.cards:
        n = np.int64(uniform(rng) * (s.cards - s.round))
        for card in range(s.cards):
            if (left >> np.uint16(card)) & np.uint16(1):
                if n == 0:
                    s.bid[other, s.round] = card
                n -= 1


@helper
def draw_bid(s: Any, player: int, i: int, left: Any, ways: Any, rng: Any) -> int:
    """The other's bid in a round that was won: a card of those left, as often as there are ways to go on."""
    own = s.bid[player, i]
    at = uniform(rng) * count_ways(s, player, i, left, ways)
    last = FREE
    for card in range(s.cards):
        is_right = card < own if s.winner[i] == player else card > own
        rest = left & ~(np.uint16(1) << np.uint16(card))
        if is_right and rest != left:
            after = count_ways(s, player, i + 1, rest, ways)
            if after > 0:
                last = card
                at -= after
                if at < 0:
                    break
    return last
