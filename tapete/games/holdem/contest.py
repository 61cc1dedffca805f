"""A contest: what individuals win on a set of deals against opponents that stay the same.

All hands are opened once, by the rules' own helpers: played until the flop is to be dealt. Where the individual folds
before that, or wins at once, it doesn't matter who it is, so such hands are played to their end and their payoffs kept.
What is left, the hands in which it sees a flop, become trees (`trees.py`), and each individual finds its way through
them. All sums are in whole cents, so that they are exact and no order matters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.breeding import Results
from tapete.core.compile import DOUBLES, LONGS, first_of, float64_ptr, helper, kernel, state_ptr
from tapete.core.contract import CHANCE, RULEBOOK, open_rules
from tapete.core.errors import TapeteError
from tapete.core.game import Game
from tapete.core.records import pointers
from tapete.games.holdem.chromosome import Chromosome
from tapete.games.holdem.deals import CARDS, DEALS, HANDS, SEATS, Deals
from tapete.games.holdem.retold import retell
from tapete.games.holdem.rivals import NEVER, RIVALS, Place, deal_hands, opponent_of, play_on, rivals_of
from tapete.games.holdem.rules import FLOP, view
from tapete.games.holdem.trees import CENTS, grow, walk

TOGETHER = 64  # individuals that find their ways together, at most: their genes fit into the cache of a core


@helper
def pay(rivals: Any, place: Any, payoffs: Any, own: Any, others: Any) -> None:
    """Adds the payoffs of a finished hand, in cents, to those of the individual, by deal, and of the opponents."""
    for seat in range(SEATS):
        opponent = opponent_of(rivals, place, seat)
        if opponent < 0:
            own[place.number] += np.int64(np.rint(CENTS * payoffs[seat]))
        else:
            others[opponent] += np.int64(np.rint(CENTS * payoffs[seat]))


@kernel(types.int64(RULEBOOK, DOUBLES, DEALS, RIVALS, types.uint8[:, ::1], types.int64[:, ::1], LONGS, LONGS))
def _open(
    rulebook: Any, params: Any, deals_: Any, rivals_: Any, states: Any, places: Any, own: Any, others: Any
) -> int:
    """Opens all hands; how many are left to play, whose states and places are the first of `states` and `places`."""
    rules, deals, rivals = open_rules(rulebook), pointers(deals_), pointers(rivals_)
    nobody, payoffs = np.zeros(rivals.chromosome, dtype=np.int8), np.zeros(SEATS)
    left = 0
    for number in range(len(own)):
        for moved in range(SEATS):
            for turned in range(SEATS):
                place = Place(number, turned, moved)
                state = state_ptr(states[left])
                rules.start(state, float64_ptr(params))
                s = view(state)
                deal_hands(s, deals, place)
                play_on(s, deals, rivals, place, first_of(nobody), first_of(nobody), FLOP)
                seat = (SEATS - moved) % SEATS
                if s.mover == CHANCE and (s.playing >> seat) & 1:
                    places[left, 0], places[left, 1], places[left, 2] = number, turned, moved
                    for i in range(5):  # for the showdown
                        s.board[i] = deals.cards[number * CARDS + 2 * SEATS + i]
                    left += 1
                    continue
                play_on(s, deals, rivals, place, first_of(nobody), first_of(nobody), NEVER)
                rules.returns(state, float64_ptr(payoffs))
                pay(rivals, place, payoffs, own, others)
    return left


class Contest:
    """Opponents, and deals on which anybody may meet them.

    :param lineups: [deals, 9] which opponents sit at the table of each deal; without it, the first nine at all.
    :param classes: how individuals play before the flop; else as the first opponent does.
    """

    def __init__(
        self,
        game: Game,
        deals: Deals,
        opponents: Sequence[Chromosome],
        *,
        lineups: NDArray[np.int64] | None = None,
        classes: NDArray[np.uint8] | None = None,
        threads: int = 1,
    ) -> None:
        if not game.package.endswith(".holdem") or game.players != SEATS:
            raise TapeteError(f"contests are played at tables of ten, as in holdem(players=10), not in {game}")
        if game.spec.parameters["stacks"]:
            raise TapeteError(f"in contests nobody runs out of chips: {game} should have no stacks")
        self.game, self.deals, self.opponents, self.genes = game, deals, len(opponents), opponents[0].factors.genes
        if lineups is None:
            lineups = np.tile(np.arange(SEATS - 1), (deals.n, 1))
        if lineups.shape != (deals.n, SEATS - 1) or lineups.min() < 0 or lineups.max() >= len(opponents):
            raise TapeteError(f"a lineup is nine of {len(opponents)} opponents for each of {deals.n} deals")
        self.rivals = rivals_of(opponents, lineups, opponents[0].classes if classes is None else classes)
        self._open(threads)

    def _open(self, threads: int) -> None:
        most = HANDS * self.deals.n
        states = np.zeros((most + 1, self.game.size), dtype=np.uint8)
        places = np.zeros((most, 3), dtype=np.int64)
        self.own = np.zeros(self.deals.n, dtype=np.int64)  # in cents, in all hands that are not left
        self.others = np.zeros(self.opponents, dtype=np.int64)
        left = _open(
            self.game.rulebook, self.game.params, self.deals, self.rivals, states, places, self.own, self.others
        )
        self.places = places[:left].copy()
        self.trees = grow(self.game, self.deals, self.rivals, states[:left], self.places, threads=threads)

    @property
    def lines(self) -> int:
        """How many lines were played out: hands with all that an individual may do in them."""
        return len(self.trees.ends) // SEATS

    def play(self, individuals: NDArray[np.int8]) -> Results:
        """What each of [individuals, genes, 2] wins."""
        n, deals = len(individuals), self.deals.n
        if individuals.shape[1:] != (self.genes, 2) or individuals.dtype != np.int8:
            raise TapeteError(f"individuals of this contest have {self.genes} genes of two thresholds")
        own, others = np.tile(self.own, (n, 1)), np.tile(self.others, (n, 1))
        used = np.zeros((n, self.genes), dtype=np.bool_)
        pairs = np.ascontiguousarray(individuals).view(np.int16)[
            :, :, 0
        ]  # [individuals, genes] both thresholds at once

        for first in range(0, n, TOGETHER):
            part = slice(first, first + TOGETHER)
            chromosomes = np.ascontiguousarray(pairs[part].T)  # [genes, some]
            marks = np.zeros(chromosomes.shape, dtype=np.int8)
            walk(
                *(self.trees, self.rivals, chromosomes.reshape(-1).view(np.int8), marks.reshape(-1)),
                *(own[part], others[part]),
            )
            used[part] = marks.T
        return Results(own / CENTS, others / CENTS, used, n * HANDS * deals, n * len(self.places))

    def retold(self, individual: NDArray[np.int8]) -> Iterator[tuple[list[int], list[int]]]:
        """All hands of an individual: the actions of each game, and who sat where, -1 the individual."""
        return retell(self.game, self.deals, self.rivals, individual)
