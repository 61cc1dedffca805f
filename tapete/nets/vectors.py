"""The inner loops, written for vector registers: products of a few rows with a group of units, and tiles of boards.

Numba's loops become vector code too, but not with the sums of a block of rows and units held in registers, without
which they wait for memory instead of arithmetic. So these are written as LLVM's instructions, on vectors of `LANES`
numbers: for machines with AVX-512, and for others with half as many registers of half the width.

Every sum is formed in the same order, however many rows are computed at once, so that an answer does not depend on its
neighbours.
"""

from __future__ import annotations

from itertools import chain
from typing import Any, NamedTuple

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from tapete.core.compile import FLOAT32_PTR, INT32_PTR

WIDE = "+avx512f" in cpu_target.target_context.codegen().magic_tuple()[-1]  # what the cache of machine code looks at
LANES = 16 if WIDE else 8  # numbers in a register
GROUP = 2 * LANES  # units that are computed together
ROWS = 8 if WIDE else 6  # rows that are computed together: as many as leave registers for the weights
BUNDLE = 4  # groups that are computed together where there is one row only

INT64_PTR = types.CPointer(types.int64)
FLOAT = ir.FloatType()
LONG = ir.IntType(64)
VECTOR = ir.VectorType(FLOAT, LANES)


def _splat(builder: Any, number: Any) -> Any:
    """The same number in all lanes."""
    vector = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(ir.IntType(32), LANES), None))


def _load(builder: Any, pointer: Any, lane: int = 0) -> Any:
    """A vector from memory, `lane` numbers further on."""
    where = builder.gep(pointer, [ir.Constant(LONG, lane)])
    return builder.load(builder.bitcast(where, VECTOR.as_pointer()), align=4)


def _store(builder: Any, vector: Any, pointer: Any, lane: int = 0) -> None:
    where = builder.gep(pointer, [ir.Constant(LONG, lane)])
    builder.store(vector, builder.bitcast(where, VECTOR.as_pointer()), align=4)


def _multiply_add(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """a * b + c, rounded once."""
    kind = ir.FunctionType(VECTOR, [VECTOR] * 3)
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{LANES}f32")
    return builder.call(function, [a, b, c])


def _element(builder: Any, pointer: Any, i: Any) -> Any:
    """pointer[i]"""
    return builder.load(builder.gep(pointer, [i if isinstance(i, ir.Value) else ir.Constant(LONG, i)]))


class _Sums:
    """Registers for the sums of some rows, [rows, vectors], and what happens to them before and after the loop."""

    def __init__(self, builder: Any, targets: list[Any], vectors: int) -> None:
        self.builder = builder
        self.targets = targets  # where each row is written
        self.lanes = range(0, vectors * LANES, LANES)
        self.rows = [[cgutils.alloca_once(builder, VECTOR) for _ in self.lanes] for _ in targets]

    def begin(self, bias: Any) -> None:
        """From the bias; without one, from what has been written there before."""
        builder = self.builder
        with builder.if_else(cgutils.is_not_null(builder, bias)) as (given, missing):
            with given:
                for row in self.rows:
                    for lane, total in zip(self.lanes, row, strict=True):
                        builder.store(_load(builder, bias, lane), total)
            with missing:
                self._each(lambda target, lane, total: _load(builder, target, lane))

    def add(self, row: int, number: Any, weights: list[Any]) -> None:
        """Adds a number times each weight to a row."""
        builder = self.builder
        many = _splat(builder, number)
        for weight, total in zip(weights, self.rows[row], strict=True):
            builder.store(_multiply_add(builder, many, weight, builder.load(total)), total)

    def end(self, added: list[Any], has_added: Any, relu: Any) -> None:
        """Adds a residual, cuts off what is below zero, writes the rows."""
        builder = self.builder
        zero = ir.Constant(VECTOR, None)
        with builder.if_then(has_added):
            for residual, row in zip(added, self.rows, strict=True):
                for lane, total in zip(self.lanes, row, strict=True):
                    builder.store(builder.fadd(builder.load(total), _load(builder, residual, lane)), total)
        with builder.if_then(cgutils.is_true(builder, relu)):
            self._each(lambda _, __, total: _larger(builder, builder.load(total), zero))
        for target, row in zip(self.targets, self.rows, strict=True):
            for lane, total in zip(self.lanes, row, strict=True):
                _store(builder, builder.load(total), target, lane)

    def _each(self, new: Any) -> None:
        for target, row in zip(self.targets, self.rows, strict=True):
            for lane, total in zip(self.lanes, row, strict=True):
                self.builder.store(new(target, lane, total), total)


def _larger(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


class Gathered(NamedTuple):
    """Rows that are multiplied, gathered from memory: a tap is some numbers side by side, and a row has several."""

    x: Any
    starts: Any  # [ROWS] where in x each row begins
    taps: Any  # [n] what to add to that
    n: Any
    depth: Any  # numbers of a tap


class Listed(NamedTuple):
    """One row that is multiplied, of which only the numbers that are not zero are listed."""

    values: Any  # [count]
    indices: Any  # [count] which they are
    count: Any


def _fields(builder: Any, record: Any, kind: type[Gathered | Listed]) -> list[Any]:
    """What a record holds."""
    return [builder.extract_value(record, i) for i in range(len(kind._fields))]


def _block(vectors: int) -> Any:
    """A product of ROWS rows with `vectors` vectors of units."""
    width = ir.Constant(LONG, vectors * LANES)

    @intrinsic  # type: ignore[untyped-decorator]
    def block(
        typing_context: Any,
        rows: Any,  # Gathered
        weights: Any,  # [n, depth, units]
        bias: Any,  # [units], or null: go on from y
        y: Any,
        targets: Any,  # [ROWS] where in y each row is written
        added: Any,  # like y, or null
        relu: Any,
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            rows, weights, bias, y, targets, added, relu = arguments
            x, starts, taps, n, depth = _fields(builder, rows, Gathered)
            places = [_element(builder, targets, i) for i in range(ROWS)]
            sums = _Sums(builder, [builder.gep(y, [place]) for place in places], vectors)
            begins = [builder.gep(x, [_element(builder, starts, i)]) for i in range(ROWS)]
            sums.begin(bias)
            with cgutils.for_range(builder, n) as tap:
                step = _element(builder, taps, tap.index)
                sources = [builder.gep(begin, [step]) for begin in begins]
                first = builder.gep(weights, [builder.mul(tap.index, builder.mul(depth, width))])
                with cgutils.for_range(builder, depth) as k:
                    row = builder.gep(first, [builder.mul(k.index, width)])
                    factors = [_load(builder, row, lane) for lane in sums.lanes]
                    for i, source in enumerate(sources):
                        sums.add(i, _element(builder, source, k.index), factors)
            residuals = [builder.gep(added, [place]) for place in places]
            sums.end(residuals, cgutils.is_not_null(builder, added), relu)
            return context.get_dummy_value()

        given = (rows, FLOAT32_PTR, FLOAT32_PTR, FLOAT32_PTR, INT64_PTR, FLOAT32_PTR, types.int64)
        return types.void(*given), generate

    return block


def _single(groups: int, vectors: int) -> Any:
    """A product of one row, of which only the numbers that are not zero are given, with some groups of units."""
    width = ir.Constant(LONG, vectors * LANES)

    @intrinsic  # type: ignore[untyped-decorator]
    def single(
        typing_context: Any,
        row: Any,  # Listed
        weights: Any,
        apart: Any,  # weights from one group to the next
        bias: Any,  # [groups * units], or null: go on from y
        y: Any,
        added: Any,  # like y, or null
        relu: Any,
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            row, weights, apart, bias, y, added, relu = arguments
            values, indices, count = _fields(builder, row, Listed)
            sums = _Sums(builder, [y], groups * vectors)
            firsts = [builder.gep(weights, [builder.mul(apart, ir.Constant(LONG, g))]) for g in range(groups)]
            sums.begin(bias)
            with cgutils.for_range(builder, count) as k:
                index = builder.mul(builder.sext(_element(builder, indices, k.index), LONG), width)
                rows = [builder.gep(first, [index]) for first in firsts]
                factors = [_load(builder, row, v * LANES) for row in rows for v in range(vectors)]
                sums.add(0, _element(builder, values, k.index), factors)
            sums.end([added], cgutils.is_not_null(builder, added), relu)
            return context.get_dummy_value()

        given = (row, FLOAT32_PTR, types.int64, FLOAT32_PTR, FLOAT32_PTR, FLOAT32_PTR, types.int64)
        return types.void(*given), generate

    return single


Vectors = list[list[Any]]  # [rows][columns] of a tile


def _transpose(tile: Vectors) -> Vectors:
    return [list(column) for column in zip(*tile, strict=True)]


@intrinsic  # type: ignore[untyped-decorator]
def spread_tile(typing_context: Any, x: Any, taps: Any, y: Any, apart: Any) -> Any:
    """The 4 x 4 squares that a tile of 2 x 2 depends on (`taps`), transformed into 16 vectors that are `apart`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x, taps, y, apart = arguments

        def rows(d: Vectors) -> Vectors:
            sub, add = builder.fsub, builder.fadd
            pairs = [(sub, 0, 2), (add, 1, 2), (sub, 2, 1), (sub, 1, 3)]
            return [[combine(u, v) for u, v in zip(d[i], d[j], strict=True)] for combine, i, j in pairs]

        squares = [_load(builder, builder.gep(x, [_element(builder, taps, i)])) for i in range(16)]
        tile = rows(_transpose(rows([squares[i : i + 4] for i in range(0, 16, 4)])))
        for i, vector in enumerate(chain(*_transpose(tile))):
            _store(builder, vector, builder.gep(y, [builder.mul(apart, ir.Constant(LONG, i))]))
        return context.get_dummy_value()

    return types.void(FLOAT32_PTR, INT64_PTR, FLOAT32_PTR, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def gather_tile(typing_context: Any, x: Any, apart: Any, bias: Any, y: Any, taps: Any, added: Any, relu: Any) -> Any:
    """16 vectors that are `apart` transformed back into the 2 x 2 squares (`taps`) of a tile."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x, apart, bias, y, taps, added, relu = arguments

        def rows(m: Vectors) -> Vectors:
            first = [builder.fadd(builder.fadd(a, b), c) for a, b, c in zip(m[0], m[1], m[2], strict=True)]
            second = [builder.fsub(builder.fsub(b, c), d) for b, c, d in zip(m[1], m[2], m[3], strict=True)]
            return [first, second]

        vectors = [_load(builder, builder.gep(x, [builder.mul(apart, ir.Constant(LONG, i))])) for i in range(16)]
        tile = _transpose(rows(_transpose(rows([vectors[i : i + 4] for i in range(0, 16, 4)]))))
        places = [_element(builder, taps, i) for i in range(4)]
        sums = _Sums(builder, [builder.gep(y, [place]) for place in places], 1)
        for (total,), vector in zip(sums.rows, chain(*tile), strict=True):
            builder.store(builder.fadd(vector, _load(builder, bias)), total)
        residuals = [builder.gep(added, [place]) for place in places]
        sums.end(residuals, cgutils.is_not_null(builder, added), relu)
        return context.get_dummy_value()

    return types.void(FLOAT32_PTR, types.int64, FLOAT32_PTR, FLOAT32_PTR, INT64_PTR, FLOAT32_PTR, types.int64), generate


block, half_block = _block(2), _block(1)
single_bundle, single_group, half_single_group = _single(BUNDLE, 2), _single(1, 2), _single(1, 1)


@intrinsic  # type: ignore[untyped-decorator]
def room_for_rows(typing_context: Any) -> Any:
    """Memory for [ROWS] whole numbers, as long as the function runs."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return cgutils.alloca_once(builder, LONG, size=ROWS)

    return INT64_PTR(), generate


@intrinsic  # type: ignore[untyped-decorator]
def nothing(typing_context: Any) -> Any:
    """A pointer to floats that points nowhere."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return cgutils.get_null_value(context.get_value_type(FLOAT32_PTR))

    return FLOAT32_PTR(), generate


@intrinsic  # type: ignore[untyped-decorator]
def power_of_two(typing_context: Any, n: Any) -> Any:
    """2.0 ** n for a whole number -126 to 127: n goes where a float32 keeps its exponent."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = arguments[0].type
        biased = builder.add(arguments[0], ir.Constant(kind, 127))
        return builder.bitcast(builder.shl(biased, ir.Constant(kind, 23)), FLOAT)

    return types.float32(types.int32), generate


@intrinsic  # type: ignore[untyped-decorator]
def as_ints(typing_context: Any, pointer: Any) -> Any:
    """The same memory, taken as whole numbers."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], context.get_value_type(INT32_PTR))

    return INT32_PTR(FLOAT32_PTR), generate
