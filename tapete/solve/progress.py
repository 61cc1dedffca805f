"""What `tapete solve` runs, and where it is."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from tapete.solve.response import Proof
from tapete.solve.strategy import Strategy


class Engine(Protocol):
    """A run of some algorithm over some form of a game."""

    @property
    def iterations(self) -> int:
        """How many were made so far."""

    def run(self, iterations: int) -> None:
        """Makes so many more iterations."""

    def prove(self) -> Proof:
        """Tells the value and both best responses."""

    def strategy(self, **about: Any) -> Strategy:
        """The strategy so far, with that in its header."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that it remembers."""

    def restore(self, arrays: dict[str, NDArray[Any]], iterations: int) -> None:
        """Goes back to what `arrays` said after so many iterations; raises where they don't fit."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Where a run is, and at its end what came out of it."""

    game: str
    algorithm: str
    iterations: int
    seconds: float
    proof: Proof  # `UNPROVEN` where the game can't be played out
    histories: int  # 0: nobody knows
    information_sets: int  # of the game; those that were met, where it is sampled
    bytes: int
    is_full: bool = False  # whether it was stopped because there is no memory for more

    def to_json(self) -> dict[str, Any]:
        """Plain data, for `tapete solve --json` and the header of a file."""
        data = asdict(self)
        del data["proof"], data["bytes"], data["is_full"]
        found = {
            **data,
            "histories": self.histories or None,
            "seconds": round(self.seconds, 3),
            "exploitability": self.proof.exploitability,
            "exploitability_percent": 100 * self.proof.exploitability,
            "value": self.proof.value,
            "lower": self.proof.lower,
            "upper": self.proof.upper,
        }
        return {name: None if isinstance(x, float) and not math.isfinite(x) else x for name, x in found.items()}


Watcher = Callable[[Progress], None]
Beginning = Callable[[str, float], None]  # the game, and how much of it has been played out
