"""Hands after the flop as trees: all that an individual may do, and what its opponents answer.

In a contest only the individual changes. Cards and opponents of a hand stay, so what comes of the hand depends on the
individual's moves alone: after its three moves at a decision, the opponents play on by their genes to its next decision
or to the end. Such a tree is grown once, by playing out every line, and then any number of individuals find their way
through it: a decision is a look at one gene, and at the end lie the payoffs of all ten.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import BYTES, INTS, LONGS, ahead, first_of, float64_ptr, helper, kernel, state_ptr
from tapete.core.contract import RULEBOOK, TERMINAL, open_rules
from tapete.core.game import Game
from tapete.core.players import share_out
from tapete.core.records import copy_state, pointers
from tapete.games.holdem.chromosome import betting_of, gene_at, merit, wish
from tapete.games.holdem.deals import CHARS, DEALS, SEATS, STREETS, Deals
from tapete.games.holdem.rivals import INDIVIDUAL, NEVER, RIVALS, Place, Rivals, opponent_of
from tapete.games.holdem.rules import BET_SIZES, CALL, FLOP, FOLD, RAISE, lowest, next_seat, view
from tapete.games.holdem.strength import MOST_OPPONENTS

MOVES = 3
NODE = 1 + MOVES  # numbers of a node: gene and merit, and where each move leads
MERITS = 256  # a node's first number is MERITS * gene + merit
CHUNK = 256  # hands whose trees are grown in one go
ROOM = 128  # nodes and ends a hand for which there is space at first
WAITING = 64  # moves that are still to be tried; a hand has at most a dozen decisions on one line
CENTS = 100.0  # of a chip; payoffs are whole cents


class Trees(NamedTuple):
    """The trees of hands, flat, as kernels take them.

    A move leads to a node of the same hand, counted from the hand's first, or below 0 to an end: -1 is its first end.
    """

    nodes: NDArray[np.int32]  # [nodes, 4]
    ends: NDArray[np.int32]  # [ends, 10] payoffs in cents, the individual's first
    first_nodes: NDArray[np.int64]  # [hands]
    first_ends: NDArray[np.int64]  # [hands]
    numbers: NDArray[np.int64]  # [hands] of their deals; hands of a deal lie together


TREES = types.NamedTuple([INTS, INTS, LONGS, LONGS, LONGS], Trees)

BETTING = np.dtype(
    [
        ("street", "i8"),
        ("bets", "i8"),  # on this street
        ("before", "i8"),  # on the one before it
        ("playing", "i8"),  # seats that haven't folded, as bits
        ("active", "i8"),  # how many those are
        ("waiting", "i8"),  # who still has to act on this street
        ("seat", "i8"),  # whose turn it is
        ("price", "i8"),
        ("pot", "i8"),
        ("paid", "i8", (SEATS,)),
        ("move", "i8"),  # the individual's, which is still to be made; -1: none
        ("node", "i8"),  # the decision at which it is made
        ("wishes", "i8"),  # all wishes that come to this move, as bits
    ]
)


@helper
def open_betting(b: Any, s: Any) -> None:
    """Takes over a hand whose flop is to be dealt."""
    b.street, b.bets, b.before, b.pot = FLOP, 0, s.bets, 0
    b.playing, b.active, b.waiting, b.price = s.playing, s.active, s.active, s.price
    for seat in range(SEATS):
        b.paid[seat] = s.paid[seat]
        b.pot += s.paid[seat]
    b.seat, b.move = lowest(s.playing), -1


@helper
def bet(b: Any, cap: Any, wanted: Any) -> None:
    """A move of whose turn it is. Nobody folds for nothing, and who can't raise any more calls."""
    seat = b.seat
    b.waiting -= 1
    if wanted == FOLD and b.price > b.paid[seat]:
        b.playing ^= np.int64(1) << seat
        b.active -= 1
    else:
        if wanted == RAISE and b.bets < cap:
            b.bets += 1
            b.price += BET_SIZES[b.street]
            b.waiting = b.active - 1
        b.pot += b.price - b.paid[seat]
        b.paid[seat] = b.price
    b.seat = next_seat(b.playing, seat)
    if b.waiting == 0:
        b.street += 1
        b.before, b.bets, b.waiting, b.seat = b.bets, 0, b.active, lowest(b.playing)


@helper
def play_on_to_decision(b: Any, cap: Any, deals: Any, rivals: Any, place: Any) -> Any:
    """Lets opponents play until the individual is asked, and gives gene and merit; -1 at the end of the hand."""
    while b.street < NEVER and b.active > 1:
        seat = b.seat
        at = (place.number * SEATS + (seat + place.turned) % SEATS) * STREETS + b.street - FLOP
        strength, owed = deals.strengths[at * MOST_OPPONENTS + b.active - 2], b.price - b.paid[seat]
        betting, position = betting_of(b.street, b.before, b.bets), rivals.numbers[2 + 2 * seat]
        gene = gene_at(np.int64(deals.categories[at]), position, betting, b.active, rivals.numbers)
        opponent = opponent_of(rivals, place, seat)
        if opponent < 0:
            # Thresholds are whole numbers, so a merit is above one if the next whole number is.
            return MERITS * gene + np.int64(np.ceil(merit(strength, b.pot, owed)))
        genes = ahead(rivals.thresholds, opponent * rivals.chromosome + 2 * gene)
        bet(b, cap, wish(strength, b.pot, owed, genes[0], genes[1]))
    return np.int64(-1)


@helper
def branch(b: Any, cap: Any, node: Any, stack: Any, top: Any) -> Any:
    """Notes the moves that are to be tried at a decision; how many there are now."""
    folds, raises = b.price > b.paid[b.seat], b.bets < cap
    b.node = node
    for move in range(MOVES):
        if (move == FOLD and not folds) or (move == RAISE and not raises):
            continue
        b.move, b.wishes = move, 1 << move
        if move == CALL:
            b.wishes |= (0 if folds else 1 << FOLD) | (0 if raises else 1 << RAISE)
        stack[top] = b
        top += 1
    return top


@helper
def settle(rules: Any, state: Any, b: Any, place: Any, payoffs: Any, end: Any) -> None:
    """What all have won at the end of a line, in cents; the state is the hand's, and good for its payoffs only."""
    s = view(state)
    for seat in range(SEATS):
        s.paid[seat] = b.paid[seat]
    s.playing, s.active, s.mover = b.playing, b.active, TERMINAL
    rules.returns(state, payoffs)
    for seat in range(SEATS):
        end[(seat + place.moved) % SEATS] = np.int32(np.rint(CENTS * payoffs[seat]))


@kernel(
    types.int64(
        *(RULEBOOK, DEALS, RIVALS, types.uint8[:, ::1], types.int64[:, ::1], BYTES, types.int64),
        *(INTS, INTS, LONGS, LONGS),
    )
)
def _grow(
    rulebook: Any, deals_: Any, rivals_: Any, states: Any, places: Any, room: Any, first: int,
    nodes: Any, ends: Any, first_nodes: Any, first_ends: Any,
) -> int:  # fmt: skip
    """Grows the trees of hands from the first one on; the hand for which there was no more space, or how many.

    first_nodes, first_ends: [hands + 1], filled up to the first hand.
    """
    rules, deals, rivals = open_rules(rulebook), pointers(deals_), pointers(rivals_)
    stack, payoffs, state = np.zeros(WAITING, BETTING), np.zeros(SEATS), state_ptr(room)
    lines = np.zeros(1, BETTING)
    b = lines[0]
    for hand in range(first, len(places)):
        place = Place(places[hand, 0], places[hand, 1], places[hand, 2])
        copy_state(state, state_ptr(states[hand]), len(room))
        begin, node, end = first_nodes[hand], first_nodes[hand], first_ends[hand]
        cap = np.int64(view(state).cap)
        open_betting(b, view(state))
        stack[0], top = b, 1
        while top > 0:
            top -= 1
            lines[0] = stack[top]
            if NODE * (node + 1) > len(nodes) or SEATS * (end + 1) > len(ends):
                return hand
            parent, wishes, to = b.node, b.wishes if b.move >= 0 else 0, node - begin
            if b.move >= 0:
                bet(b, cap, b.move)
            asked = play_on_to_decision(b, cap, deals, rivals, place)
            if asked >= 0:
                nodes[NODE * node] = asked
                top = branch(b, cap, node, stack, top)
                node += 1
            else:
                settle(rules, state, b, place, float64_ptr(payoffs), ahead(first_of(ends), SEATS * end))
                to = first_ends[hand] - end - 1
                end += 1
            for move in range(MOVES):
                if (wishes >> move) & 1:
                    nodes[NODE * parent + 1 + move] = to
        first_nodes[hand + 1], first_ends[hand + 1] = node, end
    return len(places)


def grow(
    game: Game, deals: Deals, rivals: Rivals, states: NDArray[np.uint8], places: NDArray[np.int64], *, threads: int = 1
) -> Trees:
    """The trees of opened hands; they do not depend on the threads."""
    starts = range(0, len(places), CHUNK)
    grown: dict[int, list[NDArray[Any]]] = {}

    def work(room: NDArray[np.uint8], start: int) -> None:
        part = slice(start, start + CHUNK)
        hands = len(places[part])
        nodes, ends = np.zeros(NODE * ROOM * hands, dtype=np.int32), np.zeros(SEATS * ROOM * hands, dtype=np.int32)
        first_nodes, first_ends, done = np.zeros(hands + 1, dtype=np.int64), np.zeros(hands + 1, dtype=np.int64), 0
        while True:
            done = _grow(
                game.rulebook, deals, rivals, states[part], places[part], room, done,
                nodes, ends, first_nodes, first_ends,
            )  # fmt: skip
            if done == hands:
                break
            nodes, ends = np.concatenate([nodes, nodes]), np.concatenate([ends, ends])
        grown[start] = [nodes[: NODE * first_nodes[-1]], ends[: SEATS * first_ends[-1]], first_nodes, first_ends]

    share_out(work, [np.zeros(game.size, dtype=np.uint8) for _ in range(threads)], starts)
    parts = [grown[start] for start in starts]
    nodes, ends = (np.concatenate([part[i] for part in parts] or [np.zeros(0, dtype=np.int32)]) for i in (0, 1))
    first_nodes, first_ends = (_one_after_another([part[i] for part in parts]) for i in (2, 3))
    return Trees(nodes, ends, first_nodes, first_ends, np.ascontiguousarray(places[:, 0]))


def _one_after_another(firsts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Where hands begin if parts lie one after another; the last number of a part is how much it has."""
    begins = np.cumsum([0, *(part[-1] for part in firsts)])
    return np.concatenate(
        [np.zeros(0, dtype=np.int64), *(part[:-1] + begin for part, begin in zip(firsts, begins, strict=False))]
    )


@helper
def find_way(trees: Any, hand: Any, chromosomes: Any, used: Any, i: Any, n: Any) -> Any:
    """The end at which an individual arrives; its genes that decide are marked."""
    begin, to = trees.first_nodes[hand], np.int64(0)
    while to >= 0:
        node = ahead(trees.nodes, NODE * (begin + to))
        at, worth = np.int64(node[0] // MERITS) * n + i, np.int64(node[0] % MERITS)
        used[at] = 1
        move = RAISE if worth > chromosomes[2 * at] else CALL if worth > chromosomes[2 * at + 1] else FOLD
        to = np.int64(node[1 + move])
    return trees.first_ends[hand] - 1 - to


@helper
def pay_out(won: Any, lineup: Any, own: Any, others: Any) -> None:
    """Adds what the players of a table have won on a deal to what each has won in all, and forgets it."""
    own[0] += won[INDIVIDUAL]
    for who in range(1, SEATS):
        others[lineup[who - 1]] += won[who]
    for who in range(SEATS):
        won[who] = 0


@kernel(types.void(TREES, RIVALS, CHARS, CHARS, types.int64[:, ::1], types.int64[:, ::1]))
def walk(trees_: Any, rivals_: Any, chromosomes: Any, used: Any, own: Any, others: Any) -> None:
    """Lets n individuals find their ways; adds to `own` [n, deals] and `others` [n, opponents] in cents.

    chromosomes: [genes, n, 2] and used: [genes, n], flat. All pass through one tree before the next one, and ask the
    same genes there, so that trees and genes are near.
    """
    trees, rivals, n, hands = pointers(trees_), pointers(rivals_), len(own), len(trees_.numbers)
    won = np.zeros(n * SEATS, dtype=np.int32)
    for hand in range(hands):
        number = trees.numbers[hand]
        for i in range(n):
            end = ahead(trees.ends, SEATS * find_way(trees, hand, first_of(chromosomes), first_of(used), i, n))
            sums = ahead(first_of(won), SEATS * i)
            for who in range(SEATS):
                sums[who] += end[who]
        if hand + 1 == hands or trees.numbers[hand + 1] != number:
            lineup = ahead(rivals.lineups, number * (SEATS - 1))
            for i in range(n):
                sums = ahead(first_of(won), SEATS * i)
                pay_out(sums, lineup, ahead(first_of(own[i]), number), first_of(others[i]))
