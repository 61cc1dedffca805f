"""What judges a state, and the moves in it: random playouts, a network, pattern tables.

An evaluator is one C function, so a search is compiled once for all of them, as it is for all games. One that judges
moves can also sit down and play: `tapete.core.players` plays whole games of such players inside one kernel::

    evaluate(rulebook, state, seat, legal, n, model, rng, values, priors)

``rulebook``        the rules, for `open_rules`
``state``           where `seat` is to move; an evaluator without priors may spoil it
``legal``           its `n` moves, in room for the most that the game ever has; the same goes for it. n is
                    0 where no priors are wanted
``model``           addresses of whatever the evaluator needs: weights, scratch memory
``rng``             for evaluators that draw; others leave it as it is, and give the same judgement every time
``values``          out: the payoff that each seat may expect; untouched where `Evaluator.values` is False
``priors``          out: how likely each legal move is to be the right one; untouched where `Evaluator.priors` is False
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from tapete.core.compile import (
    FLOAT32_PTR,
    FLOAT64_PTR,
    INT32_PTR,
    STATE_PTR,
    UINT64_PTR,
    compile_rule,
)
from tapete.core.contract import function_at

EVALUATE = types.void(
    UINT64_PTR, STATE_PTR, types.int64, INT32_PTR, types.int64, UINT64_PTR, UINT64_PTR, FLOAT64_PTR, FLOAT32_PTR
)


class Evaluator(NamedTuple):
    """A compiled evaluator with its model, for the use of one thread: the scratch memory is its own."""

    function: Any  # what `evaluator` returned; None: every move is as good as any other
    arrays: tuple[NDArray[Any], ...] = ()  # what the model's addresses point at
    priors: bool = False  # whether it judges moves
    values: bool = True  # whether it judges states

    @property
    def address(self) -> int:
        """Of the C function; 0 where there is none."""
        return int(self.function.address) if self.function else 0

    @property
    def model(self) -> NDArray[np.uint64]:
        """The addresses of the arrays; valid as long as this object lives."""
        return np.array([array.ctypes.data for array in self.arrays] or [0], dtype=np.uint64)


MakeEvaluator = Callable[[], Evaluator]  # called once for every thread


def evaluator(function: Callable[..., Any]) -> Any:
    """Compiles an evaluator; used as a decorator, like `rule`."""
    return compile_rule(function, EVALUATE)


@intrinsic  # type: ignore[untyped-decorator]
def open_evaluator(typing_context: Any, address: Any) -> Any:
    """The evaluator at an address, inside a kernel."""
    function_type = types.FunctionType(EVALUATE)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return function_at(context, builder, function_type, arguments[0])

    return function_type(types.uint64), generate


def _array_at(pointer: Any) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def at(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(pointer))

        return pointer(types.uint64), generate

    return at


# An array of the model, inside an evaluator: `weights = floats_at(model[1])`.
floats_at = _array_at(FLOAT32_PTR)
ints_at = _array_at(INT32_PTR)
bytes_at = _array_at(types.CPointer(types.uint8))
chars_at = _array_at(types.CPointer(types.int8))
shorts_at = _array_at(types.CPointer(types.int16))
longs_at = _array_at(types.CPointer(types.int64))
states_at = _array_at(STATE_PTR)
words_at = _array_at(UINT64_PTR)
doubles_at = _array_at(FLOAT64_PTR)
