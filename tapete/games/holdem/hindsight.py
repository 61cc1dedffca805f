"""What else a player could have done: every decision of its hands is tried the other ways, on the same cards.

A chromosome decides situation by situation, so it can be mended situation by situation. `look_back` lets a player play
hands against a table. At each of its decisions after the flop every move is tried and the hand played to its end, by
the player's own genes and those of its opponents; before the flop, every class that its starting hand could have.
`mend` then gives each gene the two thresholds, and each starting hand the class, that would have won most.

Few hands say little about a rare situation. So a gene listens to its kin too: those that differ by the position, and
those that differ by the bets of the street before, whose decisions count as a few of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.breeding import MOST
from tapete.core.compile import DOUBLES, WORDS, ahead, first_of, float64_ptr, helper, kernel, state_ptr, uint64_ptr
from tapete.core.contract import CHANCE, RULEBOOK, TERMINAL, open_rules
from tapete.core.game import Game
from tapete.core.players import share_out
from tapete.core.records import copy_state, pointers
from tapete.core.rng import Rng, below, uniform
from tapete.games.holdem.chromosome import BETS, BETTING, BETTING_BEGINS, LEFT, Chromosome, allowed, merit, pot_of
from tapete.games.holdem.deals import CARDS, CHARS, DEALS, HANDS, SEATS, Deals
from tapete.games.holdem.preflop import ANSWERS, CLASSES, STARTS, TABLES, start_of
from tapete.games.holdem.ranks import CATEGORIES
from tapete.games.holdem.rivals import NEVER, RIVALS, Place, deal_hands, move_of, play_on, rivals_of, situation
from tapete.games.holdem.rules import CALL, FLOP, FOLD, PREFLOP, RAISE, act, deal, on_board, view

WIDTH = 2  # merits that are counted together: 0, those up to 2, up to 4, ...
BINS = 100 // WIDTH + 1
MOVES = 3
ALL_CLASSES = len(CLASSES)
FOLDS = CLASSES.index("FFFF")


class Lessons(NamedTuple):
    """What moves and classes brought, added up."""

    moves: NDArray[np.float64]  # [genes, merits, moves] payoffs
    times: NDArray[np.float64]  # [genes, merits] decisions
    classes: NDArray[np.float64]  # [tables, starting hands, classes] payoffs
    dealt: NDArray[np.float64]  # [tables, starting hands] hands

    @classmethod
    def none(cls, genes: int) -> Lessons:
        """Nothing yet."""
        return cls(
            np.zeros((genes, BINS, MOVES)), np.zeros((genes, BINS)),
            np.zeros((len(TABLES), STARTS, ALL_CLASSES)), np.zeros((len(TABLES), STARTS)),
        )  # fmt: skip

    def won(self, classes: NDArray[np.uint8]) -> float:
        """The payoff a hand of who plays by these classes before the flop."""
        brought = np.take_along_axis(self.classes, classes[:, :, None].astype(np.int64), axis=2)
        return float(brought.sum() / max(self.dealt.sum(), 1))


class Table(NamedTuple):
    """What helpers of the kernel are handed on: pointers."""

    rules: Any
    params: Any
    deals: Any
    rivals: Any
    own: Any  # the player's genes
    marks: Any  # room for those that decide
    payoffs: Any  # room for ten, and for one a class


@helper
def open_hand(state: Any, table: Any, place: Any) -> Any:
    """Deals a hand and plays it until the flop is to be dealt."""
    table.rules.start(state, table.params)
    s = view(state)
    deal_hands(s, table.deals, place)
    play_on(s, table.deals, table.rivals, place, table.own, table.marks, FLOP)
    return s


@helper
def what_comes(state: Any, table: Any, place: Any, seat: Any) -> float:
    """The payoff of a seat when a hand is played to its end."""
    s = view(state)
    if not (s.playing >> seat) & 1:
        return -float(s.paid[seat])
    play_on(s, table.deals, table.rivals, place, table.own, table.marks, NEVER)
    table.rules.returns(state, table.payoffs)
    return table.payoffs[seat]


@helper
def bets_met(s: Any, seat: Any) -> Any:
    """The bets that stood when a seat was asked before the flop, as bits."""
    met = np.int64(0)
    for bets in range(s.cap + 1):
        if (s.line[PREFLOP, bets] >> np.uint32(2 * seat)) & np.uint32(3):
            met |= np.int64(1) << bets
    return met


@helper
def like_before(trial: Any, met: Any) -> Any:
    """The first class that answered all it was asked as this one would; if none did, this one."""
    for other in range(trial):
        same = True
        for bets in range(1, ANSWERS.shape[1] + 1):
            if (met[other] >> bets) & 1 and ANSWERS[other, bets - 1] != ANSWERS[trial, bets - 1]:
                same = False
        if same:
            return other
    return trial


@helper
def try_classes(room: Any, table: Any, place: Any, seat: Any, at: Any, met: Any, by_class: Any) -> None:
    """Adds what each class would have brought for a starting hand, entry `at` of the player's classes."""
    usual, brought = table.rivals.classes[at], ahead(by_class, ALL_CLASSES * at)
    for trial in range(ALL_CLASSES):
        like = like_before(trial, met)
        if like == trial:
            table.rivals.classes[at] = trial
            met[trial] = bets_met(open_hand(room, table, place), seat)
            table.payoffs[SEATS + trial] = what_comes(room, table, place, seat)
        else:
            met[trial], table.payoffs[SEATS + trial] = met[like], table.payoffs[SEATS + like]
        brought[trial] += table.payoffs[SEATS + trial]
    table.rivals.classes[at] = usual


@helper
def try_moves(state: Any, other: Any, size: int, table: Any, place: Any, seat: Any, moves: Any, times: Any) -> None:
    """Adds what each move would have brought, where it is that seat's turn."""
    s = view(state)
    gene, strength = situation(s, table.deals, table.rivals, place)
    d = merit(strength, pot_of(s), np.int64(s.price - s.paid[seat]))
    case = gene * BINS + np.int64(np.ceil(d / WIDTH))
    times[case] += 1
    for wanted in range(MOVES):
        copy_state(other, state, size)
        t = view(other)
        act(t, allowed(t, seat, wanted))
        moves[case * MOVES + wanted] += what_comes(other, table, place, seat)


@kernel(
    types.void(
        *(RULEBOOK, DOUBLES, DEALS, RIVALS, CHARS, types.uint8[:, ::1], WORDS, types.float64),
        *(DOUBLES, DOUBLES, DOUBLES, DOUBLES),
    )
)
def _look_back(
    rulebook: Any, params: Any, deals_: Any, rivals_: Any, chromosome: Any, room: Any, words: Any, explore: float,
    moves: Any, times: Any, by_class: Any, dealt: Any,
) -> None:  # fmt: skip
    """Adds what moves and classes brought.

    room: [2, state]. explore: how often a hand goes on with any move, so that rare situations come up.
    """
    rules, deals, rivals = open_rules(rulebook), pointers(deals_), pointers(rivals_)
    used, payoffs = np.zeros(len(chromosome), np.int8), np.zeros(SEATS + ALL_CLASSES)
    met = np.zeros(ALL_CLASSES, np.int64)
    for hand in range(HANDS * (len(deals_.cards) // CARDS)):
        place = Place(hand // HANDS, hand % SEATS, hand // SEATS % SEATS)
        table = Table(
            rules, float64_ptr(params), deals, rivals, first_of(chromosome), first_of(used), float64_ptr(payoffs)
        )
        state, seat, rng = state_ptr(room[0]), (SEATS - place.moved) % SEATS, uint64_ptr(words)
        cards = ahead(deals.cards, place.number * CARDS + 2 * ((seat + place.turned) % SEATS))
        at = rivals.numbers[3 + 2 * seat] * STARTS + start_of(np.int64(cards[0]), np.int64(cards[1]))
        dealt[at] += 1
        try_classes(state, table, place, seat, at, first_of(met), first_of(by_class))
        s = open_hand(state, table, place)
        while s.mover != TERMINAL and (s.playing >> seat) & 1:
            if s.mover == CHANCE:
                deal(s, deals.cards[place.number * CARDS + 2 * SEATS + on_board(s)])
                continue
            move = move_of(s, deals, rivals, place, table.own, table.marks)
            if s.mover == seat:
                other = state_ptr(room[1])
                try_moves(state, other, room.shape[1], table, place, seat, first_of(moves), first_of(times))
                if uniform(rng) < explore:
                    move = allowed(s, seat, below(rng, MOVES))
            act(s, move)


def look_back(
    game: Game, deals: Deals, player: Chromosome, tables: Sequence[Sequence[Chromosome]], rng: Rng, *,
    explore: float = 0.1, threads: int = 1,
) -> list[Lessons]:  # fmt: skip
    """What a player can learn on these deals at each table of nine; it does not depend on the threads."""
    found = [Lessons.none(player.factors.genes) for _ in tables]

    def work(room: NDArray[np.uint8], i: int) -> None:
        rivals = rivals_of([*tables[i]], np.tile(np.arange(SEATS - 1), (deals.n, 1)), player.classes)
        _look_back(
            game.rulebook, game.params, deals, rivals, player.thresholds.reshape(-1), room,
            rng.spawn("table", i).words, explore, *(part.reshape(-1) for part in found[i]),
        )  # fmt: skip

    share_out(work, [np.zeros((2, game.size), dtype=np.uint8) for _ in range(threads)], range(len(tables)))
    return found


KIN = (20.0, 5.0)  # decisions of one's own that all kin count as: by position, and by the bets of the street before too


def mend(player: Chromosome, lessons: Lessons, *, caution: float = 0.0, calls: float = 0.0) -> Chromosome:
    """The player with the thresholds and classes that would have won most; what never came up stays as it was.

    :param caution: chips by which a starting hand must be better played than folded.
    :param calls: chips by which a call must be better than a raise or a fold; a check is free.
    """
    moves = lessons.moves.copy()
    moves[:, :, CALL] -= calls * lessons.times
    kin = _kin(player, lessons._replace(moves=moves))
    heard = kin.sum(axis=(1, 2)) != 0
    best = best_thresholds(kin)
    thresholds = np.where(heard[:, None], best, player.thresholds).astype(np.int8)
    brought = lessons.classes.copy()
    brought[:, :, FOLDS] += caution * lessons.dealt
    classes = np.where(lessons.dealt > 0, brought.argmax(axis=2), player.classes).astype(np.uint8)
    return replace(player, thresholds=np.ascontiguousarray(thresholds), classes=classes)


def _kin(player: Chromosome, lessons: Lessons) -> NDArray[np.float64]:
    """[genes, merits, moves] payoffs, where those of kin count as so many decisions."""
    factors = player.factors
    shape = (len(CATEGORIES), factors.positions, BETTING, LEFT if factors.left else 1)
    moves, times = lessons.moves.reshape(*shape, BINS, MOVES), lessons.times.reshape(*shape, BINS)
    total = moves.copy()
    by_position, times_there = moves.sum(axis=1, keepdims=True), times.sum(axis=(1, -1), keepdims=True)[..., None]
    total += KIN[0] * by_position / np.maximum(times_there, 1)
    street = np.searchsorted(BETTING_BEGINS[1:], np.arange(BETTING), side="right")
    group = street * BETS + np.arange(BETTING) % BETS
    for which in np.unique(group):
        members = np.flatnonzero(group == which)
        all_moves = by_position[:, :, members].sum(axis=2, keepdims=True)
        all_times = times_there[:, :, members].sum(axis=2, keepdims=True)
        total[:, :, members] += KIN[1] * all_moves / np.maximum(all_times, 1)
    return total.reshape(factors.genes, BINS, MOVES)


def best_thresholds(payoffs: NDArray[np.float64]) -> NDArray[np.float64]:
    """[genes, 2] the pairs that win most: above the first raise, above the second call, else fold.

    payoffs: [genes, merits, moves]. The highest merits always raise: no threshold is 100.
    """
    sums = np.zeros_like(payoffs)
    sums[:, 1:] = payoffs[:, :-1].cumsum(axis=1)  # [genes, k, move]: that move at all merits below the k-th
    lower = sums[:, :, FOLD] - sums[:, :, CALL]  # fold below k, call from there on
    best_lower = np.maximum.accumulate(lower, axis=1)
    upper = sums[:, :, CALL] - sums[:, :, RAISE]
    k1 = np.argmax(best_lower + upper, axis=1)
    reach = np.where(np.arange(BINS) <= k1[:, None], lower, -np.inf)
    k2 = reach.argmax(axis=1)
    return np.stack([_threshold(k1), _threshold(k2)], axis=1)


def _threshold(k: NDArray[np.int64]) -> NDArray[np.int64]:
    """What parts the merits below the k-th from the others."""
    return np.where(k == 0, -MOST, WIDTH * (k - 1))
