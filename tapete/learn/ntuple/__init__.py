"""Pattern tables learned by self-play: temporal differences on n-tuple networks, with a look ahead.

* Lucas 2008, "Learning to play Othello with n-tuple systems": such tables, learned by temporal differences
* Jaśkowski 2014, https://arxiv.org/abs/1406.1509: tuples placed systematically
* Beal and Smith 1999, "Temporal coherence and prediction decay in TD learning": a rate for every weight
* Baxter, Tridgell and Weaver 1998, https://arxiv.org/abs/cs/9901001: differences between what searches say

A game begins with some random moves, and goes on with those that look best so many moves ahead, but for a random one
now and then. Each position of it is then pulled towards a mixture of what the search said there and what came later.
The first part of a run looks one move ahead and plays thousands of games a second; the second part looks further.

It is for every game that `tapete.nets.ntuple` is for, and runs on one core: one game after another, so that the same
seed gives the same tables, wherever the run was interrupted.

`games.py` has the search and the games, `training.py` what is learned from them.
"""

from __future__ import annotations

from dataclasses import dataclass

from tapete.learn.knobs import check_knobs, knob


@dataclass(frozen=True)
class Config:
    """The knobs."""

    games: int = knob(1_000_000, "games that look one move ahead", 0, 10**9)
    deep_games: int = knob(250_000, "games that look `depth` moves ahead, after those", 0, 10**9)
    depth: int = knob(2, "moves that those look ahead", 1, 12)
    endgame: int = knob(6, "empty squares from which on a game is looked at to its end", 0, 12)
    phases: int = knob(8, "tables, by how full the board is", 1, 256)
    opening: int = knob(12, "random moves at the start of a game, at most", 0, 200)
    epsilon: float = knob(0.05, "how often a random move is made after that", 0, 1)
    trace: float = knob(0.8, "lambda: how much of what came later is in what a position is pulled towards", 0, 1)
    rate: float = knob(3.0, "how far a position's value is pulled; coherence makes it less, weight by weight", 0, 100)
    deep_rate: float = knob(1.0, "the same where games look further ahead", 0, 100)
    anneal: float = knob(0.5, "share of either part of the run, its end, in which the rate goes down to zero", 0, 1)
    measures: int = knob(10, "how often the tables are measured", 1, 1000)
    measure_games: int = knob(40, "games against plain MCTS each time, looking one move ahead", 2, 10**6)
    measure_simulations: int = knob(1000, "simulations of a move of that MCTS", 1, 10**6)
    seed: int = knob(1, "names all random streams: the same seed gives the same tables")

    def __post_init__(self) -> None:
        check_knobs(self)
