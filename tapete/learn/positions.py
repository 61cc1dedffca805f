"""Positions as a network sees them, turned and mirrored where the board allows.

Learners keep positions as the bytes of states, a few dozen each, and observe them when they are learned from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core import Field, Game, Spec
from tapete.core.compile import FLOAT_ROWS, STATES, float32_ptr, kernel, state_ptr
from tapete.core.contract import RULEBOOK, open_rules


def observe(game: Game, states: NDArray[np.uint8]) -> NDArray[np.float32]:
    """What the mover sees in each of these states [N, bytes]: [N, observation_size]."""
    out = np.zeros((len(states), game.spec.observation_size), dtype=np.float32)
    _observe(game.rulebook, np.ascontiguousarray(states), out)
    return out


@kernel(types.void(RULEBOOK, STATES, FLOAT_ROWS))
def _observe(rulebook: Any, states: Any, out: Any) -> None:
    rules = open_rules(rulebook)
    for i in range(len(states)):
        p = state_ptr(states[i])
        rules.observe(p, rules.player(p), float32_ptr(out[i]))


@dataclass(frozen=True)
class Symmetries:
    """The ways to turn and mirror a board, the first of which leaves it as it is.

    Number i of the observation after symmetry s is number `observations[s, i]` of the one before, and likewise with
    whatever there is of each action.
    """

    observations: NDArray[np.int64]  # [symmetries, observation_size]
    actions: NDArray[np.int64]  # [symmetries, actions]

    @classmethod
    def of(cls, spec: Spec) -> Symmetries:
        """The eight of the square, where an observation begins with planes of a board and the actions are its squares.

        There may be one action more, a pass. Otherwise there is only one symmetry, which changes nothing.
        """
        board = spec.observation(0)[0].shape
        is_square = len(board) == 3 and board[1] == board[2] and len(spec.observations) == 1
        if not is_square or spec.actions - board[1] ** 2 not in (0, 1):
            return cls(np.arange(spec.observation_size)[None], np.arange(spec.actions)[None])
        squares = _turns(board[1])  # [8, squares]
        moves = [np.append(turn, range(len(turn), spec.actions)) for turn in squares]
        return cls(np.array([_places(spec.observation(0), turn) for turn in squares]), np.array(moves, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.actions)


def _turns(size: int) -> NDArray[np.int64]:
    """Where each square of a board comes from, in each of its eight symmetries: [8, squares]."""
    board = np.arange(size * size).reshape(size, size)
    turned = [np.rot90(face, quarter) for face in (board, board.T) for quarter in range(4)]
    return np.array([face.reshape(-1) for face in turned])


def _places(fields: tuple[Field, ...], turn: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each number of an observation comes from: planes are turned, all else stays."""
    places, start, size = [], 0, len(turn)
    for field in fields:
        within = np.arange(field.size)
        if len(field.shape) == 3 and field.shape[1] * field.shape[2] == size:
            within = within // size * size + turn[within % size]
        places.append(start + within)
        start += field.size
    return np.concatenate(places)
