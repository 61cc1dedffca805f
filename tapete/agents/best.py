"""The strongest opponent that there is for a game, at five levels."""

from __future__ import annotations

from contextlib import suppress

from tapete.agents import NotForThisGame, Policy, levels
from tapete.agents.blueprint import blueprint, resolve
from tapete.agents.equilibrium import equilibrium
from tapete.agents.holdem import champion
from tapete.agents.networks import dmc, ntuple
from tapete.agents.random import random
from tapete.agents.rules import rules
from tapete.agents.search import ismcts, mcts
from tapete.core import Game, TapeteError

HIGHEST = 5
SIMULATIONS = (4, 20, 100, 1000)  # of the levels below the highest
SECONDS = 1.0  # that the highest thinks


@levels(*(f"best({level})" for level in range(1, HIGHEST + 1)))
def best(game: Game, level: int = HIGHEST) -> Policy:
    """The strongest there is: an equilibrium, a blueprint, a bred player, a network or a search; level 1 to 5.

    Only "there is none for this game" leads to the next choice: a solution or a network that is there but can't be
    read is an error, never a weaker opponent.
    """
    if not 1 <= level <= HIGHEST:
        raise TapeteError(f"level must be between 1 and {HIGHEST}, not {level}")
    if level == HIGHEST:
        with suppress(NotForThisGame):
            return equilibrium(game)
        with suppress(NotForThisGame):
            return champion(game)
        with suppress(NotForThisGame):
            return resolve(game)
    with suppress(NotForThisGame):
        return foreseeing(game, level)
    with suppress(NotForThisGame):
        return blueprint(game, level)
    iterations, seconds = (0, SECONDS) if level == HIGHEST else (SIMULATIONS[level - 1], 0.0)
    with suppress(NotForThisGame):
        return ntuple(game, iterations, seconds=seconds, exact=level >= HIGHEST - 1)
    search = ismcts if game.spec.hidden or game.spec.has_chance else mcts
    return search(game, iterations, seconds=seconds)


def foreseeing(game: Game, level: int) -> Policy:
    """The levels of a game that a network of moves plays: any move, rules of thumb, the network, and it in a search."""
    strongest = dmc(game, seconds=SECONDS)
    ladder = (lambda: random(game), lambda: rules(game), lambda: dmc(game), lambda: dmc(game, SIMULATIONS[2]))
    return strongest if level == HIGHEST else ladder[level - 1]()


AGENTS = (best,)
