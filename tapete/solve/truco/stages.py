"""The stages of a turn: which comes next, how many choices each has, and which move each of them means."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.cpython.unsafe.numbers import trailing_zeros

from tapete.core.compile import helper
from tapete.games.truco.bets import ENVIDO, MAZO, NO_QUIERO, QUIERO, RAISE
from tapete.games.truco.cards import STRENGTH
from tapete.games.truco.moves import NEXT, NONE, is_envido_open
from tapete.solve.truco.abstraction import ANSWER, BET, CALL, CARD, GO_ON, REPLY
from tapete.solve.truco.rows import held


@helper
def stage_of(s: Any) -> int:
    """The first stage of the decision that the mover has before him."""
    if s.waits:
        return REPLY
    if is_envido_open(s):
        return CALL
    return ANSWER if s.asked else BET


@helper
def next_stage(s: Any, stage: int) -> int:
    """The stage after one in which the mover went on."""
    if stage == CALL:
        return ANSWER if s.asked else BET
    return CARD


@helper
def may_raise(s: Any) -> bool:
    """Whether the mover, on his turn, may raise truco."""
    return s.level < 4 and (s.holder == NONE or s.holder == s.mover)


@helper
def choices(s: Any, stage: int) -> int:
    """How many there are for the mover; 1 where a stage has nothing to decide."""
    if stage == CALL:
        return 4
    if stage == REPLY:
        n = 2
        for call in range(3):
            n += NEXT[s.chain, call] != NONE
        return n
    if stage == BET:
        return 1 + int(may_raise(s)) + int(s.mazo != 0)
    if stage == ANSWER:
        return 3 if s.asked < 4 else 2
    cards, n, last = held(s, s.mover), 0, 0
    while cards:
        n += cards & 15 != last
        last = cards & 15
        cards >>= 4
    return n


@helper
def card_of(s: Any, choice: int) -> int:
    """The card that a choice means: the weakest first, of equal ones the first in the deck."""
    digits, last = held(s, s.mover), 0
    while True:
        if digits & 15 != last:
            if choice == 0:
                break
            choice -= 1
        last = digits & 15
        digits >>= 4
    cards = s.hand[s.mover] & ~s.played
    while STRENGTH[trailing_zeros(cards)] + 1 != digits & 15:
        cards &= cards - np.uint64(1)
    return np.int64(trailing_zeros(cards))  # type: ignore[return-value]


@helper
def action_of(s: Any, stage: int, choice: int) -> int:
    """The move that a choice means, or GO_ON."""
    if stage == CARD:
        return card_of(s, choice)
    if stage in (CALL, BET) and choice == 0:
        return GO_ON
    if stage == CALL:
        return ENVIDO + choice - 1
    if stage == BET:
        return RAISE if choice == 1 and may_raise(s) else MAZO
    if choice < 2:
        return NO_QUIERO if choice == 0 else QUIERO
    if stage == ANSWER:
        return RAISE
    call = 0
    while True:
        if NEXT[s.chain, call] != NONE:
            if choice == 2:
                return ENVIDO + call
            choice -= 1
        call += 1
