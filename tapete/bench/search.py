"""How fast search is: simulations a second on one core, beside OpenSpiel's in C++; and what a move takes.

Seconds are those of the processor: everything here is one thread, and other programs have their share of the machine.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from functools import partial

from tapete.agents import load
from tapete.bench import Case, Row, Work, measure, peers
from tapete.core import Rng, TapeteError, make
from tapete.search import ISMCTS, MCTS, Budget

SIMULATIONS = 1000
MOVES = 100  # iterations of a move, as in the Othello paper


def run(*, rivals: bool, case: str, seconds: float) -> Iterator[Row]:
    """Measures every case, ours and then each peer's."""
    return measure("search", cases(), rivals=rivals, case=case, seconds=seconds, clock=time.process_time)


def cases() -> list[Case]:
    """What is measured: simulations from the beginning of a game, and moves of the agents with networks."""
    searched = [
        Case(
            f"{kind} {game}, simulations",
            partial(simulations, game, search),
            (("OpenSpiel", partial(theirs, their_game, SIMULATIONS)),),
        )
        for kind, search, theirs, game, their_game in (
            ("mcts", MCTS, peers.openspiel_mcts, "othello", "othello"),
            ("ismcts", ISMCTS, peers.openspiel_ismcts, "kuhn", "kuhn_poker"),
            ("ismcts", ISMCTS, peers.openspiel_ismcts, "leduc", "leduc_poker"),
        )
    ]
    return searched + [Case(f"{agent}, moves", partial(moves, agent)) for agent in _agents()]


def _agents() -> list[str]:
    """Those with a network that ships, at the paper's number of iterations."""
    known = []
    for name in ("mcts", "mcts-value", "zero", "ntuple"):
        try:
            load(f"{name}({MOVES})", make("othello"))
        except TapeteError:
            continue
        known.append(f"{name}({MOVES})")
    return known


def simulations(name: str, search: Callable[..., MCTS | ISMCTS]) -> Work:
    """Simulations with random playouts from the beginning, in a new tree for every move.

    As much is explored as by the peers: their constant is in units of payoffs, and has no 2 below the root.
    """
    game, rng = make(name), Rng(1)
    lowest, highest = game.spec.utility
    c = peers.UCT / math.sqrt(2) / ((highest - lowest) / 2)
    state, budget = game.start().deal(rng), Budget(iterations=SIMULATIONS)
    view, searcher = state.view(state.player), search(game, c=c, keep=False)

    def work(rounds: int) -> int:
        for _ in range(rounds):
            searcher.run(view, rng, budget)
        return rounds * SIMULATIONS

    return work


def moves(agent: str) -> Work:
    """Moves of an agent against itself, from the beginning of Othello; a game that ends begins anew."""
    game, rng = make("othello"), Rng(1)
    tables = [(game.start(), load(agent, game))]

    def work(rounds: int) -> int:
        for _ in range(rounds):
            state, policy = tables[0]
            if state.over:
                state, policy = tables[0] = (game.start(), load(agent, game))
            probabilities = policy.think(state.view(state.player), rng).probabilities
            state.apply(max(probabilities, key=lambda action: probabilities[action]))
        return rounds

    return work
