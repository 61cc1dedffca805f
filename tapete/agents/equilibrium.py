"""Plays a solution that `tapete solve` has found: from its store, from those that ship, or from a file."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tapete.agents import NotForThisGame, Policy, Thought
from tapete.core import Game, Rng, TapeteError, View, choices, make
from tapete.core.evaluator import Evaluator
from tapete.core.rounds import current_round, first_round

if TYPE_CHECKING:  # it compiles the solvers: not before somebody asks for a solution
    from tapete.solve import Strategy


class Equilibrium:
    """A policy that plays a strategy; in a game of rounds, that of the game that began with the current round.

    A strategy that was sampled (`mccfr-external`) is one of the whole game, rounds and all, and knows the information
    sets that a walk has met; one of a very large game knows those that who plays by it can come to. In others any move
    is played.

    Ask it with :meth:`at`, or as any policy with :meth:`think`; one object serves any number of games.
    Without a `strategy`, the one that is known of the game is played; those of games that follow are always looked up.
    """

    def __init__(self, game: Game, strategy: Strategy | None = None) -> None:
        self.game = game
        self.strategies: dict[str, Strategy] = {}
        if strategy is not None:
            self.strategies[str(game)] = strategy
        self.strategy(game)

    def __repr__(self) -> str:
        return (
            f"<Equilibrium of {self.game}: value {self.value:.4g} to seat 0, exploitability {self.exploitability:.2g}>"
        )

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

    @property
    def about(self) -> dict[str, Any]:
        """What is known of the solution: its `value`, the proof (`lower`, `upper`), the algorithm that found it."""
        return self.strategy(self.game).about

    @property
    def value(self) -> float:
        """What seat 0 is paid on average when both play it; not a number where nobody could compute that."""
        return _number(self.about.get("value"), math.nan)

    @property
    def exploitability(self) -> float:
        """What both best responses against it gain together, in units of payoff; infinite where nothing is proven."""
        return _number(self.about.get("exploitability"), math.inf)

    def think(self, view: View, rng: Rng) -> Thought:
        """Plays by the strategy, and draws nothing."""
        return Thought(probabilities=self.at(view))

    def at(self, view: View) -> dict[int, float]:
        """How likely each legal move is in the view's information set, where the view's seat is to move."""
        legal = choices(view)
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
        if probs is None and (strategy.about.get("sampled") or strategy.about.get("partial")):
            return dict.fromkeys(legal, 1 / len(legal))
        if probs is None or len(probs) != len(legal):
            raise TapeteError(f"the solution of {view.game} is not one of today's rules; solve it again ({view})")
        return dict(zip(legal, (probs / np.sum(probs, dtype=np.float64)).tolist(), strict=True))


def _number(told: float | None, unknown: float) -> float:
    return unknown if told is None else float(told)


def equilibrium(game: Game) -> Policy:
    """Plays a solution of the game, made by `tapete solve` or shipped with the package."""
    return Equilibrium(game)


AGENTS = (equilibrium,)
