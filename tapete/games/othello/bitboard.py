"""Boards as 64-bit masks: where a disc may be laid, and which discs it turns.

The square of action `a` is bit `a`: a step to the right is a shift by 1, a step down a shift by the size of the board.
The four axes are searched at once, as the lanes of a vector, for which LLVM uses one register where the machine has it.
Numba doesn't find that by itself; written out as intrinsics, random play is a third faster than axis by axis.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.cpython.unsafe.numbers import trailing_zeros
from numba.extending import intrinsic

from tapete.core.compile import helper

ONE = np.uint64(1)
MASK = types.uint64
INDEX = ir.IntType(32)
LANES = ir.VectorType(ir.IntType(64), 4)  # the axes: rows, diagonals down to the left, columns, diagonals to the right
ALL = -1  # every bit of a lane


def _columns(first: int, last: int) -> Any:
    """[size] the squares of the columns `first` to `size + last` of a board of each size, as masks."""
    squares = (
        [row * size + column for row in range(size) for column in range(first, size + last)] for size in range(9)
    )
    return np.array([sum(1 << square for square in board) for board in squares], dtype=np.uint64)


BOARDS = _columns(0, 0)
INNER_COLUMNS = _columns(1, -1)  # a disc outside of these is never between two others, except in a column


def _lanes(*values: int) -> Any:
    return ir.Constant(LANES, values)


def splat(builder: Any, word: Any) -> Any:
    """The same word in all lanes."""
    vector = builder.insert_element(ir.Constant(LANES, ir.Undefined), word, ir.Constant(INDEX, 0))
    return builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(INDEX, 4), [0] * 4))


def union(builder: Any, vector: Any) -> Any:
    """The four lanes in one."""
    lanes = [builder.extract_element(vector, ir.Constant(INDEX, i)) for i in range(4)]
    return builder.or_(builder.or_(lanes[0], lanes[1]), builder.or_(lanes[2], lanes[3]))


def _steps(builder: Any, size: Any) -> Any:
    """The shift that is one step along each axis: 1, size - 1, size, size + 1."""
    return builder.add(builder.and_(splat(builder, size), _lanes(0, ALL, ALL, ALL)), _lanes(1, -1, 0, 1))


def _runs(builder: Any, sources: Any, other: Any, inner: Any, step: Any) -> tuple[Any, Any]:
    """The discs of `other` that follow one another from next to a source, towards higher bits and towards lower ones.

    A parallel prefix (Kogge and Stone): runs grow to 1, 2, 4 and then 6 discs, the most that fit between two squares.
    """
    shl, shr, both, either = builder.shl, builder.lshr, builder.and_, builder.or_
    sources, other, inner = (splat(builder, word) for word in (sources, other, inner))
    two_steps = builder.add(step, step)
    line = both(other, either(inner, _lanes(0, 0, ALL, 0)))
    up, down = both(line, shl(sources, step)), both(line, shr(sources, step))
    up, down = either(up, both(line, shl(up, step))), either(down, both(line, shr(down, step)))
    pairs_up = both(line, shl(line, step))  # discs of a line before which there is another
    pairs_down = shr(pairs_up, step)
    for _ in range(2):
        up = either(up, both(pairs_up, shl(up, two_steps)))
        down = either(down, both(pairs_down, shr(down, two_steps)))
    return up, down


@intrinsic  # type: ignore[untyped-decorator]
def _ends_of_runs(typing_context: Any, own: Any, other: Any, inner: Any, size: Any) -> Any:
    """The squares just behind the other's discs that run from an own one."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        own, other, inner, size = arguments
        step = _steps(builder, size)
        up, down = _runs(builder, own, other, inner, step)
        return union(builder, builder.or_(builder.shl(up, step), builder.lshr(down, step)))

    return MASK(MASK, MASK, MASK, MASK), generate


@intrinsic  # type: ignore[untyped-decorator]
def _enclosed_runs(typing_context: Any, own: Any, other: Any, disc: Any, inner: Any, size: Any) -> Any:
    """The other's discs that run from that disc to an own one."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        own, other, disc, inner, size = arguments
        step, own, none = _steps(builder, size), splat(builder, own), _lanes(0, 0, 0, 0)
        up, down = _runs(builder, disc, other, inner, step)
        closes_up = builder.icmp_unsigned("!=", builder.and_(own, builder.shl(up, step)), none)
        closes_down = builder.icmp_unsigned("!=", builder.and_(own, builder.lshr(down, step)), none)
        return union(builder, builder.or_(builder.select(closes_up, up, none), builder.select(closes_down, down, none)))

    return MASK(MASK, MASK, MASK, MASK, MASK), generate


@helper
def legal_squares(own: Any, other: Any, size: Any) -> Any:
    """The empty squares from which a straight line of the other's discs leads to an own one."""
    empty = BOARDS[size] & ~(own | other)
    return empty & _ends_of_runs(own, other, INNER_COLUMNS[size], size)


@helper
def turned(own: Any, other: Any, disc: Any, size: Any) -> Any:
    """The other's discs that a new own disc turns: those between it and the next own one in every direction."""
    return _enclosed_runs(own, other, disc, INNER_COLUMNS[size], size)


@helper
def lowest(squares: Any) -> Any:
    """The number of the first square of a mask."""
    return np.int64(trailing_zeros(squares))


@helper
def count(squares: Any) -> int:
    """How many squares a mask has."""
    n = 0
    while squares != 0:
        squares &= squares - ONE
        n += 1
    return n
