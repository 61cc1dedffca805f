"""Taking luck out of payoffs, after Burch et al. (2018), AIVAT, and White and Bowling (2009).

Somebody says beforehand what a state is worth to each seat. Whenever something is drawn, by chance or by an agent whose
probabilities are known, luck is the worth of what came, less the mean worth of all that might have come. Its
expectation is zero whatever the values are, so payoffs less luck have the same expectation as payoffs. How much less
they vary is a matter of how good the values are.

A value is any function from a `State` to a payoff for each seat, the same every time that it is asked. Those that have
a name are functions of this module that take the game and their parameters: `playouts(100)`, `equilibrium`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numba import types
from numpy.typing import ArrayLike, NDArray

from tapete.agents.equilibrium import Equilibrium
from tapete.core import CHANCE, Call, Game, Rng, State, TapeteError, calls
from tapete.core.compile import BYTES, DOUBLES, FLOATS, INTS, WORDS, first_of, kernel, state_ptr, uint64_ptr
from tapete.core.contract import RULEBOOK, TERMINAL, open_rules
from tapete.core.evaluator import MakeEvaluator, open_evaluator
from tapete.core.spec import within
from tapete.search.playout import playouts as one_playout

Likely = Mapping[int, float]  # how likely each action is; they need not add up to 1
Value = Callable[[State], ArrayLike]  # what each seat may expect: [seats]
Numbers = NDArray[np.float64]

LARGEST = 100_000  # states whose exact values are remembered


def surprise(value: Value, before: State, likely: Likely, after: State) -> Numbers:
    """What each seat has won by the draw that led from one state to the other: [seats]."""
    worth = {action: _worth(value, _next(before, action)) for action, share in likely.items() if share > 0}
    mean = sum(likely[action] * worth[action] for action in worth) / sum(likely[action] for action in worth)
    taken = (after.history or [])[-1]
    return worth[taken] - mean


def _worth(value: Value, state: State) -> Numbers:
    """Of a state that is over, what is paid."""
    return np.asarray(state.returns() if state.over else value(state), dtype=np.float64)


def _next(state: State, action: int) -> State:
    data = state.data.copy()
    calls.apply(state.game.rulebook, data, action)
    return State(state.game, data, None)


def read_value(text: str, game: Game) -> Value:
    """The value that a text names, for a game."""
    named = {function.__name__: partial(function, game) for function in (playouts, equilibrium)}
    if text.partition("(")[0].strip() not in named:
        raise TapeteError(f"there is no value {text[:60]!r}; luck is judged by {' or '.join(named)}")
    made: Value = Call.read(text, "value", named).run()
    return made


def playouts(game: Game, times: int = 100) -> Value:
    """What random play gets from here, on the average of so many games."""
    within("times", times, 1, 1_000_000)
    return judged_by(game, one_playout, times)


def judged_by(game: Game, make_evaluator: MakeEvaluator, times: int = 1) -> Value:
    """What an evaluator says, after what chance does next; on the average of so many draws."""

    def value(state: State) -> Numbers:
        # By the state's own stream, so that the value is a function of the state; memory of its own for every thread.
        judge, total = make_evaluator(), np.zeros(game.players)
        rng, legal = Rng("luck", state.data.tobytes().hex()), np.empty(max(game.spec.max_actions, 1), dtype=np.int32)
        room, priors = np.empty_like(state.data), np.empty(len(legal), dtype=np.float32)
        _judge_often(
            game.rulebook, state.data, room, judge.address, judge.model, rng.words, times, legal, priors,
            np.zeros(game.players), total,
        )  # fmt: skip
        return total / times

    return value


@kernel(
    types.void(
        RULEBOOK, BYTES, BYTES, types.uint64, WORDS, WORDS, types.int64, INTS, FLOATS, DOUBLES, DOUBLES
    )
)  # fmt: skip
def _judge_often(
    rulebook: Any, state: Any, room: Any, address: Any, model: Any, words: Any, times: int, legal: Any, priors: Any,
    values: Any, total: Any,
) -> None:  # fmt: skip
    """Adds to `total` what the evaluator says, so many times."""
    rules, evaluate, book = open_rules(rulebook), open_evaluator(address), uint64_ptr(rulebook)
    for _ in range(times):
        room[:] = state
        who = rules.player(state_ptr(room))
        while who == CHANCE:
            rules.apply(state_ptr(room), rules.draw(state_ptr(room), uint64_ptr(words)))
            who = rules.player(state_ptr(room))
        if who == TERMINAL:
            rules.returns(state_ptr(room), first_of(values))
        else:
            evaluate(
                book, state_ptr(room), who, first_of(legal), 0, uint64_ptr(model), uint64_ptr(words),
                first_of(values), first_of(priors),
            )  # fmt: skip
        for seat in range(len(total)):
            total[seat] += values[seat]


def equilibrium(game: Game) -> Value:
    """What everybody gets if all play on by the solution that is known: exact, for games with few states."""
    policy, known = Equilibrium(game), dict[bytes, Numbers]()

    def value(state: State) -> Numbers:
        key = state.data.tobytes()
        if key not in known:
            if len(known) >= LARGEST:
                raise TapeteError(f"{game} has too many states to judge luck by its equilibrium; try playouts")
            mover = state.player
            likely = dict(state.outcomes()) if mover == CHANCE else policy.at(state.view(mover))
            known[key] = sum(
                (share * _worth(value, _next(state, action)) for action, share in likely.items() if share > 0),
                np.zeros(game.players),
            )
        return known[key]

    return value
