"""The Spanish deck as tables: what a card is worth in a trick and in the envido, every hand by its envido, and flores.

A card is suit * 10 + index: suits bastos, copas, espadas, oros; indices of the ranks 1 2 3 4 5 6 7 10 11 12.
"""

from itertools import combinations

import numpy as np

CARDS = 40
SUITS = "bceo"
RANKS = (1, 2, 3, 4, 5, 6, 7, 10, 11, 12)
NAMES = tuple(f"{rank}{suit}" for suit in SUITS for rank in RANKS)

# From the strongest down; cards of one group tie. The whole rank is meant where a group names no suit.
ORDER = ("1e", "1b", "7e", "7o", "3", "2", "1c 1o", "12", "11", "10", "7c 7b", "6", "5", "4")
STRONGEST = len(ORDER) - 1


def _strength(name: str) -> int:
    place = next(i for i, group in enumerate(ORDER) if name in group.split() or name[:-1] == group)
    return STRONGEST - place


def _suit_points(cards: int) -> int:
    """Envido of the cards of one suit, a mask of ten bits: 20 and the two best, or the only one."""
    values = sorted((VALUE[i] for i in range(10) if cards >> i & 1), reverse=True)
    return 20 + sum(values[:2]) if len(values) > 1 else sum(values)


STRENGTH = np.array([_strength(name) for name in NAMES], dtype=np.int8)  # [card] 0..13
VALUE = np.array(
    [rank if rank < 10 else 0 for _ in SUITS for rank in RANKS], dtype=np.int8
)  # [card] 0..7 in the envido
SUIT_POINTS = np.array([_suit_points(cards) for cards in range(1024)], dtype=np.int8)  # [mask of one suit] 0..33
MOST_POINTS = 33

_masks = np.array([sum(1 << card for card in hand) for hand in combinations(range(CARDS), 3)], dtype=np.uint64)
_points = np.max([SUIT_POINTS[(_masks >> np.uint64(10 * suit)) & np.uint64(1023)] for suit in range(4)], axis=0)

# All 9880 hands as masks, those with e points in the envido at HANDS[FIRST[e] : FIRST[e + 1]].
HANDS = _masks[np.argsort(_points, kind="stable")]
FIRST = np.searchsorted(np.sort(_points), np.arange(MOST_POINTS + 2)).astype(np.int64)

SUITED = np.array([1023 << 10 * suit for suit in range(4)], dtype=np.uint64)  # [suit] all its cards
FLORES = _masks[np.any((_masks[:, None] & ~SUITED) == 0, axis=1)]  # the 480 hands of one suit
FLOR_POINTS = np.array(
    [20 + sum(VALUE[i] for i in range(10) if cards >> i & 1) for cards in range(1024)], dtype=np.int8
)
MOST_FLOR_POINTS = 38
