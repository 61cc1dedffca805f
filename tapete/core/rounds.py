"""Games that are played in rounds, each of which can be looked at as a game of its own.

Such a game's folder has a ``rounds.py`` with two functions. ``first_round(spec)`` tells what the first round is and
what comes after it, so that a solver can solve the shorter games first and put their values at the end of the round.
``current_round(spec, s, seat)`` tells where in which game a seat is now, so that a strategy for the shorter game serves
in the longer one.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tapete.core.game import Game, View


@dataclass(frozen=True)
class Exit:
    """How a round may end: with a payoff to seat 0, or with another game."""

    payoff: float = 0.0
    game: str = ""
    swapped: bool = False  # seat 1 is the other game's seat 0


@dataclass(frozen=True)
class Round:
    """The first round of a game."""

    name: Callable[..., str]  # the round as a game, given what each exit is worth to seat 0
    exits: tuple[Exit, ...]


@dataclass(frozen=True)
class Situation:
    """Where a seat is: in the first round of a game, after these moves."""

    game: str
    moves: str
    seat: int


def _module(game: Game) -> Any:
    name = f"{game.package}.rounds"
    return importlib.import_module(name) if importlib.util.find_spec(name) else None


def first_round(game: Game) -> Round | None:
    """The first round of a game that is played in rounds; None for other games."""
    module = _module(game)
    return module.first_round(game.spec) if module else None


def current_round(view: View) -> Situation | None:
    """The round that a seat is in; None in games that are not played in rounds."""
    module = _module(view.game)
    return module.current_round(view.game.spec, view.game.record(view._world), view.seat) if module else None
