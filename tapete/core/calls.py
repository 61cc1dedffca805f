"""The functions of the contract, called from Python on one state."""

from __future__ import annotations

from functools import partial
from typing import Any

from numba import types

from tapete.core.compile import (
    BYTES,
    DOUBLES,
    FLOATS,
    INTS,
    WORDS,
    float32_ptr,
    float64_ptr,
    int32_ptr,
    kernel,
    state_ptr,
    uint64_ptr,
)
from tapete.core.contract import RULEBOOK, open_rules

call = partial(kernel, is_short=True)


@call(types.void(RULEBOOK, BYTES, DOUBLES))
def start(rulebook: Any, state: Any, params: Any) -> None:
    open_rules(rulebook).start(state_ptr(state), float64_ptr(params))


@call(types.int64(RULEBOOK, BYTES))
def player(rulebook: Any, state: Any) -> int:
    return open_rules(rulebook).player(state_ptr(state))


@call(types.int64(RULEBOOK, BYTES, INTS))
def actions(rulebook: Any, state: Any, out: Any) -> int:
    return open_rules(rulebook).actions(state_ptr(state), int32_ptr(out))


@call(types.int64(RULEBOOK, BYTES, INTS, DOUBLES))
def outcomes(rulebook: Any, state: Any, out: Any, probs: Any) -> int:
    return open_rules(rulebook).outcomes(state_ptr(state), int32_ptr(out), float64_ptr(probs))


@call(types.int64(RULEBOOK, BYTES, WORDS))
def draw(rulebook: Any, state: Any, rng: Any) -> int:
    return open_rules(rulebook).draw(state_ptr(state), uint64_ptr(rng))


@call(types.void(RULEBOOK, BYTES, types.int64))
def apply(rulebook: Any, state: Any, action: int) -> None:
    open_rules(rulebook).apply(state_ptr(state), action)


@call(types.void(RULEBOOK, BYTES, DOUBLES))
def returns(rulebook: Any, state: Any, out: Any) -> None:
    open_rules(rulebook).returns(state_ptr(state), float64_ptr(out))


@call(types.uint64(RULEBOOK, BYTES, types.int64))
def infoset(rulebook: Any, state: Any, seat: int) -> int:
    return open_rules(rulebook).infoset(state_ptr(state), seat)


@call(types.void(RULEBOOK, BYTES, types.int64, FLOATS))
def observe(rulebook: Any, state: Any, seat: int, out: Any) -> None:
    open_rules(rulebook).observe(state_ptr(state), seat, float32_ptr(out))


@call(types.void(RULEBOOK, BYTES, types.int64, WORDS))
def redeal(rulebook: Any, state: Any, seat: int, rng: Any) -> None:
    open_rules(rulebook).redeal(state_ptr(state), seat, uint64_ptr(rng))


@call(types.void(RULEBOOK, BYTES, types.int64, FLOATS))
def features(rulebook: Any, state: Any, action: int, out: Any) -> None:
    open_rules(rulebook).features(state_ptr(state), action, float32_ptr(out))
