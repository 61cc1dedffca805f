"""Leduc poker (Southey et al. 2005): six cards, one each, bets of 2, a card on the board, bets of 4."""

from typing import Any

import numpy as np
from numba import carray

from tapete.core.compile import helper
from tapete.core.contract import CHANCE, TERMINAL, rule
from tapete.core.rng import below, mix
from tapete.games.leduc import BETS, CARDS, MOST_MOVES, MOST_PAID, MOST_RAISES

FOLD = 0
CALL = 1  # or check, where there is nothing to call
RAISE = 2  # or bet, where there is nothing to call

BET_SIZES = np.array(BETS, dtype=np.int8)
BOARD = 2  # the place of the board's card after those of the two seats

STATE = np.dtype(
    [
        ("card", "i1", (3,)),  # 2 * rank + suit, of the seats and of the board; -1 before it is dealt
        ("dealt", "i1"),  # cards
        ("round", "i1"),
        ("turns", "i1"),  # moves in this round
        ("raises", "i1"),  # in this round
        ("mover", "i1"),
        ("paid", "i1", (2,)),  # chips of each seat
        ("line", "i1", (2, MOST_MOVES)),  # [round, turn] moves, as 1 + the action; 0 before they are made
    ],
    align=True,
)


@helper
def view(p: Any) -> Any:
    """The record at that address."""
    return carray(p, (1,), STATE)[0]


@helper
def is_shown(s: Any) -> bool:
    """Whether the cards were turned up: the game ended with both having paid the same."""
    return s.mover == TERMINAL and s.paid[0] == s.paid[1]


@rule
def start(p: Any, params: Any) -> None:
    s = view(p)
    s.dealt = s.round = s.turns = s.raises = 0
    s.card[0] = s.card[1] = s.card[BOARD] = -1
    s.paid[0] = s.paid[1] = 1
    s.mover = CHANCE
    for i in range(MOST_MOVES):
        s.line[0, i] = s.line[1, i] = 0


@rule
def player(p: Any) -> int:
    return view(p).mover


@rule
def actions(p: Any, out: Any) -> int:
    s = view(p)
    n = 0
    if s.paid[s.mover] < s.paid[1 - s.mover]:
        out[n] = FOLD
        n += 1
    out[n] = CALL
    n += 1
    if s.raises < MOST_RAISES:
        out[n] = RAISE
        n += 1
    return n


@helper
def is_in_deck(s: Any, card: Any) -> bool:
    """Whether it may still come."""
    return card != s.card[0] and card != s.card[1] and card != s.card[BOARD]


@rule
def outcomes(p: Any, out: Any, probs: Any) -> int:
    s = view(p)
    n = 0
    for card in range(CARDS):
        if is_in_deck(s, card):
            out[n] = card
            probs[n] = 1.0 / (CARDS - s.dealt)
            n += 1
    return n


@helper
def draw_card(s: Any, rng: Any) -> Any:
    """A card of the deck; half of them are in it, so trying is quick."""
    card = below(rng, CARDS)
    while not is_in_deck(s, card):
        card = below(rng, CARDS)
    return card


@rule
def draw(p: Any, rng: Any) -> int:
    return draw_card(view(p), rng)


@helper
def end_round(s: Any) -> None:
    """Both have paid the same: the board is dealt, or the cards are turned up."""
    if s.round == 1:
        s.mover = TERMINAL
    else:
        s.round, s.turns, s.raises, s.mover = 1, 0, 0, CHANCE


@helper
def act(s: Any, action: Any) -> None:
    """A move of the seat whose turn it is."""
    seat, other = s.mover, 1 - s.mover
    s.line[s.round, s.turns] = 1 + action
    s.turns += 1
    s.mover = other
    if action == RAISE:
        s.paid[seat] = s.paid[other] + BET_SIZES[s.round]
        s.raises += 1
    elif action == FOLD:
        s.mover = TERMINAL
    else:
        s.paid[seat] = s.paid[other]
        if s.turns > 1:  # a first check only passes the turn
            end_round(s)


@rule
def apply(p: Any, action: int) -> None:
    s = view(p)
    if s.mover == CHANCE:
        s.card[s.dealt] = action
        s.dealt += 1
        if s.dealt > 1:  # seat 0 begins both rounds
            s.mover = 0
    else:
        act(s, action)


@helper
def strength(s: Any, seat: Any) -> Any:
    """Orders the hands of a showdown: a pair with the board, then the rank."""
    rank = s.card[seat] >> 1
    return rank + 3 * (rank == s.card[BOARD] >> 1)


@rule
def returns(p: Any, out: Any) -> None:
    s = view(p)
    out[0] = out[1] = 0.0
    if s.mover != TERMINAL:
        return
    if is_shown(s):
        lead = strength(s, 0) - strength(s, 1)
    else:  # who has paid less has folded
        lead = s.paid[0] - s.paid[1]
    stake = np.float64(min(s.paid[0], s.paid[1]))
    if lead != 0:
        out[0] = stake if lead > 0 else -stake
        out[1] = -out[0]


@rule
def infoset(p: Any, player: int) -> Any:
    s = view(p)
    line = np.uint64(0)  # the moves of both rounds, a byte each
    for i in range(2 * MOST_MOVES):
        line |= np.uint64(np.uint8(s.line[i // MOST_MOVES, i % MOST_MOVES])) << np.uint64(8 * i)
    other = s.card[1 - player] if is_shown(s) else -1
    cards = ((s.card[player] + 1) << 8) | ((s.card[BOARD] + 1) << 4) | (other + 1)
    return mix(mix((s.dealt << 1) | player, cards), line)


@rule
def observe(p: Any, player: int, out: Any) -> None:
    s = view(p)
    line = 2 + 2 * CARDS
    for i in range(line + 6 * MOST_MOVES):
        out[i] = 0.0
    out[player] = 1.0
    if s.card[player] >= 0:
        out[2 + s.card[player]] = 1.0
    if s.card[BOARD] >= 0:
        out[2 + CARDS + s.card[BOARD]] = 1.0
    for i in range(2 * MOST_MOVES):
        move = s.line[i // MOST_MOVES, i % MOST_MOVES]
        if move > 0:
            out[line + 3 * i + move - 1] = 1.0


@rule
def redeal(p: Any, player: int, rng: Any) -> None:
    s = view(p)
    other = 1 - player
    if s.card[other] >= 0 and not is_shown(s):
        s.card[other] = -1
        s.card[other] = draw_card(s, rng)


@rule
def features(p: Any, action: int, out: Any) -> None:
    s = view(p)
    for i in range(3):
        out[i] = action == i
    own, other = s.paid[s.mover], s.paid[1 - s.mover]
    out[3] = 0.0 if action == FOLD else (other - own + (action == RAISE) * BET_SIZES[s.round]) / MOST_PAID
