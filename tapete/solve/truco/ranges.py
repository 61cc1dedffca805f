"""What both seats of a hand of truco may hold, as both know it, and how likely: their *ranges*.

A hand is gone through again, move by move. A range is weighed by how likely the strategy would have made each move with
each hand: by the blueprint in the first trick, later by what was solved (`resolver.py`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import DOUBLES, LONGS, WORDS, helper
from tapete.core.rng import mix
from tapete.games.truco.bets import ENVIDO, QUIERO, RAISE
from tapete.games.truco.cards import HANDS
from tapete.games.truco.equity import chance_of_mano
from tapete.games.truco.moves import (
    CALL_BITS,
    CARD_BITS,
    DEAL,
    NONE,
    bit,
    cards_laid,
    clear_table,
    envido_points,
)

MOST = 741  # hands of three with a given card
LONGEST = 20  # moves of a hand, and more
DOUBT = 0.02  # how often somebody is thought to make any move, so that nothing that is seen is impossible


class Ranges(NamedTuple):
    """Hands of both seats. For one thread."""

    hands: NDArray[np.uint64]  # [2, MOST] three cards each
    weights: NDArray[np.float64]  # [2, MOST]
    strange: NDArray[np.float64]  # [MOST] of the one who may be a stranger, if he is, times how likely that was before
    counts: NDArray[np.int64]  # [2] hands of each seat
    key: NDArray[np.uint64]  # [1] of the public state that they are of

    @classmethod
    def empty(cls) -> Ranges:
        """Room for them."""
        return cls(
            np.zeros(2 * MOST, dtype=np.uint64),
            np.zeros(2 * MOST),
            np.zeros(MOST),
            np.zeros(2, dtype=np.int64),
            np.zeros(1, dtype=np.uint64),
        )


RANGES = types.NamedTuple([WORDS, DOUBLES, DOUBLES, LONGS, WORDS], Ranges)


@helper
def moves_of(s: Any, out: Any) -> int:
    """All moves of this hand so far, in order, and from LONGEST on who made them; how many there are."""
    calls = 0
    while s.calls >> (np.uint64(calls) * CALL_BITS):
        calls += 1
    laid, n = 0, 0
    total = cards_laid(s)
    while True:
        while calls > 0:
            at = np.uint64(calls - 1)
            if np.int64((s.cards_before >> (at * CARD_BITS)) & np.uint64(7)) != laid:
                break
            code = np.int64((s.calls >> (at * CALL_BITS)) & np.uint64(31))
            out[n], out[LONGEST + n] = (code & 15) + ENVIDO - 1, code >> 4
            n += 1
            calls -= 1
        if laid == total:
            return n
        leader = int(s.leader[laid // 2])
        seat = leader if laid % 2 == 0 else 1 - leader
        out[n], out[LONGEST + n] = s.table[2 * (laid // 2) + seat], seat
        n += 1
        laid += 1


@helper
def moves_until(moves: Any, n: int, cards: int) -> int:
    """How many moves there are up to that card."""
    laid = 0
    for i in range(n):
        if laid == cards:
            return i
        laid += moves[i] < ENVIDO
    return n


@helper
def worth_after(moves: Any, n: int) -> tuple[int, int]:
    """What the hand is worth after the first n moves, and who may raise it."""
    level, asked, holder, waits = 1, 0, NONE, False
    for i in range(n):
        move = int(moves[i])
        if ENVIDO <= move < RAISE:
            waits = True
        elif move == RAISE:
            level = max(level, asked)
            asked = level + 1
        elif move > RAISE and waits:
            waits = False
        elif move == QUIERO:
            level, asked, holder = asked, 0, int(moves[LONGEST + i])
    return level, holder


@helper
def key_of(s: Any, moves: Any, n: int) -> Any:
    """Names the public state after the first n moves of this hand."""
    key = mix(np.uint64(s.mano + 2 * s.mazo + 4 * (s.single == 1)), np.uint64(s.points))
    for seat in range(2):
        key = mix(mix(key, np.uint64(s.score_before[seat])), np.uint64(s.shown[seat] + 1))
    for i in range(n):
        key = mix(key, np.uint64(moves[i]))
    return key


@helper
def rewind(s: Any, past: Any) -> None:
    """Makes `past`, a copy of the state s, the beginning of its hand, the cards dealt."""
    for seat in range(2):
        past.score[seat] = s.score_before[seat]
    clear_table(past, int(s.mano))
    for seat in range(2):
        past.hand[seat] = s.hand[seat]
    past.dealt = DEAL
    past.leader[0] = past.mover = s.mano


@helper
def expect_any(s: Any, pack: Any, ranges: Any) -> None:
    """All hands with the cards of the first trick in them that fit what was shown, each as likely as any other.

    :param pack: the cards that are played with.
    """
    for seat in range(2):
        own, n = bit(int(s.table[seat])), 0
        out = ~(pack | own) | bit(int(s.table[1 - seat]))
        for i in range(len(HANDS)):
            hand = HANDS[i]
            if hand & own and not hand & out and (s.shown[seat] == NONE or envido_points(hand) == s.shown[seat]):
                ranges.hands[seat * MOST + n] = hand
                ranges.weights[seat * MOST + n] = 1.0
                n += 1
        ranges.counts[seat] = n


@helper
def doubted(share: float, choices: int) -> float:
    """How likely a move of so many is, as it is seen from outside."""
    return (1.0 - DOUBT) * share + DOUBT / choices


@helper
def rescale(ranges: Any, seat: int) -> None:
    """The weights of a seat add up to one."""
    total = 0.0
    for i in range(ranges.counts[seat]):
        total += ranges.weights[seat * MOST + i]
    for i in range(ranges.counts[seat]):
        ranges.weights[seat * MOST + i] /= total


@helper
def copy_ranges(source: Any, ranges: Any) -> None:
    """Hands that are possible still."""
    for seat in range(2):
        n = 0
        for i in range(source.counts[seat]):
            if source.weights[seat * MOST + i] > 0.0:
                ranges.hands[seat * MOST + n] = source.hands[seat * MOST + i]
                ranges.weights[seat * MOST + n] = source.weights[seat * MOST + i]
                n += 1
        ranges.counts[seat] = n


@helper
def chance_after(s: Any, winner: int, level: int) -> float:
    """What it is worth to seat 0 if that seat wins the hand at that level now, in the payoffs of the game."""
    lacks0, lacks1 = int(s.points) - int(s.score[0]), int(s.points) - int(s.score[1])
    if s.single == 1:
        return float(min(level, lacks0)) if winner == 0 else -float(min(level, lacks1))
    if winner == 0:
        lacks0 = max(lacks0 - level, 0)
    else:
        lacks1 = max(lacks1 - level, 0)
    if s.mano == 1:  # then seat 0 is mano next
        return 2.0 * chance_of_mano(int(s.mazo), lacks0, lacks1) - 1.0
    return 1.0 - 2.0 * chance_of_mano(int(s.mazo), lacks1, lacks0)
