"""tapete: the table on which machines learn games of hidden information, and people play against them."""

from typing import TYPE_CHECKING, Any

from tapete.core import (
    CHANCE,
    TERMINAL,
    Game,
    IllegalAction,
    Record,
    Rng,
    State,
    TapeteError,
    Thought,
    View,
    make,
)

if TYPE_CHECKING:
    from tapete.core.tables import Tables
    from tapete.front import agent, equilibrium, exploitability, match, matrix, train

__version__ = "0.1.0"
__all__ = [
    "CHANCE",
    "TERMINAL",
    "Game",
    "IllegalAction",
    "Record",
    "Rng",
    "State",
    "Tables",
    "TapeteError",
    "Thought",
    "View",
    "agent",
    "equilibrium",
    "exploitability",
    "make",
    "match",
    "matrix",
    "train",
]


if not TYPE_CHECKING:  # a type checker knows the names above, and should know no others

    def __getattr__(name: str) -> Any:
        """What needs agents and solvers is imported when somebody asks for it: rules alone are there at once."""
        if name in ("agent", "equilibrium", "exploitability", "match", "matrix", "train"):
            from tapete import front

            return getattr(front, name)
        if name == "Tables":
            from tapete.core.tables import Tables

            return Tables
        raise AttributeError(f"module 'tapete' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
