"""Who meets at the tables of a contest, and how a hand of theirs is played move by move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import INTS, LONGS, ahead, helper
from tapete.core.contract import CHANCE, TERMINAL
from tapete.core.errors import TapeteError
from tapete.games.holdem.chromosome import Chromosome, answer, decide, gene_of
from tapete.games.holdem.deals import CARDS, CHARS, SEATS, STREETS
from tapete.games.holdem.rules import FLOP, PREFLOP, act, deal, on_board
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
def deal_hands(s: Any, deals: Any, place: Any) -> None:
    """Two cards to each seat."""
    for seat in range(SEATS):
        hand = place.number * CARDS + 2 * ((seat + place.turned) % SEATS)
        deal(s, deals.cards[hand])
        deal(s, deals.cards[hand + 1])
