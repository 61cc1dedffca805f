"""Compiled players (`tapete.core.players`) as policies, and policies as compiled players: anybody sits with anybody."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tapete.agents import Policy, load
from tapete.core import Game, Rng, State, Thought, View
from tapete.core.evaluator import Evaluator, MakeEvaluator
from tapete.core.players import opinion


class Compiled:
    """Plays as a compiled player does, one view at a time."""

    def __init__(self, player: Evaluator) -> None:
        self.player = player

    def think(self, view: View, rng: Rng) -> Thought:
        """The player's probabilities; it draws nothing."""
        return Thought(probabilities=opinion(self.player, view))


class Seated(NamedTuple):
    """An agent as a player at tables, the same from now on: a network that learns on is not followed."""

    player: MakeEvaluator
    is_compiled: bool  # else it is asked in Python, one view at a time
    asked: Asked | None  # who is asked then


def seated(agent: str, game: Game) -> Seated:
    """The agent that a text names. Policies that are compiled players have one, `policy.player`."""
    player: Evaluator | None = getattr(load(agent, game), "player", None)
    if player is None:
        asked = Asked(game, lambda: load(agent, game))
        return Seated(lambda: Evaluator(asked, priors=True, values=False), False, asked)
    frozen = player

    def again() -> Evaluator:  # with scratch memory of its own
        return frozen._replace(arrays=tuple(array.copy() for array in frozen.arrays))

    return Seated(again, True, None)


Words, Numbers = ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_int32)
CALLED = ctypes.CFUNCTYPE(
    None,
    *(Words, ctypes.POINTER(ctypes.c_uint8), ctypes.c_int64, Numbers, ctypes.c_int64, Words, Words),
    *(ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_float)),
)


class Asked:
    """A C function, as an evaluator is one, that asks policies: for agents that are no compiled players.

    A policy may remember its game and is not told here which one it is in, so every decision is made by a fresh one.
    An error can't travel through compiled code: it is kept, and `check` raises it.
    """

    def __init__(self, game: Game, make: Callable[[], Policy]) -> None:
        self.game, self.make = game, make
        self.error: Exception | None = None
        self.callback = CALLED(self._ask)
        self.address = int(ctypes.cast(self.callback, ctypes.c_void_p).value or 0)

    def check(self) -> None:
        """Raises what went wrong, if anything did."""
        if self.error:
            raise self.error

    def _ask(
        self, rulebook: Any, state: Any, seat: int, legal: Any, n: int, model: Any, rng: Any, values: Any, priors: Any
    ) -> None:
        out = np.ctypeslib.as_array(priors, (n,))
        try:
            data = np.ctypeslib.as_array(state, (self.game.size,)).copy()
            words, stream = np.ctypeslib.as_array(rng, (4,)), Rng("asked")
            stream.words[:] = words
            said = self.make().think(State(self.game, data, None).view(seat), stream).probabilities
            words[:] = stream.words
            out[:] = [said.get(move, 0.0) for move in legal[:n]]
        except Exception as error:  # whatever it is, there is no way up from here
            self.error = self.error or error
            out[:] = 1 / n
