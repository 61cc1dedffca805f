"""A player who goes by rules: the habits of somebody who has played Dou Dizhu for a while.

It counts the fewest moves that empty what a move would leave of its hand, and weighs with that what else is known at a
table: keep jokers, twos and bombs; lead long and low; leave the partner his trick; stop an opponent who has a card or
two left; finish. Every habit is a number of `HABITS`, in moves: so much sooner would the hand have to be empty to make
up for it.
"""

from typing import Any

import numpy as np
from numba import carray

from tapete.core.compile import helper
from tapete.core.evaluator import Evaluator, evaluator, states_at
from tapete.games.doudizhu.auction import wanted_bid
from tapete.games.doudizhu.cards import CHAINABLE, DECK, JOKERS, above, at_least, count, size
from tapete.games.doudizhu.fewest import fewest, ranks_in
from tapete.games.doudizhu.moves import (
    BOMB,
    CARDS,
    FOUR_PAIRS,
    FOUR_SOLOS,
    KIND,
    LENGTH,
    MOVES,
    NOTHING,
    PAIR,
    PAIRS,
    PASS,
    RANK,
    SOLO,
    STRAIGHT,
)
from tapete.games.doudizhu.table import IN_HANDS, view

HABITS = np.dtype(
    [
        ("ace", "f4"),  # kept in hand; so are the next three
        ("two", "f4"),
        ("black", "f4"),
        ("red", "f4"),
        ("bomb", "f4"),  # a bomb or the rocket kept in one piece
        ("king", "f4"),
        ("lead", "f4"),  # to play what nobody beats, and lead next
        ("low", "f4"),  # a rank lower
        ("long", "f4"),  # a card more in a move that is led
        ("partner", "f4"),  # to leave the trick to the partner
        ("block", "f4"),  # to raise what the partner led low, before the landlord
        ("stop", "f4"),  # not to pass on a move of an opponent with one card left, half of that with two, and so on
        ("solo", "f4"),  # not to play a solo that an opponent with one card left may beat, nor a pair with two
        ("feed", "f4"),  # to lead what a partner with one or two cards left may finish on
        ("spread", "f4"),  # of a landlord's opponents: how likely one of them holds a card that nobody has seen
        ("bid", "f4"),  # in an auction, stakes that are added to what it expects as landlord (`auction.py`)
    ]
)
USUAL = (0.217, 0.492, 1.284, 0.686, 0.0, 0.093, 0.002, 0.034, 0.0, 0.552, 0.581, 5.736, 3.0, 1.876, 0.8, 0.0)
WON = np.float32(100.0)


@helper
def kept(cards: Any, habits: Any) -> Any:
    """What high cards and bombs in hand are worth."""
    _, _, _, fours = at_least(cards)
    bombs = ranks_in(fours) + (cards & JOKERS == JOKERS)
    worth = habits.king * count(cards, 10) + habits.ace * count(cards, 11) + habits.two * count(cards, 12)
    return worth + habits.black * count(cards, 13) + habits.red * count(cards, 14) + habits.bomb * bombs


@helper
def answers_to(action: Any, cards: Any) -> Any:
    """How many ranks of a move of the same kind beat it, if all these cards were in one hand; bombs aside."""
    kind, length, rank = KIND[action], LENGTH[action], RANK[action]
    ones, twos, threes, fours = at_least(cards)
    if kind >= BOMB:
        return ranks_in(above(fours, rank)) if kind == BOMB else 0
    if kind in (SOLO, STRAIGHT):
        mask = ones
    elif kind in (PAIR, PAIRS):
        mask = twos
    elif kind in (FOUR_SOLOS, FOUR_PAIRS):
        mask = fours
    else:
        mask = threes
    starts = mask
    if length > 1:
        mask &= CHAINABLE
        for i in range(1, length):
            starts &= mask >> np.uint64(4 * i)
    return ranks_in(above(starts, rank))


@helper
def stands(action: Any, unseen: Any, share: Any) -> Any:
    """How likely nobody beats a move, if each card that nobody has seen is held by an opponent with this chance."""
    body = LENGTH[action] * max(1, min(np.int64(KIND[action]), 3))
    return (1.0 - share**body) ** answers_to(action, unseen)


@helper
def judge(s: Any, seat: Any, action: Any, habits: Any) -> Any:
    """What a move is worth to the one who is to make it, in moves."""
    landlord = np.int64(s.landlord)
    mate = 3 - landlord - seat if seat != landlord else -1
    hand, cards = s.hand[seat], CARDS[action]
    rest = hand - cards
    if not rest:
        return WON
    unseen = DECK - hand - s.played[0] - s.played[1] - s.played[2]
    if seat == landlord:
        nearest = min(size(s.hand[(seat + 1) % 3]), size(s.hand[(seat + 2) % 3]))
        share = habits.spread
    else:
        nearest = size(s.hand[landlord])
        share = np.float32(nearest / size(unseen))
    needed = fewest(rest)
    worth = kept(rest, habits) - np.float32(needed)
    owner = (seat + 2 - s.passes) % 3  # of the move to beat
    if action == PASS:
        if owner == mate:
            return worth + habits.partner
        return worth - habits.stop / np.float32(size(s.hand[owner]))
    safe = stands(action, unseen, share)
    if needed == 1 and safe == 1.0:
        return WON - np.float32(1)
    worth += habits.lead * safe
    kind = KIND[action]
    if kind <= PAIR and kind == nearest:
        worth -= habits.solo * (1.0 - safe)
    if s.kind == NOTHING:
        worth += habits.long * size(cards) - habits.low * RANK[action]
        if mate >= 0 and kind <= PAIR and size(s.hand[mate]) == kind:
            worth += habits.feed * (1.0 - habits.low * RANK[action])
    elif owner == mate and (seat + 1) % 3 == landlord and s.rank < 8:
        worth += habits.block * (s.rank < RANK[action] and kind < BOMB)
    return worth


@evaluator
def _evaluate(
    rulebook: Any, state: Any, seat: int, legal: Any, n: int, model: Any, rng: Any, values: Any, priors: Any
) -> None:
    s = view(state)
    habits = carray(states_at(model[0]), (1,), HABITS)[0]
    wanted = wanted_bid(s.hand[seat], s.bid, habits.bid) if s.dealt == IN_HANDS else 0
    best, most = 0, np.float32(-np.inf)
    for i in range(n):
        if s.dealt == IN_HANDS:
            bid = 0 if legal[i] == PASS else legal[i] - MOVES + 1
            worth = np.float32(bid == wanted)
        else:
            worth = judge(s, seat, legal[i], habits)
        if worth > most:
            best, most = i, np.float32(worth)
        priors[i] = 0.0
    if n > 0:
        priors[best] = 1.0


def player(habits: tuple[float, ...] = USUAL, boldness: float = 0.0) -> Evaluator:
    """Makes the move that its habits rate highest, of equals the first.

    boldness: stakes that it expects as landlord beyond what the model says: a large number always bids, a large
        negative one never does.
    """
    known = np.array([habits], dtype=HABITS)
    known["bid"] += boldness
    return Evaluator(_evaluate, (known,), priors=True, values=False)
