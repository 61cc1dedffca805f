"""The best five of up to seven cards, ranked: a bigger rank is a better hand, equal ranks tie."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.cpython.unsafe.numbers import trailing_zeros
from numpy.typing import NDArray

from tapete.core.compile import INTS, helper, kernel
from tapete.core.errors import TapeteError
from tapete.games.holdem.ranks import CATEGORIES, CATEGORY_SHIFT, LOWER_SHIFT, UPPER_SHIFT, card_keys, tables

CARD_KEYS = card_keys()
LOWER, UPPER, RANKS_BY_COUNTS, RANKS_BY_SUIT = tables()

ONE = np.uint64(1)
NO_CARDS = np.uint64(0x3333)  # the key of an empty hand: suits count from three, so that the fifth card sets bit 3
FIVE_OF_A_SUIT = np.uint64(0x8888)


@helper
def rank_key(key: Any, cards: Any) -> Any:
    """The rank of 5, 6 or 7 cards, given as bits and as the sum of their `CARD_KEYS` and `NO_CARDS`."""
    flush = key & FIVE_OF_A_SUIT
    if flush:  # five of a suit leave no room for a full house or four of a kind
        suit = trailing_zeros(flush) >> np.uint64(2)
        return np.int64(RANKS_BY_SUIT[(cards >> (np.uint64(13) * suit)) & np.uint64(0x1FFF)])
    lower = (key >> np.uint64(LOWER_SHIFT)) & np.uint64(0xFFFF)
    return np.int64(RANKS_BY_COUNTS[np.uint64(np.int64(UPPER[key >> np.uint64(UPPER_SHIFT)]) + np.int64(LOWER[lower]))])


@helper
def key_of(cards: Any) -> Any:
    """The key of cards given as bits."""
    key = NO_CARDS
    while cards:
        key += CARD_KEYS[trailing_zeros(cards)]
        cards &= cards - ONE
    return key


@helper
def rank7(cards: Any) -> Any:
    """The rank of cards given as bits: 5, 6 or 7 of them."""
    return rank_key(key_of(cards), cards)


def _row_ranker(size: int) -> Any:
    """Ranks row i of hands of so many cards. The number is a constant in there, so that loops unroll."""

    @helper
    def rank_row(hands: Any, i: int) -> Any:
        key = NO_CARDS
        for j in range(size):
            key += CARD_KEYS[hands[i, j]]
        cards = np.uint64(0)
        if key & FIVE_OF_A_SUIT:
            for j in range(size):
                cards |= ONE << np.uint64(hands[i, j])
        return rank_key(key, cards)

    return rank_row


_rank_five, _rank_six, _rank_seven = _row_ranker(5), _row_ranker(6), _row_ranker(7)


@kernel(types.void(types.uint8[:, ::1], INTS))
def _rank_hands(hands: Any, out: Any) -> None:
    if hands.shape[1] == 7:
        for i in range(len(hands)):
            out[i] = _rank_seven(hands, i)
    elif hands.shape[1] == 6:
        for i in range(len(hands)):
            out[i] = _rank_six(hands, i)
    else:
        for i in range(len(hands)):
            out[i] = _rank_five(hands, i)


def rank_hands(hands: NDArray[np.uint8]) -> NDArray[np.int32]:
    """[N] ranks of [N, 5], [N, 6] or [N, 7] cards; that the cards of a hand differ is not checked.

    >>> aces_full, flush = [12, 25, 38, 11, 24], [12, 10, 8, 6, 4]
    >>> ranks = rank_hands(np.array([aces_full, flush], dtype=np.uint8))
    >>> bool(ranks[0] > ranks[1]), category(ranks[0]), category(ranks[1])
    (True, 'full house', 'flush')
    """
    if hands.ndim != 2 or hands.shape[1] not in (5, 6, 7):
        raise TapeteError(f"hands are rows of 5, 6 or 7 cards, not an array of shape {hands.shape}")
    if hands.dtype != np.uint8 or (hands.size and hands.max() >= 52):
        raise TapeteError("cards are bytes from 0 to 51: 13 * suit + rank")
    out = np.empty(len(hands), dtype=np.int32)
    _rank_hands(np.ascontiguousarray(hands), out)
    return out


def category(rank: int) -> str:
    """What the hand is called: "two pair"."""
    return CATEGORIES[int(rank) >> CATEGORY_SHIFT]
