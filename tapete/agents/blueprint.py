"""Truco's strategy for the whole match: as it ships, re-solved at play, and weaker ones, as people are weaker."""

from __future__ import annotations

from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from tapete.agents import NotForThisGame, Policy
from tapete.agents.compiled import Compiled
from tapete.core import Game, Rng, TapeteError, Thought, View
from tapete.core.evaluator import Evaluator
from tapete.core.files import version_of
from tapete.core.players import opinion
from tapete.search import Budget
from tapete.shipped import find
from tapete.solve.holdem.buckets import Bucketed

HIGHEST = 5
ITERATIONS, MOST_ITERATIONS = 64, 100_000  # of a re-solve
STRANGER = "strangers/truco.safetensors"  # ismcts(100), as it was seen to play
ODDS, MOST_ODDS = 0.05, 1000.0  # that he sits opposite, when a hand begins


def blueprint(game: Game, level: int = HIGHEST) -> Policy:
    """Truco by a strategy that was solved for whole matches; level 1 to 5: lower ones bluff and remember less."""
    return from_file(game, _shipped(game), level)


def resolve(game: Game, iterations: int = ITERATIONS, odds: float = ODDS) -> Policy:
    """Truco by the same strategy in the first trick, and the rest of the hand solved where the second begins.

    With `odds` of so much to one, before a card is played, somebody who searches sits opposite; 0: he never errs.
    """
    if not 1 <= iterations <= MOST_ITERATIONS:
        raise TapeteError(f"iterations must be between 1 and {MOST_ITERATIONS:,}, not {iterations}")
    if not 0 <= odds <= MOST_ODDS:
        raise TapeteError(f"odds must be between 0 and {MOST_ODDS:g}, not {odds:g}")
    return Resolving(_shipped(game), iterations, odds)


class Resolving:
    """Plays truco by a blueprint in the first trick, and solves the rest. It remembers what it solved last, in 9 MB."""

    def __init__(self, path: Path, iterations: int, odds: float) -> None:
        self.path, self.iterations, self.odds = path, iterations, odds
        self.budget = Budget(iterations)  # it searches: whoever waits for it knows that

    @cached_property
    def player(self) -> Evaluator:
        """The compiled player, made when it is first needed: compiling takes a while."""
        return self._resolver(self.odds)

    @cached_property
    def judge(self) -> Evaluator:
        """The same against somebody who never errs: what it solves holds for both seats."""
        return self._resolver(0.0)

    def _resolver(self, odds: float) -> Evaluator:
        from tapete.solve.truco.resolver import resolver

        known = _strategy(self.path, version_of(self.path))
        stranger = find(STRANGER) if odds else None
        met = _strategy(stranger, version_of(stranger))[0] if stranger else None
        return resolver(*known, iterations=self.iterations, stranger=met, odds=odds)

    @property
    def guide(self) -> Evaluator:
        """The blueprint, which plays the first trick alike and is quick: see `tapete.solve.truco.local`."""
        return _player(self.path, version_of(self.path), HIGHEST)

    def think(self, view: View, rng: Rng) -> Thought:
        """The player's probabilities; it draws nothing."""
        return Thought(probabilities=opinion(self.player, view))

    def explain(self, view: View, rng: Rng) -> Thought:
        """The same with what moves are worth, played out by the blueprint, or by what was solved for this hand."""
        from tapete.solve.truco.worth import worth_of_moves

        likely = self.think(view, rng).probabilities
        state = view.sample(rng)
        is_first = state.game.record(state.data)["trick"] == 0
        values = worth_of_moves(state, self.guide if is_first else self.judge, rng)
        return Thought(probabilities=likely, value=sum(likely[move] * values[move] for move in values), values=values)


def _shipped(game: Game) -> Path:
    """The file with the strategy for a game."""
    name = f"blueprints/truco{'(mazo=true)' if game.spec.parameters.get('mazo') else ''}.safetensors"
    path = find(name) if _is_plain(game) else None
    if path is None:
        raise NotForThisGame(f"no strategy for whole matches of {game} ships; truco has one")
    return path


def from_file(game: Game, path: Path, level: int = HIGHEST) -> Policy:
    """The strategy of a file that `tapete blueprint` has written."""
    if not _is_plain(game):
        raise TapeteError(f"{path} plays truco, without flor and buenas; not {game}")
    if not 1 <= level <= HIGHEST:
        raise TapeteError(f"level must be between 1 and {HIGHEST}, not {level}")
    return Compiled(_player(path, version_of(path), level))


def _is_plain(game: Game) -> bool:
    """Whether it is truco as it was solved."""
    return game.package == "tapete.games.truco" and not any(map(game.spec.parameters.get, ("buenas", "flor")))


@lru_cache(maxsize=4)
def _strategy(path: Path, version: tuple[int, int, int]) -> tuple[Any, Any]:
    """The probabilities of a file, without the mazo, and the tables that they are read by."""
    from tapete.solve.truco.blueprint import read
    from tapete.solve.truco.player import playing_on

    probs, known = read(path)[:2]
    return playing_on(probs), known


@lru_cache(maxsize=12)
def _player(path: Path, version: tuple[int, int, int], level: int) -> Evaluator:
    from tapete.solve.truco.levels import weakened
    from tapete.solve.truco.player import playing_on, strategy_player

    probs, known = _strategy(path, version)
    return strategy_player(playing_on(weakened(probs, level)), known)  # who forgets may take a raise for the mazo


def bucketed(game: Game) -> Policy:
    """Limit hold'em of two by a strategy that was solved with hands in buckets."""
    path = find("blueprints/holdem.safetensors") if str(game) == "holdem" else None
    if path is None:
        raise NotForThisGame(f"no strategy by buckets of {game} ships; holdem has one")
    return Compiled(_bucketed(path, version_of(path)).evaluator(game))


@lru_cache(maxsize=1)
def _bucketed(path: Path, version: tuple[int, int, int]) -> Bucketed:
    return Bucketed.load(path)


AGENTS = (blueprint, bucketed, resolve)
