"""PyTorch's modules and optimisers as arrays that go into a checkpoint, and its randomness under a name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tapete.core import Rng, TapeteError
from tapete.learn.late import nets, torch
from tapete.learn.run import Checkpoint
from tapete.nets import Network
from tapete.nets.growing import grow

if TYPE_CHECKING:
    from tapete.nets.torch import Module


@contextmanager
def seeded(rng: Rng) -> Iterator[None]:
    """Inside, what PyTorch draws (first weights, dropout) is a function of this stream; outside, nothing changes."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(rng.below(1 << 30))
        yield


def module_arrays(prefix: str, module: torch.nn.Module) -> dict[str, NDArray[Any]]:
    """Copies of the weights and running averages of a module."""
    return {f"{prefix}.{name}": tensor.numpy().copy() for name, tensor in module.state_dict().items()}


def load_module(prefix: str, module: torch.nn.Module, checkpoint: Checkpoint) -> None:
    """Puts back what `module_arrays` took."""
    for name, tensor in module.state_dict().items():
        checkpoint.fill(f"{prefix}.{name}", tensor.numpy())


def begin_from(file: Path, network: Network, *modules: Module, between: str = "") -> None:
    """Gives modules the weights of a network that was read from a file: one with their layers, or a smaller one.

    between: what one network hands to another, which may have grown in both (`tapete.nets.growing`).
    """
    for module in modules:
        whole = network
        if module.architecture != network.architecture:
            try:
                whole = grow(network, nets.from_torch(module), between=between)
            except TapeteError as error:
                raise TapeteError(f"{file} does not fit this run, by its game or its knobs: {error}") from None
        module.load_state_dict(nets.to_torch(whole).state_dict())


def optimiser_arrays(prefix: str, optimiser: torch.optim.Optimizer) -> dict[str, NDArray[Any]]:
    """Copies of what an optimiser knows of each weight; nothing before its first step."""
    return {
        f"{prefix}.{i}.{name}": tensor.numpy().copy()
        for i, state in enumerate(_states(optimiser))
        for name, tensor in state.items()
        if isinstance(tensor, torch.Tensor)
    }


def load_optimiser(prefix: str, optimiser: torch.optim.Optimizer, checkpoint: Checkpoint) -> None:
    """Puts back what `optimiser_arrays` took."""
    if not any(name.startswith(f"{prefix}.") for name in checkpoint.arrays):
        return
    _take_no_step(optimiser)  # which makes it allocate what is filled below
    for i, state in enumerate(_states(optimiser)):
        for name, tensor in state.items():
            if isinstance(tensor, torch.Tensor):
                checkpoint.fill(f"{prefix}.{i}.{name}", tensor.numpy())


def _states(optimiser: torch.optim.Optimizer) -> list[dict[str, Any]]:
    """What it knows of each weight, in order."""
    weights = [weight for group in optimiser.param_groups for weight in group["params"]]
    return [optimiser.state[weight] for weight in weights if weight in optimiser.state]


def _take_no_step(optimiser: torch.optim.Optimizer) -> None:
    """A step that leaves the weights as they are."""
    weights = [weight for group in optimiser.param_groups for weight in group["params"]]
    before = [weight.detach().clone() for weight in weights]
    for weight in weights:
        weight.grad = torch.zeros_like(weight)
    optimiser.step()
    optimiser.zero_grad()
    with torch.no_grad():
        for weight, old in zip(weights, before, strict=True):
            weight.copy_(old)


def shuffled(n: int, rng: Rng) -> NDArray[np.int64]:
    """The numbers 0 to n - 1 in an order drawn from the stream."""
    return np.random.Generator(np.random.PCG64(rng.below(1 << 30))).permutation(n)
