"""How long an agent's answer is held back, so that the time tells nothing of what it had to decide.

A forced move is no thought at all, and a free one may take a second: who sees the clock would know whether somebody
could not or would not follow. So every answer of an agent takes the time that its longest thoughts take, and its place
in the line is held as long (see `lines`). For agents that search by the clock this is known; of others that search,
the thoughts of a game's beginning are timed: playouts get shorter from there.
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
MOVES = 100  # at random; what is thought where there is a choice is timed
ENOUGH = 0.5  # seconds of thought after which no more are


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
    """Seconds of the longest thought at the beginning of a game. The first is thought twice, since it loads much."""
    rng, times = Rng("tempo", str(game)), [0.0]
    state = game.start().deal(rng)
    for _ in range(MOVES):
        if state.over or sum(times) > ENOUGH:
            break
        view = state.view(state.player)
        if len(view.actions()) > 1:
            if len(times) == 1:
                policy.think(view, rng)
            began = time.perf_counter()
            policy.think(view, rng)
            times.append(time.perf_counter() - began)
        state.apply(rng.choice(view.actions())).deal(rng)
    return max(times)
