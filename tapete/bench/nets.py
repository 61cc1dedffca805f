"""How fast networks are on one core: positions a second, one at a time and many at once, beside PyTorch."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tapete.bench import Case, Row, Work, measure
from tapete.core import Rng
from tapete.nets import Architecture, Network
from tapete.nets.zoo import lstm_mlp, mlp, paper_cnn, residual

ARCHITECTURES = {
    "the paper's CNN": paper_cnn(),
    "residual 32x3": residual((3, 8, 8), 65),
    "residual 64x5": residual((3, 8, 8), 65, channels=64, blocks=5),
    "mlp 256-256": mlp(192, (256, 256), actions=65),
    "DouZero's": lstm_mlp(5, 162, 484),
}
BATCHES = (1, 8, 128)


def run(*, rivals: bool, case: str, seconds: float) -> Iterator[Row]:
    """Measures every case, ours and then PyTorch's, in seconds of a core: others who use it too don't count."""
    return measure("nets", cases(), rivals=rivals, case=case, seconds=seconds, clock=time.thread_time)


def cases() -> list[Case]:
    """What is measured: every architecture, by batches of every size."""
    return [
        Case(
            f"{name}, {batch} at once",
            partial(positions, architecture, batch),
            (("PyTorch", partial(torch_positions, architecture, batch)),),
        )
        for name, architecture in ARCHITECTURES.items()
        for batch in BATCHES
    ]


def _network(architecture: Architecture, batch: int) -> tuple[Network, NDArray[np.float32]]:
    """A network, and rows of zeros and ones as games show them."""
    draws = np.random.default_rng(1)
    rows = draws.random((batch, architecture.inputs)) < 0.3
    return Network.random(architecture, Rng(1)), rows.astype(np.float32)


def positions(architecture: Architecture, batch: int) -> Work:
    """Positions judged by the compiled forward pass."""
    network, rows = _network(architecture, batch)

    def work(rounds: int) -> int:
        for _ in range(rounds):
            network.forward(rows)
        return rounds * batch

    return work


def torch_positions(architecture: Architecture, batch: int) -> Work:
    """The same by PyTorch, on one core."""
    import torch

    from tapete.nets.torch import to_torch

    network, rows = _network(architecture, batch)
    module, inputs = to_torch(network).eval(), torch.from_numpy(rows)

    def work(rounds: int) -> int:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        with torch.inference_mode():
            for _ in range(rounds):
                module(inputs)
        torch.set_num_threads(threads)
        return rounds * batch

    return work
