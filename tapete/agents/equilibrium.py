"""Plays a solution that `tapete solve` has found: from its store, from those that ship, or from a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tapete.agents import NotForThisGame, Policy, Thought
from tapete.core import Game, Rng, TapeteError, View, make
from tapete.core.evaluator import Evaluator
from tapete.core.rounds import current_round, first_round

if TYPE_CHECKING:  # it compiles the solvers: not before somebody asks for a solution
    from tapete.solve import Strategy


class Equilibrium:
    """A policy that plays a strategy; in a game of rounds, that of the game that began with the current round.

    A strategy that was sampled (`mccfr-external`) is one of the whole game, rounds and all, and knows the information
    sets that a walk has met; in others any move is played.

    Without a `strategy`, the one that is known of the game is played; those of games that follow are always looked up.
    """

    def __init__(self, game: Game, strategy: Strategy | None = None) -> None:
        self.game = game
        self.strategies: dict[str, Strategy] = {}
        if strategy is not None:
            self.strategies[str(game)] = strategy
        self.strategy(game)

    def strategy(self, game: Game) -> Strategy:
        """The solution of a game, loaded once."""
        from tapete.solve import find

        if str(game) not in self.strategies:
            strategy = find(game)
            if strategy is None:
                raise NotForThisGame(f"no equilibrium of {game} is known; `tapete solve '{game}'` finds one")
            self.strategies[str(game)] = strategy
        return self.strategies[str(game)]

    @property
    def player(self) -> Evaluator | None:
        """The same as a compiled player; None in a game of several rounds, whose solutions are of several games."""
        from tapete.solve.players import strategy_player

        first = first_round(self.game)
        if first and any(end.game for end in first.exits):
            return None
        return strategy_player(self.strategy(self.game), self.game)

    def think(self, view: View, rng: Rng) -> Thought:
        """Plays by the strategy, and draws nothing."""
        return Thought(probabilities=self.probabilities(view))

    def probabilities(self, view: View) -> dict[int, float]:
        """What the strategy says; moves without a choice are not in it."""
        legal = view.actions()
        if len(legal) == 1:
            return {legal[0]: 1.0}
        whole = self.strategy(view.game)
        now = None if whole.about.get("sampled") else current_round(view)
        if now is None:
            strategy, key = whole, view.infoset
        else:
            game = make(now.game)
            strategy, key = self.strategy(game), game.read(now.moves).infoset(now.seat)
        probs = strategy.lookup(key)
        if probs is None and strategy.about.get("sampled"):
            return dict.fromkeys(legal, 1 / len(legal))
        if probs is None or len(probs) != len(legal):
            raise TapeteError(f"the solution of {view.game} is not one of today's rules; solve it again ({view})")
        return dict(zip(legal, (probs / np.sum(probs, dtype=np.float64)).tolist(), strict=True))


def equilibrium(game: Game) -> Policy:
    """Plays a solution of the game, made by `tapete solve` or shipped with the package."""
    return Equilibrium(game)


AGENTS = (equilibrium,)
