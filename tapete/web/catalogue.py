"""What can be played: all games, one of them with who plays it, and its rules to read."""

from __future__ import annotations

import inspect
from importlib import resources
from typing import Any

from tapete.core import make, variants
from tapete.core.names import playable
from tapete.web import records
from tapete.web.making import read_game
from tapete.web.thinking import about, offered, strength


def rules(name: str) -> str:
    """The README of a game."""
    return resources.files(read_game(name).package).joinpath("README.md").read_text()


def all_games() -> list[dict[str, Any]]:
    """Every game that can be played without saying more."""
    games = []
    for name in playable():
        function, spec = variants()[name].spec, make(name).spec
        parameters = inspect.signature(function, eval_str=True).parameters.values()
        games.append(
            {
                "name": spec.name,
                "title": spec.title,
                "players": spec.players,
                "hidden": spec.hidden,
                "zero_sum": spec.zero_sum,
                "longest": spec.longest,
                "about": inspect.getdoc(function) or "",
                "parameters": [
                    {"name": p.name, "kind": p.annotation.__name__, "default": p.default} for p in parameters
                ],
            }
        )
    return games


def one_game(name: str) -> dict[str, Any]:
    """A game with its parameters said."""
    game = read_game(name)
    return {
        "name": str(game),
        "title": game.spec.title,
        "players": game.players,
        "hidden": game.spec.hidden,
        "opponents": [
            {"text": text, "about": about(text), "strength": strength(text, game)} for text in offered(str(game))
        ],
        "value": records.known_value(str(game)),
    }
