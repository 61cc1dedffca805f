"""Best responses and values in the sequence form, exact to rounding: the proof of every equilibrium that is claimed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import DOUBLES, helper, kernel
from tapete.solve.sequence_form import PAYOFFS, TREEPLEX, SequenceForm

Plan = NDArray[np.float64]


class Proof(NamedTuple):
    """What a pair of strategies is worth, and the most that anyone can gain against it."""

    value: float  # to the first player, when both play so
    lower: float  # the first player gains at least this, whoever the second is: the value of the game is not below
    upper: float  # the second player loses at most this: the value of the game is not above

    @property
    def exploitability(self) -> float:
        """What the best responses gain, added up; zero in an equilibrium."""
        return self.upper - self.lower


def prove(form: SequenceForm, plans: tuple[Plan, Plan]) -> Proof:
    """The value of two plans and their best responses."""
    return Proof(
        value=float(_value(form.payoffs[0], *plans)),
        lower=-best_response(form, 1, plans[0])[0],
        upper=best_response(form, 0, plans[1])[0],
    )


def best_response(form: SequenceForm, player: int, other: Plan) -> tuple[float, Plan]:
    """The most that a player can gain against the other's plan, and a plan that does."""
    plan = np.zeros(form.plexes[player].sequences)
    return float(_best_response(form.plexes[player], form.payoffs[player], other, plan)), plan


def response_values(form: SequenceForm, player: int, other: Plan) -> Plan:
    """What each sequence of a player gains when he goes on as well as he can: [sequences].

    Of what is gained, what chance and the other's plan make of it: a gain times how likely they let it happen.
    """
    values = np.zeros(form.plexes[player].sequences)
    _respond(form.plexes[player], form.payoffs[player], other, values)
    return values


@kernel(types.float64(PAYOFFS, DOUBLES, DOUBLES))
def _value(payoffs: Any, plan: Any, other: Any) -> float:
    total = 0.0
    for row in range(len(payoffs.start) - 1):
        for i in range(payoffs.start[row], payoffs.start[row + 1]):
            total += plan[row] * payoffs.value[i] * other[payoffs.column[i]]
    return total


@helper
def look_ahead(plex: Any, payoffs: Any, other: Any, values: Any, best: Any) -> None:
    """Fills in what the sequences gain [sequences], zeros before, and the best of each information set [infosets]."""
    for row in range(len(values)):
        for i in range(payoffs.start[row], payoffs.start[row + 1]):
            values[row] += payoffs.value[i] * other[payoffs.column[i]]
    for infoset in range(len(plex.parent) - 1, -1, -1):
        best[infoset] = plex.first[infoset]
        for a in range(plex.first[infoset] + 1, plex.first[infoset + 1]):
            if values[a] > values[best[infoset]]:
                best[infoset] = a
        values[plex.parent[infoset]] += values[best[infoset]]


@kernel(types.void(TREEPLEX, PAYOFFS, DOUBLES, DOUBLES))
def _respond(plex: Any, payoffs: Any, other: Any, values: Any) -> None:
    look_ahead(plex, payoffs, other, values, np.empty(len(plex.parent), np.int64))


@kernel(types.float64(TREEPLEX, PAYOFFS, DOUBLES, DOUBLES))
def _best_response(plex: Any, payoffs: Any, other: Any, plan: Any) -> float:
    values, best = np.zeros(len(plan)), np.empty(len(plex.parent), np.int64)
    look_ahead(plex, payoffs, other, values, best)
    plan[0] = 1.0
    for infoset in range(len(plex.parent)):
        plan[best[infoset]] = plan[plex.parent[infoset]]
    return values[0]
