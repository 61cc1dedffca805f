"""Players of hold'em: four that follow simple rules, at any table, and those that were bred, at tables of ten."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tapete.agents import NotForThisGame, Policy
from tapete.agents.compiled import Compiled
from tapete.core import Game
from tapete.games.holdem.chromosome import Chromosome
from tapete.games.holdem.deals import SEATS
from tapete.games.holdem.styles import styles
from tapete.shipped import find, manifest

BRED = "players/holdem/"  # where they are among what ships


def _only_holdem(game: Game, what: str, seats: int = 0) -> None:
    if not game.package.endswith(".holdem") or (seats and game.players != seats):
        table = f"holdem(players={seats})" if seats else "holdem"
        raise NotForThisGame(f"{what} plays {table}, not {game}")


def tight_aggressive(game: Game) -> Policy:
    """Hold'em by simple rules: plays few hands, and bets them."""
    return _by_rule(game, "tight-aggressive")


def calling_station(game: Game) -> Policy:
    """Hold'em by simple rules: plays many hands, calls with all of them, raises what can't lose."""
    return _by_rule(game, "calling-station")


def maniac(game: Game) -> Policy:
    """Hold'em by simple rules: plays many hands, and raises with all of them."""
    return _by_rule(game, "maniac")


def rock(game: Game) -> Policy:
    """Hold'em by simple rules: plays the best hands only, and folds them soon."""
    return _by_rule(game, "rock")


def _by_rule(game: Game, name: str) -> Policy:
    _only_holdem(game, name)
    return Compiled(styles()[name].evaluator(game))


def _bred(file: str) -> Callable[[Game], Policy]:
    """The agent of a player that ships; it is called by the name of its file, and its profile is its help."""
    name = Path(file).stem

    def play(game: Game) -> Policy:
        _only_holdem(game, name, SEATS)
        path = find(file)
        if path is None:
            raise NotForThisGame(f"{name} does not ship")
        return Compiled(Chromosome.load(path).evaluator(game))

    play.__name__ = name.replace("-", "_")
    play.__doc__ = f"Hold'em at tables of ten, bred by co-evolution: {manifest()[file].note}"
    return play


BRED_ONES = tuple(_bred(file) for file in manifest() if file.startswith(BRED))


def champion(game: Game) -> Policy:
    """The bred player that the manifest names first."""
    if not BRED_ONES:
        raise NotForThisGame("no bred players of hold'em ship")
    return BRED_ONES[0](game)


AGENTS = (
    tight_aggressive,
    calling_station,
    maniac,
    rock,
    *BRED_ONES,
)
