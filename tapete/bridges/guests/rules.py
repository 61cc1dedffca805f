"""The functions of the contract as callbacks: C functions whose body is Python.

Kernels run without the interpreter's lock; a callback of ctypes takes it. No error may leave a callback, as there is
no Python above it to catch it: it is kept, the state is marked as broken, which ends the game there without payoffs
(they are not numbers), and the next use of the game from Python raises it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tapete.bridges.guests.nodes import Guests, Node
from tapete.bridges.guests.worlds import worlds_of
from tapete.bridges.raw import SIGNATURES
from tapete.core.contract import TERMINAL, Rules
from tapete.core.errors import TapeteError
from tapete.core.rng import Rng

HEAD = 8  # bytes before the moves: how many they are, whether something went wrong


class Callback(NamedTuple):
    """A C function, and what keeps it alive."""

    address: int
    function: Any


def rules_of(guests: Guests) -> Rules:
    """The eleven functions of one game."""
    functions = _Functions(guests)
    return Rules(*(_callback(guests, name, getattr(functions, name)) for name in Rules._fields))


def _callback(guests: Guests, name: str, function: Callable[..., Any]) -> Callback:
    kinds = SIGNATURES[name]
    nothing = None if kinds[0] is None else TERMINAL if name == "player" else 0

    def call(state: int, *arguments: Any) -> Any:
        try:
            if name == "start" or not _broken(state).value:
                return function(state, *arguments)
        except BaseException as error:
            guests.remember(error)
            _broken(state).value = 1
        if name == "returns":
            _row(arguments[0], ctypes.c_double, guests.game.num_players())[:] = np.nan
        return nothing

    c_function = ctypes.CFUNCTYPE(*kinds)(call)
    address = ctypes.cast(c_function, ctypes.c_void_p).value
    assert address is not None
    return Callback(address, c_function)


def _length(state: int) -> Any:
    return ctypes.c_int32.from_address(state)


def _broken(state: int) -> Any:
    return ctypes.c_int32.from_address(state + 4)


def _row(address: int, kind: Any, size: int) -> Any:
    """Numbers at an address, as an array."""
    return np.frombuffer((kind * size).from_address(address), dtype=kind)


class _Functions:
    """What the contract lists, over the address of a state."""

    def __init__(self, guests: Guests) -> None:
        self.guests, self.worlds = guests, worlds_of(guests.name)
        game = guests.game
        self.seats, self.ids = game.num_players(), game.num_distinct_actions()
        self.longest = game.max_game_length() + game.max_chance_nodes_in_history()

    def _node(self, state: int) -> Node:
        return self.guests.node(ctypes.string_at(state + HEAD, 4 * _length(state).value))

    def _write(self, state: int, history: bytes) -> None:
        """Makes a state of a history; the rest of its bytes are zeros."""
        if len(history) > 4 * self.longest:
            raise TapeteError(f"a game is longer than the {self.longest} moves that OpenSpiel says")
        ctypes.memmove(state + HEAD, history.ljust(4 * self.longest, b"\0"), 4 * self.longest)
        _length(state).value = len(history) // 4

    def start(self, state: int, params: int) -> None:
        _broken(state).value = 0
        self._write(state, b"")

    def player(self, state: int) -> int:
        return self._node(state).who

    def actions(self, state: int, out: int) -> int:
        legal = self._node(state).options
        _row(out, ctypes.c_int32, len(legal))[:] = list(legal)
        return len(legal)

    def outcomes(self, state: int, out: int, probs: int) -> int:
        found = self._node(state).options
        _row(out, ctypes.c_int32, len(found))[:] = list(found)
        _row(probs, ctypes.c_double, len(found))[:] = list(found.values())
        return len(found)

    def draw(self, state: int, rng: int) -> int:
        left = _at(rng).uniform()
        found = self._node(state).options
        for outcome, prob in found.items():
            left -= prob
            if left < 0:
                return outcome
        return max(found)

    def apply(self, state: int, action: int) -> None:
        node = self._node(state)
        if action not in node.options:
            raise TapeteError(f"action {action} can't be played here")
        self._write(state, self.guests.child(node, action).history)

    def returns(self, state: int, out: int) -> None:
        node = self._node(state)
        _row(out, ctypes.c_double, self.seats)[:] = node.state.returns() if node.who == TERMINAL else 0.0

    def infoset(self, state: int, seat: int) -> int:
        return self._node(state).key(seat)

    def observe(self, state: int, seat: int, out: int) -> None:
        numbers = self.guests.tensor(self._node(state).state, seat)
        _row(out, ctypes.c_float, len(numbers))[:] = numbers

    def redeal(self, state: int, seat: int, rng: int) -> None:
        node = self._node(state)
        if self.guests.hidden and node.who != TERMINAL:
            self._write(state, self.worlds.draw(node, seat, _at(rng)))

    def features(self, state: int, action: int, out: int) -> None:
        row = _row(out, ctypes.c_float, self.ids)
        row[:] = 0.0
        row[action] = 1.0


def _at(words: int) -> Rng:
    """The generator at an address: what is drawn from it moves it on."""
    rng = Rng()
    rng.words = _row(words, ctypes.c_uint64, 4)
    return rng
