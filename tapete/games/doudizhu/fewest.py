"""The fewest moves that empty a hand when nobody else plays: how far a hand is from winning.

Chains and planes are searched for, and what they leave is looked up: without them only the number of ranks matters of
which there are one, two, three and four cards, and whether both jokers are there.
"""

from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapete.core.compile import INT32_PTR, UINT64_PTR, helper, stack_of
from tapete.games.doudizhu.cards import CHAINABLE, JOKERS, at_least, drop_lowest, has_all, lowest, size
from tapete.games.doudizhu.legal import ANY, list_chains
from tapete.games.doudizhu.moves import CARDS, FIRST, PAIRS, PLANE, PLANE_PAIRS, PLANE_SOLOS, STRAIGHT

CHAINS = CHAINABLE * np.uint64(7)  # all cards of the ranks that make chains
MOST_CHAINS = 36 + 52 + 45  # straights, serial pairs, planes
DEPTH = 4  # chains in a hand: the shortest has 5 cards, the largest hand 20

# How many there are in a hand of: both jokers, ranks of one, two, three, four cards. At most so many:
ROOM = (2, 16, 11, 7, 6)
Change = tuple[int, int, int, int, int]

# What it changes to take a card, a pair, ... out of a hand.
JOKER: Change = (-1, 1, 0, 0, 0)  # the other joker becomes an ordinary solo
SOLOS: tuple[Change, ...] = (JOKER, (0, -1, 0, 0, 0), (0, 1, -1, 0, 0), (0, 0, 1, -1, 0), (0, 0, 0, 1, -1))
PAIRS_OUT: tuple[Change, ...] = ((0, 0, -1, 0, 0), (0, 1, 0, -1, 0), (0, 0, 1, 0, -1))
TRIOS: tuple[Change, ...] = ((0, 0, 0, -1, 0), (0, 1, 0, 0, -1))
FOUR: Change = (0, 0, 0, 0, -1)
ROCKET: Change = (-1, 0, 0, 0, 0)


def leftover_moves() -> Iterator[tuple[Change, ...]]:
    """Every move that is no chain, as what is taken out of the hand, each from ranks of its own."""
    for alone in (*SOLOS, *PAIRS_OUT, *TRIOS, FOUR, ROCKET):
        yield (alone,)
    yield from product(TRIOS, SOLOS + PAIRS_OUT)
    yield from product((FOUR,), PAIRS_OUT)  # two solos of one rank
    for kickers in (SOLOS, PAIRS_OUT):
        for two in combinations_with_replacement(kickers, 2):
            if two != (JOKER, JOKER):
                yield (FOUR, *two)


def fewest_leftovers() -> NDArray[np.uint8]:
    """The fewest moves without chains, in an array of the shape ROOM."""
    table = np.full(ROOM, 99, dtype=np.uint8)
    table[0, 0, 0, 0, 0] = 0
    moves = []  # parts of the table: hands that have the cards for a move, and what it leaves of them
    for move in leftover_moves():
        needs = [sum(max(0, -change) for change in changes) for changes in zip(*move, strict=True)]
        more = [sum(changes) for changes in zip(*move, strict=True)]
        ends = [size - max(0, change) for size, change in zip(ROOM, more, strict=True)]
        hands = tuple(slice(need, end) for need, end in zip(needs, ends, strict=True))
        rests = tuple(slice(need + k, end + k) for need, end, k in zip(needs, ends, more, strict=True))
        moves.append((hands, rests))
    before = np.zeros_like(table)
    while (table != before).any():
        before = table.copy()
        for hands, rests in moves:
            np.minimum(table[hands], table[rests] + np.uint8(1), out=table[hands])
    return table


LEFTOVERS = fewest_leftovers().reshape(-1)
STEP_FOUR, STEP_TRIO, STEP_PAIR, STEP_SOLO, STEP_JOKERS = (
    int(np.prod(ROOM[i:], dtype=np.int64)) for i in range(5, 0, -1)
)


chains_room = stack_of(INT32_PTR, MOST_CHAINS)
rests_room = stack_of(UINT64_PTR, DEPTH + 1)
places_room = stack_of(INT32_PTR, DEPTH + 1)


@helper
def ranks_in(mask: Any) -> Any:
    """How many ranks are in a mask: 15 at most, so that the sum of all fours fits into the highest."""
    return np.int64((mask * np.uint64(0x1111111111111111)) >> np.uint64(60))


@helper
def without_chains(cards: Any) -> Any:
    """The fewest moves, none of them a chain or a plane."""
    both = np.int64(cards & JOKERS == JOKERS)
    ones, twos, threes, fours = at_least(cards)
    one, two, three, four = ranks_in(ones), ranks_in(twos), ranks_in(threes), ranks_in(fours)
    return np.int64(
        LEFTOVERS[
            both * STEP_JOKERS
            + (one - two - 2 * both) * STEP_SOLO
            + (two - three) * STEP_PAIR
            + (three - four) * STEP_TRIO
            + four * STEP_FOUR
        ]
    )


def _with_planes(fewest_left: Any) -> Any:
    """Allows one plane with kickers more than `fewest_left` does."""

    @helper
    def planes(cards: Any) -> Any:
        best = fewest_left(cards)
        _, _, trios, _ = at_least(cards & CHAINS)
        for kind in (PLANE_SOLOS, PLANE_PAIRS):
            starts = trios
            for length in range(2, size(cards) // (4 + (kind == PLANE_PAIRS)) + 1):
                starts &= trios >> np.uint64(4 * (length - 1))
                left = starts
                while left:
                    first = lowest(left)
                    left = drop_lowest(left)
                    body = CARDS[FIRST[PLANE, length, first]]
                    # Kickers could be played alone, so each of them saves a move at most.
                    if 1 + fewest_left(cards - body) - length < best:
                        for action in range(FIRST[kind, length, first], FIRST[kind, length, first + 1]):
                            if has_all(cards, CARDS[action]):
                                best = min(best, 1 + fewest_left(cards - CARDS[action]))
        return best

    return planes


with_plane = _with_planes(without_chains)
with_planes = _with_planes(with_plane)  # three of them are more than a hand


@helper
def without_straights(cards: Any) -> Any:
    """The fewest moves, none of them a chain; planes only with kickers."""
    _, _, trios, _ = at_least(cards & CHAINS)
    if trios & (trios >> np.uint64(4)):
        return with_planes(cards)
    return without_chains(cards)


@helper
def list_all_chains(hand: Any, out: Any) -> Any:
    """Every straight, serial pairs and plane of the hand; how many there are."""
    solos, pairs, trios, _ = at_least(hand)
    n = list_chains(solos, STRAIGHT, ANY, ANY, out, 0)
    n = list_chains(pairs, PAIRS, ANY, ANY, out, n)
    return list_chains(trios, PLANE, ANY, ANY, out, n)


@helper
def fewest(hand: Any) -> Any:
    """The fewest moves that empty a hand of at most 20 cards. Exact: every set of chains is tried."""
    best = without_straights(hand)
    chains, rests, places = chains_room(), rests_room(), places_room()
    n = list_all_chains(hand, chains)
    rests[0], places[0] = hand, 0
    depth = 0  # chains taken out so far, in the order of the list, each of them as often as there are cards for it
    while depth >= 0:
        place = places[depth]
        if place == n or depth + 1 >= best:
            depth -= 1
            continue
        places[depth] += 1
        cards = CARDS[chains[place]]
        if has_all(rests[depth], cards):
            rest = rests[depth] - cards
            best = min(best, depth + 1 + without_straights(rest))
            if rest:
                depth += 1
                rests[depth], places[depth] = rest, place
    return best
