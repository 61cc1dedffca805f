"""A contest: what individuals win on a set of deals against opponents that stay the same.

All hands are opened once, by the rules' own helpers: played until the flop is to be dealt. Where the individual folds
before that, or wins at once, it doesn't matter who it is, so such hands are played to their end and their payoffs kept.
What is left, the hands in which it sees a flop, are played for each individual from there on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.breeding import Results
from tapete.core.compile import (
    BYTES,
    DOUBLES,
    INTS,
    LONGS,
    ahead,
    first_of,
    float64_ptr,
    helper,
    kernel,
    state_ptr,
)
from tapete.core.contract import CHANCE, RULEBOOK, TERMINAL, open_rules
from tapete.core.errors import TapeteError
from tapete.core.game import Game
from tapete.core.players import share_out
from tapete.core.records import copy_state, pointers
from tapete.games.holdem.chromosome import Chromosome, answer, betting_of, decide, gene_at, gene_of, wish
from tapete.games.holdem.deals import CARDS, CHARS, DEALS, HANDS, SEATS, STREETS, Deals
from tapete.games.holdem.rules import (
    BET_SIZES,
    FLOP,
    FOLD,
    PREFLOP,
    RAISE,
    act,
    deal,
    lowest,
    next_seat,
    on_board,
    view,
)
from tapete.games.holdem.strength import MOST_OPPONENTS

INDIVIDUAL = 0  # player 0 of a table; 1 to 9 are its opponents
NEVER = 4  # a street that is never dealt


class Rivals(NamedTuple):
    """Who plays, as kernels take it: the individual and, at the table of each deal, nine opponents."""

    thresholds: NDArray[np.int8]  # [opponents, genes, 2] flat
    classes: NDArray[np.int8]  # [1 + opponents, 8, 169] flat: play before the flop, the individual's first
    lineups: NDArray[np.int32]  # [deals, 9] flat: which opponents
    numbers: NDArray[np.int64]  # of `Factors.numbers`
    chromosome: int  # numbers of a chromosome: two a gene
    tables: int  # numbers of the tables for play before the flop


RIVALS = types.NamedTuple([CHARS, CHARS, INTS, LONGS, types.int64, types.int64], Rivals)


def rivals_of(opponents: Sequence[Chromosome], lineups: NDArray[np.int64], classes: NDArray[np.uint8]) -> Rivals:
    """Opponents, and an individual that plays by those classes before the flop."""
    factors = opponents[0].factors
    if any(opponent.factors != factors for opponent in opponents):
        raise TapeteError("opponents of a contest must have the same factors")
    before = [classes, *(player.classes for player in opponents)]
    return Rivals(
        np.stack([opponent.thresholds for opponent in opponents]).reshape(-1),
        np.stack(before).astype(np.int8).reshape(-1),
        lineups.astype(np.int32).reshape(-1),
        factors.numbers(SEATS),
        2 * factors.genes,
        classes.size,
    )


class Place(NamedTuple):
    """Which of all hands is played."""

    number: Any  # of the deal
    turned: Any  # seats by which the ten hands have moved on
    moved: Any  # seats by which the players have


@helper
def opponent_of(rivals: Any, place: Any, seat: Any) -> Any:
    """Who has a seat: the number of an opponent, or -1 for the individual."""
    who = (seat + place.moved) % SEATS
    return np.int64(-1) if who == INDIVIDUAL else np.int64(rivals.lineups[place.number * (SEATS - 1) + who - 1])


@helper
def situation(s: Any, deals: Any, rivals: Any, place: Any) -> Any:
    """After the flop: the gene that is asked, and how strong the hand is, of whose turn it is."""
    hand = place.number * SEATS + (np.int64(s.mover) + place.turned) % SEATS
    at = hand * STREETS + s.street - FLOP
    gene = gene_of(s, np.int64(deals.categories[at]), rivals.numbers[2 + 2 * np.int64(s.mover)], rivals.numbers)
    return gene, deals.strengths[at * MOST_OPPONENTS + s.active - 2]


@helper
def move_of(s: Any, deals: Any, rivals: Any, place: Any, own: Any, used: Any) -> Any:
    """What is played by whose turn it is.

    own: the individual's chromosome. used: its genes, marked where one decides.
    """
    seat = np.int64(s.mover)
    opponent = opponent_of(rivals, place, seat)
    if s.street == PREFLOP:
        return answer(s, seat, ahead(rivals.classes, (1 + opponent) * rivals.tables), rivals.numbers[3 + 2 * seat])
    gene, strength = situation(s, deals, rivals, place)
    if opponent < 0:
        used[gene] = 1
        return decide(s, seat, strength, own[2 * gene], own[2 * gene + 1])
    first = opponent * rivals.chromosome + 2 * gene
    return decide(s, seat, strength, rivals.thresholds[first], rivals.thresholds[first + 1])


@helper
def play_on(s: Any, deals: Any, rivals: Any, place: Any, own: Any, used: Any, until: int) -> None:
    """Plays a hand to its end, or until a street would be dealt."""
    while s.mover != TERMINAL and s.street < until:
        if s.mover == CHANCE:
            deal(s, deals.cards[place.number * CARDS + 2 * SEATS + on_board(s)])
        else:
            act(s, move_of(s, deals, rivals, place, own, used))


@helper
def play_from_flop(s: Any, deals: Any, rivals: Any, place: Any, own: Any, used: Any, paid: Any) -> None:
    """The same from the flop on, three times as fast: the betting alone, with its numbers at hand.

    paid: room for ten numbers. The state is one where the flop is to be dealt; afterwards it is good for its payoffs.
    """
    playing, active, price, before, pot = (
        np.int64(s.playing),
        np.int64(s.active),
        np.int64(s.price),
        np.int64(s.bets),
        0,
    )
    for seat in range(SEATS):
        paid[seat] = s.paid[seat]
        pot += paid[seat]
    street, cap, first_hand = FLOP, np.int64(s.cap), place.number * SEATS
    while street < NEVER and active > 1:
        bets, waiting, seat = np.int64(0), active, lowest(playing)
        while waiting > 0 and active > 1:
            at = (first_hand + (seat + place.turned) % SEATS) * STREETS + street - FLOP
            strength = deals.strengths[at * MOST_OPPONENTS + active - 2]
            betting, position = betting_of(street, before, bets), rivals.numbers[2 + 2 * seat]
            gene = gene_at(np.int64(deals.categories[at]), position, betting, active, rivals.numbers)
            opponent, owed = opponent_of(rivals, place, seat), price - paid[seat]
            if opponent < 0:
                used[gene] = 1
                move = wish(strength, pot, owed, own[2 * gene], own[2 * gene + 1])
            else:
                genes = ahead(rivals.thresholds, opponent * rivals.chromosome + 2 * gene)
                move = wish(strength, pot, owed, genes[0], genes[1])
            waiting -= 1
            if move == FOLD and owed > 0:
                playing ^= 1 << seat
                active -= 1
            else:
                if move == RAISE and bets < cap:
                    bets += 1
                    price += BET_SIZES[street]
                    waiting = active - 1
                pot += price - paid[seat]
                paid[seat] = price
            seat = next_seat(playing, seat)
        before = bets
        street += 1
    for seat in range(SEATS):
        s.paid[seat] = paid[seat]
    s.playing, s.active, s.mover = playing, active, TERMINAL


@helper
def deal_hands(s: Any, deals: Any, place: Any) -> None:
    """Two cards to each seat."""
    for seat in range(SEATS):
        hand = place.number * CARDS + 2 * ((seat + place.turned) % SEATS)
        deal(s, deals.cards[hand])
        deal(s, deals.cards[hand + 1])


@helper
def pay(rivals: Any, place: Any, payoffs: Any, own: Any, others: Any) -> None:
    """Adds the payoffs of a finished hand to those of the individual, by deal, and of the opponents."""
    for seat in range(SEATS):
        opponent = opponent_of(rivals, place, seat)
        if opponent < 0:
            own[place.number] += payoffs[seat]
        else:
            others[opponent] += payoffs[seat]


@kernel(types.int64(RULEBOOK, DOUBLES, DEALS, RIVALS, types.uint8[:, ::1], types.int64[:, ::1], DOUBLES, DOUBLES))
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


@kernel(
    types.void(
        *(RULEBOOK, DEALS, RIVALS, types.uint8[:, ::1], types.int64[:, ::1], CHARS, BYTES),
        *(CHARS, DOUBLES, DOUBLES),
    )
)
def _play(
    rulebook: Any, deals_: Any, rivals_: Any, states: Any, places: Any, chromosome: Any, room: Any,
    used: Any, own: Any, others: Any,
) -> None:  # fmt: skip
    """Plays an individual's opened hands; adds to `own` [deals] and `others` [opponents]."""
    rules, deals, rivals = open_rules(rulebook), pointers(deals_), pointers(rivals_)
    payoffs, paid, size = np.zeros(SEATS), np.zeros(SEATS, dtype=np.int64), len(room)
    for i in range(len(places)):
        place = Place(places[i, 0], places[i, 1], places[i, 2])
        state = state_ptr(room)
        copy_state(state, state_ptr(states[i]), size)
        play_from_flop(view(state), deals, rivals, place, first_of(chromosome), first_of(used), first_of(paid))
        rules.returns(state, float64_ptr(payoffs))
        pay(rivals, place, payoffs, own, others)


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
        self._open()

    def _open(self) -> None:
        most = HANDS * self.deals.n
        states = np.zeros((most + 1, self.game.size), dtype=np.uint8)
        places = np.zeros((most, 3), dtype=np.int64)
        self.own, self.others = np.zeros(self.deals.n), np.zeros(self.opponents)
        left = _open(
            self.game.rulebook, self.game.params, self.deals, self.rivals, states, places, self.own, self.others
        )
        self.states, self.places = states[:left].copy(), places[:left].copy()

    def play(self, individuals: NDArray[np.int8], *, threads: int = 1) -> Results:
        """What each of [individuals, genes, 2] wins; it does not depend on the threads."""
        n = len(individuals)
        if individuals.shape[1:] != (self.genes, 2) or individuals.dtype != np.int8:
            raise TapeteError(f"individuals of this contest have {self.genes} genes of two thresholds")
        gains, others = np.tile(self.own, (n, 1)), np.tile(self.others, (n, 1))
        used = np.zeros((n, self.genes), dtype=np.int8)

        def work(room: NDArray[np.uint8], i: int) -> None:
            chromosome = np.ascontiguousarray(individuals[i]).reshape(-1)
            _play(
                self.game.rulebook, self.deals, self.rivals, self.states, self.places, chromosome, room,
                used[i], gains[i], others[i],
            )  # fmt: skip

        share_out(work, [np.zeros(self.game.size, dtype=np.uint8) for _ in range(threads)], range(n))
        return Results(gains, others, used.astype(bool), n * HANDS * self.deals.n, n * len(self.places))
