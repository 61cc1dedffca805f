"""Opponents as people: who plays a game under which name, how, and how strong that was measured to be.

A game's folder has a ``characters.toml``: names, the agents that play them, a line on how they play in each language,
and in which game and by how many games they are measured. `tapete characters GAME --measure` plays all of them against
each other and writes their ratings beside it, ``ratings.json``: Elo, or where ``by = "payoff"``, as in poker, in which
who wins most hands doesn't win most chips, what they gain a game. Nothing is said of a strength that was not measured.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tapete.agents import opponents
from tapete.core import Game, TapeteError, make

if TYPE_CHECKING:
    from tapete.arena.tournaments import Tournament

LANGUAGES = ("en", "es")
FILE, RATINGS = "characters.toml", "ratings.json"
AVERAGE = 1500  # that is added to ratings whose mean is 0, as people are used to it


@dataclass(frozen=True, kw_only=True)
class Character:
    """Somebody to play against."""

    name: str
    agent: str  # the text that loads it
    about: dict[str, str]  # how it plays, by language
    by: str = "elo"  # in what its strength is told: "elo" or "payoff"
    strength: float | None = None  # None: nobody has measured it
    interval: tuple[float, float] | None = None  # of 95 %
    strongest: bool = False  # whether it is surely stronger than all others that were measured

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {**vars(self), "interval": list(self.interval) if self.interval else None}


@dataclass(frozen=True, kw_only=True)
class Cast:
    """The characters of a folder of games."""

    measured: str  # the game in which they are measured
    games: int  # of a match there
    openings: int
    by: str
    usual: str  # the name of the one whom a person meets first
    characters: tuple[Character, ...]


@cache
def cast_of(package: str) -> Cast | None:
    """All characters of a game's folder, with their ratings; None where it has none."""
    path = resources.files(package).joinpath(FILE)
    if not path.is_file():
        return None
    data = tomllib.loads(path.read_text())
    ratings = _ratings(package, data.get("by", "elo"))
    characters = tuple(
        Character(
            name=each["name"],
            agent=each["agent"],
            about={language: each[language] for language in LANGUAGES},
            by=data.get("by", "elo"),
            **ratings.get(each["agent"], {}),
        )
        for each in data["character"]
    )
    return Cast(
        measured=data["measured"],
        games=data["games"],
        openings=data.get("openings", 0),
        by=data.get("by", "elo"),
        usual=data["usual"],
        characters=characters,
    )


def characters(game: Game) -> list[Character]:
    """Those who play a game, the weakest first as far as that is known."""
    cast = cast_of(game.package)
    offered = opponents(game) if cast else []
    found = [each for each in (cast.characters if cast else ()) if each.agent in offered]
    return sorted(found, key=lambda each: -math.inf if each.strength is None else each.strength)


def called(game: Game, agent: str) -> str:
    """The name of the character that an agent plays; "" where it plays none."""
    cast = cast_of(game.package)
    return next((each.name for each in (cast.characters if cast else ()) if each.agent == agent), "")


def measure(name: str, watch: Callable[[str, int, int, float], None] | None = None) -> Path:
    """Plays everybody against everybody who can play the game of measurement, and writes the ratings of a folder."""
    from tapete.arena.tournaments import tournament

    package = make(name).package
    cast = cast_of(package)
    if cast is None:
        raise TapeteError(f"nobody has written {FILE} for {name}")
    game = make(cast.measured)
    texts = [each.agent for each in characters(game)]
    played = tournament(game, texts, games=cast.games, openings=cast.openings, watch=watch)
    data = {
        "made_by": f"tapete characters {name.partition('(')[0]} --measure",
        "game": str(game),
        "games": cast.games,
        "seed": played.seed,
        "ratings": [_rating(played, i) for i in played.ranking],
    }
    path = Path(str(resources.files(package).joinpath(RATINGS)))
    path.write_text(json.dumps(data, indent=1) + "\n")
    cast_of.cache_clear()
    return path


def _rating(played: Tournament, i: int) -> dict[str, Any]:
    """What came of a tournament for an agent: [strength, lower, upper] in both units."""
    elo, low, high = (float(numbers[i]) for numbers in played.ratings)
    gains = [
        (1 if i == a else -1) * match.differences for (a, b), match in played.matches.items() if i in (a, b)
    ]  # of each match, deal by deal
    mean = float(np.mean([each.mean() for each in gains]))
    doubt = 1.96 * math.sqrt(sum(each.var(ddof=1) / len(each) for each in gains)) / len(gains)
    return {
        "agent": played.agents[i],
        "games": played.games(i),
        "elo": [round(x, 1) for x in (elo, low, high)],
        "payoff": [round(x, 4) for x in (mean, mean - doubt, mean + doubt)],
    }


def _ratings(package: str, by: str) -> dict[str, dict[str, Any]]:
    """By agent: what is known of its strength."""
    path = resources.files(package).joinpath(RATINGS)
    rows = json.loads(path.read_text())["ratings"] if path.is_file() else []
    found = {}
    for row in rows:
        strength, low, high = row[by]
        others = [other[by][2] for other in rows if other is not row]
        found[row["agent"]] = {
            "strength": strength,
            "interval": (low, high),
            "strongest": bool(others) and low > max(others),
        }
    return found
