"""tapete: the table on which machines learn games of hidden information, and people play against them."""

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

__version__ = "0.1.0"
__all__ = [
    "CHANCE",
    "TERMINAL",
    "Game",
    "IllegalAction",
    "Record",
    "Rng",
    "State",
    "TapeteError",
    "Thought",
    "View",
    "make",
]
