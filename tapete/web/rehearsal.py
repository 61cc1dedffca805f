"""A rehearsal: what a table needs is loaded when it is made, before anybody waits for a move there.

Machine code takes up to a tenth of a second to load, and nothing else runs in this process meanwhile, whichever thread
loads it; in a thread that leaves the processor to others (see `lines`), it takes much longer. So a few moves are made
at a table that nobody sees, once for all tables of a kind, by a thread that is in a hurry.
"""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache

from tapete.agents import Policy, choose
from tapete.core import Game, Rng, make
from tapete.search.spending import Budget
from tapete.web.memory import seat_agent, table_bytes
from tapete.web.table import AGENT, PERSON, Options, Seat, Table
from tapete.web.thinking import Explainer

MOVES = 40
SIMULATIONS = 100  # a move: enough for trees to grow
SOMEBODY = "somebody"


def prepare(table: Table) -> int:
    """Loads what a table needs before anybody comes to it. The bytes that its agents may take together."""
    rehearse(str(table.game))
    return table_bytes(table)


def prepare_agents(table: Table) -> None:
    """Loads what the agents of a table need, unless the game is over."""
    for text in sorted({seat.name for seat in table.seats if seat.kind == AGENT and not table.over}):
        rehearse(str(table.game), text)


def explainer(game: Game) -> Explainer:
    """Somebody who explains a game, and has all that he needs."""
    made = Explainer(game)
    for text in made.texts:
        rehearse(str(game), text)
    return made


@lru_cache(maxsize=4096)
def rehearse(name: str, agent: str = "") -> None:
    """Some moves at random, after each of which everybody is told, and an agent thinks a little."""
    game, rng = make(name), Rng("rehearsal", name)
    table = Table("", game, [Seat(PERSON, owner=SOMEBODY) for _ in range(game.players)], Options())
    policy = _brief(agent, game) if agent else None
    for _ in range(MOVES):
        table.deal(rng)
        for owner in (SOMEBODY, ""):
            table.message(owner)
        if table.over:
            return
        view = table.state.view(table.state.player)
        if policy is not None:
            with suppress(Exception):  # what goes wrong here will go wrong at its turn, where it is told
                choose(policy, view, rng)
        table.move(rng.choice(view.actions()))


def _brief(text: str, game: Game) -> Policy | None:
    """An agent that searches for a moment, if at all; None where it can't be loaded."""
    with suppress(Exception):
        policy = seat_agent(text, game)
        if hasattr(policy, "budget"):
            policy.budget = Budget(SIMULATIONS)
        return policy
    return None
