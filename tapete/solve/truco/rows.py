"""Which row of a strategy a seat reads where it is to decide. What is looked at, and why, `abstraction.py` tells."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.cpython.unsafe.numbers import trailing_zeros

from tapete.core.compile import helper
from tapete.games.truco.bets import ENVIDO, NO_QUIERO
from tapete.games.truco.cards import CARDS, STRENGTH, VALUE
from tapete.games.truco.moves import CALL_BITS, NONE, TIE, envido_points
from tapete.solve.truco.abstraction import (
    ANSWER,
    ANSWER_AT,
    ANSWER_HOLDING_AT,
    ANSWER_LED_AT,
    ASKS,
    BET,
    BET_AT,
    BET_FOLLOWING_AT,
    BET_LEADING_AT,
    CALL,
    CALL_AT,
    CALL_LEVELS,
    CARD,
    ENDS,
    ENVIDO_CLASS,
    ENVIDOS,
    FIRST_ENDS,
    FIRST_LOOKS,
    FOLLOW_AT,
    FOLLOW_ENDS,
    HELD_ENDS,
    LEAD_AT,
    LED_ENDS,
    N_CHAINS,
    N_PAIRS,
    N_STANDINGS,
    N_TRIPLES,
    NEAR,
    RAISERS,
    REPLY,
    REPLY_AT,
    REPLY_LEVELS,
    SCORE_CLASS,
    SCORES,
    UNSHOWN,
    VALUE_CLASS,
    WORTHS,
)
from tapete.solve.truco.knowledge import FIRST_LEVELS, LATER_LEVELS, LOOKS, RANKS, SHOWN


@helper
def lack(s: Any, seat: int) -> int:
    """Points that a seat needs to win the match."""
    return int(s.points) - int(s.score[seat])


@helper
def near(s: Any, me: int) -> int:
    """What both lack, as far as the tricks of one hand go."""
    return (min(lack(s, me), NEAR) - 1) * NEAR + min(lack(s, 1 - me), NEAR) - 1


@helper
def both_scores(s: Any, me: int) -> int:
    """What both lack, in classes."""
    return SCORE_CLASS[lack(s, me)] * SCORES + SCORE_CLASS[lack(s, 1 - me)]


@helper
def rank_on(s: Any, trick: int, seat: int) -> int:
    """The strength of the card that a seat played to a trick."""
    return int(STRENGTH[s.table[2 * trick + seat]])


@helper
def lies(s: Any, trick: int, seat: int) -> bool:
    """Whether a seat has played to a trick."""
    return s.table[2 * trick + seat] != NONE


@helper
def held(s: Any, seat: int) -> int:
    """The cards that a seat still holds, as three digits: strengths plus one, the weakest lowest; 0 for no card."""
    cards = s.hand[seat] & ~s.played
    a = b = c = 0
    while cards:
        rank = int(STRENGTH[trailing_zeros(cards)]) + 1
        cards &= cards - np.uint64(1)
        if rank > a:
            a, b, c = rank, a, b
        elif rank > b:
            b, c = rank, b
        else:
            c = rank
    if b == 0:
        return a
    return b | (a << 4) if c == 0 else c | (b << 4) | (a << 8)


@helper
def triple(k: Any, cards: int) -> int:
    """The number of a holding of three."""
    return int(k.triple_of[(((cards >> 8) - 1) * RANKS + ((cards >> 4) & 15) - 1) * RANKS + (cards & 15) - 1])


@helper
def pair(k: Any, cards: int) -> int:
    """The number of a holding of two."""
    return int(k.pair_of[((cards >> 4) - 1) * RANKS + (cards & 15) - 1])


@helper
def played_pair(s: Any, k: Any, seat: int) -> int:
    """The number of the two cards that a seat has played to the first tricks."""
    return int(k.pair_of[rank_on(s, 0, seat) * RANKS + rank_on(s, 1, seat)])


@helper
def shown(s: Any, k: Any, seat: int) -> int:
    """What is known of a seat's envido."""
    return 0 if s.shown[seat] == NONE else int(k.shown_of[s.shown[seat]])


@helper
def envido_end(s: Any, me: int) -> int:
    """How the envido ended, one of ENDS."""
    if s.shown[0] != NONE:
        return 3
    if s.chain == 0 or s.waits:
        return 0
    calls = s.calls
    while calls:  # only an envido that was declined is over with nothing shown
        call = np.int64(calls & np.uint64(31))
        calls >>= CALL_BITS
        if call & 15 == NO_QUIERO - ENVIDO + 1:
            return 2 if call >> 4 == me else 1
    return 0


@helper
def first_end(s: Any, k: Any, me: int, whose: int) -> int:
    """The same with how strong the points of one seat look."""
    end = envido_end(s, me)
    return end if end < UNSHOWN else UNSHOWN + int(k.look0[shown(s, k, whose)])


@helper
def held_end(s: Any, k: Any, me: int) -> int:
    """The same before any card lies there: what the other has shown, and how strong mine look; one of HELD_ENDS."""
    end = envido_end(s, me)
    if end < UNSHOWN:
        return end
    return UNSHOWN + (shown(s, k, 1 - me) - 1) * FIRST_LOOKS + int(k.look0[shown(s, k, me)])


@helper
def led_end(s: Any, k: Any, me: int) -> int:
    """The same once I have led, one of LED_ENDS."""
    end = envido_end(s, me)
    return end if end < UNSHOWN else UNSHOWN + (shown(s, k, 1 - me) - 1) * LOOKS + look(s, k, me)


@helper
def follow_end(s: Any, k: Any, me: int) -> int:
    """The same once the other has led: what his card and his points tell of the rest; one of FOLLOW_ENDS."""
    end, you = envido_end(s, me), 1 - me
    return end if end < UNSHOWN else UNSHOWN + int(k.tells[shown(s, k, you) * CARDS + s.table[you]])


@helper
def worth(s: Any, me: int) -> int:
    """What the hand is worth and who may raise it, one of WORTHS."""
    if s.level == 1:
        return 0
    return 5 if s.level == 4 else 2 * int(s.level) - 3 + int(s.holder != me)


@helper
def raisers(s: Any, me: int) -> int:
    """Who may still raise, one of RAISERS; where the hand decides the match for both, it doesn't matter."""
    if s.level == 4 or (s.level >= lack(s, me) and s.level >= lack(s, 1 - me)):
        return 3
    return 0 if s.holder == NONE else 1 + int(s.holder != me)


@helper
def standing(s: Any, me: int) -> int:
    """Second trick: the place in STANDINGS. Third: I won the first or the other did; all parda, I am mano or not."""
    first = int(s.winner[0])
    if first == TIE:
        return 2 if s.mano == me else 3
    return 0 if first == me else 1


@helper
def first_level(s: Any, k: Any, me: int) -> int:
    """How good my hand is in the first trick, given what I see."""
    cards, known = held(s, me), shown(s, k, 1 - me)
    if lies(s, 0, me):
        return int(k.led[(known * RANKS + rank_on(s, 0, me)) * N_PAIRS + pair(k, cards)])
    if lies(s, 0, 1 - me):
        return int(k.following[(known * RANKS + rank_on(s, 0, 1 - me)) * N_TRIPLES + triple(k, cards)])
    return int(k.held[(int(s.mano == me) * SHOWN + known) * N_TRIPLES + triple(k, cards)])


@helper
def tenths(share: float) -> int:
    """A share as one of LATER_LEVELS."""
    if share < 1e-6:
        return 0
    return LATER_LEVELS - 1 if share > 1 - 1e-6 else 1 + min(int(share * (LATER_LEVELS - 2)), LATER_LEVELS - 3)


@helper
def follower_level(s: Any, k: Any, me: int, cards: int) -> int:
    """Second trick, the other's card on the table: how often one of my two beats what he has and may have."""
    card, known = rank_on(s, 1, 1 - me) + 1, shown(s, k, 1 - me)
    at = (known * N_PAIRS + played_pair(s, k, 1 - me)) * RANKS
    first = int(s.winner[0])
    low, high = cards & 15, cards >> 4
    best = 0.0
    for i in range(2):
        own, last = (low, high) if i == 0 else (high, low)
        if own == card:
            win = float(k.below[at + last - 1]) if first == TIE else 0.0  # he won the first, or is mano
        elif own > card:
            win = 1.0 if first == TIE else float(k.below[at + last - 1])
        else:
            win = 0.0
        best = max(best, win)
    return tenths(best)


@helper
def later_level(s: Any, k: Any, me: int) -> int:
    """How good my hand is in the second or third trick."""
    you, cards, place, known = 1 - me, held(s, me), standing(s, me), shown(s, k, 1 - me)
    if s.trick == 1:
        if lies(s, 1, you):
            return follower_level(s, k, me, cards)
        at = (place * SHOWN + known) * RANKS + rank_on(s, 0, you)
        if lies(s, 1, me):
            return int(k.second_led[(at * RANKS + rank_on(s, 1, me)) * RANKS + cards - 1])
        return int(k.second[at * N_PAIRS + pair(k, cards)])
    own = rank_on(s, 2, me) if lies(s, 2, me) else cards - 1
    wins_ties = place in (0, 2)
    if lies(s, 2, you):
        other = rank_on(s, 2, you)
        return LATER_LEVELS - 1 if own > other or (own == other and wins_ties) else 0
    at = (known * N_PAIRS + played_pair(s, k, you)) * RANKS + own
    return tenths(k.upto[at] if wins_ties else k.below[at])


@helper
def look(s: Any, k: Any, seat: int) -> int:
    """How strong what a seat holds looks to the other, one of LOOKS."""
    known = shown(s, k, seat)
    if s.trick == 0:
        return int(k.look1[known * RANKS + rank_on(s, 0, seat)]) if lies(s, 0, seat) else int(k.look0[known])
    if s.trick == 1 and not lies(s, 1, seat):
        return int(k.look1[known * RANKS + rank_on(s, 0, seat)])
    at = known * N_PAIRS + played_pair(s, k, seat)
    if s.trick == 2 and lies(s, 2, 1 - seat):  # everybody knows what it must beat
        other = at * RANKS + rank_on(s, 2, 1 - seat)
        below = k.below[other] if standing(s, seat) in (0, 2) else k.upto[other]
        return min(int((1 - below) * LOOKS), LOOKS - 1)
    return int(k.look2[at])


@helper
def card_row(s: Any, k: Any, me: int) -> int:
    """Where the choice among the cards is looked up; the last card is no choice."""
    you, cards, trick, who = 1 - me, held(s, me), int(s.trick), raisers(s, me)
    if trick == 0:
        if not lies(s, 0, you):
            return LEAD_AT[0] + 3 * ((triple(k, cards) * HELD_ENDS + held_end(s, k, me)) * RAISERS + who)
        row = (triple(k, cards) * RANKS + rank_on(s, 0, you)) * FOLLOW_ENDS + follow_end(s, k, me)
        return FOLLOW_AT[0] + 3 * (row * RAISERS + who)
    place, his = standing(s, me), look(s, k, you)
    if not lies(s, 1, you):
        return LEAD_AT[1] + 3 * (((pair(k, cards) * N_STANDINGS + place) * LOOKS + his) * RAISERS + who)
    row = (pair(k, cards) * RANKS + rank_on(s, 1, you)) * N_STANDINGS + place
    return FOLLOW_AT[1] + 3 * ((row * LOOKS + his) * RAISERS + who)


@helper
def call_row(s: Any, k: Any, me: int) -> int:
    """Where it is looked up whether to call envido."""
    if s.asked:
        place = 5 if s.mano == me else 6
    elif s.mano == me:
        place = 0
    else:
        place = 1 + VALUE_CLASS[VALUE[s.table[1 - me]]]
    level = first_level(s, k, me) * CALL_LEVELS // FIRST_LEVELS
    row = (place * ENVIDOS + ENVIDO_CLASS[envido_points(s.hand[me])]) * CALL_LEVELS + level
    return CALL_AT + 4 * (row * SCORES * SCORES + both_scores(s, me))


@helper
def reply_row(s: Any, k: Any, me: int) -> int:
    """Where the answer to an envido is looked up."""
    row = (2 * int(s.mano == me) + int(s.asked > 0)) * N_CHAINS + int(s.chain)
    level = first_level(s, k, me) * REPLY_LEVELS // FIRST_LEVELS
    row = (row * ENVIDOS + ENVIDO_CLASS[envido_points(s.hand[me])]) * REPLY_LEVELS + level
    return REPLY_AT + 5 * (row * SCORES * SCORES + both_scores(s, me))


@helper
def answer_place(s: Any, k: Any, me: int) -> int:
    """First trick: who is asked truco, and which card lies there, one of FIRST_ANSWERS."""
    if s.mano == me:
        return 1 + min(look(s, k, me), 2) if lies(s, 0, me) else 0
    return 5 if lies(s, 0, 1 - me) else 4


@helper
def is_by_cards(s: Any, me: int, stage: int) -> bool:
    """Whether a bet of the first trick looks at the very cards: the end of the match is far."""
    if s.trick > 0 or min(lack(s, me), lack(s, 1 - me)) < NEAR:
        return False
    return stage == BET or s.mano == me or not lies(s, 0, 1 - me)


@helper
def cards_row(s: Any, k: Any, me: int, stage: int) -> int:
    """Where they are looked up then."""
    cards, you = held(s, me), 1 - me
    if stage == BET:
        if not lies(s, 0, you):
            row = triple(k, cards) * HELD_ENDS + held_end(s, k, me)
            return BET_LEADING_AT + 3 * (row * WORTHS + worth(s, me))
        row = (triple(k, cards) * RANKS + rank_on(s, 0, you)) * FOLLOW_ENDS + follow_end(s, k, me)
        return BET_FOLLOWING_AT + 3 * (row * WORTHS + worth(s, me))
    if lies(s, 0, me):
        row = (pair(k, cards) * RANKS + rank_on(s, 0, me)) * LED_ENDS + led_end(s, k, me)
        return ANSWER_LED_AT + 3 * (row * ASKS + int(s.asked) - 2)
    row = (int(s.mano == me) * N_TRIPLES + triple(k, cards)) * HELD_ENDS + held_end(s, k, me)
    return ANSWER_HOLDING_AT + 3 * (row * ASKS + int(s.asked) - 2)


@helper
def truco_row(s: Any, k: Any, me: int, stage: int) -> int:
    """Where bets on the tricks and answers to them are looked up."""
    trick = int(s.trick)
    end = worth(s, me) if stage == BET else int(s.asked) - 2
    ends = WORTHS if stage == BET else ASKS
    if trick == 0:
        place = int(s.mano == me) if stage == BET else answer_place(s, k, me)
        row = (place * FIRST_LEVELS + first_level(s, k, me)) * FIRST_ENDS + first_end(s, k, me, me)
    else:
        place = standing(s, me)
        if stage == ANSWER:
            place = 2 * place + int(lies(s, trick, 0) or lies(s, trick, 1))
        row = ((place * LATER_LEVELS + later_level(s, k, me)) * LOOKS + look(s, k, me)) * ENDS + envido_end(s, me)
    row = (row * ends + end) * NEAR * NEAR + near(s, me)
    return (BET_AT[trick] if stage == BET else ANSWER_AT[trick]) + 3 * row


@helper
def row_of(s: Any, k: Any, me: int, stage: int) -> int:
    """Where the numbers of a decision begin; what the other holds is not looked at."""
    if stage == CALL:
        return call_row(s, k, me)
    if stage == REPLY:
        return reply_row(s, k, me)
    if stage == CARD:
        return card_row(s, k, me)
    if is_by_cards(s, me, stage):
        return cards_row(s, k, me, stage)
    return truco_row(s, k, me, stage)
