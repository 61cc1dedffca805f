"""Dominó for two a second time, as a tree of tuples and sets: slow and plain."""

from itertools import combinations
from math import factorial
from typing import Any

Ends = tuple[int, int] | None


class Counted:
    """The tree of a game, hands and boneyard as sets; a turn is one step, with what is taken in it.

    `turns` and `ends` are its nodes, `taken` the tiles given within turns (where perft counts a decision more).
    `histories` is Rojas' N: his chance shuffles all tiles at the start, and each shuffle has its own branch.
    """

    def __init__(self, m: int, n: int) -> None:
        self.turns = self.ends = self.taken = 0
        self.histories = 1
        self.choices: set[tuple[Any, ...]] = set()
        self.most = 0
        self.orders_of_hands = factorial(n) ** 2
        tiles = frozenset((i, j) for i in range(m + 1) for j in range(i, m + 1))
        for first in map(frozenset, combinations(sorted(tiles), n)):
            for second in map(frozenset, combinations(sorted(tiles - first), n)):
                known = (0, first), (1, second)
                self.walk((first, second), tiles - first - second, None, 0, 0, known)

    def walk(self, hands: Any, boneyard: Any, ends: Ends, seat: int, passes: int, known: Any) -> None:
        self.histories += self.orders_of_hands * factorial(len(boneyard))
        if not all(hands) or (passes >= 2 and not boneyard):
            self.ends += 1
            self.most = max(self.most, *(sum(map(sum, hand)) for hand in hands))
            return
        self.turns += 1
        moves = ways_to_lay(hands[seat], ends)
        if moves:
            self.lay_each(moves, hands, boneyard, ends, seat, known)
        elif not boneyard:
            self.walk(hands, boneyard, ends, 1 - seat, passes + 1, tell(known, "pass"))
        for tile in () if moves else boneyard:
            self.taken += 1
            larger = swap(hands, seat, hands[seat] | {tile})
            learned = swap(tell(known, "take"), seat, (*known[seat], "take", tile))
            moves = ways_to_lay({tile}, ends)
            if moves:
                self.lay_each(moves, larger, boneyard - {tile}, ends, seat, learned)
            else:
                self.walk(larger, boneyard - {tile}, ends, 1 - seat, passes + 1, tell(learned, "pass"))

    def lay_each(self, moves: Any, hands: Any, boneyard: Any, ends: Ends, seat: int, known: Any) -> None:
        if len(moves) > 1:
            self.choices.add(known[seat])
        for tile, end in moves:
            opened = tile
            if ends is not None:
                opened = swap(ends, end, sum(tile) - ends[end])
            smaller = swap(hands, seat, hands[seat] - {tile})
            self.walk(smaller, boneyard, opened, 1 - seat, 0, tell(known, (tile, end)))


def ways_to_lay(tiles: Any, ends: Ends) -> list[tuple[tuple[int, int], int]]:
    if ends is None:
        return [(tile, 0) for tile in tiles]
    left = [(tile, 0) for tile in tiles if ends[0] in tile]
    return left if ends[0] == ends[1] else left + [(tile, 1) for tile in tiles if ends[1] in tile]


def swap(pair: Any, index: int, value: Any) -> Any:
    return (value, pair[1]) if index == 0 else (pair[0], value)


def tell(known: Any, event: Any) -> Any:
    return (*known[0], event), (*known[1], event)
