"""An architecture with its weights as a program: operations, tables of offsets, and one vector of weights.

This is what the compiled forward pass reads, whatever the architecture, so that a new one compiles nothing.

Between two layers, planes lie with the channels of a square side by side and a border of zeros around the board:
[rows + 2, columns + 2, channels], the channels filled up to a multiple of `LANES`. Then every weighted layer is the
same operation, a product of matrices the left of which is gathered from memory:

    target[row, unit] = bias[unit] + sum over taps, depth of source[row + tap, depth] * weight[tap, depth, unit]

A convolution has the squares for rows and 9 taps (or 1); a dense layer has one row, and the squares of what it reads
for taps.

A 3x3 convolution of many channels takes 16 products for a tile of 2 x 2 squares in place of 36 (Winograd's algorithm;
Lavin and Gray, 2015): the 4 x 4 squares that a tile depends on are spread into 16 sums and differences, these are
multiplied by weights that were transformed likewise, and the products are gathered into the 4 squares.

Nothing here trusts a file: offsets are made from an `Architecture`, which has been checked, and never read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tapete.core.errors import TapeteError
from tapete.nets.architecture import Architecture, Layer, Shape
from tapete.nets.vectors import GROUP, LANES

Floats = NDArray[np.float32]

TAKE, PRODUCT, SPREAD, GATHER, TANH, SIGMOID, FIRST_CELL, NEXT_CELL, JOIN, GIVE = range(10)
NOTHING = -1
TILE = np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]])  # weights of a tile, from those of a filter
MOST_SCRATCH = 2**22  # numbers, for one position

# One operation. Offsets are into the scratch memory for one position, into the weights, and into the tables.
OP = np.dtype(
    [
        (name, np.int64)
        for name in (
            "code",
            "source",  # offset
            "source_step",  # from one position to the next
            "target",
            "target_step",
            "rows",  # how many a position has
            "source_rows",  # table: where each row begins
            "target_rows",
            "taps",
            "source_taps",  # table: what to add for each tap
            "depth",  # numbers a tap; where tiles are spread and gathered: from one product to the next
            "units",  # of the target, filled up to a multiple of LANES where it is a product
            "weights",
            "bias",  # NOTHING: goes on from what the target holds
            "added",  # offset of a residual that lies as the target does; or NOTHING
            "list",  # offset of memory for a list of numbers that are not zero
            "relu",
        )
    ]
)


class Region(NamedTuple):
    """Where what a layer gives lies in the scratch memory, for one position."""

    shape: Shape
    offset: int

    @property
    def step(self) -> int:
        """Numbers from one position to the next."""
        if len(self.shape) == 3:
            return (self.shape[1] + 2) * (self.shape[2] + 2) * filled(self.shape[0])
        return filled(math.prod(self.shape))

    def squares(self, *, corner: int = 1, step: int = 1) -> list[int]:
        """Where each square begins, or each step-th one; with corner 0 the square up and to the left of it."""
        if len(self.shape) < 3:
            return [0]
        channels, rows, columns = self.shape
        width, stride = columns + 2, filled(channels)
        return [
            ((y + corner) * width + x + corner) * stride for y in range(0, rows, step) for x in range(0, columns, step)
        ]

    def patch(self, size: int) -> list[int]:
        """From the first of size x size squares to each of them."""
        channels, _, columns = self.shape
        return [(y * (columns + 2) + x) * filled(channels) for y in range(size) for x in range(size)]


@dataclass(frozen=True)
class Program:
    """What the compiled forward pass reads."""

    ops: NDArray[np.void]  # [operations] OP
    tables: NDArray[np.int64]
    weights: Floats
    scratch: int  # numbers of memory that a position needs


def filled(n: int) -> int:
    """Up to the next multiple of a vector."""
    return -(-n // LANES) * LANES


def build(architecture: Architecture, weights: Mapping[str, Floats]) -> Program:
    """The program of a network whose weights have the names and shapes of `architecture.parameters`."""
    builder = _Builder(architecture, weights)
    last = _last_readers(architecture)
    for i, layer in enumerate(architecture.layers):
        builder.add(layer, [builder.places[name] for name in architecture.sources(i)])
        builder.free += [builder.places[name] for name in last.get(i, ())]
    for head, where in architecture.outputs.items():
        place = builder.places[head]
        builder.emit(
            GIVE, place, Region(place.shape, where.start), units=place.shape[0], target_step=architecture.width
        )
    ops = np.array(builder.ops, dtype=OP)
    # One list serves them all: at most as many numbers as a row has, and which they are, with one to spare of each.
    ops["list"] = builder.room((2 * int((ops["taps"] * ops["depth"])[ops["code"] == PRODUCT].max() + 1),)).offset
    return Program(
        ops,
        np.array(builder.tables, dtype=np.int64),
        np.concatenate(builder.packed),
        builder.scratch,
    )


def _last_readers(architecture: Architecture) -> dict[int, list[str]]:
    """After which layer the memory of which others is free. A dropout is what it reads, and never lets go of it."""
    kept = {*architecture.heads}
    readers: dict[str, int] = {}
    for i, layer in enumerate(architecture.layers):
        readers |= dict.fromkeys((*architecture.sources(i), *filter(None, [layer.add])), i)
        if layer.kind == "dropout":
            kept |= {layer.name, *architecture.sources(i)}
    last: dict[int, list[str]] = {}
    for name, i in readers.items():
        if name not in kept:
            last.setdefault(i, []).append(name)
    return last


class _Builder:
    """A program that is being written."""

    def __init__(self, architecture: Architecture, weights: Mapping[str, Floats]) -> None:
        self.architecture = architecture
        self.given = weights
        self.places: dict[str, Region] = {}
        self.ops: list[tuple[int, ...]] = []
        self.tables: list[int] = []
        self.known: dict[tuple[int, ...], int] = {}  # where in them what is
        self.packed: list[Floats] = []
        self.size = 0  # of what is packed
        self.scratch = 0
        self.free: list[Region] = []

    def add(self, layer: Layer, sources: list[Region]) -> None:
        """Emits a layer."""
        if layer.kind == "dropout":
            self.places[layer.name] = sources[0]
            return
        shape = self.architecture.shapes[layer.name]
        place = self.places[layer.name] = self.room(shape)
        if layer.kind == "input":
            units = shape[0] if len(shape) == 3 else math.prod(shape)
            self.emit(TAKE, Region(shape, layer.offset), place, rows=place.squares(), units=units)
        elif layer.kind == "concat":
            start = 0
            for source in sources:
                self.emit(JOIN, source, place, rows=[start], units=source.shape[0])
                start += source.shape[0]
        elif layer.kind == "lstm":
            self.lstm(layer, sources[0], place)
        else:
            self.weighted(layer, sources[0], place)

    def weighted(self, layer: Layer, source: Region, place: Region) -> None:
        """A conv or dense layer."""
        weight, bias = self.given[f"{layer.name}.weight"], self.given[f"{layer.name}.bias"]
        if layer.kind == "conv" and _has_tiles(layer, source):
            self.by_tiles(layer, source, place, weight, bias)
        elif layer.kind == "conv":
            rows, taps = source.squares(corner=0 if layer.size == 3 else 1), source.patch(layer.size)
            self.product(source, place, rows, taps, weight.transpose(2, 3, 1, 0), bias, layer)
        elif len(source.shape) == 3:
            matrix = weight.reshape(layer.units, *source.shape).transpose(2, 3, 1, 0)
            self.product(source, place, [0], source.squares(), matrix, bias, layer)
        else:
            self.product(source, place, [0], [0], weight.T, bias, layer)
        if layer.activation in ("tanh", "sigmoid"):
            code = TANH if layer.activation == "tanh" else SIGMOID
            self.emit(code, place, place, rows=place.squares(), units=layer.units)

    def by_tiles(self, layer: Layer, source: Region, place: Region, weight: Floats, bias: Floats) -> None:
        """A convolution by tiles of 2 x 2 squares."""
        tiles = source.shape[1] * source.shape[2] // 4
        depth, units = filled(source.shape[0]), filled(layer.units)
        # From one of the 16 products to the next: more than needed, or they would all want the same lines of the cache.
        before, after = tiles * depth + LANES, tiles * units + LANES
        spread, products = self.room((16 * before,)), self.room((16 * after,))
        starts, taps = source.squares(corner=0, step=2), source.patch(4)
        self.emit(SPREAD, source, spread, rows=starts, source_rows=starts, taps=taps, units=depth, depth=before)
        zero = self.keep(np.zeros(units, dtype=np.float32))
        for i, matrix in enumerate(np.einsum("yi,xj,uvij->yxvu", TILE, TILE, weight).reshape(16, *weight.shape[1::-1])):
            self.emit(
                PRODUCT,
                spread,
                products,
                rows=[i * after + tile * units for tile in range(tiles)],
                source_rows=[i * before + tile * depth for tile in range(tiles)],
                taps=[0],
                depth=source.shape[0],
                units=units,
                weights=self.pack(matrix),
                bias=zero,
            )
        self.emit(
            GATHER,
            products,
            place,
            rows=place.squares(step=2),
            source_rows=(),
            taps=place.patch(2),
            depth=after,
            **self.ending(layer, bias),
        )
        self.free += [spread, products]

    def lstm(self, layer: Layer, source: Region, place: Region) -> None:
        """One product for all steps of the sequence, then for each step one with the memory, and the cell itself."""
        steps, size = source.shape
        stride = filled(4 * layer.units)
        gates, cell = self.room((steps * stride,)), self.room(place.shape)
        through, back = self.given[f"{layer.name}.weight_ih"].T, self.pack(self.given[f"{layer.name}.weight_hh"].T)
        starts = [step * stride for step in range(steps)]
        rows = [step * size for step in range(steps)]
        self.product(source, gates, rows, [0], through, self.given[f"{layer.name}.bias"], layer, starts)
        for start in starts:
            if start > 0:
                again = {"depth": layer.units, "units": stride, "weights": back}
                self.emit(PRODUCT, place, gates, rows=[start], source_rows=[0], taps=[0], **again)
            code = NEXT_CELL if start > 0 else FIRST_CELL
            self.emit(code, gates, place, source_rows=[start], units=layer.units, added=cell.offset)

    def product(
        self,
        source: Region,
        place: Region,
        rows: list[int],
        taps: list[int],
        matrix: Floats,
        bias: Floats,
        layer: Layer,
        targets: list[int] | None = None,
    ) -> None:
        """A product with packed weights; `matrix` [..., depth, units]."""
        self.emit(
            PRODUCT,
            source,
            place,
            rows=targets or place.squares(),
            source_rows=rows,
            taps=taps,
            depth=matrix.shape[-2],
            weights=self.pack(matrix.reshape(-1, matrix.shape[-1])),
            **self.ending(layer, bias),
        )

    def ending(self, layer: Layer, bias: Floats) -> dict[str, int]:
        """What becomes of a layer's sums: the fields of an operation for it."""
        units = filled(len(bias))
        return {
            "units": units,
            "bias": self.keep(np.pad(bias, (0, units - len(bias)))),
            "added": self.places[layer.add].offset if layer.add else NOTHING,
            "relu": int(layer.activation == "relu"),
        }

    def emit(
        self,
        code: int,
        source: Region,
        target: Region,
        *,
        rows: Sequence[int] = (0,),
        source_rows: Sequence[int] = (),
        taps: Sequence[int] = (),
        **more: int,
    ) -> None:
        """Writes one operation; `rows` are the target's."""
        op = {"code": code, "source": source.offset, "source_step": source.step, "target": target.offset}
        op |= {"target_step": target.step, "rows": len(rows), "taps": len(taps), "bias": NOTHING, "added": NOTHING}
        for name, table in (("source_rows", source_rows), ("target_rows", rows), ("source_taps", taps)):
            op[name] = self.table(tuple(table))
        op |= more
        self.ops.append(tuple(op.get(name, 0) for name in OP.names or ()))

    def table(self, offsets: tuple[int, ...]) -> int:
        """Where these offsets are in the tables; layers of the same shape share them."""
        if offsets not in self.known:
            self.known[offsets] = len(self.tables)
            self.tables += offsets
        return self.known[offsets]

    def room(self, shape: Shape) -> Region:
        """Memory for what a layer gives: that of another whose time is over, if it has the same shape.

        The same, because then the border of a board is where it was, and still zero.
        """
        for place in self.free:
            if place.shape == shape:
                self.free.remove(place)
                return place
        place = Region(shape, self.scratch)
        self.scratch += place.step
        if self.scratch > MOST_SCRATCH:
            raise TapeteError("a network is too large: its layers give too many numbers")
        return place

    def keep(self, array: Floats) -> int:
        """Appends to the weights and says where. Numbers too small for full precision are slow, and become zero."""
        start = self.size
        flat = np.ascontiguousarray(array, dtype=np.float32).ravel()
        self.packed.append(np.where(abs(flat) < np.finfo(np.float32).tiny, np.float32(0), flat))
        self.size += len(flat)
        return start

    def pack(self, matrix: Floats) -> int:
        """[depth, units] in groups of units, each of them [depth, GROUP] in a row; the last may be half as wide."""
        units = matrix.shape[1]
        wide = np.pad(matrix, ((0, 0), (0, filled(units) - units)))
        groups = [wide[:, start : start + GROUP] for start in range(0, wide.shape[1], GROUP)]
        return self.keep(np.concatenate([np.ascontiguousarray(group).ravel() for group in groups]))


def _has_tiles(layer: Layer, source: Region) -> bool:
    """Whether a convolution is computed by tiles: with few channels it would take longer."""
    channels, rows, columns = source.shape
    return layer.size == 3 and rows % 2 == columns % 2 == 0 and min(channels, layer.units) >= LANES
