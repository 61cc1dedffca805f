"""Players bred by a genetic algorithm whose opponents are bred along with them.

* Pérez-Fajardo 2012, "Diseño y evaluación de una heurística de juego de póker": limit hold'em at tables of ten

A population of chromosomes plays against nine trainers, all on the same deals. Each generation has as many children as
there are individuals: parents are the best of three drawn, two children come of one of four crossovers, and some of the
genes that have decided something are changed. The best of parents and children live on. When the best individual wins,
and wins more than the best trainer at its table, it takes the place of the worst trainer there, and all begin again
against the new nine. The run ends after so many replacements, or when one takes too many generations.

With `trainers`, the nine are players from files and stay: that is how the study bred its last player.

Its own way lets winners go round in circles, because a trainer that is replaced is forgotten, and fits players to the
deals. So `hall` seats of every table can be given to those that were trainers before (a hall of fame), `guests` to
players whose genes follow simple rules, from whom the first population may descend (`founders`); and with a `pool`
larger than `deals` every replacement, or every `fresh` generations, draws deals anew. What is logged is measured on
deals that are never trained on, against tables of random players and of rule-based ones.

With `optimiser=cma` children come from a standard optimiser instead of parents, as a control.

It is for games that say how their players are bred (`tapete.core.breeding`). `operators.py` has the genetic operators,
`separable.py` the other optimiser, `training.py` the algorithm. Individuals are played wherever the run's executor has
room; the result does not depend on where.
"""

from __future__ import annotations

from dataclasses import dataclass

from tapete.learn.knobs import check_knobs, knob

TELLS_GAMES = True


@dataclass(frozen=True)
class Config:
    """The knobs; the usual values are the study's."""

    replacements: int = knob(500, "trainers that are bred, one after another", 1, 10**6)
    generations: int = knob(200, "at most for one of them; with `trainers`, in all", 1, 10**6)
    population: int = knob(100, "individuals", 4, 10**5)
    deals: int = knob(200, "deals that fitness is measured on; each is played as a hundred hands", 1, 10**5)
    pool: int = knob(0, "deals from which those are drawn anew after every replacement; 0: they stay", 0, 10**5)
    fresh: int = knob(0, "generations after which deals and tables are drawn anew; 0: after a replacement", 0, 10**6)
    founders: bool = knob(False, "the first population descends from rule-based players")
    trainers: str = knob("", "files or folders of the players that stay as trainers, with + between them")
    hall: int = knob(0, "seats at each table of players that were trainers before", 0, 100)
    guests: int = knob(0, "seats at each table of rule-based players", 0, 100)
    optimiser: str = knob(
        "genetic",
        "where children come from: genetic, or cma (separable CMA-ES, as a control)",
        among=("genetic", "cma"),
    )
    tournament: int = knob(3, "individuals of which the best becomes a parent", 1, 1000)
    points: int = knob(2520, "genes that are drawn to be exchanged by a crossover", 1, 10**6)
    mutations: int = knob(504, "genes that are drawn to be changed in a child", 0, 10**6)
    variance: float = knob(0.1, "by how much a threshold changes at most, as a share of all that it can be", 0, 1)
    factors: str = knob("", "what else tells situations apart, in the words of the game's species")
    test_deals: int = knob(100, "deals that what is logged is measured on", 1, 10**5)
    seed: int = knob(1, "names all random streams: the same seed gives the same players")

    def __post_init__(self) -> None:
        check_knobs(self)
