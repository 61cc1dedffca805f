"""A set of cards is one word: four bits a rank say how many there are of it, the 3s in the lowest bits.

Suits don't matter in this game, so there are none. In hexadecimal a set reads like a list of counts: 0x11444...4 is the
deck. Arithmetic works on all ranks at once, because no count goes beyond 4: sets are added and subtracted as numbers,
and the highest bit of each four is free to catch a borrow. A *mask* has at most the lowest bit of each four set.
"""

from typing import Any

import numpy as np
from numba.cpython.unsafe.numbers import trailing_zeros

from tapete.core.compile import helper

RANKS = "3456789TJQKA2BR"  # B and R are the black and the red joker
CHAIN_RANKS = 12  # chains are made of 3 to A
PAIR_RANKS = 13  # of these there are four cards each
DECK_SIZE = 54

DECK = np.uint64(0x114444444444444)
CHAINABLE = np.uint64(0x111111111111)
ONES = np.uint64(0x111111111111111)
EIGHTS = np.uint64(0x888888888888888)
JOKERS = np.uint64(0x110000000000000)

# The same for bytes, which hold two ranks each.
LOW_NIBBLES = np.uint64(0x0F0F0F0F0F0F0F0F)
BYTE_ONES = np.uint64(0x0101010101010101)
BYTE_HIGHS = np.uint64(0x8080808080808080)


@helper
def copies(number: Any, rank: Any) -> Any:
    """That many cards of a rank."""
    return np.uint64(number) << np.uint64(4 * rank)


@helper
def count(cards: Any, rank: Any) -> Any:
    """How many cards of a rank there are."""
    return np.int64((cards >> np.uint64(4 * rank)) & np.uint64(15))


@helper
def size(cards: Any) -> Any:
    """How many cards there are."""
    pairs = (cards & LOW_NIBBLES) + ((cards >> np.uint64(4)) & LOW_NIBBLES)
    return np.int64((pairs * BYTE_ONES) >> np.uint64(56))


@helper
def at_least(cards: Any) -> Any:
    """Masks of the ranks of which there are at least one, two, three, four cards."""
    ones, twos, fours = cards & ONES, (cards >> np.uint64(1)) & ONES, (cards >> np.uint64(2)) & ONES
    return ones | twos | fours, twos | fours, (ones & twos) | fours, fours


@helper
def has_all(hand: Any, cards: Any) -> Any:
    """Whether the cards are all in the hand: no rank has to borrow from its highest bit."""
    return (((hand | EIGHTS) - cards) & EIGHTS) == EIGHTS


@helper
def without(cards: Any, others: Any) -> Any:
    """Rank by rank the difference, or nothing where there are more of the others."""
    difference = (cards | EIGHTS) - others
    return difference & (((difference & EIGHTS) >> np.uint64(3)) * np.uint64(7))


@helper
def lowest(mask: Any) -> Any:
    """The lowest rank of a mask that is not empty."""
    return np.int64(trailing_zeros(mask) >> np.uint64(2))


@helper
def drop_lowest(mask: Any) -> Any:
    """The mask without its lowest rank."""
    return mask & (mask - np.uint64(1))


@helper
def above(mask: Any, rank: Any) -> Any:
    """The ranks of a mask that are higher than this one; all of them if it is -1."""
    shift = np.uint64(4 * (rank + 1))
    return (mask >> shift) << shift


@helper
def pick(cards: Any, index: Any) -> Any:
    """The rank of a card, by its place when the cards lie in a row, lowest first: without a loop or a branch."""
    pairs = (cards & LOW_NIBBLES) + ((cards >> np.uint64(4)) & LOW_NIBBLES)
    upto = pairs * BYTE_ONES  # in byte i: how many cards there are of the ranks 0 .. 2i + 1
    reached = ((upto | BYTE_HIGHS) - np.uint64(index + 1) * BYTE_ONES) & BYTE_HIGHS
    shift = trailing_zeros(reached) & ~np.uint64(7)
    before = ((upto << np.uint64(8)) >> shift) & np.uint64(255)
    first = (cards >> shift) & np.uint64(15)
    return np.int64(shift >> np.uint64(2)) + (np.uint64(index) - before >= first)


def text(cards: int) -> str:
    """The cards as they are written, lowest first.

    >>> text(0x10000000000012)
    '334B'
    """
    cards = int(cards)
    return "".join([rank * (cards >> 4 * i & 15) for i, rank in enumerate(RANKS)])
