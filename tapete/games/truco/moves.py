"""The state of a hand of truco, and what the moves do to it."""

from typing import Any

import numpy as np
from numba import carray
from numba.cpython.unsafe.numbers import trailing_zeros

from tapete.core.compile import helper
from tapete.core.contract import CHANCE, TERMINAL
from tapete.core.rng import mix
from tapete.games.truco import bets
from tapete.games.truco.bets import (
    CHAINS,
    ENVIDO,
    FALTA,
    FLOR,
    FLOR_ALONE,
    FLOR_LETTERS,
    FLORES,
    LETTERS,
    LONGEST_CHAIN,
    MAZO,
    NO_QUIERO,
    QUIERO,
    RAISE,
)
from tapete.games.truco.cards import FLOR_POINTS, STRENGTH, SUIT_POINTS, SUITED

NONE = -1  # no seat, no card, no call
TIE = 2  # as the winner of a trick: parda
DEAL = 6  # cards
PAYS_EQUITY = 2  # a single hand that is paid by how likely the match is won after it
SCORES = -2  # in place of cards dealt: both scores are drawn first
CALL_BITS = np.uint64(5)  # of each call in `calls`: 16 * seat + action - 39
CARD_BITS = np.uint64(3)  # of each number in `cards_before`

# What both know of a seat's flor, where it is played with.
UNKNOWN, HAS_NONE, HAS_FLOR = 0, 1, 2

STATE = np.dtype(
    [
        ("public", "u8"),  # hash of all that both have seen
        ("past", "u8", (2,)),  # hash of the hands that each seat held before this one
        ("hand", "u8", (2,)),  # cards dealt to each seat, played ones too: bit c is card c
        ("played", "u8"),  # those of both that lie on the table
        ("calls", "u8"),  # of this hand, five bits each, the latest lowest: seat * 16 + action - 39
        ("cards_before", "u8"),  # how many cards lay there at each of these calls, three bits each, the latest lowest
        ("points", "i1"),  # that win the match
        ("mazo", "i1"),  # whether one may go to the mazo
        ("single", "i1"),  # 0: a match; the game is one hand: 1, paid in points, 2, in equity
        ("buenas", "i1"),  # whether the loser of an envido shows nothing
        ("flor", "i1"),  # whether flor is played
        ("origin", "i1", (2,)),  # the score at the start
        ("score", "i1", (2,)),
        ("score_before", "i1", (2,)),  # when the hand began
        ("hands", "i1"),  # finished before this one
        ("ended", "i1"),  # the action that ended the hand before
        ("mover", "i1"),  # a seat, CHANCE or TERMINAL
        ("mano", "i1"),
        ("dealt", "i1"),  # cards, 0..6; -2 and -1: the score of seat 0, of seat 1 is drawn first
        ("turn", "i1"),  # the seat that plays the next card; bets don't change it
        ("trick", "i1"),  # 0..2
        ("table", "i1", (6,)),  # card of trick * 2 + seat, or NONE
        ("leader", "i1", (3,)),  # of each trick, or NONE
        ("winner", "i1", (3,)),  # of each trick: a seat, TIE, or NONE
        ("level", "i1"),  # what the hand is worth by what was accepted, 1..4
        ("asked", "i1"),  # the level that waits for an answer, or 0
        ("holder", "i1"),  # who accepted last, and may raise; NONE: both may
        ("chain", "i1"),  # the calls of envido or flor so far: index into CHAINS, then FLORES
        ("waits", "i1"),  # whether an envido or a flor waits for an answer
        ("shown", "i1", (2,)),  # envido or flor points of each seat once they are shown, or NONE
        ("garden", "i1", (2,)),  # what both know of each seat's flor: UNKNOWN, HAS_NONE, HAS_FLOR
    ],
    align=True,
)

_chains = list(CHAINS | FLORES)
_following = [[_chains.index(c + x) if c + x in _chains else NONE for x in LETTERS + FLOR_LETTERS] for c in _chains]
NEXT = np.array(_following, dtype=np.int8)  # [chain, call] the chain that results; NONE: can't be called
ACCEPTED = np.array([accepted for accepted, _ in (CHAINS | FLORES).values()], dtype=np.int8)  # [chain] points, or FALTA
DECLINED = np.array([declined for _, declined in (CHAINS | FLORES).values()], dtype=np.int8)  # [chain] points
CALLS = np.array([[*map(LETTERS.index, c), *[NONE] * (LONGEST_CHAIN - len(c))] for c in CHAINS], dtype=np.int8)
FIRST_FLOR = len(CHAINS)  # the chain in which nothing but flor has been said

falta = helper(bets.falta)


@helper
def view(p: Any) -> Any:
    """The record at that address."""
    return carray(p, (1,), STATE)[0]


@helper
def bit(card: int) -> Any:
    """The card as a set."""
    return np.uint64(1) << np.uint64(card)


@helper
def is_dealt(s: Any) -> bool:
    """Whether the hands are complete. Only then do the players pick them up: the order of the deal tells nothing."""
    return s.dealt == DEAL


@helper
def is_envido_open(s: Any) -> bool:
    """Whether an envido could still be called: in the first trick, before truco is accepted, once a hand."""
    return s.trick == 0 and s.level == 1 and s.chain == 0


@helper
def clear_table(s: Any, mano: int) -> None:
    """A new hand is about to be dealt."""
    s.hand[0] = s.hand[1] = s.played = s.calls = s.cards_before = np.uint64(0)
    s.score_before[0], s.score_before[1] = s.score[0], s.score[1]
    s.mover, s.mano, s.turn = CHANCE, mano, mano
    s.dealt = s.trick = s.asked = s.chain = s.waits = 0
    s.level = 1
    s.holder = NONE
    for i in range(6):
        s.table[i] = NONE
    for trick in range(3):
        s.leader[trick] = s.winner[trick] = NONE
    s.shown[0] = s.shown[1] = NONE
    s.garden[0] = s.garden[1] = UNKNOWN


@helper
def cards_laid(s: Any) -> int:
    """How many cards lie on the table."""
    return 2 * int(s.trick) + int(s.table[2 * s.trick] != NONE) + int(s.table[2 * s.trick + 1] != NONE)


@helper
def note_call(s: Any, seat: int, action: int) -> None:
    """Remembers a call and when it was made, so that the hand can be gone through again."""
    s.calls = (s.calls << CALL_BITS) | np.uint64(16 * seat + action - ENVIDO + 1)
    s.cards_before = (s.cards_before << CARD_BITS) | np.uint64(cards_laid(s))


@helper
def list_envido(s: Any, out: Any, n: int) -> int:
    """The calls that may follow the chain so far."""
    for call in range(3):
        if NEXT[s.chain, call] != NONE:
            out[n] = ENVIDO + call
            n += 1
    return n


@helper
def list_flor(s: Any, out: Any) -> int:
    """The answers to a flor, of a seat that has one, too."""
    out[0] = QUIERO
    out[1] = NO_QUIERO
    n = 2
    for call in range(3):
        if NEXT[s.chain, 3 + call] != NONE:
            out[n] = FLOR + call
            n += 1
    return n


@helper
def must_sing(s: Any) -> bool:
    """Whether the mover has a flor that nobody knows of: that is said before anything else is done."""
    return s.garden[s.mover] == UNKNOWN and is_flor(s.hand[s.mover])


@helper
def list_turn(s: Any, out: Any) -> int:
    """What the seat may do whose turn it is to play a card."""
    n = 0
    cards = s.hand[s.mover] & ~s.played
    while cards:
        out[n] = trailing_zeros(cards)
        n += 1
        cards &= cards - np.uint64(1)
    if is_envido_open(s):
        n = list_envido(s, out, n)
    if s.level < 4 and (s.holder == NONE or s.holder == s.mover):
        out[n] = RAISE
        n += 1
    if s.mazo:
        out[n] = MAZO
        n += 1
    return n


@helper
def draw_score(s: Any, points: int) -> None:
    """The score of a seat from which a hand or a match begins; all see it."""
    seat = int(s.dealt) - SCORES
    s.origin[seat] = s.score[seat] = s.score_before[seat] = np.int8(points)
    s.public = mix(s.public, points)
    s.dealt += 1


@helper
def deal(s: Any, card: int) -> None:
    """One card, alternately from mano."""
    s.hand[(s.mano + s.dealt) & 1] |= bit(card)
    s.dealt += 1
    if is_dealt(s):
        s.leader[0] = s.mover = s.mano


@helper
def envido_points(hand: Any) -> int:
    """20 and the two best of a suit, or the best card."""
    best = 0
    for suit in range(4):
        best = max(best, SUIT_POINTS[(hand >> np.uint64(10 * suit)) & np.uint64(1023)])
    return best


@helper
def is_flor(hand: Any) -> bool:
    """Whether all cards are of one suit."""
    return flor_points(hand) != NONE


@helper
def flor_points(hand: Any) -> int:
    """20 and all three cards, which are of one suit; NONE where they aren't."""
    for suit in range(4):
        if not hand & ~SUITED[suit]:
            return int(FLOR_POINTS[(hand >> np.uint64(10 * suit)) & np.uint64(1023)])
    return NONE


@helper
def is_about_flor(s: Any) -> bool:
    """Whether the chain is one of flores, not of envido."""
    return s.chain >= FIRST_FLOR


@helper
def accepted_price(s: Any, chain: int, winner: int) -> int:
    """What these calls of envido or flor are worth if they are accepted and that seat wins."""
    if ACCEPTED[chain] == FALTA:
        return falta(int(s.points), int(s.score[winner]), int(s.score[1 - winner]))
    return int(ACCEPTED[chain])


@helper
def score_points(s: Any, seat: int, points: int) -> bool:
    """Adds to a score, which ends at the points of the match; whether that decides the match."""
    s.score[seat] = min(s.score[seat] + points, s.points)
    return s.score[seat] == s.points


@helper
def settle_envido(s: Any, winner: int, price: int) -> None:
    """The envido, or the flor, is paid before the hand, and may end the match; a truco that waited is answered now."""
    s.waits = 0
    if score_points(s, winner, price):
        s.mover = TERMINAL
    else:
        s.mover = 1 - s.turn if s.asked else s.turn


@helper
def end_hand(s: Any, winner: int, worth: int, action: int) -> None:
    """The hand is paid; the next one follows unless that was the end."""
    if score_points(s, winner, worth) or s.single:
        s.mover = TERMINAL
        return
    for seat in range(2):
        s.past[seat] = mix(s.past[seat], s.hand[seat])
    s.hands += 1
    s.ended = action
    clear_table(s, 1 - s.mano)


@helper
def accept(s: Any, seat: int) -> None:
    """Quiero: the envido is compared, or the hand is played for more."""
    if not s.waits:
        s.level = s.asked
        s.asked = 0
        s.holder = seat
        s.mover = s.turn
        return
    first, second = bet_points(s, 0), bet_points(s, 1)
    winner = int(s.mano if first == second else second > first)
    for i in range(2):
        if i == winner or not s.buenas:
            s.shown[i] = first if i == 0 else second
        s.public = mix(s.public, s.shown[i])
    settle_envido(s, winner, accepted_price(s, s.chain, winner))


@helper
def bet_points(s: Any, seat: int) -> int:
    """What the seat has in the bet that was made: an envido or a flor."""
    return flor_points(s.hand[seat]) if is_about_flor(s) else envido_points(s.hand[seat])


@helper
def sing_flor(s: Any, seat: int) -> None:
    """Flor: it takes the place of an envido that waits. The other, who has none or has one too, has to say so."""
    other = 1 - seat
    s.chain = FIRST_FLOR
    s.garden[seat] = HAS_FLOR
    s.garden[other] = HAS_FLOR if is_flor(s.hand[other]) else HAS_NONE
    s.public = mix(s.public, s.garden[other])
    if s.garden[other] == HAS_FLOR:
        s.waits = 1
        s.mover = other
    else:
        settle_envido(s, seat, FLOR_ALONE)


@helper
def decline(s: Any, seat: int) -> None:
    """No quiero: the last caller takes the envido, or the hand at the level that stands."""
    if s.waits:
        settle_envido(s, 1 - seat, DECLINED[s.chain])
    else:
        end_hand(s, 1 - seat, s.level, NO_QUIERO)


@helper
def compare(seat: int, card: int, other: int) -> int:
    """Who wins the trick in which the seat plays the card onto the other's."""
    if STRENGTH[card] == STRENGTH[other]:
        return TIE
    return seat if STRENGTH[card] > STRENGTH[other] else 1 - seat


@helper
def find_victor(s: Any, trick: int, winner: int) -> int:
    """Who has won the hand with this trick, if that is decided."""
    first = int(s.winner[0])
    if trick == 0:
        return NONE
    if winner == TIE:
        if first != TIE:
            return first
        return int(s.mano) if trick == 2 else NONE
    return winner if trick == 2 or first in (TIE, winner) else NONE


@helper
def play_card(s: Any, seat: int, card: int) -> None:
    """A card onto the table; the second one decides the trick."""
    trick = int(s.trick)
    s.played |= bit(card)
    s.table[2 * trick + seat] = card
    other = int(s.table[2 * trick + 1 - seat])
    if other == NONE:
        s.turn = s.mover = 1 - seat
        return
    winner = compare(seat, card, other)
    s.winner[trick] = winner
    victor = find_victor(s, trick, winner)
    if victor != NONE:
        end_hand(s, victor, s.level, card)
        return
    leader = s.leader[trick] if winner == TIE else winner
    s.trick = trick + 1
    s.leader[trick + 1] = s.turn = s.mover = leader


@helper
def column(action: int) -> int:
    """Where NEXT has a call of envido or flor."""
    return action - ENVIDO if action < RAISE else 3 + action - FLOR


@helper
def stake(s: Any, action: int) -> tuple[int, int]:
    """Points that a bet comes to if it is accepted and if it is declined; of an answer, only what it decides."""
    if action == MAZO:
        return 0, s.level + is_envido_open(s)
    if action == FLOR:
        return int(ACCEPTED[FIRST_FLOR]), int(DECLINED[FIRST_FLOR])
    is_answer = action in (QUIERO, NO_QUIERO)
    if action < RAISE or s.waits:
        chain = s.chain if is_answer else NEXT[s.chain, column(action)]
        accepted, declined = accepted_price(s, chain, s.mover), int(DECLINED[chain])
    else:
        accepted = int(s.asked if is_answer else max(s.level, s.asked) + 1)
        declined = accepted - 1
    return (0 if action == NO_QUIERO else accepted), (0 if action == QUIERO else declined)
