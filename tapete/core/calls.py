"""The functions of the contract, called from Python on one state."""

from __future__ import annotations

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
from tapete.core.contract import TABLE, open_rules


@kernel(types.void(TABLE, BYTES, DOUBLES))
def start(table: Any, state: Any, params: Any) -> None:
    open_rules(table).start(state_ptr(state), float64_ptr(params))


@kernel(types.int64(TABLE, BYTES))
def player(table: Any, state: Any) -> int:
    return open_rules(table).player(state_ptr(state))


@kernel(types.int64(TABLE, BYTES, INTS))
def actions(table: Any, state: Any, out: Any) -> int:
    return open_rules(table).actions(state_ptr(state), int32_ptr(out))


@kernel(types.int64(TABLE, BYTES, INTS, DOUBLES))
def outcomes(table: Any, state: Any, out: Any, probs: Any) -> int:
    return open_rules(table).outcomes(state_ptr(state), int32_ptr(out), float64_ptr(probs))


@kernel(types.int64(TABLE, BYTES, WORDS))
def draw(table: Any, state: Any, rng: Any) -> int:
    return open_rules(table).draw(state_ptr(state), uint64_ptr(rng))


@kernel(types.void(TABLE, BYTES, types.int64))
def apply(table: Any, state: Any, action: int) -> None:
    open_rules(table).apply(state_ptr(state), action)


@kernel(types.void(TABLE, BYTES, DOUBLES))
def returns(table: Any, state: Any, out: Any) -> None:
    open_rules(table).returns(state_ptr(state), float64_ptr(out))


@kernel(types.uint64(TABLE, BYTES, types.int64))
def infoset(table: Any, state: Any, seat: int) -> int:
    return open_rules(table).infoset(state_ptr(state), seat)


@kernel(types.void(TABLE, BYTES, types.int64, FLOATS))
def observe(table: Any, state: Any, seat: int, out: Any) -> None:
    open_rules(table).observe(state_ptr(state), seat, float32_ptr(out))


@kernel(types.void(TABLE, BYTES, types.int64, WORDS))
def redeal(table: Any, state: Any, seat: int, rng: Any) -> None:
    open_rules(table).redeal(state_ptr(state), seat, uint64_ptr(rng))


@kernel(types.void(TABLE, BYTES, types.int64, FLOATS))
def features(table: Any, state: Any, action: int, out: Any) -> None:
    open_rules(table).features(state_ptr(state), action, float32_ptr(out))
