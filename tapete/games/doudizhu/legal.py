"""Which moves a hand can make, ascending by id: to lead, or to beat another move.

Every `list_...` function writes the moves of one kind with a rank above the one given to `out` from place `n` on, and
returns the next free place. Leading is beating a rank of -1, kind by kind.
"""

from typing import Any

import numpy as np

from tapete.core.compile import helper
from tapete.games.doudizhu.cards import (
    CHAINABLE,
    EIGHTS,
    JOKERS,
    PAIR_RANKS,
    RANKS,
    above,
    at_least,
    copies,
    drop_lowest,
    lowest,
    size,
)
from tapete.games.doudizhu.moves import (
    BOMB,
    CARDS,
    FIRST,
    FOUR_PAIRS,
    FOUR_SOLOS,
    LONGEST,
    PAIR,
    PAIRS,
    PASS,
    PLANE,
    PLANE_PAIRS,
    PLANE_SOLOS,
    RANK,
    ROCKET,
    SHORTEST,
    SOLO,
    STRAIGHT,
    TRIO,
    TRIO_PAIR,
    TRIO_SOLO,
)

ANY = -1  # the rank to beat, and the length, when leading

SOLO_RANKS = len(RANKS)


@helper
def list_ranks(mask: Any, first: Any, out: Any, n: Any) -> Any:
    """One move for each rank of the mask: of neighbouring ids, `first` being that of the lowest rank there is."""
    while mask:
        out[n] = first + lowest(mask)
        n += 1
        mask = drop_lowest(mask)
    return n


@helper
def list_trios(trios: Any, kickers: Any, first: Any, ranks: Any, out: Any, n: Any) -> Any:
    """Trios with one kicker, which has one rank less to choose from than there are."""
    while trios:
        trio = lowest(trios)
        others = kickers & ~copies(1, trio)
        block = first + trio * (ranks - 1)
        while others:
            kicker = lowest(others)
            out[n] = block + kicker - (kicker > trio)
            n += 1
            others = drop_lowest(others)
        trios = drop_lowest(trios)
    return n


@helper
def list_chains(mask: Any, kind: Any, length: Any, rank: Any, out: Any, n: Any) -> Any:
    """Chains of ranks of the mask, of this length or of any."""
    mask &= CHAINABLE
    starts = mask  # where a chain of i ranks begins
    for i in range(2, LONGEST[kind] + 1):
        starts &= mask >> np.uint64(4 * (i - 1))
        if not starts:
            break
        if i >= SHORTEST[kind] and length in (i, ANY):
            n = list_ranks(above(starts, rank), FIRST[kind, i, 0], out, n)
    return n


@helper
def list_block(hand: Any, kind: Any, length: Any, first: Any, rank: Any, out: Any, n: Any) -> Any:
    """The moves of a block that the hand has the cards for. Each is written, and overwritten if it isn't one."""
    guarded = hand | EIGHTS
    for action in range(FIRST[kind, length, first], FIRST[kind, length, first + 1]):
        out[n] = action
        n += ((guarded - CARDS[action]) & EIGHTS == EIGHTS) & (RANK[action] > rank)
    return n


@helper
def list_planes(hand: Any, trios: Any, kind: Any, length: Any, rank: Any, out: Any, n: Any) -> Any:
    """Planes with kickers, a trio with its kicker being 4 cards or 5."""
    trios &= CHAINABLE
    starts = trios
    most = size(hand) // (4 + (kind == PLANE_PAIRS))
    for i in range(2, min(LONGEST[kind], most) + 1):
        starts &= trios >> np.uint64(4 * (i - 1))
        if not starts:
            break
        if length in (i, ANY):
            left = starts
            while left:
                n = list_block(hand, kind, i, lowest(left), rank, out, n)
                left = drop_lowest(left)
    return n


@helper
def list_fours(hand: Any, fours: Any, kind: Any, rank: Any, out: Any, n: Any) -> Any:
    """Fours with two kickers."""
    fours = above(fours, rank)
    if size(hand) < (6 if kind == FOUR_SOLOS else 8):
        return n
    while fours:
        n = list_block(hand, kind, 1, lowest(fours), rank, out, n)
        fours = drop_lowest(fours)
    return n


@helper
def list_bombs(hand: Any, fours: Any, rank: Any, out: Any, n: Any) -> Any:
    """Bombs and the rocket."""
    n = list_ranks(above(fours, rank), FIRST[BOMB, 1, 0], out, n)
    if hand & JOKERS == JOKERS:
        out[n] = FIRST[ROCKET, 1, PAIR_RANKS]
        n += 1
    return n


@helper
def list_leads(hand: Any, out: Any) -> Any:
    """Every move that the hand has the cards for, but not passing."""
    solos, pairs, trios, fours = at_least(hand)
    n = list_ranks(solos, FIRST[SOLO, 1, 0], out, 0)
    n = list_ranks(pairs, FIRST[PAIR, 1, 0], out, n)
    if trios:
        n = list_ranks(trios, FIRST[TRIO, 1, 0], out, n)
        n = list_trios(trios, solos, FIRST[TRIO_SOLO, 1, 0], SOLO_RANKS, out, n)
        n = list_trios(trios, pairs, FIRST[TRIO_PAIR, 1, 0], PAIR_RANKS, out, n)
    n = list_chains(solos, STRAIGHT, ANY, ANY, out, n)
    n = list_chains(pairs, PAIRS, ANY, ANY, out, n)
    if trios:
        n = list_chains(trios, PLANE, ANY, ANY, out, n)
        n = list_planes(hand, trios, PLANE_SOLOS, ANY, ANY, out, n)
        n = list_planes(hand, trios, PLANE_PAIRS, ANY, ANY, out, n)
        n = list_fours(hand, fours, FOUR_SOLOS, ANY, out, n)
        n = list_fours(hand, fours, FOUR_PAIRS, ANY, out, n)
    return list_bombs(hand, fours, ANY, out, n)


@helper
def list_answers(hand: Any, kind: Any, length: Any, rank: Any, out: Any) -> Any:
    """Passing, and every move of the hand that beats one of this kind, length and rank."""
    solos, pairs, trios, fours = at_least(hand)
    out[0] = PASS
    n = 1
    if kind == SOLO:
        n = list_ranks(above(solos, rank), FIRST[SOLO, 1, 0], out, n)
    elif kind == PAIR:
        n = list_ranks(above(pairs, rank), FIRST[PAIR, 1, 0], out, n)
    elif kind == TRIO:
        n = list_ranks(above(trios, rank), FIRST[TRIO, 1, 0], out, n)
    elif kind == TRIO_SOLO:
        n = list_trios(above(trios, rank), solos, FIRST[TRIO_SOLO, 1, 0], SOLO_RANKS, out, n)
    elif kind == TRIO_PAIR:
        n = list_trios(above(trios, rank), pairs, FIRST[TRIO_PAIR, 1, 0], PAIR_RANKS, out, n)
    elif kind == STRAIGHT:
        n = list_chains(solos, STRAIGHT, length, rank, out, n)
    elif kind == PAIRS:
        n = list_chains(pairs, PAIRS, length, rank, out, n)
    elif kind == PLANE:
        n = list_chains(trios, PLANE, length, rank, out, n)
    elif kind == PLANE_SOLOS:
        if length == 3:  # as in DouZero, a plane of four is also one of three with a trio for its solos
            n = list_chains(trios, PLANE, 4, rank - 3, out, n)
        n = list_planes(hand, trios, PLANE_SOLOS, length, rank, out, n)
    elif kind == PLANE_PAIRS:
        n = list_planes(hand, trios, PLANE_PAIRS, length, rank, out, n)
    elif kind in (FOUR_SOLOS, FOUR_PAIRS):
        n = list_fours(hand, fours, kind, rank, out, n)
    elif kind == ROCKET:
        return n
    return list_bombs(hand, fours, rank if kind == BOMB else ANY, out, n)
