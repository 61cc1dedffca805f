"""Hands of a contest, told move by move: what hand histories are written from."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import BYTES, DOUBLES, INTS, LONGS, ahead, first_of, float64_ptr, kernel, state_ptr
from tapete.core.contract import CHANCE, RULEBOOK, TERMINAL, open_rules
from tapete.core.game import Game
from tapete.core.records import pointers
from tapete.games.holdem.deals import CARDS, CHARS, DEALS, SEATS, Deals
from tapete.games.holdem.rivals import RIVALS, Place, Rivals, move_of
from tapete.games.holdem.rules import act, deal, on_board, view

LONGEST = 400  # cards and moves of a hand: 25 cards, and ten seats that are asked at most five times on four streets


@kernel(types.int64(RULEBOOK, DOUBLES, DEALS, RIVALS, LONGS, CHARS, CHARS, BYTES, INTS))
def _retell(
    rulebook: Any,
    params: Any,
    deals_: Any,
    rivals_: Any,
    where: Any,
    chromosome: Any,
    used: Any,
    room: Any,
    actions: Any,
) -> int:
    """Plays one hand and notes every card and every move; how many there were."""
    rules, deals, rivals, state = open_rules(rulebook), pointers(deals_), pointers(rivals_), state_ptr(room)
    place, n = Place(where[0], where[1], where[2]), 0
    rules.start(state, float64_ptr(params))
    s = view(state)
    cards = ahead(deals.cards, place.number * CARDS)
    while s.mover != TERMINAL:
        if s.mover != CHANCE:
            action = np.int64(move_of(s, deals, rivals, place, first_of(chromosome), first_of(used)))
            act(s, action)
        else:
            laid = on_board(s)
            dealt = laid + 2 * SEATS
            seat = (dealt // 2 + place.turned) % SEATS
            action = np.int64(cards[dealt if laid >= 0 else 2 * seat + dealt % 2])
            deal(s, action)
        actions[n] = action
        n += 1
    return n


def retell(
    game: Game, deals: Deals, rivals: Rivals, individual: NDArray[np.int8]
) -> Iterator[tuple[list[int], list[int]]]:
    """All hands of an individual: the actions of each game, and who sat where, -1 the individual."""
    actions, room = np.zeros(LONGEST, dtype=np.int32), np.zeros(game.size, dtype=np.uint8)
    chromosome, used = np.ascontiguousarray(individual).reshape(-1), np.zeros(individual.size, dtype=np.int8)
    lineups = rivals.lineups.reshape(-1, SEATS - 1)
    for number, moved, turned in product(range(deals.n), range(SEATS), range(SEATS)):
        where = np.array([number, turned, moved])
        n = _retell(game.rulebook, game.params, deals, rivals, where, chromosome, used, room, actions)
        table = [-1, *lineups[number].tolist()]
        yield actions[:n].tolist(), [table[(seat + moved) % SEATS] for seat in range(SEATS)]
