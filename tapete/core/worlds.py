"""What a game may know about its worlds, for searches that look at many of them.

A game's folder may have a ``past.py`` with a compiled function ``take_back(state) -> action``, which undoes the last
move of a player, as far as the state remembers it, and says which one it was, or `UNKNOWN` where there is none to take
back: so that a world can be judged by what its players would have done in it. And it may have an ``endgame.py`` with a
function ``endgame() -> Evaluator``, whose values are those of perfect play with all cards open, or NaN where the end is
too far away. A match of many hands may have an ``outlook.py`` with a function ``outlook() -> Evaluator``: what
each seat may expect before the next hand is dealt, or NaN within a hand.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

from numba import types
from numba.extending import intrinsic

from tapete.core.compile import STATE_PTR, compile_rule
from tapete.core.contract import function_at
from tapete.core.evaluator import Evaluator
from tapete.core.game import Game

UNKNOWN = -1
TAKE_BACK = types.int64(STATE_PTR)


def taking_back(function: Callable[..., Any]) -> Any:
    """Compiles a game's `take_back`; used as a decorator, like `rule`."""
    return compile_rule(function, TAKE_BACK)


@intrinsic  # type: ignore[untyped-decorator]
def open_take_back(typing_context: Any, address: Any) -> Any:
    """The function at an address, inside a kernel."""
    function_type = types.FunctionType(TAKE_BACK)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return function_at(context, builder, function_type, arguments[0])

    return function_type(types.uint64), generate


def take_back_of(game: Game) -> int:
    """The address of a game's `take_back`; 0 where it has none."""
    return int(_module(game, "past").take_back.address) if _has(game, "past") else 0


def endgame_of(game: Game) -> Evaluator | None:
    """A game's `endgame`, for one thread; None where it has none."""
    made: Evaluator | None = _module(game, "endgame").endgame() if _has(game, "endgame") else None
    return made


def outlook_of(game: Game) -> Evaluator | None:
    """A game's `outlook`, for one thread; None where it has none."""
    made: Evaluator | None = _module(game, "outlook").outlook() if _has(game, "outlook") else None
    return made


def _has(game: Game, name: str) -> bool:
    return importlib.util.find_spec(f"{game.package}.{name}") is not None


def _module(game: Game, name: str) -> Any:
    return importlib.import_module(f"{game.package}.{name}")
