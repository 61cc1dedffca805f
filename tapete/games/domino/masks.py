"""Compiled pieces for sets of tiles, and a table on the stack to count in."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.cpython.unsafe.numbers import trailing_zeros
from numba.extending import intrinsic

from tapete.core.compile import helper
from tapete.core.rng import below

NO_TILES = np.uint64(0)
ONE = np.uint64(1)
EVERY_BYTE = np.uint64(0x0101010101010101)
TOP_BITS = np.uint64(0x8080808080808080)

# [256, 8] where the n-th bit of a byte is.
NTH_BIT = np.array([([bit for bit in range(8) if byte >> bit & 1] + [0] * 8)[:8] for byte in range(256)], dtype=np.int8)


@helper
def only(tile: int) -> Any:
    """The set of that one tile."""
    return ONE << np.uint64(tile)


@helper
def first(tiles: Any) -> Any:
    """The lowest tile of a set that is not empty."""
    return np.int64(trailing_zeros(tiles))


@helper
def without_first(tiles: Any) -> Any:
    """The set without its lowest tile: `while tiles: ... tiles = without_first(tiles)` visits all of them."""
    return tiles & (tiles - ONE)


@helper
def bits_by_byte(tiles: Any) -> Any:
    """How many bits are set in each of the eight bytes of a word: added up in pairs, in fours, in bytes."""
    x = tiles - ((tiles >> ONE) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    return (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)


@helper
def size(tiles: Any) -> Any:
    """How many tiles a set has."""
    return np.int64((bits_by_byte(tiles) * EVERY_BYTE) >> np.uint64(56))


@helper
def pick(rng: Any, tiles: Any) -> Any:
    """One tile of a set that is not empty, each as likely as the others.

    Finds the n-th bit without a branch, as the processor could not guess where a loop would stop: the byte in which it
    is comes after those up to which no more than n bits are set; its place in that byte is looked up.
    """
    up_to = bits_by_byte(tiles) * EVERY_BYTE  # in each byte: bits set in it and in all lower ones
    n = np.uint64(below(rng, size(tiles)))
    before = ((((n * EVERY_BYTE) | TOP_BITS) - up_to) & TOP_BITS) >> np.uint64(7)  # 1 in bytes where up_to <= n
    shift = ((before * EVERY_BYTE) >> np.uint64(56)) * np.uint64(8)
    n -= ((up_to << np.uint64(8)) >> shift) & np.uint64(255)
    return np.int64(shift) + NTH_BIT[(tiles >> shift) & np.uint64(255), n]


@helper
def pick_set(rng: Any, tiles: Any, wanted: int) -> Any:
    """That many tiles of a set, each such choice as likely as the others."""
    left = tiles
    for _ in range(wanted):
        left ^= only(pick(rng, left))
    return tiles ^ left


def stack_array(pointer: types.CPointer, length: int) -> Callable[[], Any]:
    """An array for the time of a call, on the stack, where it costs nothing: `ways = ways_table()`."""

    @intrinsic  # type: ignore[untyped-decorator]
    def array(typing_context: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return cgutils.alloca_once(builder, context.get_value_type(pointer.dtype), size=length)

        return pointer(), generate

    return array
