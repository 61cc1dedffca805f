"""A rehearsal: what a table needs is loaded when it is made, before anybody waits for a move there.

Machine code takes up to a tenth of a second to load, and nothing else runs in this process meanwhile, whichever thread
loads it; in a thread that leaves the processor to others (see `lines`), it takes much longer. So a few moves are made
at a table that nobody sees, once for all tables of a kind, by a thread that is in a hurry (see `readiness`).
"""

from __future__ import annotations

from functools import lru_cache

from tapete.agents import Policy, choose
from tapete.core import Game, Rng, View, make
from tapete.core.compile import NotCompiled
from tapete.review import Strongest, choices, judge_of
from tapete.search.spending import Budget
from tapete.web.memory import seat_agent, tree_bytes
from tapete.web.table import PERSON, Options, Seat, Table

MOVES = 40
SIMULATIONS = 100  # a move: enough for trees to grow
SOMEBODY = "somebody"


def judge(game: Game) -> tuple[Strongest, int]:
    """Who judges a game, and the bytes that his trees may take."""
    made = judge_of(game, seat_agent)
    return made, max((tree_bytes(text, str(game)) for text in made.texts), default=0)


@lru_cache(maxsize=4096)
def rehearse(name: str, agent: str = "") -> None:
    """Some moves at random, after each of which everybody is told, and an agent thinks a little."""
    game, rng = make(name), Rng("rehearsal", name)
    table = Table("", game, [Seat(PERSON, owner=SOMEBODY) for _ in range(game.players)], Options())
    policy = _brief(agent, game) if agent else None
    for number in range(MOVES):
        table.deal(rng)
        for owner in (SOMEBODY, ""):
            table.message(owner)
        if table.over:
            return
        view = table.state.view(table.state.player)
        if policy is not None:
            _think(policy, view, rng, explains=number == 0)
        table.move(rng.choice(view.actions()))


@lru_cache(maxsize=4096)
def rehearse_judge(name: str) -> None:
    """A decision of a random game is judged, so that the first that counts takes no longer than others."""
    game, rng = make(name), Rng("rehearsal", name)
    state = game.start().deal(rng)
    for _ in range(MOVES):
        if state.over:
            break
        state.apply(rng.choice(state.actions())).deal(rng)
    made = next((found for seat in range(game.players) if (found := choices(game, state.history or [], seat))), [])
    for choice in made[-1:]:
        judge_of(game, seat_agent).judge(choice, choice.rng)


def _think(policy: Policy, view: View, rng: Rng, *, explains: bool) -> None:
    """What goes wrong here will go wrong at the agent's turn, where it is told."""
    try:
        choose(policy, view, rng)
        if explains and hasattr(policy, "explain"):
            policy.explain(view, rng)
    except NotCompiled:
        raise
    except Exception:
        return


def _brief(text: str, game: Game) -> Policy | None:
    """An agent that searches for a moment, if at all; None where it can't be loaded."""
    try:
        policy = seat_agent(text, game)
    except NotCompiled:
        raise
    except Exception:
        return None
    if hasattr(policy, "budget"):
        policy.budget = Budget(SIMULATIONS)
    return policy
