"""The forward pass: one compiled function that runs the program of any network."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import carray, types
from numba.np import numpy_support

from tapete.core.compile import FLOAT32_PTR, FLOATS, LONGS, ahead, first_of, helper, kernel, state_ptr
from tapete.nets.program import (
    FIRST_CELL,
    GATHER,
    GIVE,
    JOIN,
    NEXT_CELL,
    NOTHING,
    OP,
    PRODUCT,
    SIGMOID,
    SPREAD,
    TAKE,
    TANH,
)
from tapete.nets.vectors import (
    BUNDLE,
    GROUP,
    INT64_PTR,
    LANES,
    ROWS,
    Gathered,
    Listed,
    as_ints,
    block,
    gather_tile,
    half_block,
    half_single_group,
    nothing,
    power_of_two,
    room_for_rows,
    single_bundle,
    single_group,
    spread_tile,
)

PANEL = 512  # numbers of a row that are multiplied before the next rows
FLOAT_ROWS = types.float32[:, ::1]
ZERO, ONE, TWO = np.float32(0), np.float32(1), np.float32(2)


@helper
def _exp(x: Any) -> Any:
    """e ** x to 2e-7 of itself, in a form that becomes vector code: 2 ** n times a polynomial (Cephes) of the rest."""
    x = min(max(x, np.float32(-87)), np.float32(88))
    n = np.floor(x * np.float32(1.44269504) + np.float32(0.5))
    x = x - n * np.float32(0.693359375) + n * np.float32(2.12194440e-4)
    y = np.float32(1.9875691500e-4)
    for c in (1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1):
        y = y * x + np.float32(c)
    return (y * x * x + x + ONE) * power_of_two(np.int32(n))


@helper
def _sigmoid(x: Any) -> Any:
    return ONE / (ONE + _exp(-x))


@helper
def _tanh(x: Any) -> Any:
    return ONE - TWO / (ONE + _exp(x + x))


class Machine(NamedTuple):
    """A program, and the memory in which it runs."""

    ops: Any  # [length] of OP
    length: Any
    tables: Any
    weights: Any
    scratch: Any  # [room * Program.scratch]: first of every region what the first position has there, and so on
    room: Any  # positions that there is memory for


class Batch(NamedTuple):
    """Positions that are judged together."""

    inputs: Any  # [count, width]
    width: Any
    outputs: Any  # [count, Architecture.width]
    count: Any  # room or fewer


MACHINE = types.NamedTuple([types.voidptr, types.int64, INT64_PTR, FLOAT32_PTR, FLOAT32_PTR, types.int64], Machine)
BATCH = types.NamedTuple([FLOAT32_PTR, types.int64, FLOAT32_PTR, types.int64], Batch)


@helper
def region(machine: Machine, offset: int) -> Any:
    """The memory of a region, given where it lies for one position."""
    return ahead(machine.scratch, machine.room * offset)


@helper
def _product(op: Any, machine: Machine, count: int) -> None:
    """The weighted layers; see program.py."""
    if count * op.rows == 1:
        _product_of_one(op, machine)
        return
    tables, weights, nowhere = machine.tables, machine.weights, nothing()
    x, y = region(machine, op.source), region(machine, op.target)
    starts, targets = room_for_rows(), room_for_rows()
    panel = max(9, PANEL // op.depth)  # taps whose weights stay in the cache while the rows pass by
    for unit in range(0, op.units, GROUP):
        w, wide = ahead(weights, op.weights + unit * op.taps * op.depth), min(GROUP, op.units - unit)
        for tap in range(0, op.taps, panel):
            bias = ahead(weights, op.bias + unit) if op.bias != NOTHING and tap == 0 else nowhere
            taps = min(panel, op.taps - tap)
            is_last = tap + taps == op.taps
            added = ahead(region(machine, op.added), unit) if op.added != NOTHING and is_last else nowhere
            relu = op.relu if is_last else 0
            rows = Gathered(x, starts, ahead(tables, op.source_taps + tap), taps, op.depth)
            from_here = ahead(w, tap * op.depth * wide)
            b, row = 0, 0
            for _ in range(0, count * op.rows, ROWS):
                b, row = _place(op, tables, count, b, row, starts, targets)
                if wide == GROUP:
                    block(rows, from_here, bias, ahead(y, unit), targets, added, relu)
                else:
                    half_block(rows, from_here, bias, ahead(y, unit), targets, added, relu)


@helper
def _place(op: Any, tables: Any, count: int, b: int, row: int, starts: Any, targets: Any) -> tuple[int, int]:
    """Where the rows of a block lie, from a row of position b on; returns what comes next.

    The last row of all is repeated until the block is full, and written as often.
    """
    rows, source_step, target_step = op.rows, op.source_step, op.target_step
    source_rows, target_rows = ahead(tables, op.source_rows), ahead(tables, op.target_rows)
    for i in range(ROWS):
        starts[i] = b * source_step + source_rows[row]
        targets[i] = b * target_step + target_rows[row]
        if row + 1 < rows:
            row += 1
        elif b + 1 < count:
            b, row = b + 1, 0
    return b, row


@helper
def _product_of_one(op: Any, machine: Machine) -> None:
    """The same for one row. Weights are then read but once, so what counts is to read few: none for a zero."""
    tables, weights = machine.tables, machine.weights
    x = ahead(region(machine, op.source), tables[op.source_rows])
    y = ahead(region(machine, op.target), tables[op.target_rows])
    values = region(machine, op.list)
    indices = as_ints(ahead(values, op.taps * op.depth + 1))
    n = 0
    for tap in range(op.taps):
        source = ahead(x, tables[op.source_taps + tap])
        for k in range(op.depth):
            values[n] = source[k]
            indices[n] = tap * op.depth + k
            n += source[k] != ZERO
    row, apart = Listed(values, indices, n), GROUP * op.taps * op.depth
    unit = 0
    while unit < op.units:
        w = ahead(weights, op.weights + unit * op.taps * op.depth)
        bias = ahead(weights, op.bias + unit) if op.bias != NOTHING else nothing()
        added = ahead(region(machine, op.added), unit) if op.added != NOTHING else nothing()
        if op.units - unit >= BUNDLE * GROUP:
            single_bundle(row, w, apart, bias, ahead(y, unit), added, op.relu)
            unit += BUNDLE * GROUP
        elif op.units - unit >= GROUP:
            single_group(row, w, apart, bias, ahead(y, unit), added, op.relu)
            unit += GROUP
        else:
            half_single_group(row, w, apart, bias, ahead(y, unit), added, op.relu)
            unit += LANES


@helper
def _spread(op: Any, machine: Machine, count: int) -> None:
    """What comes before the products of a convolution by tiles."""
    tables, units, taps = machine.tables, op.units, ahead(machine.tables, op.source_taps)
    for b in range(count):
        for row in range(op.rows):
            x = ahead(region(machine, op.source), b * op.source_step + tables[op.source_rows + row])
            y = ahead(region(machine, op.target), b * op.target_step + row * units)
            for unit in range(0, units, LANES):
                spread_tile(ahead(x, unit), taps, ahead(y, unit), op.depth)


@helper
def _gather(op: Any, machine: Machine, count: int) -> None:
    """What comes after them."""
    tables, units, taps = machine.tables, op.units, ahead(machine.tables, op.source_taps)
    for b in range(count):
        for row in range(op.rows):
            at = b * op.target_step + tables[op.target_rows + row]
            x = ahead(region(machine, op.source), b * op.source_step + row * units)
            for unit in range(0, units, LANES):
                y = ahead(region(machine, op.target), at + unit)
                added = ahead(region(machine, op.added), at + unit) if op.added != NOTHING else nothing()
                bias = ahead(machine.weights, op.bias + unit)
                gather_tile(ahead(x, unit), op.depth, bias, y, taps, added, op.relu)


@helper
def _take(op: Any, machine: Machine, batch: Batch) -> None:
    """Numbers of the input, planes of squares, as squares of channels."""
    tables, rows, units = machine.tables, op.rows, op.units
    for b in range(batch.count):
        x = ahead(batch.inputs, b * batch.width + op.source)
        y = ahead(region(machine, op.target), b * op.target_step)
        for row in range(rows):
            square = ahead(y, tables[op.target_rows + row])
            for unit in range(units):
                square[unit] = x[unit * rows + row]


# The fields of an operation are taken out of it before a loop: to the compiler, writing numbers might change them.


@helper
def _activate(op: Any, machine: Machine, count: int) -> None:
    tables, units, is_tanh = machine.tables, op.units, op.code == TANH
    for b in range(count):
        for row in range(op.rows):
            y = ahead(region(machine, op.target), b * op.target_step + tables[op.target_rows + row])
            for unit in range(units):
                y[unit] = _tanh(y[unit]) if is_tanh else _sigmoid(y[unit])


@helper
def _cell(op: Any, machine: Machine, count: int) -> None:
    """One step of an LSTM, from the sums for its gates in, forget, cell and out, to what it remembers."""
    units, is_first = op.units, op.code == FIRST_CELL
    for b in range(count):
        gates = ahead(region(machine, op.source), b * op.source_step + machine.tables[op.source_rows])
        forget, new, out = ahead(gates, units), ahead(gates, 2 * units), ahead(gates, 3 * units)
        memory = ahead(region(machine, op.target), b * op.target_step)
        cell = ahead(region(machine, op.added), b * op.target_step)
        for unit in range(units):
            kept = ZERO if is_first else _sigmoid(forget[unit]) * cell[unit]
            cell[unit] = kept + _sigmoid(gates[unit]) * _tanh(new[unit])
            memory[unit] = _sigmoid(out[unit]) * _tanh(cell[unit])


@helper
def _copy(source: Any, source_step: int, target: Any, target_step: int, units: int, count: int) -> None:
    for b in range(count):
        for unit in range(units):
            target[b * target_step + unit] = source[b * source_step + unit]


@kernel(types.void(MACHINE, BATCH))
def run(machine: Machine, batch: Batch) -> None:
    """Runs a program on the rows of a batch."""
    count = batch.count
    for op in carray(machine.ops, (machine.length,), OP):
        if op.code == TAKE:
            _take(op, machine, batch)
        elif op.code == PRODUCT:
            _product(op, machine, count)
        elif op.code == SPREAD:
            _spread(op, machine, count)
        elif op.code == GATHER:
            _gather(op, machine, count)
        elif op.code == TANH or op.code == SIGMOID:
            _activate(op, machine, count)
        elif op.code == FIRST_CELL or op.code == NEXT_CELL:
            _cell(op, machine, count)
        elif op.code == JOIN:
            joined = ahead(region(machine, op.target), machine.tables[op.target_rows])
            _copy(region(machine, op.source), op.source_step, joined, op.target_step, op.units, count)
        elif op.code == GIVE:
            given = ahead(batch.outputs, op.target)
            _copy(region(machine, op.source), op.source_step, given, op.target_step, op.units, count)


OPS = types.Array(numpy_support.from_dtype(OP), 1, "C")


@kernel(types.void(OPS, LONGS, FLOATS, FLOATS, types.int64, FLOAT_ROWS, FLOAT_ROWS))
def forward(ops: Any, tables: Any, weights: Any, scratch: Any, room: int, inputs: Any, outputs: Any) -> None:
    """Rows of inputs to rows of outputs, `room` at a time."""
    machine = Machine(state_ptr(ops), len(ops), first_of(tables), first_of(weights), first_of(scratch), room)
    for start in range(0, len(inputs), room):
        count = min(room, len(inputs) - start)
        run(machine, Batch(first_of(inputs[start:]), inputs.shape[1], first_of(outputs[start:]), count))
