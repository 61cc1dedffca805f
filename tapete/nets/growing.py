"""Larger networks that begin with what a smaller one has learned.

As in Net2Net (Chen, Goodfellow and Shlens 2016) the larger network says at first exactly what the smaller one says.
Units that are new have weights of their own, but nobody listens to them yet; a layer that is new hands on what it
reads, which a rectified layer can do with what another one gives.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tapete.core.errors import TapeteError
from tapete.nets.architecture import Layer
from tapete.nets.network import Network


def grow(small: Network, large: Network, *, between: str = "") -> Network:
    """A network with the large one's layers that says what the small one says.

    It has all layers of the small one under their names, with as many units or more, and may have others behind those
    that are rectified. The weights of new units are the large one's. What both read and say has the same size, but for
    what stands `between` two networks that grow together, by its name.

    :raises TapeteError: with the name of the first layer or weights that don't allow it.

    >>> from tapete.core.rng import Rng
    >>> from tapete.nets.zoo import mlp
    >>> small, large = (Network.random(mlp(9, widths), Rng(1)) for widths in ((16,), (24,)))
    >>> rows = np.eye(9)
    >>> bool((grow(small, large).forward(rows) == small.forward(rows)).all())
    True
    """
    old = {layer.name: layer for layer in small.architecture.layers}
    for name in sorted(old.keys() - large.architecture.shapes.keys()):
        raise TapeteError(f"the layer {name} is not here")
    if small.architecture.heads != large.architecture.heads:
        raise TapeteError("it says {} there and {} here".format(*(part.architecture.heads for part in (small, large))))
    kept: dict[str, int] = {}  # how many of a layer's numbers, the first ones, are as in the small network
    weights: dict[str, NDArray[np.float32]] = {}
    for i, layer in enumerate(large.architecture.layers):
        sources = large.architecture.sources(i)
        if layer.name in old:
            kept[layer.name] = math.prod(small.architecture.shapes[layer.name])
            is_end = layer.kind == "input" or layer.name in large.architecture.heads
            _check_alike(old[layer.name], layer, fixed=is_end and layer.name != between)
        else:
            _check_hands_on(layer, {other.name: other for other in large.architecture.layers[:i]}, sources)
            kept[layer.name] = kept[sources[0]]
        if layer.kind == "dense":
            weights |= _dense(layer, kept[layer.name], kept[sources[0]], small, large)
    return Network(large.architecture, weights, small.about)


def _dense(layer: Layer, units: int, inputs: int, small: Network, large: Network) -> dict[str, NDArray[np.float32]]:
    """The weights of a dense layer, of whose units and inputs the first ones are as in the small network."""
    names = f"{layer.name}.weight", f"{layer.name}.bias"
    weight, bias = (large.weights[name].copy() for name in names)  # [units, inputs], [units]
    before = small.weights.get(names[0], np.eye(units, inputs, dtype=np.float32))
    if before.shape != (units, inputs) or units > len(weight):
        raise TapeteError(f"{names[0]} is {list(before.shape)} there and {list(weight.shape)} here")
    weight[:units] = 0
    weight[:units, :inputs] = before
    bias[:units] = small.weights.get(names[1], 0)
    return dict(zip(names, (weight, bias), strict=True))


def _check_alike(there: Layer, here: Layer, *, fixed: bool) -> None:
    """A layer of both networks may read another one, which hands on; unless it is fixed, it may have grown."""
    same = (there.kind, there.add, there.activation) == (here.kind, here.add, here.activation)
    same = same and (there.kind == "dense" or (there.kind == "input" and len(there.shape) == len(here.shape) == 1))
    if not same or there.norm or here.norm:
        raise TapeteError(f"the layer {here.name} is another one there")
    sizes = [math.prod(layer.shape) if layer.kind == "input" else layer.units for layer in (there, here)]
    if fixed and sizes[0] != sizes[1]:
        raise TapeteError("the layer {} has {} numbers there and {} here".format(here.name, *sizes))


def _check_hands_on(layer: Layer, before: dict[str, Layer], sources: tuple[str, ...]) -> None:
    plain = layer.kind == "dense" and layer.activation == "relu" and not layer.norm and not layer.add
    if not plain or before[sources[0]].activation != "relu":
        raise TapeteError(f"the layer {layer.name} is not there")
