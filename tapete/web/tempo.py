"""How long an agent's answer is held back, so that the time tells nothing of what it had to decide.

A forced move is no thought at all, and a free one may take a second: who sees the clock would know whether somebody
could not or would not follow. So every answer of an agent takes the time that its longest thoughts take, and its place
in the line is held as long (see `lines`). For agents that search by the clock this is known; of others that search,
the first thought of a game is timed: it is the longest, since playouts get shorter from there.
"""

from __future__ import annotations

import math
import time

from tapete.agents import Policy
from tapete.core import Game, Rng
from tapete.web.lines import round_up
from tapete.web.memory import seat_agent

QUICK = 0.01  # seconds, of those who don't search: they need much less
SPARE = 1.5  # what the timed thought is multiplied by; machines have other things to do as well
LATE = 0.05  # seconds that a search by the clock may end after its time
DECISIONS = 200  # moves at random, in which one with a choice is looked for


class Tempo:
    """Holding times by agent and game."""

    def __init__(self) -> None:
        self.holds: dict[tuple[str, str], float] = {}
        self.most: dict[tuple[str, str], float] = {}  # however slow the machine has been

    def hold(self, text: str, game: Game, policy: Policy) -> float | None:
        """Seconds that answers of an agent are held; None where a thought must be timed first (`measure`)."""
        budget = getattr(policy, "budget", None)
        if budget is None:
            return QUICK
        if budget.seconds:
            return round_up(1.1 * budget.seconds + LATE)
        return self.holds.get((text, str(game)))

    def measure(self, text: str, game: Game) -> None:
        """Times a thought; a thread does this."""
        seconds = round_up(SPARE * timed(seat_agent(text, game), game))
        self.holds[text, str(game)], self.most[text, str(game)] = seconds, 4 * seconds

    def learn(self, text: str, game: Game, seconds: float) -> None:
        """A thought took so long: those that come after it are held as long, whatever they are."""
        key = (text, str(game))
        if seconds > self.holds.get(key, math.inf):
            self.holds[key] = min(round_up(seconds), self.most[key])


def timed(policy: Policy, game: Game) -> float:
    """Seconds of a thought at the first choice of a game; the second time, when everything has been loaded."""
    rng = Rng("tempo", str(game))
    state = game.start().deal(rng)
    for _ in range(DECISIONS):
        if state.over or len(state.actions()) > 1:
            break
        state.apply(state.actions()[0]).deal(rng)
    if state.over:
        return 0.0
    view = state.view(state.player)
    policy.think(view, rng)
    began = time.perf_counter()
    policy.think(view, rng)
    return time.perf_counter() - began
