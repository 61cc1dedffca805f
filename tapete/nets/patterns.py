"""Patterns of squares on a board, and where their tables are: the layout of an n-tuple network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tapete.core.errors import TapeteError

LONGEST = 10  # squares of a pattern: 3**10 still is a number of 16 bits
LARGEST = 16  # the longest side of a board
MOST_PATTERNS = 64
MOVES = 32  # with more legal moves than this, it makes no difference how many
BLOCK = 4  # squares whose discs are added to all indices at once
CHUNK = 8  # words of four indices that are added at once

Pattern = tuple[int, ...]


def board_patterns(size: int) -> tuple[Pattern, ...]:
    """Edges, corners, rows and diagonals of a square board: the patterns of Logistello, and two of Edax."""
    last, half, arm = size - 1, size // 2, min(5, size)

    def squares(*places: tuple[int, int]) -> Pattern:
        return tuple(row * size + column for row, column in places)

    edge = [(0, column) for column in range(size)]
    found = [
        squares(*edge, (1, 1), (1, last - 1)),
        squares(*((row, column) for row in range(2) for column in range(arm))),
        squares(*((row, column) for row in range(3) for column in range(3))),
        squares(*((row, 0) for row in reversed(range(1, arm))), (0, 0), (1, 1), *edge[1:arm]),
        squares((0, 0), *edge[2:-2], (0, last), *((1, column) for column in range(2, last - 1))),
    ]
    found += [squares(*((row, column) for column in range(size))) for row in range(1, half)]
    found += [squares(*((i, i + length - size) for i in range(size - length, size))) for length in range(size, 3, -1)]
    return tuple(pattern for pattern in dict.fromkeys(found) if len(pattern) <= LONGEST)


def symmetries(size: int) -> list[NDArray[np.int64]]:
    """Where each square goes when a square board is turned and mirrored: eight times [squares]."""
    board = np.arange(size * size).reshape(size, size)
    return [np.rot90(side, turns).ravel() for side in (board, board.T) for turns in range(4)]


class Layout(NamedTuple):
    """Where everything is in the tables of a network: lanes are patterns as they lie on the board, each with its table.

    The last three lanes are no patterns: how many discs there are, how many legal moves, and padding.
    """

    patterns: int  # lanes that are patterns
    offsets: NDArray[np.int64]  # [lanes] where the table of a lane begins
    steps: NDArray[np.int64]  # [blocks, 16, lanes / 4] what the discs on four squares add to the indices, 16 bits each
    first: NDArray[np.int64]  # [entries] of those that symmetry makes equal, the first
    twins: NDArray[np.int32]  # [entries] and the next one: a circle


def lay_out(size: int, patterns: Iterable[Pattern]) -> Layout:
    """Copies the patterns by symmetry and puts their tables one behind another."""
    lanes: list[NDArray[np.int64]] = []
    offsets: list[int] = []
    first: list[NDArray[np.int64]] = []
    entries = 0
    for pattern in patterns:
        copies: dict[frozenset[int], NDArray[np.int64]] = {}
        same = []  # the pattern onto itself, in another order
        for symmetry in symmetries(size):
            copy = symmetry[list(pattern)]
            copies.setdefault(frozenset(copy.tolist()), copy)
            if set(copy) == set(pattern):
                same.append([copy.tolist().index(square) for square in pattern])
        lanes += copies.values()
        offsets += [entries] * len(copies)
        first.append(entries + _first_of_orbit(len(pattern), same))
        entries += 3 ** len(pattern)
    for length in (size * size + 1, MOVES + 1, 1):
        lanes.append(np.zeros(0, dtype=np.int64))
        offsets.append(entries)
        first.append(entries + np.arange(length))
        entries += length
    padding = -len(lanes) % (4 * CHUNK)
    orbits = np.concatenate(first)
    return Layout(
        len(lanes) - 3,
        np.array(offsets + offsets[-1:] * padding),
        _steps(size * size, lanes, len(lanes) + padding),
        orbits,
        _circles(orbits),
    )


def _first_of_orbit(length: int, orders: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """[3**length] the lowest index that the same discs have when the squares are taken in another order."""
    digits = np.arange(3**length)[:, None] // 3 ** np.arange(length) % 3
    return np.min([digits[:, order] @ 3 ** np.arange(length) for order in orders], axis=0)


def _circles(first: NDArray[np.int64]) -> NDArray[np.int32]:
    """[entries] the next entry with the same `first`; after the last of them, the first."""
    order = np.argsort(first, kind="stable")
    follows = np.roll(order, -1)
    ends = first[follows] != first[order]
    twins = np.empty(len(first), dtype=np.int32)
    twins[order] = np.where(ends, first[order], follows)
    return twins


def _steps(squares: int, lanes: Sequence[NDArray[np.int64]], width: int) -> NDArray[np.int64]:
    blocks = -(-squares // BLOCK)
    power = np.zeros((blocks * BLOCK, width), dtype=np.int64)  # what a disc adds to each index
    for lane, copy in enumerate(lanes):
        power[copy, lane] = 3 ** np.arange(len(copy))
    cases = np.arange(1 << BLOCK)[:, None] >> np.arange(BLOCK) & 1
    steps = np.einsum("cs,bsl->bcl", cases, power.reshape(blocks, BLOCK, width))
    return np.ascontiguousarray(steps.astype("<u2")).view("<i8")


def check_patterns(size: int, patterns: Iterable[Iterable[int]]) -> tuple[Pattern, ...]:
    """Patterns that are what they should be, on a board that is."""
    if not isinstance(size, int) or not 2 <= size <= LARGEST:
        raise TapeteError(f"a board has 2 to {LARGEST} squares a side, not {size}")
    found = tuple(tuple(pattern) for pattern in patterns)
    if not 1 <= len(found) <= MOST_PATTERNS:
        raise TapeteError(f"there are 1 to {MOST_PATTERNS} patterns, not {len(found)}")
    for pattern in found:
        inside = all(isinstance(square, int) and 0 <= square < size * size for square in pattern)
        if not inside or not 1 <= len(set(pattern)) == len(pattern) <= LONGEST:
            raise TapeteError(f"a pattern is 1 to {LONGEST} different squares of the board, not {pattern}")
    return found
