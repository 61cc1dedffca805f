"""Plays a solution that `tapete solve` has found: from its store, from those that ship, or from a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tapete.agents import NotForThisGame, Policy, Thought
from tapete.core import Game, Rng, TapeteError, View, make
from tapete.core.rounds import current_round

if TYPE_CHECKING:  # it compiles the solvers: not before somebody asks for a solution
    from tapete.solve import Strategy


class Equilibrium:
    """Plays by a table; in a game of rounds, by the table of the game that began with the current round."""

    def __init__(self, game: Game, table: Strategy | None = None) -> None:
        self.tables: dict[str, Strategy] = {}
        if table is not None:
            self.tables[str(game)] = table
        self.table(game)

    def table(self, game: Game) -> Strategy:
        """The solution of a game, loaded once."""
        from tapete.solve import find

        if str(game) not in self.tables:
            table = find(game)
            if table is None:
                raise NotForThisGame(f"no equilibrium of {game} is known; `tapete solve '{game}'` finds one")
            self.tables[str(game)] = table
        return self.tables[str(game)]

    def think(self, view: View, rng: Rng) -> Thought:
        """Plays by the table, and draws nothing."""
        return Thought(probabilities=self.probabilities(view))

    def probabilities(self, view: View) -> dict[int, float]:
        """What the table says; moves without a choice are not in it."""
        legal = view.actions()
        if len(legal) == 1:
            return {legal[0]: 1.0}
        place = current_round(view)
        if place is None:
            table, key = self.table(view.game), view.infoset
        else:
            game = make(place.game)
            table, key = self.table(game), game.read(place.moves).infoset(place.seat)
        probs = table.lookup(key)
        if probs is None or len(probs) != len(legal):
            raise TapeteError(f"the solution of {view.game} is not one of today's rules; solve it again ({view})")
        return dict(zip(legal, (probs / np.sum(probs, dtype=np.float64)).tolist(), strict=True))


def equilibrium(game: Game) -> Policy:
    """Plays a solution of the game, made by `tapete solve` or shipped with the package."""
    return Equilibrium(game)


AGENTS = (equilibrium,)
