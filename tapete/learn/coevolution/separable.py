"""Children by a standard optimiser: separable CMA-ES, as the package `cma` has it.

* Ros and Hansen 2008, "A Simple Modification in CMA-ES Achieving Linear Time and Space Complexity"

All thresholds of a chromosome are one vector of numbers with a mean and a variance each. Children are drawn around the
mean, rounded, and cut off where thresholds end; those that win most pull mean and variances. It is for comparison with
the genetic operators: everything else of a run stays as it is.

What it remembers of a run is what it was told, generation by generation: told the same once more, it draws the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from tapete.core.breeding import MOST
from tapete.core.errors import TapeteError
from tapete.learn.coevolution.operators import Individuals

Gains = NDArray[np.float64]  # [children]


class Separable:
    """Where children are drawn, and how widely: at first like a population."""

    def __init__(self, population: Individuals, draws: Generator) -> None:
        try:
            import cma
        except ImportError:
            raise TapeteError("optimiser=cma needs cma, which is not installed: pip install 'tapete[learn]'") from None
        first = population.reshape(len(population), -1).astype(np.float64)
        self.shape = population.shape
        self.told: list[Gains] = []
        options = {
            "CMA_diagonal": True,
            "popsize": len(population),
            "randn": lambda *shape: draws.standard_normal(shape),
            "seed": np.nan,  # NumPy's global stream is left alone
            "verbose": -9,
        }
        self.strategy: Any = cma.CMAEvolutionStrategy(
            first.mean(axis=0), max(float(first.std(axis=0).mean()), 1.0), options
        )

    def children(self) -> Individuals:
        """As many as the population has individuals."""
        self.drawn = self.strategy.ask()
        whole = np.rint(np.stack(self.drawn)).clip(-MOST, MOST)
        return whole.astype(np.int8).reshape(self.shape)

    def tell(self, gains: Gains) -> None:
        """What the children that were drawn last have won."""
        self.strategy.tell(self.drawn, (-gains).tolist())
        self.told.append(gains)

    def remember(self, told: Iterable[Gains]) -> None:
        """Goes back to where it was told all this."""
        for gains in told:
            self.children()
            self.tell(gains)
