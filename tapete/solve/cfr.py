"""Counterfactual regret minimisation over the sequence form (Zinkevich et al. 2007, and what came after).

One iteration for one player: multiply the payoffs by what the other does (a gradient, one number a sequence), walk his
information sets from last to first to get counterfactual values and regrets, and from first to last to get his next
strategy. This is CFR to the letter; the sums over histories are inside the payoffs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import DOUBLES, FLOATS, helper, kernel
from tapete.core.errors import TapeteError
from tapete.solve.regrets import eagerness, updated
from tapete.solve.response import Proof, prove
from tapete.solve.schemes import Scheme
from tapete.solve.sequence_form import PAYOFFS, TREEPLEX, Payoffs, SequenceForm, Treeplex
from tapete.solve.strategy import Strategy


class Ledger(NamedTuple):
    """What CFR remembers of one player: a number a sequence."""

    regrets: NDArray[np.float64]
    gains: NDArray[np.float64]  # of the last iteration, where the scheme predicts; else zero
    plan: NDArray[np.float64]  # how likely the player makes all moves of a sequence, now
    total: NDArray[np.float64]  # the plans of all iterations, weighted and added up


class Side(NamedTuple):
    """One player: what he decides, what he gains, what he remembers."""

    plex: Treeplex
    payoffs: Payoffs
    ledger: Ledger


class Options(NamedTuple):
    """What a scheme says besides its weights, and who learns when."""

    floor: bool
    predictive: bool
    alternating: bool


LEDGER = types.NamedUniTuple(DOUBLES, 4, Ledger)
SIDE = types.NamedTuple([TREEPLEX, PAYOFFS, LEDGER], Side)
OPTIONS = types.NamedUniTuple(types.boolean, 3, Options)


class CFR:
    """A run over a game in sequence form; `run` goes on from where it was.

    `scheme` is the member of the CFR family. With `alternating` the second player already learns from what the first
    has just changed, as is usual today; else both learn from the strategies of the last iteration.
    """

    def __init__(self, form: SequenceForm, scheme: Scheme, *, alternating: bool = True) -> None:
        self.form, self.scheme, self.alternating = form, scheme, alternating
        self.iterations = 0
        one, two = (Ledger(*np.zeros((4, plex.sequences))) for plex in form.plexes)
        self.ledgers = one, two
        for plex, ledger in zip(form.plexes, self.ledgers, strict=True):
            _next_plan(plex, ledger, False)

    def run(self, iterations: int) -> None:
        """Makes so many more iterations."""
        weights = self.scheme.weights(self.iterations + 1, iterations)
        one, two = (Side(*parts) for parts in zip(self.form.plexes, self.form.payoffs, self.ledgers, strict=True))
        _run(one, two, weights, Options(self.scheme.floor, self.scheme.predictive, self.alternating))
        self.iterations += iterations

    def prove(self, forms: tuple[SequenceForm, SequenceForm] | None = None) -> Proof:
        """Tells the value of the average plans and both best responses.

        Where the payoffs stand for games that follow (a round of Dudo), `forms` has the same game with what the second
        and the first player can make of those: lower and upper bounds.
        """
        plans = self.average()
        value, lower, upper = prove(self.form, plans)
        if forms:
            lower, upper = prove(forms[0], plans).lower, prove(forms[1], plans).upper
        return Proof(value, lower, upper)

    def strategy(self, **about: Any) -> Strategy:
        """The average strategies of both players, by information set; `about` goes into the file's header."""
        counts = [np.diff(plex.first) for plex in self.form.plexes]
        probs = [strategy[1:] for strategy in self.strategies()]
        return Strategy.of(*(np.concatenate(parts) for parts in (self.form.keys, counts, probs)), **about)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that a run remembers, for a checkpoint."""
        return ledger_arrays(self.ledgers)

    def restore(self, arrays: dict[str, NDArray[Any]], iterations: int) -> None:
        """Goes back to what `arrays` said after so many iterations."""
        fill_ledgers(self.arrays(), arrays)
        self.iterations = iterations

    def strategies(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The average strategies of both players, a number a sequence: what converges to an equilibrium."""
        found = []
        for plex, ledger in zip(self.form.plexes, self.ledgers, strict=True):
            found.append(np.ones(plex.sequences, dtype=np.float32))
            _normalise(plex, ledger.total, found[-1])
        return found[0], found[1]

    def average(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The same as plans; made of the rounded numbers that a file has, so that a proof is one for the file."""
        plans = []
        for plex, strategy in zip(self.form.plexes, self.strategies(), strict=True):
            plans.append(np.ones(plex.sequences))
            follow(plex, strategy, plans[-1])
        return plans[0], plans[1]


def ledger_arrays(ledgers: Any) -> dict[str, NDArray[Any]]:
    """The arrays of both players' ledgers by name; they are the ledgers' own, so writing into them restores a run."""
    return {f"{name}{p}": array for p, ledger in enumerate(ledgers) for name, array in ledger._asdict().items()}


def fill_ledgers(mine: dict[str, NDArray[Any]], arrays: dict[str, NDArray[Any]]) -> None:
    """Writes arrays into ledgers, unless one of them doesn't fit."""
    shapes = [{name: (array.shape, array.dtype) for name, array in each.items()} for each in (mine, arrays)]
    if shapes[0] != shapes[1]:
        raise TapeteError("its arrays are those of another game or algorithm")
    for name, array in mine.items():
        array[:] = arrays[name]


@helper
def _choose(plex: Any, ledger: Any, infoset: int, predictive: bool) -> Any:
    """The sum of the eagerness of all actions of an information set."""
    total = 0.0
    for a in range(plex.first[infoset], plex.first[infoset + 1]):
        total += eagerness(ledger.regrets[a], ledger.gains[a] if predictive else 0.0)
    return total


@kernel(types.void(TREEPLEX, LEDGER, types.boolean))
def _next_plan(plex: Any, ledger: Any, predictive: bool) -> None:
    """Regret matching in every information set, from first to last, so that a plan knows its parent."""
    ledger.plan[0] = 1.0
    for infoset in range(len(plex.parent)):
        start, end = plex.first[infoset], plex.first[infoset + 1]
        total = _choose(plex, ledger, infoset, predictive)
        reach = ledger.plan[plex.parent[infoset]]
        for a in range(start, end):
            if total > 0:
                ledger.plan[a] = reach * eagerness(ledger.regrets[a], ledger.gains[a] if predictive else 0.0) / total
            else:
                ledger.plan[a] = reach / (end - start)


@helper
def _gradient(payoffs: Any, plan: Any, out: Any) -> None:
    """What each sequence gains against the other's plan, where it ends the game."""
    for row in range(len(payoffs.start) - 1):
        total = 0.0
        for i in range(payoffs.start[row], payoffs.start[row + 1]):
            total += payoffs.value[i] * plan[payoffs.column[i]]
        out[row] = total


@helper
def _learn(plex: Any, ledger: Any, values: Any, discounts: Any, options: Any) -> None:
    """Counterfactual values and regrets, from the last information set to the first; `values` holds the gradient."""
    floor, predictive = options.floor, options.predictive
    for infoset in range(len(plex.parent) - 1, -1, -1):
        start, end = plex.first[infoset], plex.first[infoset + 1]
        total = _choose(plex, ledger, infoset, predictive)
        value = 0.0
        for a in range(start, end):
            if total > 0:
                value += values[a] * eagerness(ledger.regrets[a], ledger.gains[a] if predictive else 0.0) / total
            else:
                value += values[a] / (end - start)
        values[plex.parent[infoset]] += value
        for a in range(start, end):
            gain = values[a] - value
            ledger.regrets[a] = updated(ledger.regrets[a], gain, discounts[0], discounts[1], floor)
            ledger.gains[a] = gain


@kernel(types.void(SIDE, SIDE, types.float64[:, ::1], OPTIONS))
def _run(one: Any, two: Any, weights: Any, options: Any) -> None:
    """One iteration for each row of `weights` (`Scheme.weights`)."""
    # Taken out of the records once: every touch of an array in a tuple counts a reference.
    plex0, payoffs0, ledger0 = one.plex, one.payoffs, one.ledger
    plex1, payoffs1, ledger1 = two.plex, two.payoffs, two.ledger
    values0, values1 = np.empty(len(ledger0.plan)), np.empty(len(ledger1.plan))
    for t in range(len(weights)):
        ledger0.total[:] = weights[t, 2] * ledger0.total + ledger0.plan
        _gradient(payoffs0, ledger1.plan, values0)
        if not options.alternating:
            _gradient(payoffs1, ledger0.plan, values1)
        _learn(plex0, ledger0, values0, weights[t], options)
        _next_plan(plex0, ledger0, options.predictive)
        ledger1.total[:] = weights[t, 2] * ledger1.total + ledger1.plan
        if options.alternating:
            _gradient(payoffs1, ledger0.plan, values1)
        _learn(plex1, ledger1, values1, weights[t], options)
        _next_plan(plex1, ledger1, options.predictive)


@kernel(types.void(TREEPLEX, DOUBLES, FLOATS))
def _normalise(plex: Any, total: Any, strategy: Any) -> None:
    """A sum of plans as a strategy; where the sum never went, all actions are as likely."""
    for infoset in range(len(plex.parent)):
        start, end = plex.first[infoset], plex.first[infoset + 1]
        whole = total[start:end].sum()
        for a in range(start, end):
            strategy[a] = total[a] / whole if whole > 0 else 1.0 / (end - start)


@kernel(types.void(TREEPLEX, FLOATS, DOUBLES))
def follow(plex: Any, strategy: Any, plan: Any) -> None:
    """A strategy as a plan; its probabilities add up to one but for rounding, of which nothing is left here."""
    for infoset in range(len(plex.parent)):
        start, end = plex.first[infoset], plex.first[infoset + 1]
        whole = 0.0
        for a in range(start, end):
            whole += strategy[a]
        for a in range(start, end):
            plan[a] = plan[plex.parent[infoset]] * strategy[a] / whole
