"""The record in which a game of Dou Dizhu lives, and how it goes on: dealing, the auction, play."""

from typing import Any

import numpy as np
from numba import carray

from tapete.core.compile import helper
from tapete.core.contract import CHANCE, TERMINAL
from tapete.core.rng import mix
from tapete.games.doudizhu.cards import DECK, DECK_SIZE, copies
from tapete.games.doudizhu.moves import BOMB, CARDS, KIND, LENGTH, MOVES, NOTHING, PASS, RANK

IN_HANDS = 51  # cards dealt before the players look at theirs; the last three are the landlord's
MOVES_KEPT = 15
HIGHEST_BID = 3
MOST_THROWN = 2  # deals that are thrown in because all passed; if they pass again, the first seat is landlord
NOBODY = -1

STATE = np.dtype(
    [
        ("hand", "u8", (3,)),  # of each seat, as sets of cards
        ("played", "u8", (3,)),  # by each seat
        ("open", "u8"),  # the landlord's three cards, turned up when the third is dealt
        ("history", "u8", (MOVES_KEPT,)),  # the cards of the last moves, the newest last; none for a pass
        ("public", "u8"),  # hash of all public events
        ("memory", "u8", (3,)),  # hash of the hands that a seat had in deals that were thrown in
        ("mover", "i4"),
        ("dealt", "i4"),  # cards
        ("moves", "i4"),  # since the landlord began
        ("kind", "i4"),  # of the move to beat, with its length and rank
        ("length", "i4"),
        ("rank", "i4"),
        ("passes", "i4"),  # since then
        ("bombs", "i4"),  # and rockets played
        ("leads", "i4"),  # moves of the landlord that were no passes
        ("landlord", "i4"),  # in the auction, the highest bidder
        ("bidding", "i4"),  # whether there is an auction
        ("around", "i4"),  # whether it goes round
        ("spring", "i4"),  # whether a side that played nothing pays double
        ("bid", "i4"),  # the highest
        ("calls", "i4", (3,)),  # of each seat in this auction, 0 for a pass, NOBODY before
        ("thrown", "i4"),  # deals in which all passed, so that the cards were thrown in
    ],
    align=True,
)


@helper
def view(p: Any) -> Any:
    """The record at that address."""
    return carray(p, (1,), STATE)[0]


@helper
def start_deal(s: Any) -> None:
    """Takes all cards back."""
    for seat in range(3):
        s.hand[seat] = np.uint64(0)
        s.calls[seat] = NOBODY
    s.dealt = 0
    s.mover = CHANCE
    s.landlord = NOBODY if s.bidding else 0


@helper
def undealt(s: Any) -> Any:
    """The cards that nobody has got yet."""
    return DECK - s.hand[0] - s.hand[1] - s.hand[2] - s.open


@helper
def deal_card(s: Any, rank: Any) -> None:
    """One card to the next seat in turn, or to the landlord's three, which he takes up when they are complete."""
    if s.dealt < IN_HANDS:
        s.hand[s.dealt % 3] += copies(1, rank)
    else:
        s.open += copies(1, rank)
    s.dealt += 1
    if s.dealt == IN_HANDS and s.bidding:
        s.mover = 0
    elif s.dealt == DECK_SIZE:
        s.hand[s.landlord] += s.open
        s.public = mix(s.public, s.open)
        s.mover = s.landlord


@helper
def next_to_call(s: Any, seat: Any) -> Any:
    """Who speaks after a seat has called; NOBODY where the auction is over.

    Each seat speaks once; where the auction goes round, until all but the highest bidder have passed.
    """
    if s.bid == HIGHEST_BID:
        return NOBODY
    if not s.around:
        return seat + 1 if seat < 2 else NOBODY
    for i in range(1, 3):
        other = (seat + i) % 3
        if s.calls[other] != 0 and other != s.landlord:
            return other
    return NOBODY


@helper
def call(s: Any, action: Any) -> None:
    """A bid or a pass in the auction."""
    s.public = mix(s.public, action)
    seat = s.mover
    s.calls[seat] = 0
    if action != PASS:
        s.bid = s.calls[seat] = action - MOVES + 1
        s.landlord = seat
    s.mover = next_to_call(s, seat)
    if s.mover != NOBODY:
        return
    s.mover = CHANCE
    if s.landlord == NOBODY and s.thrown < MOST_THROWN:
        s.thrown += 1
        for i in range(3):
            s.memory[i] = mix(s.memory[i], s.hand[i])
        start_deal(s)
    elif s.landlord == NOBODY:
        s.landlord, s.bid = 0, 1


@helper
def play(s: Any, action: Any) -> None:
    """Cards on the table, or a pass; after two passes in a row the third leads."""
    seat, cards = s.mover, CARDS[action]
    s.public = mix(s.public, action)
    for i in range(MOVES_KEPT - 1):
        s.history[i] = s.history[i + 1]
    s.history[MOVES_KEPT - 1] = cards
    s.moves += 1
    s.mover = seat + 1 if seat < 2 else 0
    if action == PASS:
        s.passes += 1
        if s.passes == 2:
            s.kind = NOTHING
        return
    s.hand[seat] -= cards
    s.played[seat] += cards
    s.kind, s.length, s.rank = KIND[action], LENGTH[action], RANK[action]
    s.passes = 0
    s.bombs += s.kind >= BOMB
    s.leads += seat == s.landlord
    if not s.hand[seat]:
        s.mover = TERMINAL


@helper
def is_spring(s: Any) -> Any:
    """Whether a finished game was won before the other side came to play: the landlord's first move doesn't count."""
    if s.hand[s.landlord]:
        return s.leads == 1
    return s.played[(s.landlord + 1) % 3] == 0 and s.played[(s.landlord + 2) % 3] == 0
