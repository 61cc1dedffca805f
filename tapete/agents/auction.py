"""Dou Dizhu with an auction, for whoever plays it without: a model bids, and after that it is the same game.

The seats are turned so that the landlord sits on seat 0, which is where the game without an auction has him.
"""

from __future__ import annotations

import numpy as np

from tapete.agents import Policy
from tapete.agents.rules import rules
from tapete.core import Game, Rng, Thought, View, choices, make
from tapete.core.game import State

PLAIN = "doudizhu"


def plain_game(game: Game) -> str:
    """The game that a variant of Dou Dizhu is after its auction; "" where a game is no such variant."""
    return PLAIN if game.package.endswith(f".{PLAIN}") and str(game) != PLAIN else ""


class AfterAuction:
    """Bids by the model of the rule-based player, then plays as a policy for the game without an auction does."""

    def __init__(self, game: Game, play: Policy) -> None:
        self.bids, self.play, self.plain = rules(game), play, make(plain_game(game))

    @property
    def bytes(self) -> int:
        """Memory that a search takes."""
        return int(getattr(self.play, "bytes", 0))

    def think(self, view: View, rng: Rng) -> Thought:
        """In the auction the model's call, then the policy's thought."""
        from tapete.games.doudizhu.notation import is_auction

        choices(view)
        s = view.game.record(view._world)
        if is_auction(s):
            return self.bids.think(view, rng)
        return self.play.think(self._turned(view), rng)

    def _turned(self, view: View) -> View:
        """The same position where there was no auction."""
        from tapete.games.doudizhu.table import NOBODY

        state = State(self.plain, view._world.copy(), None)
        s = state.data[: self.plain.dtype.itemsize].view(self.plain.dtype)
        landlord = int(s["landlord"][0])
        for name in ("hand", "played"):
            s[name] = np.roll(s[name], -landlord, axis=1)
        s["mover"] = (s["mover"] - landlord) % 3
        s["landlord"] = s["bidding"] = s["around"] = s["spring"] = s["thrown"] = s["memory"] = 0
        s["calls"], s["bid"] = NOBODY, 1
        return state.view((view.seat - landlord) % 3)
