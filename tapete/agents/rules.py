"""Players who go by the rules of thumb of a game, where the game's folder has some."""

from __future__ import annotations

import importlib
import importlib.util

from tapete.agents import NotForThisGame, Policy
from tapete.agents.compiled import Compiled
from tapete.core import Game


def rules(game: Game, *, boldness: float = 0.0) -> Policy:
    """The game's own rule-based player: no search, no network, the habits of a person who plays it.

    boldness: in an auction, what it expects beyond what it thinks its cards are worth: 100 always bids, -100 never.
    """
    name = f"{game.package}.player"
    if not importlib.util.find_spec(name):
        raise NotForThisGame(f"nobody has written rules of thumb for {game}")
    return Compiled(importlib.import_module(name).player(boldness=boldness))


AGENTS = (rules,)
