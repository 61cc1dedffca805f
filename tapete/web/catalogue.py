"""What can be played: all games, one of them with who plays it, and its rules to read."""

from __future__ import annotations

import inspect
from functools import lru_cache
from importlib import resources
from typing import Any

from tapete.arena.characters import cast_of, characters
from tapete.core import make, variants
from tapete.core.names import playable
from tapete.web import records
from tapete.web.making import read_game
from tapete.web.thinking import about, offered, strength

LANGUAGES = ("es",)  # that a game may have its rules in, besides English


def rules(name: str, language: str = "") -> str:
    """The README of a game, in a language where it has one in it."""
    folder = resources.files(read_game(name).package)
    translated = folder.joinpath(f"README.{language}.md")
    page = translated if language in LANGUAGES and translated.is_file() else folder.joinpath("README.md")
    return page.read_text(encoding="utf-8")


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


@lru_cache(maxsize=256)
def _people(name: str) -> dict[str, Any]:
    """Opponents as people meet them, and the agent of the one whom they meet first; "" where nobody has a name."""
    game = make(name)
    found, cast = characters(game), cast_of(game.package)
    usual = next((each.agent for each in found if cast and each.name == cast.usual), "")
    return {"characters": [each.to_json() for each in found], "usual": usual or (found[-1].agent if found else "")}


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
        **_people(str(game)),
        "value": records.known_value(str(game)),
    }
