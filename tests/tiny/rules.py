"""The rules of Dou Dizhu, with a pack of nine cards."""

from typing import Any

import numpy as np
from numba import carray

from tapete.core.contract import CHANCE, rule
from tapete.core.rng import below
from tapete.games.doudizhu.cards import DECK_SIZE, RANKS, count, pick, without
from tapete.games.doudizhu.moves import NOTHING
from tapete.games.doudizhu.rules import STATE, actions, apply, features, infoset, observe, player, returns
from tapete.games.doudizhu.table import NOBODY, view
from tapete.games.doudizhu.worlds import split

__all__ = [
    "STATE", "actions", "apply", "draw", "features", "infoset", "observe", "outcomes", "player", "redeal", "returns",
    "start",
]  # fmt: skip

PACK = np.uint64(0x10000000000044)  # 3 3 3 3 4 4 4 4 B
HAND = 2  # cards dealt to each seat face down
DEALT = DECK_SIZE - 9  # as if the others had been dealt before
SOLO_RANKS = len(RANKS)
BYTES = STATE.itemsize


@rule
def start(p: Any, params: Any) -> None:
    data = carray(p, (BYTES,), np.uint8)
    for i in range(BYTES):
        data[i] = 0
    s = view(p)
    s.mover, s.dealt, s.bid, s.kind = CHANCE, DEALT, 1, NOTHING
    for seat in range(3):
        s.calls[seat] = NOBODY


@rule
def outcomes(p: Any, out: Any, probs: Any) -> int:
    s = view(p)
    cards = PACK - s.hand[0] - s.hand[1] - s.hand[2] - s.open
    n = 0
    for rank in range(SOLO_RANKS):
        if count(cards, rank):
            out[n] = rank
            probs[n] = count(cards, rank) / (DECK_SIZE - s.dealt)
            n += 1
    return n


@rule
def draw(p: Any, rng: Any) -> int:
    s = view(p)
    return pick(PACK - s.hand[0] - s.hand[1] - s.hand[2] - s.open, below(rng, DECK_SIZE - s.dealt))


@rule
def redeal(p: Any, player: int, rng: Any) -> None:
    """During play: what was dealt to the other two face down."""
    s = view(p)
    one, other = (player + 1) % 3, (player + 2) % 3
    none = np.uint64(0)
    open_one = s.open if one == s.landlord else none
    open_other = s.open if other == s.landlord else none
    pool = PACK - s.hand[player] - s.played[player] - open_one - open_other
    hand = split(pool, HAND, without(s.played[one], open_one), without(s.played[other], open_other), rng)
    s.hand[one] = open_one + hand - s.played[one]
    s.hand[other] = open_other + (pool - hand) - s.played[other]
