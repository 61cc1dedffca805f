"""Every poker hand there is, ranked, laid out in tables that the evaluator looks up. NumPy only, nothing to compile.

A card is `13 * suit + rank`, a set of cards 52 bits. A rank of a hand is `category << 12 | place in the category`, from
the worst hand up, so that comparing two ranks compares the hands. The 7,462 different ranks are those of five cards.

Without a flush, a hand is worth what its counts of ranks say: 73,775 ways to have 5, 6 or 7 cards, at most 4 of a rank.
Each card adds to a key. The key's two lanes tell the counts of the lower seven ranks and of the upper six, because sums
of at most seven of the numbers below, at most four of each, are all different. `LOWER` numbers the lower counts from
few cards to many; `UPPER` says where the row of those upper counts begins; there, `LOWER` is the column.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Masks = NDArray[np.int64]  # sets of ranks, 13 bits each
Counts = NDArray[np.int64]  # [hands, ranks] how many of each rank

RANKS = "23456789TJQKA"
SUITS = "cdhs"
CATEGORIES = (
    "high card",
    "pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
)
HIGH_CARD, PAIR, TWO_PAIR, THREE, STRAIGHT, FLUSH, FULL_HOUSE, FOUR, STRAIGHT_FLUSH = range(9)
CATEGORY_SHIFT = 12

# The smallest numbers whose sums of at most seven, at most four of each, all differ.
ADDENDS = (1, 5, 24, 112, 521, 2247, 9244)
LOWER_RANKS = 7
UPPER_RANKS = 6
LOWER_SHIFT = 16  # the lanes of a key: four suits of 4 bits, then the lower ranks, then the upper
UPPER_SHIFT = 32


def card_keys() -> NDArray[np.uint64]:
    """[52] what each card adds to the key of a hand."""
    ranks = [addend << LOWER_SHIFT for addend in ADDENDS] + [addend << UPPER_SHIFT for addend in ADDENDS[:UPPER_RANKS]]
    return np.array([ranks[card % 13] + (1 << (4 * (card // 13))) for card in range(52)], dtype=np.uint64)


def counts_of(ranks: int) -> Counts:
    """Every way to have at most seven cards of so many ranks, few cards first."""
    rows = np.zeros((1, 0), dtype=np.int64)
    for _ in range(ranks):
        rows = np.vstack([np.column_stack((rows, np.full(len(rows), count))) for count in range(5)])
        rows = rows[rows.sum(axis=1) <= 7]
    return rows[np.argsort(rows.sum(axis=1), kind="stable")]


def highest(masks: Masks, n: int) -> Masks:
    """The n highest ranks of each set."""
    kept = np.arange(1 << 13, dtype=np.int64)  # [8192] by set
    for _ in range(13):
        kept = np.where(np.bitwise_count(kept) > n, kept & (kept - 1), kept)
    return kept[masks]


def straights(masks: Masks) -> Masks:
    """The top of the best straight in each set, as one rank; 0 where there is none. An ace is also below the two."""
    runs = low = masks << 1 | masks >> 12
    for i in range(1, 5):
        runs = runs & low >> i
    return highest(runs << 3, 1)


def strength(category: int, first: Masks | int, then: Masks | int) -> Masks:
    """Orders hands: by category, by the ranks that make it, by the ranks beside them."""
    return np.asarray(category << 26 | first << 13 | then, dtype=np.int64)


def strengths_by_counts(counts: Counts) -> Masks:
    """[hands] of hands without a flush."""
    bits = 1 << np.arange(13)
    any_of, pairs, threes, fours = (((counts >= n) * bits).sum(axis=1) for n in (1, 2, 3, 4))
    four, three, pair, two = highest(fours, 1), highest(threes, 1), highest(pairs, 1), highest(pairs, 2)
    straight = straights(any_of)
    beside_three = highest(pairs & ~three, 1)
    return np.select(
        [four > 0, (three > 0) & (beside_three > 0), straight > 0, three > 0, two > pair, pair > 0],
        [
            strength(FOUR, four, highest(any_of & ~four, 1)),
            strength(FULL_HOUSE, three, beside_three),
            strength(STRAIGHT, straight, 0),
            strength(THREE, three, highest(any_of & ~three, 2)),
            strength(TWO_PAIR, two, highest(any_of & ~two, 1)),
            strength(PAIR, pair, highest(any_of & ~pair, 3)),
        ],
        strength(HIGH_CARD, 0, highest(any_of, 5)),
    )


def strengths_by_suit() -> Masks:
    """[8192] of the cards of one suit, by their set of ranks; 0 where they are fewer than five."""
    masks = np.arange(1 << 13, dtype=np.int64)
    straight = straights(masks)
    flush = np.where(straight > 0, strength(STRAIGHT_FLUSH, straight, 0), strength(FLUSH, 0, highest(masks, 5)))
    return np.where(np.bitwise_count(masks) >= 5, flush, 0)


def as_ranks(strengths: Masks) -> NDArray[np.uint16]:
    """Strengths as ranks, closed up: the worst hand of a category is its number 0."""
    different, which = np.unique(strengths, return_inverse=True)
    category = different >> 26
    place = np.arange(len(different)) - np.searchsorted(category, category)
    return (category << CATEGORY_SHIFT | place).astype(np.uint16)[which]


def tables() -> tuple[NDArray[np.uint16], NDArray[np.int32], NDArray[np.uint16], NDArray[np.uint16]]:
    """LOWER and UPPER by the lanes of a key, the ranks where they point, and the ranks of flushes by a suit's cards."""
    lower_counts, upper_counts = counts_of(LOWER_RANKS), counts_of(UPPER_RANKS)
    # [9] where the lower counts of n cards begin; hands of 5, 6 and 7 cards then follow one another in a row
    begin = np.searchsorted(lower_counts.sum(axis=1), np.arange(9))
    first = begin[np.maximum(5 - upper_counts.sum(axis=1), 0)]
    width = begin[8 - upper_counts.sum(axis=1)] - first
    row = np.cumsum(width) - width - first

    lower_keys, upper_keys = lower_counts @ ADDENDS, upper_counts @ ADDENDS[:UPPER_RANKS]
    lower = np.zeros(lower_keys.max() + 1, dtype=np.uint16)
    lower[lower_keys] = np.arange(len(lower_keys))
    upper = np.zeros(upper_keys.max() + 1, dtype=np.int32)
    upper[upper_keys] = row

    columns = np.concatenate([np.arange(f, f + w) for f, w in zip(first, width, strict=True)])
    hands = np.hstack((lower_counts[columns], np.repeat(upper_counts, width, axis=0)))
    by_suit = strengths_by_suit()
    all_ranks = as_ranks(np.concatenate((strengths_by_counts(hands), by_suit)))
    return lower, upper, all_ranks[: len(hands)], np.where(by_suit > 0, all_ranks[len(hands) :], 0).astype(np.uint16)
