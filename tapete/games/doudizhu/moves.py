"""All 27,472 moves, by their ids: which cards they are made of, and what has to be played to beat them.

The ids follow the order of the kinds; within a kind, shorter chains come first, then lower ranks, then lower kickers.
So the moves that share a chain or a four are a block of neighbours, and the rest is found by arithmetic.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tapete.games.doudizhu.cards import CHAIN_RANKS, JOKERS, PAIR_RANKS, RANKS

Sets = NDArray[np.uint64]

# Kinds of moves. A move is beaten by one of its own kind and length with a higher rank, by a bomb, by the rocket.
NOTHING = 0  # to beat: the player leads
SOLO = 1
PAIR = 2
TRIO = 3
TRIO_SOLO = 4
TRIO_PAIR = 5
STRAIGHT = 6
PAIRS = 7
PLANE = 8
PLANE_SOLOS = 9
PLANE_PAIRS = 10
FOUR_SOLOS = 11
FOUR_PAIRS = 12
ODD_PLANE = 13  # a plane of four or five with a trio among its kickers: DouZero lets only bombs and the rocket beat it
BOMB = 14
ROCKET = 15

PASS = 0  # the id of passing; its cards are none

# [kind] ranks in a chain; the largest hand has 20 cards, and 12 ranks can be chained.
SHORTEST = np.array([0, 0, 0, 0, 0, 0, 5, 3, 2, 2, 2])
LONGEST = np.array([0, 0, 0, 0, 0, 0, 12, 10, 6, 5, 4])


class Block(NamedTuple):
    """Moves that share all but their kickers."""

    kind: int
    length: int  # ranks in the chain
    first: int  # its lowest rank
    cards: Sets


def attach(body: int, number: int, most: Iterable[int], unit: int = 1) -> Sets:
    """The body with that many kickers (of `unit` equal cards), at most so many of each rank, jokers never both."""
    sets: list[Sets] = [np.array([body], dtype=np.uint64)] + [np.zeros(0, dtype=np.uint64)] * number
    for rank, limit in enumerate(most):
        sets = [
            np.concatenate([sets[n - k] + np.uint64(k * unit << 4 * rank) for k in range(min(limit, n) + 1)])
            for n in range(number + 1)
        ]
    return np.sort(sets[number][sets[number] & JOKERS != JOKERS])


def solo_kickers(body: range) -> Iterator[int]:
    """How many cards of each rank may go with trios or a four as solos.

    Nothing of the body's own ranks, no bomb, and no trio that would make the plane longer.
    """
    for rank in range(len(RANKS)):
        if rank in body:
            yield 0
        elif rank >= PAIR_RANKS:
            yield 1
        else:
            yield 2 if rank in (body.start - 1, body.stop) and rank < CHAIN_RANKS else 3


def pair_kickers(body: range) -> Iterator[int]:
    """How many pairs of each rank may go with trios or a four: one, of other ranks than the body's."""
    return (int(rank < PAIR_RANKS and rank not in body) for rank in range(len(RANKS)))


def repeat(number: int, body: range) -> int:
    """That many cards of each rank."""
    return sum(number << 4 * rank for rank in body)


def one_set(cards: int) -> Sets:
    """An array of a single set."""
    return np.array([cards], dtype=np.uint64)


def chains(kind: int) -> Iterator[tuple[int, range]]:
    """The chains of a kind, shorter ones first."""
    for length in range(SHORTEST[kind], LONGEST[kind] + 1):
        for first in range(CHAIN_RANKS - length + 1):
            yield length, range(first, first + length)


def with_kickers(kind: int, number: int, bodies: Iterable[tuple[int, range]], *, pairs: bool) -> Iterator[Block]:
    """Trios with a kicker for each rank of the body, or a four with two."""
    for length, body in bodies:
        kickers = length if number == 3 else 2
        most = pair_kickers(body) if pairs else solo_kickers(body)
        yield Block(kind, length, body.start, attach(repeat(number, body), kickers, most, unit=2 if pairs else 1))


def blocks() -> Iterator[Block]:
    """Every move there is, in the order of the ids."""
    yield Block(NOTHING, 0, 0, one_set(0))  # pass
    for kind, ranks in ((SOLO, len(RANKS)), (PAIR, PAIR_RANKS), (TRIO, PAIR_RANKS)):
        for rank in range(ranks):
            yield Block(kind, 1, rank, one_set(kind << 4 * rank))
    single = [(1, range(rank, rank + 1)) for rank in range(PAIR_RANKS)]
    yield from with_kickers(TRIO_SOLO, 3, single, pairs=False)
    yield from with_kickers(TRIO_PAIR, 3, single, pairs=True)
    for kind, number in ((STRAIGHT, 1), (PAIRS, 2), (PLANE, 3)):
        for length, body in chains(kind):
            yield Block(kind, length, body.start, one_set(repeat(number, body)))
    yield from with_kickers(PLANE_SOLOS, 3, chains(PLANE_SOLOS), pairs=False)
    yield from with_kickers(PLANE_PAIRS, 3, chains(PLANE_PAIRS), pairs=True)
    yield from with_kickers(FOUR_SOLOS, 4, single, pairs=False)
    yield from with_kickers(FOUR_PAIRS, 4, single, pairs=True)
    for _, body in single:
        yield Block(BOMB, 1, body.start, one_set(repeat(4, body)))
    yield Block(ROCKET, 1, PAIR_RANKS, one_set(int(JOKERS)))


def _tables() -> tuple[Any, ...]:
    """What the names below stand for."""
    everything = list(blocks())
    sizes = [len(block.cards) for block in everything]
    cards = np.concatenate([block.cards for block in everything])
    kind, length, rank = (
        np.repeat(np.array(column, dtype=np.uint8), sizes)
        for column in zip(*((block.kind, block.length, block.first) for block in everything), strict=True)
    )
    first_id = np.zeros((ROCKET + 1, CHAIN_RANKS + 1, len(RANKS) + 1), dtype=np.int64)
    for block, start, count in zip(everything, np.cumsum([0, *sizes[:-1]]), sizes, strict=True):
        first_id[block.kind, block.length, block.first : block.first + 2] = start, start + count
    has_solos = kind == PLANE_SOLOS
    trios = np.zeros(len(cards), dtype=np.uint8)
    for trio in range(PAIR_RANKS):
        has_trio = has_solos & (cards >> np.uint64(4 * trio) & np.uint64(15) == 3)
        rank[has_trio] = trio
        trios += has_trio
    kind[has_solos & (trios > length) & (length >= 4)] = ODD_PLANE
    return cards, kind, length, rank, first_id


# By id, [27472] each: CARDS; KIND; LENGTH, of the chain, 1 where there is none; RANK, which is what is compared: the
# lowest of the body, but in a plane with solos the highest trio of all, its solos included, as in DouZero.
# FIRST [kind, length, rank]: the id of the block's first move; FIRST [kind, length, rank + 1] is where the block ends.
CARDS, KIND, LENGTH, RANK, FIRST = _tables()
MOVES = len(CARDS)
