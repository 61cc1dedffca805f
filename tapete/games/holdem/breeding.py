"""Hold'em players as a species: chromosomes that meet at tables of ten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapete.core.breeding import MOST
from tapete.core.breeding import Lessons as SomeLessons
from tapete.core.errors import TapeteError
from tapete.core.game import Game
from tapete.core.rng import Rng
from tapete.games.holdem.chromosome import Chromosome, Factors
from tapete.games.holdem.contest import Contest
from tapete.games.holdem.deals import CARDS, HANDS, SEATS, Deals, judged, shuffle
from tapete.games.holdem.hindsight import Lessons, look_back, mend
from tapete.games.holdem.preflop import read_tables
from tapete.games.holdem.styles import styles


@dataclass(frozen=True)
class HoldemSpecies:
    """See `tapete.core.breeding.Species`."""

    game: Game
    factors: Factors
    opponents: int = SEATS - 1
    hands: int = HANDS

    @property
    def genes(self) -> int:
        """Of a chromosome."""
        return self.factors.genes

    @property
    def lessons(self) -> Sequence[tuple[int, ...]]:
        """The shapes of `Lessons`."""
        return [part.shape for part in Lessons.none(self.genes)]

    def player(
        self, thresholds: NDArray[np.int8], classes: NDArray[np.uint8] | None = None, **about: Any
    ) -> Chromosome:
        """A chromosome; without classes it plays the usual tables before the flop."""
        told = {"game": str(self.game), "plays": "policy", **about}
        return Chromosome(thresholds, read_tables() if classes is None else classes, self.factors, told)

    def read(self, path: Path) -> Chromosome:
        """From a file."""
        player = Chromosome.load(path)
        if player.factors != self.factors:
            raise TapeteError(f"{path} has other genes: {player.factors}, not {self.factors}")
        return player

    def written_here(self) -> Sequence[Chromosome]:
        """The four styles."""
        return list(styles(self.factors).values())

    def deals(self, count: int, rng: Rng, *, threads: int = 1) -> Deals:
        """Deals of which some hand reaches the flop."""
        found = np.zeros((0, CARDS), dtype=np.int8)
        part = 0
        while len(found) < count:
            cards = shuffle(count, rng.spawn("part", part))
            found = np.concatenate([found, cards[reaches_flop(self.game, cards)]])
            part += 1
        return judged(np.ascontiguousarray(found[:count]), threads=threads)

    def contest(
        self,
        deals: Deals,
        players: Sequence[Chromosome],
        lineups: NDArray[np.int64] | None = None,
        *,
        threads: int = 1,
    ) -> Contest:
        """Individuals play the usual tables before the flop, as `player` does."""
        return Contest(self.game, deals, players, lineups=lineups, classes=read_tables(), threads=threads)

    def some(self, deals: Deals, chosen: NDArray[np.int64]) -> Deals:
        """Those deals of a set."""
        return deals.take(chosen)

    def tables(self, trainers: Sequence[Chromosome], rng: Rng) -> dict[str, list[Chromosome]]:
        """The trainers, random chromosomes, nine of each style, and mixtures."""
        draws = np.random.default_rng([int(word) for word in rng.words])
        genes = draws.integers(-MOST, MOST, size=(self.opponents, self.genes, 2), dtype=np.int8, endpoint=True)
        rules = styles(self.factors)
        found = {"its trainers": list(trainers)} if trainers else {}
        found["random chromosomes"] = [self.player(thresholds) for thresholds in genes]
        found |= {f"nine of {name}": [player] * self.opponents for name, player in rules.items()}
        found["mixed rules"] = [list(rules.values())[i % len(rules)] for i in range(self.opponents)]
        if trainers:
            found["trainers and rules"] = [*trainers[: self.opponents - len(rules)], *rules.values()]
        return found

    def look_back(
        self, player: Chromosome, deals: Deals, tables: Sequence[Sequence[Chromosome]], rng: Rng, *,
        explore: float, threads: int,
    ) -> list[SomeLessons]:  # fmt: skip
        """Tries all moves after the flop, and all classes of starting hands."""
        return [*look_back(self.game, deals, player, tables, rng, explore=explore, threads=threads)]

    def won(self, player: Chromosome, lessons: SomeLessons) -> float:
        """By the classes that the player has."""
        return Lessons(*lessons).won(player.classes)

    def mend(self, player: Chromosome, lessons: SomeLessons, *, caution: float, calls: float) -> Chromosome:
        """Other thresholds and other tables for play before the flop."""
        return mend(player, Lessons(*lessons), caution=caution, calls=calls)


def reaches_flop(game: Game, cards: NDArray[np.int8]) -> NDArray[np.bool_]:
    """[deals] whether a flop is seen in any of a deal's hands, when all play the usual tables."""
    anybody = Chromosome(np.zeros((Factors().genes, 2), dtype=np.int8))
    contest = Contest(game, judged(cards, samples=1), [anybody] * (SEATS - 1))
    seen = np.zeros(len(cards), dtype=np.bool_)
    seen[contest.places[:, 0]] = True
    return seen


def species(game: Game, factors: str = "") -> HoldemSpecies:
    """What `tapete.core.breeding` asks for; factors are `names`, `left`, or names+left."""
    wanted = [name.strip() for name in factors.split("+") if name.strip()]
    if not set(wanted) <= {"names", "left"}:
        raise TapeteError(f"factors are names and left, not {factors!r}")
    if game.players != SEATS:
        raise TapeteError(f"hold'em players are bred at tables of ten, as in holdem(players=10), not in {game}")
    return HoldemSpecies(game, Factors("names" in wanted, "left" in wanted))
