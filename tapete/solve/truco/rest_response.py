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
from tapete.core.game import Game, State
from tapete.core.players import judge_moves
from tapete.core.records import at, words_of
from tapete.core.rng import Rng
from tapete.games.truco.moves import TIE
from tapete.solve.truco.resolver import rest_of
from tapete.solve.truco.rest import (
    _NODES,
    _WEIGHTS,
    LAST,
    LED,
    PAIRS,
    STAGES,
    THIRD,
    TO_LEAD,
    Rest,
    fill_stage,
    size_of,
    turn_weights,
)
from tapete.solve.truco.rest_cfr import TREMBLE, ascend, descend, meet, open_rest, share_of


@helper
def settle(rest: Any, node: Any, trembles: float) -> None:
    """The strategy of this iteration becomes the average one, as `share_of` has it."""
    seat, n = int(node.mover), int(node.actions)
    stage, size = at(rest.stages, node.stage), size_of(rest, node, seat)
    lanes = int(stage.lanes)
    for kind in range(stage.types[seat]):
        for lane in range(lanes):
            now = ahead(rest.now, node.entries + kind * lanes + lane)
            first = share_of(rest, node, kind, lane, 0, trembles)
            second = share_of(rest, node, kind, lane, 1, trembles)
            if n == 3:
                now[2 * size] = np.float32(share_of(rest, node, kind, lane, 2, trembles))
            now[0], now[size] = np.float32(first), np.float32(second)


def _respond(words: Any, seat: int, ties_to: int) -> None:
    """Values of a best response on that seat, everywhere in a rest that was solved.

    :param words: the addresses of the arrays of a `Rest`.
    :param ties_to: who wins the hand if the last cards tie.
    """
    rest = open_rest(words)
    for number in range(rest.used[_NODES]):
        if at(rest.nodes, number).kind > LAST:
            settle(rest, at(rest.nodes, number), TREMBLE if at(rest.nodes, number).mover != seat else 0.0)
    for each in range(2):
        descend(rest, each, 0.0)
    meet(rest)
    ascend(rest, seat, ties_to, True)


respond = compile_rule(_respond, types.void(UINT64_PTR, types.int64, types.int64))


def _weigh_anew(words: Any) -> None:
    """All joint weights, after those of the root, for seat 1, were changed."""
    rest = open_rest(words)
    leader = int(at(rest.nodes, 0).mover)
    rest.used[_WEIGHTS] = 2 * PAIRS * PAIRS
    turn_weights(rest, TO_LEAD)
    fill_stage(rest, LED, TO_LEAD, leader)
    for number in range(THIRD, STAGES):
        fill_stage(rest, number, LED, 1 - leader)


_fill = compile_rule(_weigh_anew, types.void(UINT64_PTR))


def _address(rest: Rest) -> Any:
    """What compiled code opens a rest by. It keeps the words alive, and not the arrays."""
    return np.array(words_of(rest), dtype=np.uint64).ctypes.data_as(ctypes.POINTER(ctypes.c_uint64))


def weigh_anew(rest: Rest, joint: NDArray[np.float64]) -> None:
    """Changes how likely types meet where a rest begins, [of seat 0, of seat 1]; what was solved stays as it is."""
    first = int(rest.stages[TO_LEAD]["weights"][1])
    rest.weights[first : first + joint.size] = joint.reshape(-1)
    _fill.ctypes(_address(rest))


def responses(rest: Rest, seat: int, ties_to: int) -> NDArray[np.float32]:
    """What a best response on a seat is worth in a solved rest, by type, in the payoffs of the game.

    Each is weighed by how likely the type is there.
    """
    respond.ctypes(_address(rest), seat, ties_to)
    first = int(rest.nodes[0]["value"])
    return rest.values[first : first + PAIRS].copy()


def ties_to(record: Any) -> int:
    """Who wins a last parda, in a hand whose first trick is over."""
    first = int(record["winner"][0])
    return int(record["mano"]) if first == TIE else first


def play_until(is_there: Callable[[Any], bool], game: Game, player: Evaluator, rng: Rng) -> State:
    """A hand that the player has with itself, as far as `is_there` says of its record, or to its end."""
    state = game.start().deal(rng)
    while not state.over and not is_there(game.record(state.data)):
        legal = state.actions()
        likely = judge_moves(player, game, state.data, state.player, legal).cumsum()
        state.apply(legal[int(likely.searchsorted(rng.uniform() * likely[-1], side="right"))])
    return state


def rests(
    game: Game, player: Evaluator, hands: int, *, seed: int = 1, tell: Callable[[int], bool] = lambda done: True
) -> NDArray[np.float64]:
    """What best responses gain on average over both seats, in the rest of each hand that a player has with itself.

    0 where the first trick ends it.

    :param player: a `resolver`.
    :param tell: hears how many hands are done, and stops it by False.
    """
    found: list[float] = []
    while len(found) < hands and tell(len(found)):
        state = play_until(lambda record: record["trick"] > 0, game, player, Rng(seed, "rests", len(found)))
        gain = 0.0
        for seat in range(0 if state.over else 2):
            judge_moves(player, game, state.data, seat, state.actions())  # who may meet a stranger solves for himself
            worth = responses(rest_of(player, seat), 1 - seat, ties_to(game.record(state.data)))
            gain += float(worth.sum()) / 2
        found.append(gain)
    return np.array(found)
