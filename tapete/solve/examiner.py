"""How far any policy is from an equilibrium, exactly, in a game that can be flattened: for learners and their tables.

A policy is asked at every information set at once, as a batch: observations and legal moves in, probabilities out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import FLOAT_ROWS, INTS, STATES, float32_ptr, int32_ptr, kernel, state_ptr
from tapete.core.contract import RULEBOOK, open_rules
from tapete.core.game import Game, State, View
from tapete.core.thought import AnyPolicy, Mixture
from tapete.solve.cfr import follow
from tapete.solve.response import Plan, Proof, best_response, prove
from tapete.solve.sequence_form import LIMIT, SequenceForm


class Examiner:
    """A game of two players and no sum, played out, ready to judge policies.

    >>> from tapete.core import make
    >>> examiner = Examiner(make("kuhn"))
    >>> any_move = lambda seen, mask: mask / mask.sum(axis=1, keepdims=True)
    >>> round(examiner.prove(any_move).exploitability, 4)
    0.9167
    """

    def __init__(self, game: Game, *, limit: int = LIMIT) -> None:
        """Plays the game out; `limit` is how many ways to end it may have."""
        self.game, self.form = game, SequenceForm.of(game, limit=limit)
        counts = [len(states) for states in self.form.states]
        self.seats = np.repeat(np.arange(2, dtype=np.int32), counts)  # [N] who decides at each information set
        self.seen = np.zeros((sum(counts), game.spec.observation_size), dtype=np.float32)  # [N, observation_size]
        legal = np.zeros((sum(counts), game.spec.actions), dtype=np.uint8)
        _look(game.rulebook, np.concatenate(self.form.states), self.seats, self.seen, legal, _room(game))
        self.mask = legal.view(np.bool_)  # [N, actions]

    def ask(self, policy: Callable[[View], dict[int, float]]) -> NDArray[np.float32]:
        """What somebody says at every information set who is asked with a View: probabilities [N, actions]."""
        said = np.zeros(self.mask.shape, dtype=np.float32)
        for row, data, seat in zip(said, np.concatenate(self.form.states), self.seats.tolist(), strict=True):
            for action, share in policy(State(self.game, data, None).view(seat)).items():
                row[action] = share
        return said

    def plan(self, policy: AnyPolicy, seat: int) -> Plan:
        """What the policy does on a seat, as a plan over sequences; a mixture's is the mean of its policies'."""
        if isinstance(policy, Mixture):
            plans = (self.plan(each, seat) for each in policy.seats[seat])
            return np.sum([weight * plan for weight, plan in zip(policy.weights, plans, strict=True)], axis=0)
        plex, own = self.form.plexes[seat], self.seats == seat
        probabilities = np.asarray(policy(self.seen, self.mask), dtype=np.float32)[own]
        strategy, plan = np.ones(plex.sequences, dtype=np.float32), np.ones(plex.sequences)
        strategy[1:] = probabilities[self.mask[own]]  # sequences are numbered as actions are: ascending
        follow(plex, strategy, plan)
        return plan

    def plans(self, policy: AnyPolicy) -> tuple[Plan, Plan]:
        """What the policy does on both seats."""
        return self.plan(policy, 0), self.plan(policy, 1)

    def prove(self, policy: AnyPolicy) -> Proof:
        """The value of the policy against itself, and both best responses to it."""
        return prove(self.form, self.plans(policy))

    def best_response(self, policy: AnyPolicy, seat: int) -> float:
        """The most that a seat can gain against the policy on the other one."""
        return best_response(self.form, seat, self.plan(policy, 1 - seat))[0]

    def value(self, first: AnyPolicy, second: AnyPolicy) -> float:
        """What the first policy gains on seat 0 against the second on seat 1."""
        return prove(self.form, (self.plan(first, 0), self.plan(second, 1))).value


def _room(game: Game) -> NDArray[np.int32]:
    return np.zeros(max(game.spec.max_actions, 1), dtype=np.int32)


@kernel(types.void(RULEBOOK, STATES, INTS, FLOAT_ROWS, STATES, INTS))
def _look(rulebook: Any, states: Any, seats: Any, seen: Any, legal: Any, room: Any) -> None:
    """Fills in what the movers see [N, observation_size] and may do [N, actions]."""
    rules = open_rules(rulebook)
    for i in range(len(states)):
        rules.observe(state_ptr(states[i]), seats[i], float32_ptr(seen[i]))
        for j in range(rules.actions(state_ptr(states[i]), int32_ptr(room))):
            legal[i, room[j]] = 1
