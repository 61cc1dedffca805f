"""What a match of truco is worth between two hands: see `tapete/core/worlds.py`."""

from typing import Any

import numpy as np

from tapete.core.contract import CHANCE
from tapete.core.evaluator import Evaluator, evaluator
from tapete.games.truco.equity import chance_of_mano
from tapete.games.truco.moves import view


@evaluator
def _outlook(
    rulebook: Any, state: Any, seat: int, legal: Any, n: int, model: Any, rng: Any, values: Any, priors: Any
) -> None:
    s = view(state)
    values[0] = values[1] = np.nan
    if s.mover == CHANCE and s.dealt == 0:
        mano, other = s.points - s.score[s.mano], s.points - s.score[1 - s.mano]
        values[s.mano] = 2.0 * chance_of_mano(s.mazo, mano, other) - 1.0
        values[1 - s.mano] = -values[s.mano]


def outlook() -> Evaluator:
    """Payoffs by the equity of the match before a hand is dealt; NaN within one."""
    return Evaluator(_outlook)
