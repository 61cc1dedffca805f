"""What a network is made of, as data. PyTorch's module and the compiled forward pass are both built from it.

Layers are listed in the order in which they are computed; each reads the one before it, or those it names::

    Architecture(
        layers=(
            Layer("input", shape=(2, 8, 8)),
            Layer("conv", units=32, activation="relu"),
            Layer("dense", units=1, activation="tanh", name="value"),
        ),
        heads=("value",),
    )

==========  ==========================================================================================================
``input``   numbers `offset` to `offset + size` of a row: planes (channels, rows, columns), a sequence (steps, size),
            or a vector (size,)
``conv``    planes to `units` planes, by filters of `size` x `size` (1 or 3), zeros around the board
``dense``   anything, flattened, to `units` numbers
``lstm``    a sequence to what it ends in: `units` numbers
``concat``  vectors one behind the other
``dropout`` leaves out a share `rate` of the numbers in training; otherwise nothing
==========  ==========================================================================================================

`norm` puts batch normalisation behind a conv or dense layer, `add` the output of an earlier layer (a residual), and
then comes the `activation`: relu, tanh or sigmoid.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import cached_property
from typing import Any

from tapete.core.errors import TapeteError

Shape = tuple[int, ...]

ACTIVATIONS = ("", "relu", "tanh", "sigmoid")
MOST_LAYERS = 1000
LONGEST = 2**16  # any one dimension, and any offset
MOST_WEIGHTS = 2**27
MOST_NUMBERS = 2**22  # that all layers together give for one row


@dataclass(frozen=True)
class Layer:
    """One layer; the page above says which kind reads which of these."""

    kind: str
    _: KW_ONLY
    name: str = ""  # if none is given, it is the kind and the place in the list: "conv1"
    of: tuple[str, ...] = ()  # the layers it reads; none: the one before it
    shape: Shape = ()
    offset: int = 0
    units: int = 0
    size: int = 3
    norm: bool = False
    add: str = ""
    activation: str = ""
    rate: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Plain data: what differs from the usual."""
        return {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}

    @classmethod
    def from_json(cls, data: Any) -> Layer:
        """Reads what `to_json` wrote; of the right types, nothing more is sure."""
        if not isinstance(data, dict) or "kind" not in data:
            raise TapeteError("a layer of a network is a table with a kind")
        given: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in data.items()}
        for key, value in given.items():
            if key not in _FITS or not _FITS[key](value):
                raise TapeteError(f"a layer of a network can't have {str(key)[:40]!r}: {str(value)[:40]!r}")
        return cls(**given)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[\w-]{0,60}", value) is not None


def _is_whole(value: Any) -> bool:
    return type(value) is int and 0 <= value <= LONGEST


def _is_list(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, tuple) and len(value) <= MOST_LAYERS and all(map(fits, value))


_FITS: dict[str, Callable[[Any], bool]] = {
    "kind": _is_text,
    "name": _is_text,
    "of": _is_list(_is_text),
    "shape": _is_list(_is_whole),
    "offset": _is_whole,
    "units": _is_whole,
    "size": _is_whole,
    "norm": lambda value: isinstance(value, bool),
    "add": _is_text,
    "activation": lambda value: value in ACTIVATIONS,
    "rate": lambda value: isinstance(value, int | float) and 0 <= value < 1,
}


@dataclass(frozen=True)
class Architecture:
    """Layers that fit together, and which of them are what the network says: its heads, vectors all.

    A search looks for a head "value" (what the mover may expect, -1 to 1; or one number a seat, the mover's first) and
    for a head "policy" (a number for each action of the game, of which the softmax over the legal ones is taken).
    """

    layers: tuple[Layer, ...]
    heads: tuple[str, ...] = ("value",)

    def __post_init__(self) -> None:
        """Names the layers, and checks all that there is to check."""
        if not 0 < len(self.layers) <= MOST_LAYERS:
            raise TapeteError(f"a network has 1 to {MOST_LAYERS} layers, not {len(self.layers)}")
        named = tuple(replace(layer, name=layer.name or f"{layer.kind}{i}") for i, layer in enumerate(self.layers))
        object.__setattr__(self, "layers", named)
        if len(self.shapes) < len(named):
            raise TapeteError("two layers of a network have the same name")
        if not self.heads or len(set(self.heads)) < len(self.heads):
            raise TapeteError("a network has heads, each with a name of its own")
        for head in self.heads:
            if len(self.shapes.get(head, ())) != 1:
                raise TapeteError(f"the head {head!r} of a network is a layer that gives a vector")
        if sum(map(math.prod, self.shapes.values())) > MOST_NUMBERS:
            raise TapeteError("a network is too large: its layers give too many numbers")
        if sum(map(math.prod, self.parameters.values())) > MOST_WEIGHTS:
            raise TapeteError(f"a network is too large: it has more than {MOST_WEIGHTS} weights")

    @cached_property
    def shapes(self) -> dict[str, Shape]:
        """What each layer gives: planes (channels, rows, columns), a sequence (steps, size), a vector (size,)."""
        found: dict[str, Shape] = {}
        for i, layer in enumerate(self.layers):
            for name in (*self.sources(i), *filter(None, [layer.add])):
                if name not in found:
                    raise TapeteError(f"layer {layer.name!r} of a network reads {name!r}, which is not before it")
            shape = _shape(layer, [found[name] for name in self.sources(i)])
            if layer.add and found[layer.add] != shape:
                raise TapeteError(f"layer {layer.name!r} of a network adds {layer.add!r}, which has another shape")
            found[layer.name] = shape
        return found

    def sources(self, i: int) -> tuple[str, ...]:
        """What layer i reads."""
        layer = self.layers[i]
        if layer.of or layer.kind == "input" or i == 0:
            return layer.of
        return (self.layers[i - 1].name,)

    @cached_property
    def parameters(self) -> dict[str, Shape]:
        """The weights by name, shaped as PyTorch's: [out, in, 3, 3], [out, in]; batch normalisation is folded in."""
        found: dict[str, Shape] = {}
        for i, layer in enumerate(self.layers):
            source = self.shapes[self.sources(i)[0]] if self.sources(i) else ()
            if layer.kind == "conv":
                found[f"{layer.name}.weight"] = (layer.units, source[0], layer.size, layer.size)
            elif layer.kind == "dense":
                found[f"{layer.name}.weight"] = (layer.units, math.prod(source))
            elif layer.kind == "lstm":
                found[f"{layer.name}.weight_ih"] = (4 * layer.units, source[1])  # gates: in, forget, cell, out
                found[f"{layer.name}.weight_hh"] = (4 * layer.units, layer.units)
            if layer.kind in ("conv", "dense", "lstm"):
                found[f"{layer.name}.bias"] = (4 * layer.units if layer.kind == "lstm" else layer.units,)
        return found

    @property
    def multiply_adds(self) -> int:
        """How many it takes to judge one row: every weight once for each square or step that it is for."""
        total = 0
        for i, layer in enumerate(self.layers):
            weights = (shape for name, shape in self.parameters.items() if name.startswith(f"{layer.name}.weight"))
            steps = self.shapes[self.sources(i)[0]][:1] if layer.kind == "lstm" else ()
            squares = self.shapes[layer.name][1:]
            total += sum(map(math.prod, weights)) * math.prod((*squares, *steps))
        return total

    @property
    def inputs(self) -> int:
        """How many numbers of a row it needs; there may be more."""
        return max(layer.offset + math.prod(layer.shape) for layer in self.layers if layer.kind == "input")

    @cached_property
    def outputs(self) -> dict[str, slice]:
        """Where each head stands in a row of what the network says."""
        found, start = {}, 0
        for head in self.heads:
            found[head] = slice(start, start + self.shapes[head][0])
            start = found[head].stop
        return found

    @property
    def width(self) -> int:
        """How many numbers there are in a row of what the network says."""
        return self.outputs[self.heads[-1]].stop

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"layers": [layer.to_json() for layer in self.layers], "heads": list(self.heads)}

    @classmethod
    def from_json(cls, data: Any) -> Architecture:
        """Reads what `to_json` wrote, from wherever it comes."""
        right = isinstance(data, dict) and isinstance(data.get("layers"), list) and isinstance(data.get("heads"), list)
        if not right or not _is_list(_is_text)(tuple(data["heads"])) or len(data["layers"]) > MOST_LAYERS:
            raise TapeteError("a network is a list of layers and a list of heads")
        return cls(tuple(map(Layer.from_json, data["layers"])), tuple(data["heads"]))


def _shape(layer: Layer, sources: list[Shape]) -> Shape:
    """What a layer gives, if it can read such sources."""
    fits, shape = _KINDS.get(layer.kind, (_is_nothing, _same))
    if not fits(layer, sources):
        wrong = " and ".join(map(str, sources)) or layer.shape
        raise TapeteError(f"layer {layer.name!r} of a network can't be of kind {layer.kind!r} with {wrong}")
    return shape(layer, sources)


def _is_nothing(layer: Layer, sources: list[Shape]) -> bool:
    return False


def _same(layer: Layer, sources: list[Shape]) -> Shape:
    return sources[0]


def _is_plain(layer: Layer) -> bool:
    return not (layer.norm or layer.add or layer.activation)


# For each kind: whether it can read such sources, and the shape of what it gives.
_KINDS: dict[str, tuple[Callable[[Layer, list[Shape]], bool], Callable[[Layer, list[Shape]], Shape]]] = {
    "input": (
        lambda layer, sources: not sources and 1 <= len(layer.shape) <= 3 and min(layer.shape) > 0 and _is_plain(layer),
        lambda layer, sources: layer.shape,
    ),
    "conv": (
        lambda layer, sources: list(map(len, sources)) == [3] and layer.size in (1, 3) and layer.units > 0,
        lambda layer, sources: (layer.units, *sources[0][1:]),
    ),
    "dense": (
        lambda layer, sources: len(sources) == 1 and layer.units > 0,
        lambda layer, sources: (layer.units,),
    ),
    "lstm": (
        lambda layer, sources: list(map(len, sources)) == [2] and layer.units > 0 and _is_plain(layer),
        lambda layer, sources: (layer.units,),
    ),
    "concat": (
        lambda layer, sources: len(sources) > 0 and set(map(len, sources)) == {1} and _is_plain(layer),
        lambda layer, sources: (sum(shape[0] for shape in sources),),
    ),
    "dropout": (lambda layer, sources: len(sources) == 1 and _is_plain(layer), _same),
}
