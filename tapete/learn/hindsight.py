"""A player mended by hindsight: every decision of its hands is tried the other ways, on the same cards.

A player that decides situation by situation, as those do that co-evolution breeds, can be mended situation by
situation. Each round it plays fresh deals at several tables. At each of its decisions all other moves are tried too,
and the hand is played to its end; then every gene gets the thresholds that would have won most. That is policy
iteration by rollouts, with the player's own form kept: what comes out is one of the same species.

What the rounds before have taught is forgotten slowly (`forget`), because it was about a player that is no more. A
table counts the more, the less is won at it: the player should win everywhere. `caution` is for those who would rather
not play a hand than play it for next to nothing, `calls` for those who would rather raise or fold than call; without
them players get loose.

It is for games that say how their players are bred (`tapete.core.breeding`). Tables are played on several cores; the
result does not depend on how many. What is logged was won on deals that the player had not seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapete.core.breeding import Lessons, species_of
from tapete.core.errors import TapeteError
from tapete.core.game import Game
from tapete.core.rng import Rng
from tapete.learn.knobs import check_knobs, knob
from tapete.learn.run import Checkpoint, Run, networks_in


@dataclass(frozen=True)
class Config:
    """The knobs."""

    rounds: int = knob(12, "times that the player looks back and is mended", 1, 10**6)
    deals: int = knob(1000, "deals of a round, at every table; each is played as a hundred hands", 1, 10**5)
    trainers: str = knob("", "files or folders of players that sit at a table of their own, with + between them")
    explore: float = knob(0.1, "how often a hand goes on with any move, so that rare situations come up", 0, 1)
    forget: float = knob(0.5, "share of what was learned before that each round forgets", 0, 1)
    caution: float = knob(0.0, "payoff by which a starting hand must be better played than folded", 0, 100)
    calls: float = knob(0.0, "payoff by which a call must be better than the other moves", 0, 100)
    scale: float = knob(0.2, "payoff a hand by which a table that one wins more at counts less, e times", 0.001, 1000)
    seed: int = knob(1, "names all random streams: the same seed gives the same player")

    def __post_init__(self) -> None:
        check_knobs(self)


LEAST = 0.05  # what a table counts at least, where the one at which least is won counts 1


class Training:
    """A run: the player, and what it has learned so far."""

    def __init__(self, game: Game, config: Config, run: Run) -> None:
        self.config, self.run = config, run
        self.species = species = species_of(game)
        trainers = [species.read(path) for path in networks_in(config.trainers)]
        if trainers and len(trainers) != species.opponents:
            raise TapeteError(f"trainers must be {species.opponents} players, not {len(trainers)}")
        self.tables = species.tables(trainers, Rng(config.seed, "tables"))
        self.player = species.written_here()[0]
        self.lessons: Lessons = [np.zeros(shape) for shape in species.lessons]
        self.round = 0

    def begin(self, path: Path) -> None:
        """Begins with a player that is there already."""
        self.player = self.species.read(path)

    def next_round(self) -> None:
        """Plays, looks back, notes what was won, and mends the player."""
        config, species, threads = self.config, self.species, self.run.threads
        rng = Rng(config.seed, "round", self.round)
        deals = species.deals(config.deals, rng.spawn("deals"), threads=threads)
        found = species.look_back(
            self.player, deals, list(self.tables.values()), rng, explore=config.explore, threads=threads
        )
        won = np.array([species.won(self.player, lessons) for lessons in found])
        self.lessons = [(1 - config.forget) * part for part in self.lessons]
        for lessons, weight in zip(found, self._weights(won), strict=True):
            self.lessons = [kept + weight * part for kept, part in zip(self.lessons, lessons, strict=True)]
        self.player = species.mend(self.player, self.lessons, caution=config.caution, calls=config.calls)
        self.round += 1
        by_table = {_key(name): round(float(gain), 4) for name, gain in zip(self.tables, won, strict=True)}
        self.run.log(round=self.round, worst=round(float(won.min()), 4), **by_table)

    def _weights(self, won: NDArray[np.float64]) -> NDArray[np.float64]:
        """[tables] how much each counts."""
        return np.maximum(np.exp((won.min() - won) / self.config.scale), LEAST)

    def save(self) -> None:
        """Remembers everything, and writes what plays."""
        lessons = {f"lessons_{i}": part for i, part in enumerate(self.lessons)}
        self.run.save({**self.player.arrays, **lessons}, round=self.round)
        about: dict[str, Any] = {"learner": "hindsight", "seed": self.config.seed, "rounds": self.round}
        self.species.player(**self.player.arrays, **about).save(self.run.network)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Goes back to where a checkpoint was."""
        known = self.player.arrays.items()
        self.player = self.species.player(**{name: checkpoint.take(name, p.dtype, *p.shape) for name, p in known})
        self.lessons = [checkpoint.take(f"lessons_{i}", np.float64, *p.shape) for i, p in enumerate(self.lessons)]
        self.round = checkpoint.count("round")


def _key(table: str) -> str:
    return "against_" + table.replace(" ", "_").replace("-", "_")


def train(game: Game, config: Config, run: Run) -> None:
    """Mends until all rounds are done or the time is over."""
    training = Training(game, config, run)
    run.open(training.restore, training.begin)
    while training.round < config.rounds and not run.out_of_time:
        run.show(f"round {training.round + 1}", training.round, config.rounds)
        training.next_round()
        if run.due or training.round == config.rounds:
            training.save()
    training.save()
