"""Hands of truco with all cards on the table: who wins the tricks if both see everything and play their best.

Cards are their strengths here, 0 to 13. A holding is written in digits of base 16, each a strength plus one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from numba import types

from tapete.core.compile import DOUBLES, LONGS, helper, kernel

DIGIT = 4  # bits
MINE, THEIRS, PARDA = 1, 2, 3  # who won a trick; 0: nobody yet


def written(cards: Iterable[int]) -> int:
    """Strengths as a holding."""
    return sum((int(card) + 1) << (DIGIT * i) for i, card in enumerate(cards))


@helper
def without(cards: int, place: int) -> int:
    """The holding that is left when the card at a place is played."""
    shift = DIGIT * place
    return (cards & ((1 << shift) - 1)) | ((cards >> (shift + DIGIT)) << shift)


@helper
def trick_of(mine: int, theirs: int) -> int:
    """Who wins a trick of two cards."""
    if mine == theirs:
        return PARDA
    return MINE if mine > theirs else THEIRS


@helper
def third_trick(mine: int, theirs: int, first: int, is_mano: int) -> int:
    """Whether I win the hand with the last cards, after one trick each or two ties."""
    trick = trick_of(mine, theirs)
    if trick == PARDA:
        trick = first if first != PARDA else (MINE if is_mano else THEIRS)
    return 1 if trick == MINE else 0


@helper
def after_second(mine: int, theirs: int, card: int, other: int, first: int, is_mano: int) -> int:
    """Whether I win the hand when `card` met `other` in the second trick and the rest is still held."""
    trick = trick_of(card, other)
    if trick == PARDA and first != PARDA:
        return 1 if first == MINE else 0
    if trick != PARDA and first in (PARDA, trick):
        return 1 if trick == MINE else 0
    return third_trick(mine, theirs, first, is_mano)


@helper
def second_trick(mine: int, theirs: int, my_card: int, their_card: int, leads: int, first: int, is_mano: int) -> int:
    """Whether I win from the second trick on; a card that lies there already is given, else 0."""
    mine_open, theirs_open = my_card == 0, their_card == 0
    # The leader chooses first: his best over the follower's best.
    outer = 0 if leads else 1
    for i in range(2 if (mine_open if leads else theirs_open) else 1):
        inner = 1 if leads else 0
        for j in range(2 if (theirs_open if leads else mine_open) else 1):
            a, b = (i, j) if leads else (j, i)
            card = (mine >> (DIGIT * a)) & 15 if mine_open else my_card
            other = (theirs >> (DIGIT * b)) & 15 if theirs_open else their_card
            own = without(mine, a) if mine_open else mine
            rest = without(theirs, b) if theirs_open else theirs
            value = after_second(own, rest, card, other, first, is_mano)
            inner = min(inner, value) if leads else max(inner, value)
        outer = max(outer, inner) if leads else min(outer, inner)
    return outer


@helper
def first_trick(mine: int, theirs: int, my_card: int, their_card: int, is_mano: int) -> int:
    """Whether I win from the first trick on, which mano leads; a card that lies there already is given, else 0."""
    mine_open, theirs_open = my_card == 0, their_card == 0
    outer = 0 if is_mano else 1
    for i in range(3 if (mine_open if is_mano else theirs_open) else 1):
        inner = 1 if is_mano else 0
        for j in range(3 if (theirs_open if is_mano else mine_open) else 1):
            a, b = (i, j) if is_mano else (j, i)
            card = (mine >> (DIGIT * a)) & 15 if mine_open else my_card
            other = (theirs >> (DIGIT * b)) & 15 if theirs_open else their_card
            own = without(mine, a) if mine_open else mine
            rest = without(theirs, b) if theirs_open else theirs
            first = trick_of(card, other)
            leads = is_mano if first == PARDA else int(first == MINE)
            value = second_trick(own, rest, 0, 0, leads, first, is_mano)
            inner = min(inner, value) if is_mano else max(inner, value)
        outer = max(outer, inner) if is_mano else min(outer, inner)
    return outer


@kernel(types.float64(*[types.int64] * 3, LONGS, DOUBLES))
def share_first(mine: int, my_card: int, is_mano: int, theirs: Any, weights: Any) -> float:
    """The share of holdings against which I win from the first trick on, nothing of theirs on the table."""
    total = 0.0
    for i in range(len(theirs)):
        total += weights[i] * first_trick(mine, theirs[i], my_card, 0, is_mano)
    return total


@kernel(types.float64(*[types.int64] * 2, LONGS, DOUBLES))
def share_following(mine: int, their_card: int, theirs: Any, weights: Any) -> float:
    """The same for pie, with mano's first card on the table."""
    total = 0.0
    for i in range(len(theirs)):
        total += weights[i] * first_trick(mine, theirs[i], 0, their_card, 0)
    return total


@kernel(types.float64(*[types.int64] * 5, LONGS, DOUBLES))
def share_second(mine: int, my_card: int, leads: int, first: int, is_mano: int, theirs: Any, weights: Any) -> float:
    """The same from the second trick on, my card on the table or none."""
    total = 0.0
    for i in range(len(theirs)):
        total += weights[i] * second_trick(mine, theirs[i], my_card, 0, leads, first, is_mano)
    return total
