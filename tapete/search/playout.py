"""Judging a state by playing it to its end at random."""

from __future__ import annotations

from typing import Any

from tapete.core.contract import CHANCE, TERMINAL, open_rules
from tapete.core.evaluator import Evaluator, evaluator
from tapete.core.rng import below


@evaluator
def _playout(
    rulebook: Any, state: Any, seat: int, legal: Any, n: int, model: Any, rng: Any, values: Any, priors: Any
) -> None:
    rules = open_rules(rulebook)
    who = seat
    while who != TERMINAL:
        if who == CHANCE:
            rules.apply(state, rules.draw(state, rng))
        else:
            count = rules.actions(state, legal)
            rules.apply(state, legal[below(rng, count)])
        who = rules.player(state)
    rules.returns(state, values)


def playouts() -> Evaluator:
    """The payoffs of one game played to its end at random."""
    return Evaluator(_playout)
