"""What a hand is called at the showdown, as PokerStars says it."""

from __future__ import annotations

from collections import Counter

import numpy as np

from tapete.games.holdem.evaluator import rank_hands
from tapete.games.holdem.ranks import (
    CATEGORY_SHIFT,
    FLUSH,
    FOUR,
    FULL_HOUSE,
    PAIR,
    RANKS,
    STRAIGHT,
    STRAIGHT_FLUSH,
    SUITS,
    THREE,
    TWO_PAIR,
)

NAMES = ("Deuce", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Jack", "Queen", "King", "Ace")


def plural(rank: int) -> str:
    """Aces, Sixes."""
    return NAMES[rank] + ("es" if NAMES[rank] == "Six" else "s")


def rank_of(cards: list[str]) -> int:
    """The rank of five to seven cards: a better hand has a higher one."""
    numbers = [RANKS.index(card[0]) + 13 * SUITS.index(card[1]) for card in cards]
    return int(rank_hands(np.array([numbers], dtype=np.uint8))[0])


def category_of(cards: list[str]) -> int:
    """Their category, as a number."""
    return rank_of(cards) >> CATEGORY_SHIFT


def _straight_top(ranks: set[int]) -> int:
    tops = [top for top in range(3, 13) if all((top - i) % 13 in ranks for i in range(5))]
    return max(tops)


def spoken(cards: list[str]) -> str:
    """Of five to seven cards.

    >>> spoken(["Ah", "Ad", "Kc", "Kd", "2s", "3s", "4h"]), spoken(["Ah", "2d", "3c", "4d", "5s"])
    ('two pair, Aces and Kings', 'a straight, Ace to Five')
    """
    category = category_of(cards)
    ranks = [RANKS.index(card[0]) for card in cards]
    counts = Counter(ranks)
    often = sorted(counts, key=lambda rank: (counts[rank], rank), reverse=True)
    if category in (FLUSH, STRAIGHT_FLUSH):
        suit = Counter(card[1] for card in cards).most_common(1)[0][0]
        suited = {RANKS.index(card[0]) for card in cards if card[1] == suit}
        if category == FLUSH:
            return f"a flush, {NAMES[max(suited)]} high"
        top = _straight_top(suited)
        return "a Royal Flush" if top == 12 else f"a straight flush, {NAMES[(top - 4) % 13]} to {NAMES[top]}"
    if category == STRAIGHT:
        top = _straight_top(set(ranks))
        return f"a straight, {NAMES[(top - 4) % 13]} to {NAMES[top]}"
    if category == FULL_HOUSE:
        second = max(rank for rank in counts if rank != often[0] and counts[rank] >= 2)
        return f"a full house, {plural(often[0])} full of {plural(second)}"
    if category == TWO_PAIR:
        high, low = sorted((rank for rank in counts if counts[rank] == 2), reverse=True)[:2]
        return f"two pair, {plural(high)} and {plural(low)}"
    named = {FOUR: "four of a kind, ", THREE: "three of a kind, ", PAIR: "a pair of "}
    return named[category] + plural(often[0]) if category in named else f"high card {NAMES[max(ranks)]}"
