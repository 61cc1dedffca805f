"""The rules of Truco with few cards, without envido, from a later trick on."""

from typing import Any

import numpy as np

from tapete.core.contract import rule
from tapete.core.rng import below
from tapete.games.truco.cards import CARDS, NAMES
from tapete.games.truco.moves import TIE, bit, clear_table, view
from tapete.games.truco.rules import STATE, actions, apply, features, infoset, observe, player, redeal, returns
from tests.pocket import PARDAS, WON

__all__ = [
    "STATE", "actions", "apply", "draw", "features", "infoset", "observe", "outcomes", "player", "redeal", "returns",
    "start",
]  # fmt: skip

ENVIDO_IS_OVER = 1  # the chain "envido", which nobody has to answer
PLAYED = np.array([[NAMES.index(name) for name in trick.split()] for trick in (*PARDAS, WON)])  # [trick, seat]


@rule
def start(p: Any, params: Any) -> None:
    s = view(p)
    s.public = np.uint64(0)
    s.points, s.mazo, s.single = np.int8(params[0]), np.int8(params[1]), np.int8(params[2])
    s.buenas = s.flor = s.hands = s.ended = 0
    for seat in range(2):
        s.origin[seat] = s.score[seat] = np.int8(params[3 + seat])
        s.past[seat] = np.uint64(params[10])  # the pack is remembered there
    clear_table(s, 0)
    s.chain, s.level = ENVIDO_IS_OVER, np.int8(params[9])
    s.trick = np.int8(params[8])
    for trick in range(s.trick):
        s.winner[trick], s.leader[trick] = TIE, 0
        for seat in range(2):
            card = PLAYED[2 if params[11] else trick, seat]
            s.table[2 * trick + seat] = card
            s.hand[seat] |= bit(card)
    if params[11]:
        s.winner[0] = 0
    s.played = s.hand[0] | s.hand[1]
    s.dealt = 2 * s.trick
    s.leader[s.trick] = 0


@rule
def outcomes(p: Any, out: Any, probs: Any) -> int:
    s = view(p)
    n = 0
    for card in range(CARDS):
        if s.past[0] & ~(s.hand[0] | s.hand[1]) & bit(card):
            out[n] = card
            n += 1
    for i in range(n):
        probs[i] = 1.0 / n
    return n


@rule
def draw(p: Any, rng: Any) -> int:
    s = view(p)
    while True:
        card = below(rng, CARDS)
        if s.past[0] & ~(s.hand[0] | s.hand[1]) & bit(card):
            return card
