"""Boards of every size laid in the middle of one of 8x8, for the endgame solver: constants of 8x8 serve them all.

The squares around a smaller board are nobody's and not empty either, so lines end there. Discs that a move turns are
found on the eight rays from its square, which are looked up: a third faster than `bitboard.turned` with the same lanes.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic

from tapete.core.compile import UINT64_PTR, ahead, helper, uint64_ptr
from tapete.games.othello.bitboard import LANES, MASK, ONE, legal_squares, splat, union

SIDE = 8
FLAG, INDEX = ir.IntType(1), ir.IntType(32)

SQUARES = [(row, column) for row in range(SIDE) for column in range(SIDE)]
STEPS = [(0, 1), (1, -1), (1, 0), (1, 1), (0, -1), (-1, 1), (-1, 0), (-1, -1)]  # four to higher bits, four to lower


def _mask(squares: Any) -> int:
    return sum(1 << SIDE * row + column for row, column in squares if 0 <= row < SIDE and 0 <= column < SIDE)


def _ray(square: tuple[int, int], step: tuple[int, int], length: int) -> int:
    return _mask((square[0] + i * step[0], square[1] + i * step[1]) for i in range(1, length + 1))


def _quadrant(square: tuple[int, int]) -> int:
    return _mask(other for other in SQUARES if all(a // 4 == b // 4 for a, b in zip(square, other, strict=True)))


RAYS = np.array([_ray(square, step, SIDE) for square in SQUARES for step in STEPS], dtype=np.uint64)  # [64 x 8]
NEIGHBOURS = np.array([sum(_ray(square, step, 1) for step in STEPS) for square in SQUARES], dtype=np.uint64)
QUADRANTS = np.array([_quadrant(square) for square in SQUARES], dtype=np.uint64)  # the one that a square is in

# Where a step to the left or to the right starts from.
RIGHT_COLUMNS = np.uint64(_mask(square for square in SQUARES if square[1] > 0))
LEFT_COLUMNS = np.uint64(_mask(square for square in SQUARES if square[1] < SIDE - 1))


@intrinsic  # type: ignore[untyped-decorator]
def _enclosed(typing_context: Any, own: Any, other: Any, rays: Any) -> Any:
    """The other's discs on eight rays, up to the first square that isn't his, if that one is own."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        own, other = (splat(builder, word) for word in arguments[:2])
        none, one, top = (ir.Constant(LANES, [word] * 4) for word in (0, 1, -(2**63)))
        both, minus, theirs = builder.and_, builder.sub, builder.not_(other)
        rays = builder.bitcast(arguments[2], LANES.as_pointer())
        up, down = (builder.load(builder.gep(rays, [ir.Constant(INDEX, i)]), align=8) for i in range(2))

        ends = both(up, theirs)
        closing = both(both(ends, minus(none, ends)), own)  # the lowest of them, if it is own
        closed = builder.icmp_unsigned("!=", closing, none)
        higher = builder.select(closed, both(up, minus(closing, one)), none)

        ends = both(down, theirs)
        function = ir.FunctionType(LANES, [LANES, FLAG])
        leading_zeros = cgutils.get_or_insert_function(builder.module, function, "llvm.ctlz.v4i64")
        zeros = builder.call(leading_zeros, [builder.or_(ends, one), ir.Constant(FLAG, 1)])
        closing = both(both(ends, builder.lshr(top, zeros)), own)  # the highest of them, if it is own
        lower = both(down, minus(none, builder.add(closing, closing)))
        return union(builder, builder.or_(higher, lower))

    return MASK(MASK, MASK, UINT64_PTR), generate


@helper
def turned(own: Any, other: Any, square: int) -> Any:
    """The other's discs that a new own disc on that square turns."""
    return _enclosed(own, other, ahead(uint64_ptr(RAYS), square * SIDE))


@helper
def legal(own: Any, other: Any, empty: Any) -> Any:
    """The empty squares on which an own disc may be laid."""
    return empty & legal_squares(own, other, np.uint64(SIDE))


@helper
def disc_on(square: int) -> Any:
    """A mask of that square alone."""
    return ONE << np.uint64(square)


@helper
def around(discs: Any) -> Any:
    """These squares and all that touch them."""
    rows = discs | ((discs & RIGHT_COLUMNS) >> ONE) | ((discs & LEFT_COLUMNS) << ONE)
    return rows | (rows << np.uint64(SIDE)) | (rows >> np.uint64(SIDE))


@helper
def _swap(discs: Any, steps: int, kept: int) -> Any:
    """Changes places of each square of `kept` with the one so many bits above it."""
    shift, low = np.uint64(steps), np.uint64(kept)
    difference = (discs ^ (discs >> shift)) & low
    return discs ^ difference ^ (difference << shift)


@helper
def upside_down(discs: Any) -> Any:
    """The board with its rows in the opposite order."""
    discs = _swap(discs, 8, 0x00FF00FF00FF00FF)
    discs = _swap(discs, 16, 0x0000FFFF0000FFFF)
    return _swap(discs, 32, 0x00000000FFFFFFFF)


@helper
def transposed(discs: Any) -> Any:
    """The board with rows for columns."""
    discs = _swap(discs, 7, 0x00AA00AA00AA00AA)
    discs = _swap(discs, 14, 0x0000CCCC0000CCCC)
    return _swap(discs, 28, 0x00000000F0F0F0F0)


@helper
def first_image(own: Any, other: Any) -> Any:
    """The same for all eight ways to look at a board: the least of its images."""
    best_own, best_other = own, other
    for turn in range(1, 8):
        if turn % 2 == 1:
            own, other = upside_down(own), upside_down(other)
        else:
            own, other = transposed(own), transposed(other)
        if own < best_own or (own == best_own and other < best_other):
            best_own, best_other = own, other
    return best_own, best_other
