"""A strategy as a compiled player, so that it can sit at the tables of a learner."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapete.core.contract import open_rules
from tapete.core.errors import TapeteError
from tapete.core.evaluator import Evaluator, evaluator, floats_at, longs_at, words_at
from tapete.core.game import Game
from tapete.core.rng import Rng
from tapete.solve.strategy import Strategy

DEALS = 20  # of which the first decision is looked up


@evaluator
def _look_up(
    rulebook: Any, state: Any, seat: int, legal: Any, n: int, model: Any, rng: Any, values: Any, priors: Any
) -> None:
    """The probabilities of the information set, found by halving; where it is not known, any move."""
    keys, start, probs = words_at(model[0]), longs_at(model[1]), floats_at(model[2])
    key = open_rules(rulebook).infoset(state, seat)
    low, size = 0, longs_at(model[3])[0]
    high = size
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    known = low < size and keys[low] == key and start[low + 1] - start[low] == n
    total = 0.0
    for i in range(n):
        priors[i] = probs[start[low] + i] if known else 1.0
        total += priors[i]
    for i in range(n):
        priors[i] /= total


def strategy_player(strategy: Strategy, game: Game) -> Evaluator:
    """Plays a strategy; where that doesn't know an information set, which sampling may never have met, any move.

    Deals are begun to see whether the strategy is one of the rules as they are today: it must know the first decisions.
    """
    for number in range(DEALS):
        state = game.start().deal(Rng("strategy", number))
        while not state.over and len(state.actions()) == 1:
            state.apply(state.actions()[0]).deal(Rng("strategy", number))
        if state.over:
            continue
        probs = strategy.lookup(state.infoset(state.player))
        if probs is None or len(probs) != len(state.actions()):
            raise TapeteError(f"the solution of {game} is not one of today's rules; solve it again ({state})")
    arrays = (strategy.keys, strategy.start, strategy.probs, np.array([len(strategy.keys)]))
    return Evaluator(_look_up, arrays, priors=True, values=False)
