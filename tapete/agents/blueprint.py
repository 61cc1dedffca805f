"""Truco's strategy for the whole match, as it ships, and weaker ones that are made of it as people are weaker."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from tapete.agents import NotForThisGame, Policy
from tapete.agents.compiled import Compiled
from tapete.core import Game, TapeteError
from tapete.core.evaluator import Evaluator
from tapete.core.files import version_of
from tapete.shipped import find
from tapete.solve.holdem.buckets import Bucketed

HIGHEST = 5


def blueprint(game: Game, level: int = HIGHEST) -> Policy:
    """Truco by a strategy that was solved for whole matches; level 1 to 5: lower ones bluff and remember less."""
    name = f"blueprints/truco{'(mazo=true)' if game.spec.parameters.get('mazo') else ''}.safetensors"
    path = find(name) if _is_plain(game) else None
    if path is None:
        raise NotForThisGame(f"no strategy for whole matches of {game} ships; truco has one")
    return from_file(game, path, level)


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


@lru_cache(maxsize=12)
def _player(path: Path, version: tuple[int, int, int], level: int) -> Evaluator:
    from tapete.solve.truco.blueprint import read
    from tapete.solve.truco.levels import weakened
    from tapete.solve.truco.player import strategy_player

    probs, known, _ = read(path)
    return strategy_player(weakened(probs, level), known)


def bucketed(game: Game) -> Policy:
    """Limit hold'em of two by a strategy that was solved with hands in buckets."""
    path = find("blueprints/holdem.safetensors") if str(game) == "holdem" else None
    if path is None:
        raise NotForThisGame(f"no strategy by buckets of {game} ships; holdem has one")
    return Compiled(_bucketed(path, version_of(path)).evaluator(game))


@lru_cache(maxsize=1)
def _bucketed(path: Path, version: tuple[int, int, int]) -> Bucketed:
    return Bucketed.load(path)


AGENTS = (blueprint, bucketed)
