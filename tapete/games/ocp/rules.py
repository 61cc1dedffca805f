"""One-card poker (Rojas 2020; with three cards, Kuhn 1950). Each antes 1, gets a card, and may bet 1 more, once."""

from typing import Any

import numpy as np
from numba import carray

from tapete.core.compile import helper
from tapete.core.contract import CHANCE, TERMINAL, rule
from tapete.core.rng import below, mix

PASS = 0  # check, or fold to a bet
BET = 1  # bet, or call

STATE = np.dtype(
    [
        ("cards", "i4"),  # in the deck
        ("card", "i4", (2,)),  # of each seat; -1 before it is dealt
        ("turns", "i4"),  # moves of the players so far
        ("line", "i4", (3,)),  # those moves
    ],
    align=True,
)


@helper
def view(p: Any) -> Any:
    """The record at that address."""
    return carray(p, (1,), STATE)[0]


@rule
def start(p: Any, params: Any) -> None:
    s = view(p)
    s.cards = np.int32(params[0])
    s.card[0] = s.card[1] = -1
    s.turns = 0
    s.line[0] = s.line[1] = s.line[2] = 0


@helper
def is_over(s: Any) -> bool:
    """Two moves end the game, unless they are a check and a bet."""
    return s.turns == 3 or (s.turns == 2 and not (s.line[0] == PASS and s.line[1] == BET))


@helper
def is_shown(s: Any) -> bool:
    """Whether the cards were turned up: the game ended without a fold."""
    return is_over(s) and not (s.line[s.turns - 1] == PASS and s.line[s.turns - 2] == BET)


@rule
def player(p: Any) -> int:
    s = view(p)
    if s.card[1] < 0:
        return CHANCE
    return TERMINAL if is_over(s) else s.turns & 1


@rule
def actions(p: Any, out: Any) -> int:
    out[0] = PASS
    out[1] = BET
    return 2


@rule
def outcomes(p: Any, out: Any, probs: Any) -> int:
    s = view(p)
    n = 0
    for card in range(s.cards):
        if card != s.card[0]:
            out[n] = card
            n += 1
    for i in range(n):
        probs[i] = 1.0 / n
    return n


@rule
def draw(p: Any, rng: Any) -> int:
    s = view(p)
    if s.card[0] < 0:
        return below(rng, s.cards)
    card = below(rng, s.cards - 1)
    return card + (card >= s.card[0])


@rule
def apply(p: Any, action: int) -> None:
    s = view(p)
    if s.card[0] < 0:
        s.card[0] = action
    elif s.card[1] < 0:
        s.card[1] = action
    else:
        s.line[s.turns] = action
        s.turns += 1


@rule
def returns(p: Any, out: Any) -> None:
    s = view(p)
    out[0] = out[1] = 0.0
    if not is_over(s):
        return
    if is_shown(s):
        winner, stake = (0 if s.card[0] > s.card[1] else 1), 1.0 + s.line[s.turns - 1]
    else:  # folded: the other takes the ante
        winner, stake = s.turns & 1, 1.0
    out[winner] = stake
    out[1 - winner] = -stake


@rule
def infoset(p: Any, player: int) -> Any:
    s = view(p)
    key = mix(player, s.card[player])
    for i in range(s.turns):
        key = mix(key, s.line[i])
    key = mix(key, s.turns + (s.card[0] >= 0) + (s.card[1] >= 0))
    return mix(key, s.card[1 - player]) if is_shown(s) else key


@rule
def observe(p: Any, player: int, out: Any) -> None:
    s = view(p)
    for i in range(9):
        out[i] = 0.0
    out[player] = 1.0
    out[2] = (s.card[player] + 1) / s.cards
    for i in range(s.turns):
        out[3 + 2 * i + s.line[i]] = 1.0


@rule
def redeal(p: Any, player: int, rng: Any) -> None:
    s = view(p)
    other = 1 - player
    if s.card[other] < 0 or is_shown(s):
        return
    if s.card[player] < 0:  # the first card is dealt, and it is not ours
        s.card[other] = below(rng, s.cards)
        return
    card = below(rng, s.cards - 1)
    s.card[other] = card + (card >= s.card[player])


@rule
def features(p: Any, action: int, out: Any) -> None:
    out[0] = action == PASS
    out[1] = action == BET
