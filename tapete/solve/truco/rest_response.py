"""How far what is solved at play is from optimal: best responses in the rest of a hand, exact over its public tree.

The tree knows ranks and not suits, and both ranges as the resolver takes them. In that game nothing is forgotten, so
that a best response can be computed: the other plays the average strategy, and from the leaves up each type of the
responder takes the best there is.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import UINT64_PTR, ahead, compile_rule, helper
from tapete.core.evaluator import Evaluator
from tapete.core.game import Game
from tapete.core.players import judge_moves
from tapete.core.records import at, words_of
from tapete.core.rng import Rng
from tapete.games.truco.moves import TIE
from tapete.solve.truco.rest import _NODES, LAST, PAIRS, Rest, size_of
from tapete.solve.truco.rest_cfr import ascend, descend, meet, open_rest


@helper
def settle(rest: Any, node: Any) -> None:
    """The strategy of this iteration becomes the average one; where a type never got there it stays."""
    size, now, sums = (
        size_of(rest, node, int(node.mover)),
        ahead(rest.now, node.entries),
        ahead(rest.sums, node.entries),
    )
    for i in range(size):
        total = 0.0
        for action in range(node.actions):
            total += sums[action * size + i]
        if total > 0:
            for action in range(node.actions):
                now[action * size + i] = np.float32(sums[action * size + i] / total)


def _respond(words: Any, seat: int, ties_to: int) -> float:
    """What a best response on that seat is worth to it, where the rest that was solved begins.

    :param words: the addresses of the arrays of a `Rest`.
    :param ties_to: who wins the hand if the last cards tie.
    """
    rest = open_rest(words)
    for number in range(rest.used[_NODES]):
        if at(rest.nodes, number).kind > LAST:
            settle(rest, at(rest.nodes, number))
    for each in range(2):
        descend(rest, each, 0.0)
    meet(rest)
    ascend(rest, seat, ties_to, True)
    worth, root = 0.0, at(rest.nodes, 0)
    for i in range(PAIRS):
        worth += rest.values[root.value + i]
    return worth


respond = compile_rule(_respond, types.float64(UINT64_PTR, types.int64, types.int64))


def response(rest: Rest, seat: int, ties_to: int) -> float:
    """What a best response on a seat is worth in a solved rest, in the payoffs of the game."""
    words = np.array(words_of(rest), dtype=np.uint64)
    return float(respond.ctypes(words.ctypes.data_as(ctypes.POINTER(ctypes.c_uint64)), seat, ties_to))


def rests(
    game: Game, player: Evaluator, hands: int, *, seed: int = 1, tell: Callable[[int], bool] = lambda done: True
) -> NDArray[np.float64]:
    """What best responses gain on average over both seats, in the rest of each hand that a player has with itself.

    0 where the first trick ends it.

    :param player: a `resolver`.
    :param tell: hears how many hands are done, and stops it by False.
    """
    rest = Rest(*player.arrays[-len(Rest._fields) :])
    found: list[float] = []
    while len(found) < hands and tell(len(found)):
        rng = Rng(seed, "rests", len(found))
        state = game.start().deal(rng)
        while not state.over and game.record(state.data)["trick"] == 0:
            legal = state.actions()
            likely = judge_moves(player, game, state.data, state.player, legal).cumsum()
            state.apply(legal[int(likely.searchsorted(rng.uniform() * likely[-1], side="right"))])
        gain = 0.0
        for seat in range(0 if state.over else 2):
            judge_moves(player, game, state.data, seat, state.actions())  # who may meet a stranger solves for himself
            record = game.record(state.data)
            first = int(record["winner"][0])
            gain += response(rest, 1 - seat, int(record["mano"]) if first == TIE else first) / 2
        found.append(gain)
    return np.array(found)
