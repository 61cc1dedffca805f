"""What each move of a decision is worth, for who wants to learn: over the hands that the other may hold.

Every hand that fits is weighed by how likely the strategy would have made the other's moves with it, from the beginning
of the hand on; then each move is played out by the strategy, in the same hands, and paid in match equity.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from tapete.core.compile import BYTES, INTS, WORDS, first_of, kernel, state_ptr, uint64_ptr
from tapete.core.contract import RULEBOOK, open_rules
from tapete.core.evaluator import Evaluator
from tapete.core.game import State
from tapete.core.players import SEATED, Seated
from tapete.core.records import copy_state, pointers
from tapete.core.rng import Rng
from tapete.games.truco.moves import PAYS_EQUITY, STATE, view
from tapete.solve.truco.local import (
    DESK,
    PLAYER,
    Desk,
    add_up,
    expect_any,
    go_through,
    try_moves,
)
from tapete.solve.truco.ranges import DOUBT, LONGEST, moves_of, rewind

WORLDS = 2000  # hands in which moves are tried


@kernel(types.void(RULEBOOK, BYTES, SEATED, DESK, types.int64, types.int64, INTS, WORDS))
def _try_all(rulebook: Any, now: Any, arrays: Any, room: Any, seat: int, worlds: int, past: Any, words: Any) -> None:
    """Fills `gains` of the room for the legal moves of the state `now`; `past` has room for the moves of the hand."""
    rules, book, rng = open_rules(rulebook), uint64_ptr(rulebook), uint64_ptr(words)
    seated, desk, size, moves = pointers(arrays), pointers(room), len(now), first_of(past)
    present = state_ptr(now)
    copy_state(desk.state, present, size)
    done = moves_of(view(present), moves)
    rewind(view(present), view(desk.state))
    expect_any(desk.state, seat, desk)
    go_through(book, size, desk, moves, done, 1 - seat, DOUBT, seated, rng)
    add_up(desk)
    try_moves(book, size, desk, rules.actions(desk.state, desk.legal), seat, worlds, seated, PLAYER, rng)


def worth_of_moves(state: State, player: Evaluator, rng: Rng, *, worlds: int = WORLDS) -> dict[int, float]:
    """What the legal moves are worth to who is to move; what the other holds is not looked at.

    2 p - 1, where p is how likely the match is won.
    """
    game, desk, legal = state.game, Desk.of(state.game), state.actions()
    present = state.data.copy()
    present[: STATE.itemsize].view(STATE)["single"] = PAYS_EQUITY
    model = player.model
    seated = Seated.of(game, [player], [model])
    past = np.zeros(2 * LONGEST, dtype=np.int32)
    _try_all(game.rulebook, present, seated, desk, state.player, worlds, past, rng.words)
    return dict(zip(legal, desk.gains[: len(legal)].tolist(), strict=True))
