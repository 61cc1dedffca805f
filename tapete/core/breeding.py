"""Games whose players can be bred: a player is a row of genes, two thresholds each, and meets others on sets of deals.

Such a game's folder has a ``breeding.py`` with a function ``species(game, factors)`` that gives a :class:`Species`. An
algorithm that breeds players knows this and nothing of the game.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tapete.core.errors import TapeteError
from tapete.core.game import Game
from tapete.core.rng import Rng

MOST = 99  # the highest threshold; the lowest is -MOST


Lessons = Sequence[NDArray[np.float64]]  # sums of what was tried, which may be added and weighted


class Results(NamedTuple):
    """What came of a contest."""

    gains: NDArray[np.float64]  # [individuals, deals] payoffs, of all hands of a deal together
    others: NDArray[np.float64]  # [individuals, opponents] payoffs of each opponent, at that individual's tables
    used: NDArray[np.bool_]  # [individuals, genes] that decided something
    hands: int  # that these results stand for
    simulated: int  # of them, those in which the individual decided something


class Contest(Protocol):
    """Opponents, and deals on which anybody may meet them: plain data, which may be sent elsewhere."""

    @property
    def lines(self) -> int:
        """Hands that were played out to their ends beforehand, for all that an individual may do."""

    def play(self, individuals: NDArray[np.int8]) -> Results:
        """What each of [individuals, genes, 2] wins; it does not depend on who plays beside it."""

    def retold(self, individual: NDArray[np.int8]) -> Iterator[tuple[list[int], list[int]]]:
        """All hands of an individual: the actions of each game, and who sat where, -1 the individual."""


class Species(Protocol):
    """The players of a game that can be bred. What a player or a set of deals is, only the species knows."""

    genes: int
    opponents: int  # of an individual at its table
    hands: int  # that a deal is played as
    lessons: Sequence[tuple[int, ...]]  # the shapes of the sums that players are mended by

    def player(self, thresholds: NDArray[np.int8], **about: Any) -> Any:
        """The player with these [genes, 2] thresholds; it has `thresholds`, and `save` writes it to a file.

        Its `arrays` by name are all that it is made of: `player(**arrays)` is the same.
        """

    def read(self, path: Path) -> Any:
        """A player from a file; refused if it is of another species."""

    def written_here(self) -> Sequence[Any]:
        """Players that nobody bred: their genes follow simple rules."""

    def deals(self, count: int, rng: Rng, *, threads: int = 1) -> Any:
        """A set of deals worth playing."""

    def contest(
        self, deals: Any, players: Sequence[Any], lineups: NDArray[np.int64] | None = None, *, threads: int = 1
    ) -> Contest:
        """A contest; `lineups` [deals, opponents] says which players sit at the table of each deal."""

    def some(self, deals: Any, chosen: NDArray[np.int64]) -> Any:
        """Those deals of a set."""

    def tables(self, trainers: Sequence[Any], rng: Rng) -> dict[str, list[Any]]:
        """Opponents that a player should beat, by name of the table; `trainers` sit there too, if there are any."""

    def look_back(
        self, player: Any, deals: Any, tables: Sequence[Sequence[Any]], rng: Rng, *, explore: float, threads: int
    ) -> list[Lessons]:
        """What moves other than the player's own would have brought at each table; the threads don't matter."""

    def won(self, player: Any, lessons: Lessons) -> float:
        """The payoff a hand of the player that looked back."""

    def mend(self, player: Any, lessons: Lessons, *, caution: float, calls: float) -> Any:
        """The player that would have won most, if playing a hand cost `caution` and a call cost `calls`."""


def species_of(game: Game, factors: str = "") -> Species:
    """The species of a game's players."""
    name = f"{game.package}.breeding"
    if not game.package or not importlib.util.find_spec(name):
        raise TapeteError(f"players of {game} can't be bred: its folder has no breeding.py")
    found: Species = importlib.import_module(name).species(game, factors)
    return found
