"""Asking a game who wins with open cards."""

import numpy as np
from numba import types

from tapete.core.compile import (
    BYTES,
    DOUBLES,
    WORDS,
    float32_ptr,
    float64_ptr,
    int32_ptr,
    kernel,
    state_ptr,
    uint64_ptr,
)
from tapete.core.contract import RULEBOOK
from tapete.core.evaluator import open_evaluator


@kernel(types.void(types.uint64, RULEBOOK, BYTES, WORDS, DOUBLES))
def judge(address, rulebook, state, model, values):
    nowhere = float32_ptr(np.zeros(1, dtype=np.float32))
    legal = int32_ptr(np.zeros(1, dtype=np.int32))
    book, out = uint64_ptr(rulebook), float64_ptr(values)
    open_evaluator(address)(book, state_ptr(state), 0, legal, 0, uint64_ptr(model), book, out, nowhere)


def ends_with(end, state):
    """What a game's `endgame` says of a state, by seat."""
    values = np.zeros(state.game.players)
    judge(np.uint64(end.address), state.game.rulebook, state.data, end.model, values)
    return values
