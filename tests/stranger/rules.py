"""The rules of `higher`; see the folder's `__init__`."""

from typing import Any

import numpy as np
from numba import carray

from tapete.core.compile import helper
from tapete.core.contract import CHANCE, TERMINAL, rule
from tapete.core.rng import below, mix

NONE = -1

STATE = np.dtype(
    [
        ("cards", "i4"),
        ("card", "i4", (2,)),  # of each seat; NONE before it is dealt
        ("coin", "i1"),  # 0: heads, 1: tails
        ("asked", "i1"),
        ("higher", "i1"),  # the seat, as far as all were told
        ("shown", "i1"),
        ("turns", "i1"),  # moves of players
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
    s.card[0] = s.card[1] = NONE
    s.coin = s.asked = s.higher = s.shown = NONE
    s.turns = 0


@rule
def player(p: Any) -> int:
    s = view(p)
    if s.card[1] == NONE:
        return CHANCE
    return TERMINAL if s.turns == 3 else s.turns % 2


@rule
def actions(p: Any, out: Any) -> int:
    out[0], out[1] = 0, 1
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


@helper
def draw_card(s: Any, own: Any, rng: Any) -> Any:
    """A card that isn't the one that is given."""
    card = below(rng, s.cards - (own != NONE))
    return card + (own != NONE and card >= own)


@rule
def draw(p: Any, rng: Any) -> int:
    s = view(p)
    return draw_card(s, s.card[0], rng)


@rule
def apply(p: Any, action: int) -> None:
    s = view(p)
    if s.card[1] == NONE:
        s.card[0 if s.card[0] == NONE else 1] = action
        return
    if s.turns == 0:
        s.coin = action
    elif s.turns == 1:
        s.asked = action
        if action == 1:
            s.higher = s.card[1] > s.card[0]
    else:
        s.shown = action
    s.turns += 1


@rule
def returns(p: Any, out: Any) -> None:
    s = view(p)
    out[0] = out[1] = 0.0
    if s.turns == 3:
        is_second = s.card[1] > s.card[0] if s.shown == 1 else s.asked == s.coin
        out[1] = (1.0 if is_second else -1.0) * (1 + s.shown)
        out[0] = -out[1]


@helper
def knows_coin(s: Any, seat: Any) -> bool:
    """Whether the seat has hidden it, or it was turned up."""
    return seat == 0 or s.shown == 0


@rule
def infoset(p: Any, player: int) -> Any:
    s = view(p)
    key = mix(mix(player, s.card[player]), (s.card[0] != NONE) + 2 * (s.card[1] != NONE))
    key = mix(mix(mix(key, s.turns), s.asked), s.shown)
    key = mix(mix(key, s.higher), s.coin if knows_coin(s, player) else NONE)
    return mix(key, s.card[1 - player] if s.shown == 1 else NONE)


@rule
def observe(p: Any, player: int, out: Any) -> None:
    s = view(p)
    for i in range(8):
        out[i] = 0.0
    out[0] = (s.card[player] + 1) / s.cards
    out[1 + s.turns] = 1.0
    out[5] = s.asked == 1
    if s.higher != NONE:
        out[6] = 1.0 if s.higher == player else -1.0
    if knows_coin(s, player):
        out[7] = s.coin + 1


@helper
def redeal_card(s: Any, seat: Any, rng: Any) -> None:
    """Another card for that seat, of those that agree with who has the higher one."""
    own = s.card[1 - seat]
    if s.higher == NONE:
        s.card[seat] = draw_card(s, own, rng)
    elif s.higher == seat:
        s.card[seat] = own + 1 + below(rng, s.cards - 1 - own)
    else:
        s.card[seat] = below(rng, own)


@helper
def redeal_coin(s: Any, player: Any, rng: Any) -> None:
    """The coin, for who has not seen it."""
    if s.turns > 0 and not knows_coin(s, player):
        s.coin = below(rng, 2)


@rule
def redeal(p: Any, player: int, rng: Any) -> None:
    s = view(p)
    if s.card[1 - player] != NONE and s.shown != 1:
        redeal_card(s, 1 - player, rng)
    redeal_coin(s, player, rng)


@rule
def features(p: Any, action: int, out: Any) -> None:
    out[0] = action == 0
    out[1] = action == 1
