"""Networks in PyTorch, for training: modules from architectures, and back. PyTorch is the extra `learn`."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tapete.core.errors import TapeteError
from tapete.core.rng import Rng
from tapete.nets.architecture import Architecture, Layer
from tapete.nets.network import Network

# Some virtual machines announce AMX and don't have it: then PyTorch's 16-bit products end the process (SIGILL). This is
# read at the first of them; on a machine that does have AMX it may be set to ALL.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16")

EPSILON = 1e-5  # of batch normalisation


class Module(nn.Module):
    """What an architecture describes: rows of inputs [B, architecture.inputs or more] to [B, architecture.width]."""

    def __init__(self, architecture: Architecture) -> None:
        super().__init__()
        self.architecture = architecture
        self.layers = nn.ModuleDict()
        self.norms = nn.ModuleDict()
        for i, layer in enumerate(architecture.layers):
            sources = [architecture.shapes[name] for name in architecture.sources(i)]
            if module := _module(layer, sources[0] if sources else ()):
                self.layers[layer.name] = module
            if layer.norm:
                norm = nn.BatchNorm2d if layer.kind == "conv" else nn.BatchNorm1d
                self.norms[layer.name] = norm(layer.units, eps=EPSILON)

    def forward(self, rows: Tensor) -> Tensor:
        """What the network says of each row; `architecture.outputs` tells where each head stands."""
        found: dict[str, Tensor] = {}
        for i, layer in enumerate(self.architecture.layers):
            sources = [found[name] for name in self.architecture.sources(i)]
            x = self._layer(layer, sources, rows)
            if layer.norm:
                x = self.norms[layer.name](x)
            if layer.add:
                x = x + found[layer.add]
            if layer.activation:
                x = getattr(torch, layer.activation)(x)
            found[layer.name] = x
        return torch.cat([found[head] for head in self.architecture.heads], dim=1)

    def _layer(self, layer: Layer, sources: list[Tensor], rows: Tensor) -> Tensor:
        if layer.kind == "input":
            end = layer.offset + math.prod(layer.shape)
            return rows[:, layer.offset : end].reshape(-1, *layer.shape)
        if layer.kind == "concat":
            return torch.cat(sources, dim=1)
        module = self.layers[layer.name]
        if layer.kind == "dense":
            return module(sources[0].flatten(1))
        if layer.kind == "lstm":
            return module(sources[0])[0][:, -1]
        return module(sources[0])


def _module(layer: Layer, source: tuple[int, ...]) -> nn.Module | None:
    """The part of PyTorch that a layer is, its weights not set yet; None where it has none."""
    if layer.kind == "conv":
        more = {"padding": layer.size // 2, "bias": not layer.norm}
        return _empty(nn.Conv2d, source[0], layer.units, layer.size, **more)
    if layer.kind == "dense":
        return _empty(nn.Linear, math.prod(source), layer.units, bias=not layer.norm)
    if layer.kind == "lstm":
        return _empty(nn.LSTM, source[1], layer.units, batch_first=True)
    if layer.kind == "dropout":
        return nn.Dropout(layer.rate)
    return None


def _empty(kind: Callable[..., nn.Module], *sizes: int, **more: Any) -> nn.Module:
    """A part without weights: setting them would draw from a generator that nobody handed over."""
    return kind(*sizes, **more, device="meta").to_empty(device="cpu")


@torch.no_grad()
def to_torch(network: Network | Architecture, rng: Rng | None = None) -> Module:
    """A module in training mode; of a network with its weights, of an architecture with some drawn from `rng`.

    Batch normalisation is folded into a network's weights, so here it begins anew, with statistics that change nothing.
    What dropout leaves out in training is drawn from PyTorch's own generator, which nobody but the caller should seed.
    """
    if isinstance(network, Architecture):
        if rng is None:
            raise TapeteError("an architecture has no weights: they are drawn from a generator, which must be given")
        network = Network.random(network, rng)
    module = Module(network.architecture)
    state = module.state_dict()  # shares its memory with the module
    for layer in network.architecture.layers:
        for part, place in _parts(layer).items():
            state[place].copy_(torch.from_numpy(network.weights[f"{layer.name}.{part}"].copy()))
        if layer.kind == "lstm":
            state[f"layers.{layer.name}.bias_hh_l0"].zero_()
        if layer.norm:
            state[f"norms.{layer.name}.running_var"].fill_(1 - EPSILON)
    return module


@torch.no_grad()
def from_torch(module: Module, **about: object) -> Network:
    """The network that a module is in evaluation, batch normalisation folded into the weights before it."""
    state = {name: tensor.double() for name, tensor in module.state_dict().items()}
    weights: dict[str, NDArray[np.float32]] = {}
    for layer in module.architecture.layers:
        tensors = {part: state[place] for part, place in _parts(layer).items()}
        if layer.kind == "lstm":
            tensors["bias"] = tensors["bias"] + state[f"layers.{layer.name}.bias_hh_l0"]
        if layer.norm:
            norm = {part: state[f"norms.{layer.name}.{part}"] for part in ("weight", "running_mean", "running_var")}
            scale = norm["weight"] / torch.sqrt(norm["running_var"] + EPSILON)
            tensors["weight"] = tensors["weight"] * scale.view(-1, *[1] * (tensors["weight"].dim() - 1))
            tensors["bias"] = tensors["bias"] - norm["running_mean"] * scale
        weights |= {f"{layer.name}.{part}": tensor.float().cpu().numpy() for part, tensor in tensors.items()}
    return Network(module.architecture, weights, dict(about))


def _parts(layer: Layer) -> dict[str, str]:
    """The weights of a layer: what they are called in a network, and in the state of a module."""
    if layer.kind == "lstm":
        names = {"weight_ih": "weight_ih_l0", "weight_hh": "weight_hh_l0", "bias": "bias_ih_l0"}
        return {part: f"layers.{layer.name}.{name}" for part, name in names.items()}
    if layer.kind in ("conv", "dense"):
        bias = "norms" if layer.norm else "layers"
        return {"weight": f"layers.{layer.name}.weight", "bias": f"{bias}.{layer.name}.bias"}
    return {}
