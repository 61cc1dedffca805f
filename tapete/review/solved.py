"""Decisions in games that were solved: what each move gains against the solution, exactly.

A move is worth what it gains when the other plays the solution, and when oneself goes on as well as possible after it.
What the other may hold is what the solution holds when it does what was seen. Where it never does that, any mistake of
its is taken for as likely as any other (the trembling hand of Selten, 1975).
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tapete.agents import NotForThisGame
from tapete.core import Game, Rng, TapeteError, make
from tapete.core.rounds import first_round
from tapete.review.choices import Choice
from tapete.review.judgement import Judgement
from tapete.solve import Strategy, find
from tapete.solve.mccfr import plans
from tapete.solve.response import Plan, response_values
from tapete.solve.sequence_form import SequenceForm

LIMIT = 4_000_000  # ends of a game that is looked through: half a minute at most, once
NEVER = 1e-6  # as rarely as this, what a solution does is what is left of its making
TREMBLE = 1e-3  # how often a hand slips where the solution says nothing
NAME = "equilibrium"


class Seat(NamedTuple):
    """What a seat may gain, by its information sets."""

    keys: NDArray[np.uint64]  # [infosets] ascending
    first: NDArray[np.int64]  # [infosets] its first sequence
    values: tuple[Plan, Plan]  # [sequences] gains times how likely they are let happen; the second with trembles
    reaches: tuple[Plan, Plan]  # [infosets] how likely the others and chance let the seat get there
    chances: Plan  # [infosets] how likely chance alone does


class Solved:
    """Judges by a solution."""

    def __init__(self, game: Game) -> None:
        """Plays the game out; raises where no solution of it is known, or it is too large for that."""
        strategy = find(game)
        rounds = first_round(game)
        if strategy is None or strategy.about.get("sampled") or (rounds and any(end.game for end in rounds.exits)):
            raise NotForThisGame(f"no solution of {game} is known by which a whole game can be judged")
        self.strategy = strategy
        try:
            form, unit = SequenceForm.of(game, limit=LIMIT), SequenceForm.of(game, limit=LIMIT, pays_one=True)
        except TapeteError as error:  # it was solved by other means than playing it out
            raise NotForThisGame(str(error)) from None
        solution, trembling = plans(form, strategy), plans(form, _slipping(strategy))
        free = tuple(np.ones(plex.sequences) for plex in form.plexes)
        self.seats = [
            Seat(
                np.sort(form.keys[seat]),
                form.plexes[seat].first[:-1][np.argsort(form.keys[seat])].astype(np.int64),
                (response_values(form, seat, solution[1 - seat]), response_values(form, seat, trembling[1 - seat])),
                (_reach(unit, seat, solution[1 - seat]), _reach(unit, seat, trembling[1 - seat])),
                _reach(unit, seat, free[1 - seat]),
            )
            for seat in range(2)
        ]

    def judge(self, choice: Choice, rng: Rng) -> Judgement | None:
        """Exact values of all moves."""
        seat, key = self.seats[choice.view.seat], choice.view.infoset
        at = int(np.searchsorted(seat.keys, np.uint64(key)))
        if at == len(seat.keys) or int(seat.keys[at]) != key:
            raise TapeteError(f"the solution of {choice.view.game} is not one of today's rules; solve it again")
        slips = int(seat.reaches[0][at] <= NEVER * seat.chances[at])
        legal = choice.view.actions()
        gains = seat.values[slips][seat.first[at] : seat.first[at] + len(legal)] / seat.reaches[slips][at]
        values = dict(zip(legal, gains.tolist(), strict=True))
        shares = self.strategy.lookup(key)
        likely = {} if shares is None else dict(zip(legal, shares.tolist(), strict=True))
        return Judgement(by=NAME, how="solved", best=max(values, key=lambda a: values[a]), values=values, shares=likely)


def _slipping(strategy: Strategy) -> Strategy:
    """The same, with a hand that slips now and then."""
    counts = np.asarray(strategy.counts, dtype=np.int64)
    return replace(strategy, probs=(strategy.probs * (1 - TREMBLE) + np.repeat(TREMBLE / counts, counts)).astype("f4"))


def _reach(unit: SequenceForm, seat: int, other: Plan) -> Plan:
    """How likely chance and the other's plan let a seat reach each of its information sets, in the order of keys."""
    plex = unit.plexes[seat]
    reach = np.abs(response_values(unit, seat, other))[plex.first[:-1]]  # all its moves have the same
    return np.asarray(reach[np.argsort(unit.keys[seat])])


@lru_cache(maxsize=8)
def solved(game: str) -> Solved:
    """The judge of a game, made once."""
    return Solved(make(game))
