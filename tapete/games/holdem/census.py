"""How many of all hands of seven cards fall into each category: the proof of the evaluator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from tapete.core.compile import LONGS, helper, kernel
from tapete.games.holdem.evaluator import CARD_KEYS, NO_CARDS, ONE, rank_key
from tapete.games.holdem.ranks import CATEGORIES, CATEGORY_SHIFT


@helper
def _last_two(key: Any, cards: Any, above: int, counts: Any) -> None:
    """Counts the hands that five cards make with any two of those above."""
    for a in range(above, 52):
        key6, cards6 = key + CARD_KEYS[a], cards | ONE << np.uint64(a)
        for b in range(a + 1, 52):
            counts[rank_key(key6 + CARD_KEYS[b], cards6 | ONE << np.uint64(b)) >> CATEGORY_SHIFT] += 1


@kernel(types.void(LONGS))
def _count_sevens(counts: Any) -> None:
    for a in range(52):
        for b in range(a + 1, 52):
            for c in range(b + 1, 52):
                for d in range(c + 1, 52):
                    for e in range(d + 1, 52):
                        key = NO_CARDS
                        cards = np.uint64(0)
                        for card in (a, b, c, d, e):
                            key += CARD_KEYS[card]
                            cards |= ONE << np.uint64(card)
                        _last_two(key, cards, e + 1, counts)


def count_sevens() -> dict[str, int]:
    """All 133,784,560 hands by category; a second or two."""
    counts = np.zeros(len(CATEGORIES), dtype=np.int64)
    _count_sevens(counts)
    return dict(zip(CATEGORIES, counts.tolist(), strict=True))
