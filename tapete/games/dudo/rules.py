"""Dudo (Rojas 2020): claim more than the other did, or doubt it; who loses a round loses a die and starts the next.

A claim is numbered (quantity - 1) * faces + face - 1, which is also the order of claims. Claims of a round only go up,
so the set of them is their history.
"""

from typing import Any

import numpy as np
from numba import carray

from tapete.core.compile import helper
from tapete.core.contract import CHANCE, TERMINAL, rule
from tapete.core.rng import below, mix
from tapete.games.dudo.rolls import COUNTS, FIRST, ONE_MORE, WAYS

NO_CLAIM = -1
NO_ROLL = 0  # the row of the roll of no dice

STATE = np.dtype(
    [
        ("public", "u8"),  # key of all that happened in the rounds before this one
        ("claims", "u8", (2,)),  # claims of this round, a bit each: c is bit c % 64 of word c // 64
        ("win", "f8"),  # to seat 0, if seat 1 loses the last round
        ("lose", "f8"),  # to seat 0, if it loses the last round
        ("roll", "i2", (2,)),  # of each seat in this round: a row of the tables of rolls
        ("shown", "i2", (2,)),  # rolls of the round before, which all have seen
        ("player", "i1"),  # who moves
        ("starter", "i1"),  # of this round; after a round, who lost it
        ("dice", "i1", (2,)),  # left
        ("last", "i1"),  # the last claim of this round
        ("doubted", "i1"),  # the claim that ended the round before
        ("faces", "i1"),
        ("dudo", "i1"),  # the action: one more than the highest claim of the first round
        ("dice_at_start", "i1", (2,)),
        ("one_round", "i1"),
    ],
    align=True,
)


@helper
def view(p: Any) -> Any:
    """The record at that address."""
    return carray(p, (1,), STATE)[0]


@helper
def begin_round(s: Any, starter: int) -> None:
    """Dice under the cups, not yet rolled; nothing claimed."""
    s.starter = starter
    s.roll[0] = s.roll[1] = NO_ROLL
    s.claims[0] = s.claims[1] = 0
    s.last = NO_CLAIM


@rule
def start(p: Any, params: Any) -> None:
    s = view(p)
    s.faces = np.int8(params[0])
    s.dice[0] = s.dice_at_start[0] = np.int8(params[1])
    s.dice[1] = s.dice_at_start[1] = np.int8(params[2])
    s.one_round = np.int8(params[3])
    s.win = params[4]
    s.lose = params[5]
    s.dudo = s.faces * (s.dice[0] + s.dice[1])
    s.public = 0
    s.shown[0] = s.shown[1] = NO_ROLL
    s.doubted = NO_CLAIM
    begin_round(s, 0)
    s.player = CHANCE


@rule
def player(p: Any) -> int:
    return view(p).player


@rule
def actions(p: Any, out: Any) -> int:
    s = view(p)
    lowest = s.last + 1
    n = s.faces * (s.dice[0] + s.dice[1]) - lowest
    for i in range(n):
        out[i] = lowest + i
    if s.last != NO_CLAIM:
        out[n] = s.dudo
        n += 1
    return n


@helper
def next_to_roll(s: Any) -> int:
    """Whose dice chance rolls: seat 0's, then seat 1's."""
    return 0 if s.roll[0] == NO_ROLL else 1


@rule
def outcomes(p: Any, out: Any, probs: Any) -> int:
    s = view(p)
    dice = s.dice[next_to_roll(s)]
    n = total = 1  # rolls, and orders in which the dice may fall
    for i in range(dice):
        n = n * (s.faces + i) // (i + 1)
        total *= s.faces
    for i in range(n):
        out[i] = i
        probs[i] = WAYS[FIRST[dice] + i] / total
    return n


@helper
def roll_dice(s: Any, seat: int, rng: Any) -> Any:
    """A roll of all dice that the seat has left."""
    row = np.int64(NO_ROLL)
    for _ in range(s.dice[seat]):
        row = np.int64(ONE_MORE[row, below(rng, s.faces)])
    return row


@rule
def draw(p: Any, rng: Any) -> int:
    s = view(p)
    seat = next_to_roll(s)
    return roll_dice(s, seat, rng) - FIRST[s.dice[seat]]


@helper
def end_round(s: Any) -> None:
    """The mover doubts the last claim: all dice are shown, and one of the two loses a die."""
    quantity, face = s.last // s.faces + 1, s.last % s.faces
    is_true = COUNTS[s.roll[0], face] + COUNTS[s.roll[1], face] >= quantity
    loser = s.player if is_true else 1 - s.player
    s.public = mix(mix(mix(s.public, s.claims[0]), s.claims[1]), (s.roll[0] << 16) | s.roll[1])
    s.shown[0] = s.roll[0]
    s.shown[1] = s.roll[1]
    s.doubted = s.last
    s.dice[loser] -= 1
    s.player = TERMINAL if s.one_round or s.dice[loser] == 0 else CHANCE
    begin_round(s, loser)


@rule
def apply(p: Any, action: int) -> None:
    s = view(p)
    if s.player == CHANCE:
        seat = next_to_roll(s)
        s.roll[seat] = FIRST[s.dice[seat]] + action
        if seat == 1:
            s.player = s.starter
    elif action == s.dudo:
        end_round(s)
    else:
        s.claims[action >> 6] |= np.uint64(1) << np.uint64(action & 63)
        s.last = action
        s.player = 1 - s.player


@rule
def returns(p: Any, out: Any) -> None:
    s = view(p)
    out[0] = out[1] = 0.0
    if s.player == TERMINAL:
        out[0] = s.win if s.starter == 1 else s.lose
        out[1] = -out[0]


@rule
def infoset(p: Any, player: int) -> Any:
    s = view(p)
    rolled = (s.roll[0] != NO_ROLL) + (s.roll[1] != NO_ROLL)
    private = (s.roll[player] << 3) | (rolled << 1) | player
    return mix(mix(mix(private, s.public), s.claims[0]), s.claims[1])


@helper
def write_claim(s: Any, claim: int, out: Any, at: int) -> None:
    """Quantity and face of a claim, 1 + faces numbers from there on; zeros for no claim."""
    for i in range(1 + s.faces):
        out[at + i] = 0.0
    if claim != NO_CLAIM:
        out[at] = (claim // s.faces + 1) / (s.dice_at_start[0] + s.dice_at_start[1])
        out[at + 1 + claim % s.faces] = 1.0


@rule
def observe(p: Any, player: int, out: Any) -> None:
    s = view(p)
    faces = s.faces
    most = max(s.dice_at_start[0], s.dice_at_start[1])
    for face in range(faces):
        out[face] = COUNTS[s.roll[player], face] / most
    out[faces] = s.dice[player] / most
    out[faces + 1] = s.dice[1 - player] / most
    at = faces + 2
    for claim in range(s.dudo):
        out[at + claim] = (s.claims[claim >> 6] >> np.uint64(claim & 63)) & np.uint64(1)
    at += s.dudo
    write_claim(s, s.last, out, at)
    at += 1 + faces
    out[at] = s.starter == player
    out[at + 1] = s.starter != player


@rule
def redeal(p: Any, player: int, rng: Any) -> None:
    s = view(p)
    other = 1 - player
    if s.roll[other] != NO_ROLL:
        s.roll[other] = roll_dice(s, other, rng)


@rule
def features(p: Any, action: int, out: Any) -> None:
    s = view(p)
    is_dudo = action == s.dudo
    write_claim(s, NO_CLAIM if is_dudo else action, out, 0)
    out[1 + s.faces] = is_dudo
