"""Games that can tell how well a seat stands before they are over, for learners that shape rewards with it.

Such a game's folder has a ``shaping.py`` with a function ``potential(spec, seen, seats)``: what seats [N] see, as
observations [N, observation_size], to numbers [N] in units of the highest payoff. A decision is then also paid the
change of the potential until the seat's next one, and since a finished game has the potential 0, what a seat is paid in
a whole game changes by a constant only: no strategy becomes better or worse by it (Ng, Harada and Russell 1999).
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tapete.core.errors import TapeteError
from tapete.core.game import Game

Potential = Callable[[NDArray[np.float32], NDArray[np.int32]], NDArray[np.float32]]


def potential_of(game: Game) -> Potential:
    """The game's potential: observations and seats to numbers; raises where the game has none."""
    name = f"{game.package}.shaping"
    if not importlib.util.find_spec(name):
        raise TapeteError(f"{game} has no potential to shape rewards with")
    potential = importlib.import_module(name).potential
    return lambda seen, seats: np.asarray(potential(game.spec, seen, seats), dtype=np.float32)
