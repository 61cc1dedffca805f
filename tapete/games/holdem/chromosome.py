"""A player in 5,040 genes, as Pérez-Fajardo (2012) bred them: two thresholds for every situation after the flop.

Before the flop everybody plays by tables (`preflop`). After it, the situation names a gene. With the hand's strength
against as many opponents as are left, and the share of the pot that is there already when a call is paid,

    d = 100 * strength * pot / (pot + what a call costs)

the player raises if d is above the gene's first threshold, else calls if d is above the second, else folds; it checks
where that is free, and calls where no more raises are allowed. Thresholds are whole numbers between -100 and 100.

**Which situations.** The study names the factors but not their sizes; its own tables give them. Nine categories of
hands, eight positions (those of its tables for play before the flop), and 70 ways that the betting may stand: at the
flop 4 bets before it (the big blind is one) times 0 to 4 bets now, at the turn and at the river 5 x 5. 9 * 8 * 70 is
5,040. The seven positions of its text give 4,410 genes (`names`). With `left`, each gene becomes three: for one
opponent, two, and more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapete.core.arrays import read_arrays, write_arrays
from tapete.core.compile import helper
from tapete.core.errors import TapeteError
from tapete.core.evaluator import Evaluator, chars_at, evaluator, floats_at, longs_at, words_at
from tapete.core.game import Game
from tapete.games.holdem.evaluator import rank7
from tapete.games.holdem.preflop import ANSWERS, CLASSES, STARTS, TABLES, read_tables, start_of, table_of
from tapete.games.holdem.ranks import CATEGORIES, CATEGORY_SHIFT
from tapete.games.holdem.rules import CALL, FLOP, FOLD, PREFLOP, RAISE, bit, is_turned_up, view
from tapete.games.holdem.strength import LONGEST, MOST_OPPONENTS, SAMPLES, simulate

FORMAT = "holdem-chromosome-1"
BETS = 5  # 0 to 4 on a street
BETTING = 70
BETTING_BEGINS = np.array([0, 0, 20, 45])  # by street: where its ways of betting begin
LEFT = 3  # one opponent, two, more
NAMES = ("small blind", "big blind", "under the gun", "early", "middle", "late", "dealer")


@dataclass(frozen=True)
class Factors:
    """What tells situations apart."""

    names: bool = False  # the seven positions of the study's text, not the eight of its tables
    left: bool = False  # how many opponents are left

    @property
    def positions(self) -> int:
        """How many there are."""
        return len(NAMES) if self.names else len(TABLES)

    @property
    def genes(self) -> int:
        """How many there are.

        >>> Factors().genes, Factors(names=True).genes, Factors(left=True).genes
        (5040, 4410, 15120)
        """
        return len(CATEGORIES) * self.positions * BETTING * (LEFT if self.left else 1)

    def position(self, seat: int, players: int) -> int:
        """Where a seat is, as a number."""
        table = table_of(seat, players)
        if not self.names or table < 2:
            return table
        return 2 if seat == 2 and table == 2 else (3, 4, 4, 5, 5, 6)[table - 2]

    def numbers(self, players: int) -> NDArray[np.int64]:
        """What compiled code is told: positions, whether `left`, then each seat's position and table."""
        seats = [[self.position(seat, players), table_of(seat, players)] for seat in range(players)]
        return np.array([self.positions, self.left, *np.array(seats).reshape(-1)], dtype=np.int64)


USUAL = Factors()


@helper
def last_bets(s: Any) -> Any:
    """The bets that stood at the end of the street before this one: the highest number at which anybody moved."""
    bets = 0
    for i in range(s.cap + 1):
        if s.line[s.street - 1, i]:
            bets = i
    return bets


@helper
def gene_of(s: Any, category: Any, position: Any, numbers: Any) -> Any:
    """The gene of a situation after the flop."""
    betting = betting_of(np.int64(s.street), last_bets(s), np.int64(s.bets))
    return gene_at(category, position, betting, np.int64(s.active), numbers)


@helper
def betting_of(street: Any, before: Any, now: Any) -> Any:
    """Which of the 70 ways the betting stands, by the bets of the street before and of this one."""
    before = max(before - 1, 0) if street == FLOP else before
    return np.int64(BETTING_BEGINS[street] + min(before, BETS - 1) * BETS + min(now, BETS - 1))


@helper
def gene_at(category: Any, position: Any, betting: Any, active: Any, numbers: Any) -> Any:
    """The gene where all factors are known."""
    gene = (category * numbers[0] + position) * BETTING + betting
    return np.int64(gene * LEFT + min(active - 2, LEFT - 1) if numbers[1] else gene)


@helper
def allowed(s: Any, seat: Any, wanted: Any) -> Any:
    """What comes of a wish: nobody folds for nothing, and who can't raise any more calls."""
    if wanted == FOLD and s.paid[seat] == s.price:
        return CALL
    if wanted == RAISE and (s.bets >= s.cap or s.price >= s.stack):
        return CALL
    return wanted


@helper
def answer(s: Any, seat: Any, classes: Any, table: Any) -> Any:
    """The move before the flop; `classes` is [8, 169], flat."""
    start = start_of(np.int64(s.hole[seat, 0]), np.int64(s.hole[seat, 1]))
    bets = min(np.int64(s.bets), ANSWERS.shape[1])
    return allowed(s, seat, np.int64(ANSWERS[classes[table * STARTS + start], bets - 1]))


@helper
def decide(s: Any, seat: Any, strength: Any, first: Any, second: Any) -> Any:
    """The move after the flop, by the two thresholds of the gene."""
    return allowed(s, seat, wish(strength, pot_of(s), np.int64(s.price - s.paid[seat]), first, second))


@helper
def pot_of(s: Any) -> Any:
    """The chips that lie in it."""
    pot = np.int64(0)
    for i in range(s.players):
        pot += s.paid[i]
    return pot


@helper
def merit(strength: Any, pot: Any, owed: Any) -> Any:
    """The number d that thresholds are compared with: 0 to 100."""
    return 100.0 * strength * pot / (pot + owed)


@helper
def wish(strength: Any, pot: Any, owed: Any, first: Any, second: Any) -> Any:
    """What the thresholds say, whether it is allowed or not."""
    d = merit(strength, pot, owed)
    return RAISE if d > first else CALL if d > second else FOLD


@evaluator
def _play(
    rulebook: Any, state: Any, seat: int, legal: Any, n: int, model: Any, rng: Any, values: Any, priors: Any
) -> None:
    s, numbers = view(state), longs_at(model[2])
    position, table = numbers[2 + 2 * seat], numbers[3 + 2 * seat]
    if s.street == PREFLOP:
        move = answer(s, seat, chars_at(model[1]), table)
    else:
        mine, board, missing = bit(s.hole[seat, 0]) | bit(s.hole[seat, 1]), np.uint64(0), 5
        for i in range(5):
            if is_turned_up(s, i):
                board |= bit(s.board[i])
                missing -= 1
        shares = floats_at(model[4])
        simulate(mine, board, missing, SAMPLES, words_at(model[3]), shares)
        gene = gene_of(s, rank7(mine | board) >> CATEGORY_SHIFT, position, numbers)
        thresholds = chars_at(model[0])
        move = decide(s, seat, shares[s.active - 2], thresholds[2 * gene], thresholds[2 * gene + 1])
    for i in range(n):
        priors[i] = np.float32(legal[i] == move)


@dataclass(frozen=True)
class Chromosome:
    """A player: its thresholds, its tables for play before the flop, and which factors name a gene."""

    thresholds: NDArray[np.int8]  # [genes, 2]
    classes: NDArray[np.uint8] = field(default_factory=read_tables)  # [8, 169]
    factors: Factors = USUAL
    about: dict[str, Any] = field(default_factory=dict)  # game, learner, how it plays, ...

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that it is made of."""
        return {"thresholds": self.thresholds, "classes": self.classes}

    def evaluator(self, game: Game) -> Evaluator:
        """The compiled player, for tables of a game of hold'em."""
        if not game.package.endswith(".holdem"):
            raise TapeteError(f"this player is for hold'em, not for {game}")
        arrays = (
            self.thresholds.reshape(-1),
            self.classes.astype(np.int8).reshape(-1),
            self.factors.numbers(game.players),
            np.zeros(LONGEST + 4, dtype=np.uint64),
            np.zeros(MOST_OPPONENTS, dtype=np.float32),
        )
        return Evaluator(_play, arrays, priors=True, values=False)

    def save(self, path: str | Path) -> None:
        """Writes the file, all of it or nothing."""
        factors = {"names": self.factors.names, "left": self.factors.left}
        header = {"format": FORMAT, "factors": factors, "about": self.about}
        write_arrays(path, self.arrays, header)

    @classmethod
    def load(cls, path: str | Path) -> Chromosome:
        """Reads a file and checks that it is such a player."""
        arrays, header = read_arrays(path, FORMAT)
        told, about = header.get("factors"), header.get("about")
        if not isinstance(told, dict) or not isinstance(about, dict) or set(told) != {"names", "left"}:
            raise TapeteError(f"{path} is not a player of hold'em: something is missing in it")
        factors = Factors(bool(told["names"]), bool(told["left"]))
        thresholds, classes = arrays.get("thresholds"), arrays.get("classes")
        if (
            thresholds is None or thresholds.dtype != np.int8 or thresholds.shape != (factors.genes, 2)
            or classes is None or classes.dtype != np.uint8 or classes.shape != (len(TABLES), STARTS)
            or classes.max() >= len(CLASSES)
        ):  # fmt: skip
            raise TapeteError(f"{path} is not a player of hold'em: its arrays are not those of one")
        return cls(thresholds, classes, factors, about)
