"""Weights that are fitted to what a memory holds: an optimiser, and as many steps as the new rows are worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tapete.core import Rng
from tapete.learn.buffers import Column, Ring, Rows, numpy_generator
from tapete.learn.late import torch
from tapete.learn.run import Checkpoint
from tapete.learn.tensors import load_module, load_optimiser, module_arrays, optimiser_arrays

if TYPE_CHECKING:
    from tapete.nets.torch import Module


class Fit:
    """Networks by name, the rows that they learn from, and the steps that are due."""

    def __init__(
        self,
        modules: Mapping[str, Module],
        columns: Mapping[str, Column],
        *,
        memory: int,  # rows
        batch: int,  # rows of a step
        optimiser: str = "adam",
        clip: float = np.inf,  # longest gradient
    ) -> None:
        self.modules, self.batch, self.clip = modules, batch, clip
        weights = [weight for module in modules.values() for weight in module.parameters()]
        if optimiser == "adam":
            self.optimiser: torch.optim.Optimizer = torch.optim.Adam(weights, foreach=True)
        else:
            self.optimiser = torch.optim.RMSprop(weights, alpha=0.99, eps=1e-5, foreach=True)
        self.memory = Ring(memory, columns)
        self.owed = 0.0  # steps that are due
        self.losses: list[float] = []  # since somebody took them

    def add(self, rows: Rows, passes: float) -> None:
        """Remembers rows, each of which is to be learned from so many times on average."""
        self.memory.add(rows)
        self.owed += passes * len(next(iter(rows.values()))) / self.batch

    def learn(self, loss: Callable[[Rows], torch.Tensor], rng: Rng, rate: float) -> None:
        """The steps that are due, each on rows drawn from the memory."""
        draws = numpy_generator(rng)
        group = self.optimiser.param_groups[0]
        group["lr"] = rate
        while self.owed >= 1 and len(self.memory):
            self.owed -= 1
            error = loss(self.memory.sample(self.batch, draws))
            self.optimiser.zero_grad()
            error.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(group["params"], self.clip)
            self.optimiser.step()
            self.losses.append(error.item())

    def take_losses(self) -> list[float]:
        """The losses since they were taken last."""
        taken, self.losses = self.losses, []
        return taken

    def arrays(self, prefix: str) -> dict[str, NDArray[Any]]:
        """All that it remembers, for a checkpoint."""
        arrays: dict[str, NDArray[Any]] = {}
        for name, module in self.modules.items():
            arrays |= module_arrays(f"{prefix}.{name}", module)
        arrays |= optimiser_arrays(f"{prefix}.optimiser", self.optimiser) | self.memory.arrays(f"{prefix}.memory")
        arrays[f"{prefix}.losses"] = np.array(self.losses, dtype=np.float64)
        arrays[f"{prefix}.owed"] = np.array([self.owed])
        return arrays

    def restore(self, prefix: str, checkpoint: Checkpoint) -> None:
        """Puts back what `arrays` gave."""
        for name, module in self.modules.items():
            load_module(f"{prefix}.{name}", module, checkpoint)
        load_optimiser(f"{prefix}.optimiser", self.optimiser, checkpoint)
        self.memory.restore(f"{prefix}.memory", checkpoint)
        self.owed = float(checkpoint.take(f"{prefix}.owed", np.float64, 1)[0])
        self.losses = checkpoint.take(f"{prefix}.losses", np.float64, None).tolist()
