"""The rules called from Python on immutable bytes, without NumPy between: what a door that asks state by state needs.

A call of this kind takes a fifth of a microsecond. It keeps the interpreter's lock, as a rule is over long before
another thread would have got it.
"""

from __future__ import annotations

import ctypes
from typing import Any

from tapete.core.contract import CHANCE
from tapete.core.game import Game

INT, WORD, ADDRESS = ctypes.c_int64, ctypes.c_uint64, ctypes.c_void_p
SIGNATURES: dict[str, tuple[Any, ...]] = {  # what each function of the contract returns and takes
    "start": (None, ADDRESS, ADDRESS),
    "player": (INT, ADDRESS),
    "actions": (INT, ADDRESS, ADDRESS),
    "outcomes": (INT, ADDRESS, ADDRESS, ADDRESS),
    "draw": (INT, ADDRESS, ADDRESS),
    "apply": (None, ADDRESS, INT),
    "returns": (None, ADDRESS, ADDRESS),
    "infoset": (WORD, ADDRESS, INT),
    "observe": (None, ADDRESS, INT, ADDRESS),
    "redeal": (None, ADDRESS, INT, ADDRESS),
    "features": (None, ADDRESS, INT, ADDRESS),
}


class Raw:
    """The rules of a game over `bytes`. Unchecked, but for what is said to be checked."""

    def __init__(self, game: Game) -> None:
        spec = game.spec
        calls = {
            name: ctypes.PYFUNCTYPE(*kinds)(getattr(game.rules, name).address) for name, kinds in SIGNATURES.items()
        }
        self.player = calls["player"]  # (state) -> who moves
        self.infoset = calls["infoset"]  # (state, seat) -> key
        self.observe = calls["observe"]  # (state, seat, address) writes what the seat sees
        self.draw = calls["draw"]  # (state, address of a generator) -> what chance does
        self._actions, self._outcomes, self._apply = calls["actions"], calls["outcomes"], calls["apply"]
        self._returns, self._redeal = calls["returns"], calls["redeal"]
        self._state = ctypes.c_char * game.size
        self._ids = ctypes.c_int32 * max(spec.max_actions, spec.outcomes, 1)
        self._probs, self._payoffs = ctypes.c_double * max(spec.outcomes, 1), ctypes.c_double * game.players
        self.first = game.start().data.tobytes()  # the state before anything happened

    def legal(self, state: bytes) -> list[int]:
        """Legal actions of a player who is to move, ascending."""
        out = self._ids()
        return out[: self._actions(state, out)]

    def outcomes(self, state: bytes) -> list[tuple[int, float]]:
        """What chance may do, with probabilities."""
        out, probs = self._ids(), self._probs()
        n = self._outcomes(state, out, probs)
        return list(zip(out[:n], probs[:n], strict=True))

    def may(self, state: bytes, action: int) -> bool:
        """Whether somebody, or chance, is to move and may do so."""
        who = self.player(state)
        if who >= 0:
            return action in self.legal(state)
        return who == CHANCE and any(action == outcome for outcome, _ in self.outcomes(state))

    def apply(self, state: bytes, action: int) -> bytes:
        """The state after an action."""
        after = self._state.from_buffer_copy(state)
        self._apply(after, action)
        return after.raw

    def returns(self, state: bytes) -> list[float]:
        """The payoffs, one a seat."""
        out = self._payoffs()
        self._returns(state, out)
        return out[:]

    def redeal(self, state: bytes, seat: int, words: int) -> bytes:
        """A world that the seat can't tell from the state; `words` is the address of a generator."""
        world = self._state.from_buffer_copy(state)
        self._redeal(world, seat, words)
        return world.raw
