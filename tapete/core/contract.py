"""The contract between rules and algorithms: eleven functions over the bytes of a state.

A game writes each of them once, in its ``rules.py``, decorated with :func:`rule`. An algorithm takes them as one
:class:`Rules` tuple and calls ``rules.apply(state, action)``. Nothing is inlined across that line, so neither side is
recompiled when the other changes. They check nothing: checking happens at the edge, in :class:`tapete.core.State`.

==============================  ======================================================================================
``start(state, params)``        the state before anything happened; the parameters are written into it
``player(state)``               who moves: 0, 1, ..., or ``CHANCE``, or ``TERMINAL``
``actions(state, out)``         legal actions of the mover, ascending, and how many there are
``outcomes(state, out, probs)`` chance outcomes, ascending, with probabilities, and how many there are
``draw(state, rng)``            one chance outcome, drawn with its probability
``apply(state, action)``        the transition, of players and chance alike
``returns(state, out)``         the payoffs, one a seat; zeros until the game is over
``infoset(state, player)``      key of what that seat knows, perfect recall
``observe(state, player, out)`` the same as numbers for a network
``redeal(state, player, rng)``  re-samples everything that the seat can't know, given all that it has seen: worlds come
                                out as often as chance would have made them. The bytes that result depend on what the
                                seat knows and on ``rng``, on nothing else: that is what makes a ``View`` safe. The
                                payoffs of a finished game are known to all, and stay
``features(state, action, out)`` an action as numbers, for networks that score actions
==============================  ======================================================================================

Chance deals one card, or rolls one player's dice, at a time. Hands are sets: the order of the deal leaves no trace.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any, NamedTuple

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from tapete.core.compile import FLOAT32_PTR, FLOAT64_PTR, INT32_PTR, STATE_PTR, UINT64_PTR, compile_rule
from tapete.core.errors import TapeteError

CHANCE = -1
TERMINAL = -2

SIGNATURES = {
    "start": types.void(STATE_PTR, FLOAT64_PTR),
    "player": types.int64(STATE_PTR),
    "actions": types.int64(STATE_PTR, INT32_PTR),
    "outcomes": types.int64(STATE_PTR, INT32_PTR, FLOAT64_PTR),
    "draw": types.int64(STATE_PTR, UINT64_PTR),
    "apply": types.void(STATE_PTR, types.int64),
    "returns": types.void(STATE_PTR, FLOAT64_PTR),
    "infoset": types.uint64(STATE_PTR, types.int64),
    "observe": types.void(STATE_PTR, types.int64, FLOAT32_PTR),
    "redeal": types.void(STATE_PTR, types.int64, UINT64_PTR),
    "features": types.void(STATE_PTR, types.int64, FLOAT32_PTR),
}


class Rules(NamedTuple):
    """The compiled functions of one game, as a kernel calls them."""

    start: Any
    player: Any
    actions: Any
    outcomes: Any
    draw: Any
    apply: Any
    returns: Any
    infoset: Any
    observe: Any
    redeal: Any
    features: Any


_RULES = types.NamedTuple([types.FunctionType(SIGNATURES[name]) for name in Rules._fields], Rules)

# A game's rules in the signature of a kernel: the addresses of its functions. Passing eleven first-class functions
# costs 130 microseconds a call from Python, passing this array costs a quarter of one.
RULEBOOK = types.uint64[::1]


def rule(function: Callable[..., Any]) -> Any:
    """Compiles one function of the contract; its name says which."""
    if function.__name__ not in SIGNATURES:
        close = difflib.get_close_matches(function.__name__, SIGNATURES, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"it has {', '.join(SIGNATURES)}"
        raise TapeteError(f"the contract has no function {function.__name__!r} ({function.__module__}); {hint}")
    return compile_rule(function, SIGNATURES[function.__name__])


@intrinsic  # type: ignore[untyped-decorator]
def open_rules(typing_context: Any, rulebook: Any) -> Any:
    """The first line of every kernel: `rules = open_rules(rulebook)`; it may also come as a pointer."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = arguments[0]
        if isinstance(signature.args[0], types.Array):
            data = cgutils.create_struct_proxy(signature.args[0])(context, builder, data).data
        functions = [
            function_at(context, builder, function_type, builder.load(cgutils.gep_inbounds(builder, data, i)))
            for i, function_type in enumerate(_RULES.types)
        ]
        return context.make_tuple(builder, signature.return_type, functions)

    return _RULES(rulebook), generate


def function_at(context: Any, builder: Any, function_type: Any, address: Any) -> Any:
    """Generates code that makes a first-class function of the address of a C function."""
    function = cgutils.create_struct_proxy(function_type)(context, builder)
    function.c_addr = builder.inttoptr(address, cgutils.voidptr_t)
    function.py_addr = function.jit_addr = cgutils.get_null_value(cgutils.voidptr_t)
    return function._getvalue()
