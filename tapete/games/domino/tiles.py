"""Tiles as numbers, and sets of tiles as 64-bit masks.

The tile i-j, i <= j, is number j (j + 1) / 2 + i: the tiles of a smaller set are the first ones of a larger set, so the
tables here serve all sizes.
"""

import numpy as np

HIGHEST = 9  # pips on half a tile, at most: the 55 tiles of a double nine fit in one word
TILES = tuple((low, high) for high in range(HIGHEST + 1) for low in range(high + 1))

# [55] the two halves of each tile, and its points.
LOW = np.array([low for low, _ in TILES], dtype=np.int64)
HIGH = np.array([high for _, high in TILES], dtype=np.int64)
POINTS = LOW + HIGH

# [10] the tiles that show each number.
SHOWING = np.array(
    [sum(1 << tile for tile, halves in enumerate(TILES) if number in halves) for number in range(HIGHEST + 1)],
    dtype=np.uint64,
)


def tiles_in_set(highest: int) -> int:
    """How many tiles there are, from 0-0 to the double of the highest number."""
    return (highest + 1) * (highest + 2) // 2


def tile_name(tile: int) -> str:
    """The tile as it is written: 3-4."""
    low, high = TILES[tile]
    return f"{low}-{high}"


def tiles_of(mask: int) -> list[int]:
    """The tiles of a set, ascending."""
    return [tile for tile in range(len(TILES)) if int(mask) >> tile & 1]
