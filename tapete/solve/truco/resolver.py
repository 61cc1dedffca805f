"""Truco re-solved at play: the blueprint in the first trick, and then the rest of the hand itself.

Where the second trick begins, both ranges are taken as the moves so far tell, and the rest of the hand is solved
(`rest_cfr.py`). All of it is public, so that a seat has one solution in a public state, whoever holds what: a player
who is asked about another hand there, or about a later move, has the answer already. If somebody who errs may sit
opposite (`strangers.py`), each seat has a solution of its own; else one serves both. Going to the mazo is never better
than playing on and declining, and is left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.cpython.unsafe.numbers import trailing_zeros
from numpy.typing import NDArray

from tapete.core.compile import ahead, helper
from tapete.core.contract import open_rules
from tapete.core.evaluator import Evaluator, bytes_at, doubles_at, evaluator, floats_at, ints_at, states_at, words_at
from tapete.core.records import at, copy_state, opener
from tapete.games.truco.bets import MAZO, NO_QUIERO, QUIERO, RAISE
from tapete.games.truco.cards import CARDS, STRENGTH
from tapete.games.truco.moves import STATE, TIE, bit, cards_laid, view
from tapete.solve.truco.knowledge import Knowledge
from tapete.solve.truco.player import PROBS, look_up, open_knowledge, stand_up
from tapete.solve.truco.ranges import (
    LONGEST,
    MOST,
    RANGES,
    Ranges,
    chance_after,
    copy_ranges,
    doubted,
    expect_any,
    key_of,
    moves_of,
    moves_until,
    rescale,
    rewind,
    worth_after,
)
from tapete.solve.truco.rest import (
    ANSWER,
    CALL,
    CHOICE,
    FOLD,
    HIGH,
    LANES,
    LAST,
    LED,
    LOW,
    ONWARD,
    PAIR_OF,
    PAIRS,
    PLAY,
    RAISE_ANSWER,
    RAISE_CHOICE,
    RAISE_TURN,
    RAISED,
    TO_LEAD,
    Rest,
    begin,
)
from tapete.solve.truco.rest_cfr import TREMBLE, open_planter, open_rest, open_solver, plant, share_of, solve
from tapete.solve.truco.rows import lack
from tapete.solve.truco.stages import may_raise
from tapete.solve.truco.strangers import let_in

open_ranges = opener(RANGES)

ROOT = 2  # cards on the table where the rest is solved
LAID_LAST = 5  # cards, when only the last is left
ALL_CARDS = (1 << CARDS) - 1
LEAST = 1e-20  # of a joint weight: two hands that may meet have a lane, however unlikely they are

# Where things are in the model, behind the blueprint.
_KNOBS = PROBS + 1  # [5] addresses of `plant` and `solve`; iterations; whether the first trick is weighed; the pack
_STRANGER = _KNOBS + 1  # what he does, in 255ths
_ODDS = _STRANGER + 1  # [1] that it is he who sits there, before a card is played
_PAST, _MOVES, _LEGAL, _PRIORS, _TYPES, _LIKELY = range(_ODDS + 1, _ODDS + 7)
_SPARE = _LIKELY + 1  # ranges of where the last card is
_SOLVED = _SPARE + len(Ranges._fields)  # ranges of where the second trick began, and the rest; twice
_REST = len(Ranges._fields)  # in there
_SIZE = _REST + len(Rest._fields)
_BYTES = STATE.itemsize


@helper
def rank_of(cards: Any) -> int:
    """The strength of the first card of a set."""
    return int(STRENGTH[trailing_zeros(cards)])


@helper
def type_of(cards: Any) -> int:
    """The type of one or two cards."""
    others = cards & (cards - np.uint64(1))
    return rank_of(cards) if not others else int(PAIR_OF[rank_of(cards), rank_of(others)])


@helper
def action_by(node: Any, move: int, cards: Any) -> int:
    """Which action of the node a move is for who holds these cards."""
    if node.kind == ANSWER:
        if move == RAISE:
            return RAISE_ANSWER
        return CALL if move == QUIERO else FOLD
    if node.kind != CHOICE:
        return RAISE_TURN if move == RAISE else PLAY
    if move == RAISE:
        return RAISE_CHOICE
    return LOW if STRENGTH[move] <= rank_of(cards & ~bit(move)) else HIGH


@helper
def is_first_of_equals(move: int, cards: Any) -> bool:
    """Whether no card before it in the deck is as strong: of equal ones, that one is played."""
    while cards:
        card = np.int64(trailing_zeros(cards))
        if STRENGTH[card] == STRENGTH[move]:
            return bool(card == move)
        cards &= cards - np.uint64(1)
    return True


# From the root to where the hand is


@helper
def lane_after(rest: Any, node: Any, move: int, lane: int) -> int:
    """The lane after a card of two that leads to the next stage."""
    stage, rank = int(node.stage) + 1, int(STRENGTH[move])
    for i in range(at(rest.stages, stage).lanes):
        place = stage * LANES + i
        if rest.above[place] == lane and (rest.led[place] if stage == LED else rest.followed[place]) == rank:
            return i
    return 0


@helper
def learn_move(rest: Any, node: Any, lane: int, move: int, laid: Any, ranges: Any) -> None:
    """Weighs the mover's hands by how likely he makes this move with them."""
    seat = int(node.mover)
    for i in range(seat * MOST, seat * MOST + ranges.counts[seat]):
        cards = ranges.hands[i] & ~laid
        if move < CARDS and not cards & bit(move):
            ranges.weights[i] = 0.0
        elif node.kind != LAST:
            share = share_of(rest, node, type_of(cards), lane, action_by(node, move, cards), 0.0)
            if move < CARDS and not is_first_of_equals(move, cards):
                share = 0.0
            ranges.weights[i] *= doubted(share, int(node.actions))
    rescale(ranges, seat)


@helper
def trace(rest: Any, moves: Any, first: int, until: int, ranges: Any, learns: bool) -> tuple[int, int]:
    """The node and the lane after these moves from the root; with `learns`, ranges are weighed by them."""
    number = lane = 0
    laid = laid_after(moves, first)
    for i in range(first, until):
        node, move = at(rest.nodes, number), int(moves[i])
        if learns:
            learn_move(rest, node, lane, move, laid, ranges)
        if node.kind == LAST:
            break
        if move < CARDS:
            laid |= bit(move)
        if node.kind != CHOICE:
            number = int(node.children[action_by(node, move, np.uint64(0))])
        elif move == RAISE:
            number = int(node.children[RAISED])
        else:
            lane = lane_after(rest, node, move, lane)
            number = int(node.children[ONWARD])
    return number, lane


@helper
def laid_after(moves: Any, n: int) -> Any:
    """The cards that lie there after the first n moves."""
    laid = np.uint64(0)
    for i in range(n):
        if moves[i] < CARDS:
            laid |= bit(int(moves[i]))
    return laid


# Solving where the second trick begins


@helper
def weigh_moves(
    book: Any, state: Any, model: Any, probs: Any, moves: Any, until: int, seat: int, ranges: Any, weights: Any
) -> None:
    """Weighs the hands of a seat by how likely a strategy makes his moves of this hand, as far as `until`."""
    rules, known, s = open_rules(book), open_knowledge(model), view(state)
    past, legal, priors = states_at(model[_PAST]), ints_at(model[_LEGAL]), floats_at(model[_PRIORS])
    copy_state(past, state, _BYTES)
    p = view(past)
    rewind(s, p)
    true = p.hand[seat]
    for i in range(until):
        move = int(moves[i])
        for j in range(ranges.counts[seat] if p.mover == seat else 0):
            p.hand[seat] = ranges.hands[seat * MOST + j]
            n = rules.actions(past, legal)
            look_up(known, probs, p, seat, legal, n, priors)
            for k in range(n):
                if legal[k] == move:
                    weights[j] *= doubted(float(priors[k]), n)
        p.hand[seat] = true
        rules.apply(past, move)


@helper
def weigh_first_trick(book: Any, state: Any, model: Any, moves: Any, until: int, seat: int, ranges: Any) -> None:
    """Weighs both ranges by how the blueprint would have played the first trick, and that of a stranger opposite."""
    for each in range(2):
        weights = ahead(ranges.weights, each * MOST)
        weigh_moves(book, state, model, bytes_at(model[PROBS]), moves, until, each, ranges, weights)
    other = 1 - seat
    odds, total = doubles_at(model[_ODDS])[0], 0.0
    for i in range(ranges.counts[other]):
        ranges.strange[i] = odds
        total += ranges.weights[other * MOST + i]
    if odds > 0.0:
        weigh_moves(book, state, model, bytes_at(model[_STRANGER]), moves, until, other, ranges, ranges.strange)
    for i in range(ranges.counts[other]):
        ranges.strange[i] /= total
    for each in range(2):
        rescale(ranges, each)


@helper
def join(rest: Any, ranges: Any, laid: Any, types: Any) -> None:
    """The joint weights of the types at the root, over all pairs of hands that have no card in common."""
    count, total = int(ranges.counts[1]), 0.0
    rows = ahead(rest.weights, at(rest.stages, TO_LEAD).weights[1])
    for j in range(count):
        types[j] = type_of(ranges.hands[MOST + j] & ~laid)
    for i in range(ranges.counts[0]):
        hand, weight = ranges.hands[i], ranges.weights[i]
        row = ahead(rows, type_of(hand & ~laid) * PAIRS)
        for j in range(count):
            if not hand & ranges.hands[MOST + j]:
                both = max(weight * ranges.weights[MOST + j], LEAST)
                row[types[j]] += np.float32(both)
                total += both
    for i in range(PAIRS * PAIRS):
        rows[i] /= np.float32(total)


@helper
def expect_stranger(rest: Any, state: Any, model: Any, seat: int, ranges: Any, laid: Any) -> None:
    """Lets him in, as likely for each type as its hands make him."""
    likely, usual = doubles_at(model[_LIKELY]), ahead(doubles_at(model[_LIKELY]), PAIRS)
    for i in range(PAIRS):
        likely[i] = usual[i] = 0.0
    for i in range(ranges.counts[seat]):
        kind = type_of(ranges.hands[seat * MOST + i] & ~laid)
        likely[kind] += ranges.strange[i]
        usual[kind] += ranges.weights[seat * MOST + i]
    for i in range(PAIRS):
        likely[i] /= max(usual[i], LEAST)
    past = states_at(model[_PAST])
    copy_state(past, state, _BYTES)
    let_in(rest, view(past), open_knowledge(model), bytes_at(model[_STRANGER]), seat, likely)


@helper
def prepare(book: Any, state: Any, model: Any, solved: Any, moves: Any, until: int, seat: int) -> None:
    """Solves the rest of the hand from where the second trick began, unless that is what was solved last.

    Who may meet a stranger solves it for his own seat.
    """
    s, knobs, meets = view(state), words_at(model[_KNOBS]), doubles_at(model[_ODDS])[0] > 0.0
    ranges, rest, key = open_ranges(solved), open_rest(ahead(solved, _REST)), key_of(s, moves, until)
    if ranges.key[0] == key:
        return
    ranges.key[0] = key
    expect_any(s, knobs[4], ranges)
    if knobs[3]:
        weigh_first_trick(book, state, model, moves, until, seat, ranges)
    begin(rest)
    laid = laid_after(moves, until)
    join(rest, ranges, laid, ints_at(model[_TYPES]))
    for winner in range(2):
        for level in range(1, 6):
            rest.stakes[6 * winner + level] = chance_after(s, winner, level)
    level, holder = worth_after(moves, until)
    first, words = int(s.winner[0]), ahead(solved, _REST)
    open_planter(knobs[0])(words, first, int(s.leader[1]), level, holder)
    if meets:
        expect_stranger(rest, state, model, 1 - seat, ranges, laid)
    open_solver(knobs[1])(words, first, int(s.mano) if first == TIE else first, np.int64(knobs[2]))


# Deciding


@helper
def bluff(s: Any, won: float, lost: float) -> tuple[float, float]:
    """How often the follower of the last trick bluffs with a losing card, and how often the leader calls.

    `won` and `lost` are how likely the follower holds a winning and a losing card; see `last_stakes`.
    """
    follower = 1 - int(s.leader[2])
    sign, level = 1.0 if follower == 0 else -1.0, int(s.level)
    wins, loses = sign * chance_after(s, follower, level), sign * chance_after(s, 1 - follower, level)
    more, less = sign * chance_after(s, follower, level + 1), sign * chance_after(s, 1 - follower, level + 1)
    threat, price = won * (more - wins), lost * (wins - less)
    if threat <= 0.0:
        return 0.0, 1.0
    if threat >= price:
        return 1.0, 0.0
    return threat / price, (wins - loses) / (wins - less)


@helper
def decide_last(s: Any, seat: int, ranges: Any, legal: Any, n: int, priors: Any) -> None:
    """The last card: the leader's lies there, all of his hand is known, and the follower knows whether he wins."""
    leader = int(s.leader[2])
    follower, card = 1 - leader, int(STRENGTH[s.table[4 + leader]])
    ties_to = int(s.mano) if s.winner[0] == TIE else int(s.winner[0])
    won = lost = 0.0
    for i in range(follower * MOST, follower * MOST + ranges.counts[follower]):
        hand = ranges.hands[i]
        if hand & s.hand[leader]:
            continue
        own = rank_of(hand & ~s.played)
        if own > card or (own == card and ties_to == follower):
            won += ranges.weights[i]
        else:
            lost += ranges.weights[i]
    bluffs, calls = bluff(s, won, lost)
    choice, other, share = QUIERO, NO_QUIERO, calls
    if seat == follower:
        own = rank_of(s.hand[seat] & ~s.played)
        wins = own > card or (own == card and ties_to == follower)
        gains = max(s.level, s.asked) < min(lack(s, seat), 4)  # by a raise, if he wins
        share = 1.0 if wins else 0.0
        if s.asked:
            choice = RAISE if wins and gains else QUIERO
        else:
            choice, other = RAISE, int(legal[0])
            share = (share if wins else bluffs) if gains and may_raise(s) else 0.0
    for i in range(n):
        move = int(legal[i])
        priors[i] = share if move == choice else 1.0 - share if move == other else 0.0


@helper
def decide(s: Any, seat: int, rest: Any, number: int, lane: int, legal: Any, n: int, priors: Any) -> None:
    """What the average strategy of a node says of the legal moves."""
    node, cards = at(rest.nodes, number), s.hand[seat] & ~s.played
    kind = type_of(cards)
    for i in range(n):
        move, priors[i] = int(legal[i]), 0.0
        if move == MAZO or (move < CARDS and not is_first_of_equals(move, cards)):
            continue
        if node.kind == LAST:
            priors[i] = 1.0
        else:
            priors[i] = share_of(rest, node, kind, lane, action_by(node, move, cards), TREMBLE)
    stand_up(s, seat, legal, n, priors)


@evaluator
def _resolve(
    rulebook: Any, state: Any, seat: int, legal: Any, n: int, model: Any, rng: Any, values: Any, priors: Any
) -> None:
    """The blueprint in the first trick; then what was solved."""
    s = view(state)
    if s.trick == 0:
        look_up(open_knowledge(model), bytes_at(model[PROBS]), s, seat, legal, n, priors)
        return
    moves, spare = ints_at(model[_MOVES]), open_ranges(ahead(model, _SPARE))
    solved = ahead(model, _SOLVED + (_SIZE * seat if doubles_at(model[_ODDS])[0] > 0.0 else 0))
    rest, done, is_last = open_rest(ahead(solved, _REST)), moves_of(s, moves), cards_laid(s) == LAID_LAST
    first = moves_until(moves, done, ROOT)
    prepare(rulebook, state, model, solved, moves, first, seat)
    if is_last:
        copy_ranges(open_ranges(solved), spare)
    number, lane = trace(rest, moves, first, done, spare, is_last)
    if is_last:
        decide_last(s, seat, spare, legal, n, priors)
    else:
        decide(s, seat, rest, number, lane, legal, n, priors)


def resolver(
    steps: NDArray[np.uint8],
    known: Knowledge,
    *,
    iterations: int,
    weighs: bool = True,
    pack: int = ALL_CARDS,
    stranger: NDArray[np.uint8] | None = None,
    odds: float = 0.0,
) -> Evaluator:
    """Plays the first trick by the weights of all choices, [PLACES] in 255ths, and solves the rest.

    :param weighs: whether ranges are what the blueprint would hold; else all hands that fit are equally likely.
    :param pack: the cards that are played with, as a set.
    :param stranger: a strategy that may sit opposite, and the `odds` that it does, when a hand begins.
    """
    knobs = np.array([plant.address, solve.address, iterations, weighs, pack], dtype=np.uint64)
    room: tuple[NDArray[Any], ...] = (np.zeros(STATE.itemsize, dtype=np.uint8),)
    room += np.zeros(2 * LONGEST, dtype=np.int32), np.zeros(8, dtype=np.int32)
    room += np.zeros(8, dtype=np.float32), np.zeros(MOST, dtype=np.int32)
    met = np.zeros(1, dtype=np.uint8) if stranger is None else stranger, np.array([0.0 if stranger is None else odds])
    room += (np.zeros(2 * PAIRS),)
    arrays: list[NDArray[Any]] = [*known, steps, knobs, *met, *room]
    arrays += Ranges.empty()
    for _ in range(2):
        arrays += [*Ranges.empty(), *Rest.empty()]
    return Evaluator(_resolve, tuple(arrays), priors=True, values=False)


def rest_of(player: Evaluator, seat: int) -> Rest:
    """What a `resolver` has solved last for a seat."""
    first = _SOLVED + _REST + (_SIZE * seat if player.arrays[_ODDS][0] > 0 else 0)
    return Rest(*player.arrays[first : first + len(Rest._fields)])
