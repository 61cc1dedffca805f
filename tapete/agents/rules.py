"""Players who go by the rules of thumb of a game, where the game's folder has some."""

from __future__ import annotations

from tapete.agents import NotForThisGame, Policy
from tapete.agents.compiled import Compiled
from tapete.core import Game, TapeteError
from tapete.core.players import rule_player


def rules(game: Game, *, boldness: float = 0.0) -> Policy:
    """The game's own rule-based player: no search, no network, the habits of a person who plays it.

    boldness: in an auction, what it expects beyond what it thinks its cards are worth: 100 always bids, -100 never.
    """
    try:
        make = rule_player(game)
    except TapeteError as error:
        raise NotForThisGame(str(error)) from None
    return Compiled(make(boldness=boldness))


AGENTS = (rules,)
