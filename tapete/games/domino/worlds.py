"""Dealing anew what a seat can't know: every deal that explains what it saw comes out equally often.

What the other seat was dealt, and what it took and kept, fills slots in the order of time: slot 0 is the deal and holds
`each` tiles, slots 1, 2, ... hold one tile each. Chance fills them in all ways with the same probability; those remain
that agree with the moves. A tile that was laid lies between its `earliest` slot (after its owner had last shown to have
none such) and its `latest` (the last one that was filled by then). Other slots hold tiles still in the hand: any that
the seat doesn't see, from slot `lacks` of their numbers on.

Count the ways to fill slots 0 .. k, if f of the laid tiles lie in slots after k. Either slot k holds a laid tile: one
of those with latest >= k, less f. Or it holds a tile still in the hand: the tiles that may be there only grow in number
with k, so that of A such tiles A - h are left, if h slots before k hold such tiles too; and h follows from k and f.
These counts, from slot 0 on, are then the weights with which the slots are filled from the last one down.

They leave one thing out. By slot k, the f must contain all laid tiles with earliest > k; the counts only ask for f to
be large enough. If one of those tiles is left over, all starts again. Few tiles were laid of a number that their owner
lacked before, so in domino(6,7) this is rare.
"""

from typing import Any

from tapete.core.compile import FLOAT64_PTR, UINT64_PTR, helper
from tapete.core.rng import uniform
from tapete.games.domino.masks import NO_TILES, first, only, pick, pick_set, size, stack_array, without_first
from tapete.games.domino.state import MOST, OVER, has_looked
from tapete.games.domino.tiles import SHOWING

SLOTS = MOST + 1  # room for all slots, and an end behind them
IN_HAND = -1  # instead of a tile: one that is still in the hand

slot_sets = stack_array(UINT64_PTR, SLOTS)
ways_table = stack_array(FLOAT64_PTR, SLOTS * SLOTS)


@helper
def redeal_hands(s: Any, player: int, rng: Any) -> None:
    """While tiles are dealt: all hands at which the seat hasn't looked."""
    unseen = s.boneyard | s.hand[0] | s.hand[1]
    if has_looked(s, player):
        unseen ^= s.hand[player]
    for seat in range(2):
        if seat != player or not has_looked(s, player):
            s.hand[seat] = s.dealt[seat] = pick_set(rng, unseen, size(s.hand[seat]))
            unseen ^= s.hand[seat]
    s.boneyard = unseen


@helper
def list_holdable(s: Any, other: int, holdable: Any) -> None:
    """holdable[k]: tiles that may be in slot k and still in the hand. When the game is over, the hand is shown."""
    slots = s.keeps[other]
    for k in range(slots + 2):
        holdable[k] = NO_TILES
    for number in range(s.numbers):  # at first, tiles that can't be before slot k
        holdable[s.lacks[other, number]] |= SHOWING[number]
    too_early = holdable[slots + 1]
    unseen = s.hand[other] if s.stage == OVER else s.hand[other] | s.boneyard
    for k in range(slots, -1, -1):
        from_here = holdable[k]
        holdable[k] = unseen & ~too_early
        too_early |= from_here


@helper
def list_laid(s: Any, other: int, reach: Any, due: Any) -> None:
    """reach[k]: laid tiles with latest >= k; due[k]: those with earliest >= k."""
    slots = s.keeps[other]
    for k in range(slots + 2):
        reach[k] = due[k] = NO_TILES
    tiles = s.laid[other]
    while tiles:
        tile = first(tiles)
        reach[s.latest[tile]] |= only(tile)
        due[s.earliest[tile]] |= only(tile)
        tiles = without_first(tiles)
    for k in range(slots - 1, -1, -1):
        reach[k] |= reach[k + 1]
        due[k] |= due[k + 1]


@helper
def nowhere_else(reach: Any, due: Any, k: int) -> Any:
    """The laid tile, if any, whose earliest and latest slot is k."""
    return (reach[k] ^ reach[k + 1]) & (due[k] ^ due[k + 1])


@helper
def choose(n: int, k: int) -> float:
    """How many sets of k things there are among n: none if k < 0 or k > n."""
    ways = 1.0 if k >= 0 else 0.0
    for i in range(k):
        ways = ways * (n - i) / (i + 1)
    return ways


@helper
def count_ways(s: Any, other: int, holdable: Any, reach: Any, due: Any, ways: Any) -> None:
    """ways[k * SLOTS + f]: to fill slots 0 .. k, if f of the laid tiles lie in slots after k."""
    slots, laid = s.keeps[other], size(s.laid[other])
    for f in range(min(slots, laid) + 1):
        ways[f] = choose(size(holdable[0]), s.each - (laid - f)) if f >= size(due[1]) else 0.0
    for k in range(1, slots + 1):
        row, before = k * SLOTS, (k - 1) * SLOTS
        for f in range(min(slots - k, laid) + 1):
            if f < size(due[k + 1]):
                ways[row + f] = 0.0
            elif nowhere_else(reach, due, k):
                ways[row + f] = ways[before + f + 1]
            else:
                held_before = s.each + (k - 1) - (laid - f)
                ways[row + f] = (size(holdable[k]) - held_before) * ways[before + f]
                if f < laid:
                    ways[row + f] += (size(reach[k]) - f) * ways[before + f + 1]


@helper
def place_laid(s: Any, other: int, reach: Any, due: Any, ways: Any, rng: Any) -> Any:
    """Fills slots with laid tiles, from the last to slot 1. Returns those that are left: they must have been dealt.

    Gives up when the slots of a tile are over; it is then among those that are left, and in due[1].
    """
    left, f = s.laid[other], 0
    for k in range(s.keeps[other], 0, -1):
        tiles = nowhere_else(reach, due, k)
        if tiles == NO_TILES:
            tiles = left & reach[k]
            if uniform(rng) * ways[k * SLOTS + f] >= size(tiles) * ways[(k - 1) * SLOTS + f + 1]:
                tiles = NO_TILES
        if tiles:
            tile = pick(rng, tiles)
            s.kept[other, k - 1] = tile
            left ^= only(tile)
            f += 1
        else:
            s.kept[other, k - 1] = IN_HAND
        if left & due[k]:
            break
    return left


@helper
def redeal_history(s: Any, other: int, rng: Any) -> None:
    """What that seat was dealt, what it took and kept, and so what it holds."""
    holdable, reach, due, ways = slot_sets(), slot_sets(), slot_sets(), ways_table()
    list_holdable(s, other, holdable)
    laid_from_deal = s.laid[other]
    if s.keeps[other] > 0:
        list_laid(s, other, reach, due)
        count_ways(s, other, holdable, reach, due, ways)
        laid_from_deal = place_laid(s, other, reach, due, ways, rng)
        while laid_from_deal & due[1]:
            laid_from_deal = place_laid(s, other, reach, due, ways, rng)
    unseen = s.hand[other] | s.boneyard
    hand = pick_set(rng, holdable[0], s.each - size(laid_from_deal))
    s.dealt[other] = laid_from_deal | hand
    for k in range(1, s.keeps[other] + 1):
        if s.kept[other, k - 1] == IN_HAND:
            tile = pick(rng, holdable[k] & ~hand)
            s.kept[other, k - 1] = tile
            hand |= only(tile)
    s.hand[other] = hand
    s.boneyard = unseen ^ hand
