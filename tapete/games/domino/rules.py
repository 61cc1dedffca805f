"""Dominó for two (Rojas 2020): match an open end; who can't takes one tile, and passes if that doesn't fit either.

A turn is one move, or three: take, the tile that chance gives, and lay it or pass. A player lays the tile just taken
if it fits, since he only took because no other did.
"""

from typing import Any

import numpy as np

from tapete.core.compile import helper
from tapete.core.contract import CHANCE, TERMINAL, rule
from tapete.core.rng import mix
from tapete.games.domino.masks import NO_TILES, first, only, pick, size, without_first
from tapete.games.domino.moves import deal, end_turn, give, lay, pass_action, show_lack, take_action
from tapete.games.domino.state import DEAL, GIVE, LEFT, OVER, PLAY, RIGHT, STATE, TAKEN, has_looked, view
from tapete.games.domino.tiles import POINTS, SHOWING
from tapete.games.domino.worlds import redeal_hands, redeal_history

__all__ = ["STATE"]  # the record, which the core looks for here


@rule
def start(p: Any, params: Any) -> None:
    s = view(p)
    highest = np.int64(params[0])
    s.numbers = highest + 1
    s.tiles = (highest + 1) * (highest + 2) // 2
    s.each = np.int64(params[1])
    s.stage = DEAL
    s.boneyard = only(s.tiles) - np.uint64(1)
    s.public = 0
    s.given = s.turn = s.passed = s.length = 0
    s.ends[LEFT] = s.ends[RIGHT] = -1
    s.line[:] = 0
    s.earliest[:] = 0
    s.latest[:] = 0
    for seat in range(2):
        s.hand[seat] = s.dealt[seat] = s.laid[seat] = s.laid_at_once[seat] = NO_TILES
        s.keeps[seat] = 0
        s.kept[seat, :] = 0
        s.lacks[seat, :] = 0


@rule
def player(p: Any) -> int:
    s = view(p)
    if s.stage == PLAY or s.stage == TAKEN:
        return s.turn
    return TERMINAL if s.stage == OVER else CHANCE


@rule
def actions(p: Any, out: Any) -> int:
    s = view(p)
    left = s.hand[s.turn]
    right = NO_TILES
    if s.length > 0:
        right = left & SHOWING[s.ends[RIGHT]] if s.ends[RIGHT] != s.ends[LEFT] else NO_TILES
        left &= SHOWING[s.ends[LEFT]]
    fitting = left | right
    if fitting == NO_TILES:
        out[0] = take_action(s) if s.stage == PLAY and s.boneyard else pass_action(s)
        return 1
    n = 0
    while fitting:
        tile = first(fitting)
        if left & only(tile):
            out[n] = 2 * tile + LEFT
            n += 1
        if right & only(tile):
            out[n] = 2 * tile + RIGHT
            n += 1
        fitting = without_first(fitting)
    return n


@rule
def outcomes(p: Any, out: Any, probs: Any) -> int:
    s = view(p)
    tiles = s.boneyard
    n = size(tiles)
    for i in range(n):
        out[i] = first(tiles)
        probs[i] = 1.0 / n
        tiles = without_first(tiles)
    return n


@rule
def draw(p: Any, rng: Any) -> int:
    return pick(rng, view(p).boneyard)


@rule
def apply(p: Any, action: int) -> None:
    s = view(p)
    if s.stage == DEAL:
        deal(s, action)
    elif s.stage == GIVE:
        give(s, action)
    else:
        s.public = mix(s.public, action)
        if action < take_action(s):
            lay(s, action >> 1, action & 1)
        else:
            show_lack(s)
            if action == take_action(s):
                s.stage = GIVE
            else:
                end_turn(s, True)


@helper
def points(tiles: Any) -> int:
    """All pips of a set of tiles."""
    total = 0
    while tiles:
        total += POINTS[first(tiles)]
        tiles = without_first(tiles)
    return total


@rule
def returns(p: Any, out: Any) -> None:
    s = view(p)
    out[0] = out[1] = 0.0
    if s.stage != OVER:
        return
    held = points(s.hand[0]), points(s.hand[1])  # who went out holds none, and the other perhaps only 0-0
    if held[0] != held[1]:
        winner = 0 if held[0] < held[1] else 1
        out[winner] = max(held)
        out[1 - winner] = -max(held)


@rule
def infoset(p: Any, player: int) -> Any:
    s = view(p)
    key = mix(mix(player, s.public), s.stage)
    if s.stage == DEAL:
        key = mix(key, s.given)
    if has_looked(s, player):
        key = mix(key, s.dealt[player])
    for i in range(s.keeps[player]):
        key = mix(key, s.kept[player, i])
    return mix(key, s.hand[1 - player]) if s.stage == OVER else key


@helper
def write_set(out: Any, at: int, tiles: Any, total: int) -> int:
    """A set of tiles as zeros and ones; returns where to go on."""
    for tile in range(total):
        out[at + tile] = (tiles >> np.uint64(tile)) & np.uint64(1)
    return at + total


@rule
def observe(p: Any, player: int, out: Any) -> None:
    s = view(p)
    other = 1 - player
    at = write_set(out, 0, s.hand[player] if has_looked(s, player) else NO_TILES, s.tiles)
    for seat in (player, other):
        at = write_set(out, at, s.laid[seat] | s.laid_at_once[seat], s.tiles)
    for end in (LEFT, RIGHT):
        for number in range(s.numbers):
            out[at + number] = s.ends[end] == number
        at += s.numbers
    for seat in (player, other):
        for number in range(s.numbers):
            lack = s.lacks[seat, number]
            out[at + number] = 1.0 / (s.keeps[seat] + 2 - lack) if lack > 0 else 0.0
        at += s.numbers
    out[at] = size(s.hand[player]) / s.tiles
    out[at + 1] = size(s.hand[other]) / s.tiles
    out[at + 2] = size(s.boneyard) / s.tiles
    out[at + 3] = s.turn == player and (s.stage == PLAY or s.stage == TAKEN)
    out[at + 4] = s.stage == TAKEN
    out[at + 5] = s.passed


@rule
def redeal(p: Any, player: int, rng: Any) -> None:
    s = view(p)
    if s.stage == DEAL:
        redeal_hands(s, player, rng)
    else:
        redeal_history(s, 1 - player, rng)


@rule
def features(p: Any, action: int, out: Any) -> None:
    s = view(p)
    tiles = s.tiles
    for i in range(tiles + 4):
        out[i] = 0.0
    if action < take_action(s):
        out[action >> 1] = 1.0
        out[tiles + (action & 1)] = 1.0
    else:
        out[tiles + 2 + (action - take_action(s))] = 1.0
