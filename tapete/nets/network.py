"""A network that plays: loaded from a file, run by compiled code, without PyTorch.

The file is safetensors: the weights by name, shaped as PyTorch's, and the architecture in its header. See
`tapete.nets.torch` for how one is trained.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tapete.core.arrays import read_arrays, write_arrays
from tapete.core.errors import TapeteError
from tapete.core.evaluator import Evaluator
from tapete.core.game import Game
from tapete.core.rng import Rng
from tapete.nets.architecture import Architecture
from tapete.nets.program import Program, build

FORMAT = "network 1"
JUDGES = ("policy", "q", "advantage")  # heads that judge moves, of which a network has one; see evaluation.py
ROOM = 8  # rows that are computed together: more are no faster, because what they are made of leaves the cache


@dataclass(frozen=True, eq=False)
class Network:
    """An architecture with weights. It doesn't change, and may be used by several threads at once.

    >>> from tapete.nets.zoo import mlp
    >>> network = Network.random(mlp(9, (16,)), Rng(1))
    >>> network.forward(np.zeros((5, 9))).shape
    (5, 1)
    """

    architecture: Architecture
    weights: Mapping[str, NDArray[np.float32]]  # by the names of `architecture.parameters`
    about: dict[str, Any] = field(default_factory=dict)  # game, learner, ...: whatever is worth telling

    def __post_init__(self) -> None:
        """Checks that the weights are those of the architecture."""
        wanted = self.architecture.parameters
        if set(self.weights) != set(wanted):
            odd = sorted(set(self.weights) ^ set(wanted))[0]
            raise TapeteError(f"the weights {odd[:60]!r} are not of this network, or missing in it")
        for name, shape in wanted.items():
            array = self.weights[name]
            if array.shape != shape or array.dtype != np.float32:
                raise TapeteError(f"the weights {name!r} are float32 {shape}, not {array.dtype} {array.shape}")
            if not np.isfinite(array).all():
                raise TapeteError(f"the weights {name!r} are not all finite numbers")

    @classmethod
    def random(cls, architecture: Architecture, rng: Rng, **about: Any) -> Network:
        """Weights to begin learning from: as PyTorch draws them, uniform within 1 / sqrt(numbers that are added up)."""
        draws = np.random.default_rng([int(word) for word in rng.words])
        no_bias = {f"{layer.name}.bias" for layer in architecture.layers if layer.norm}
        weights, bound = {}, 0.0
        for name, shape in architecture.parameters.items():
            if not name.endswith(".bias"):  # which comes last, and has the bound of its weights
                bound = 1 / math.sqrt(math.prod(shape[1:]))
            weights[name] = draws.uniform(-bound, bound, shape).astype(np.float32) * (name not in no_bias)
        return cls(architecture, weights, about)

    def save(self, path: str | Path, *, half: bool = False) -> None:
        """Writes the file, all of it or nothing; `half` rounds the weights to 16 bits, for half the size."""
        arrays: dict[str, NDArray[Any]] = {}
        for name, array in self.weights.items():
            if half and (abs(array) > np.finfo(np.float16).max).any():
                raise TapeteError(f"the weights {name!r} are too large for 16 bits")
            arrays[name] = np.ascontiguousarray(array, np.float16 if half else np.float32)
        write_arrays(path, arrays, {"format": FORMAT, "about": self.about, **self.architecture.to_json()})

    @classmethod
    def load(cls, path: str | Path) -> Network:
        """Reads a file from wherever it comes, and checks that it is a network."""
        arrays, header = read_arrays(path, FORMAT)
        try:
            if not isinstance(header.get("about"), dict):
                raise TapeteError("its header doesn't tell about it")
            architecture = Architecture.from_json(header)
            if any(array.dtype not in (np.float16, np.float32) for array in arrays.values()):
                raise TapeteError("its weights are not float32 or float16")
            weights = {name: array.astype(np.float32) for name, array in arrays.items()}
            network = cls(architecture, weights, header["about"])
            network.program  # noqa: B018 (too large, if at all, is found out here)
        except TapeteError as error:
            raise TapeteError(f"{path} is not a network: {error}") from None
        return network

    @cached_property
    def program(self) -> Program:
        """What the compiled forward pass reads."""
        return build(self.architecture, self.weights)

    def forward(self, rows: ArrayLike) -> NDArray[np.float32]:
        """What the network says of each row of inputs: [B, architecture.inputs or more] to [B, architecture.width].

        `architecture.outputs` tells where in a row each head stands. A row's answer is the same whichever others are
        beside it.
        """
        from tapete.nets.kernels import forward

        inputs = np.ascontiguousarray(rows, dtype=np.float32)
        if inputs.ndim != 2 or inputs.shape[1] < self.architecture.inputs:
            raise TapeteError(f"the network reads rows of {self.architecture.inputs} numbers, not {inputs.shape}")
        outputs = np.empty((len(inputs), self.architecture.width), dtype=np.float32)
        program = self.program
        try:
            scratch = self._memory.pop()
        except IndexError:
            scratch = np.zeros(ROOM * program.scratch, dtype=np.float32)
        forward(program.ops, program.tables, program.weights, scratch, ROOM, inputs, outputs)
        self._memory.append(scratch)
        return outputs

    @cached_property
    def _memory(self) -> list[NDArray[np.float32]]:
        """Scratch memory that no call is using, for the next one."""
        return []

    def evaluator(self, game: Game) -> Evaluator:
        """Judges states of a game in a search, for one thread; see `tapete.nets.evaluation`."""
        from tapete.nets.evaluation import evaluator_of

        return evaluator_of(self, game)
