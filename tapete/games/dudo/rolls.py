"""Every roll of up to five dice, as tables.

A roll is a multiset: how many dice show each face. All rolls of 0 to 5 dice of nine faces have a row; row 0 is the roll
of no dice. Rolls of equally many dice are sorted by their highest face, then by the next one, and so on: those of dice
with fewer faces come first, so that one set of tables serves dice of any number of faces.
"""

from itertools import combinations_with_replacement
from math import factorial, prod

import numpy as np

MAX_FACES = 9
MAX_DICE = 5


def _all_rolls() -> list[tuple[int, ...]]:
    """The dice of each row, highest face first."""
    faces = range(MAX_FACES)
    by_dice = [
        sorted(tuple(reversed(roll)) for roll in combinations_with_replacement(faces, dice))
        for dice in range(MAX_DICE + 1)
    ]
    return [roll for rolls in by_dice for roll in rolls]


def _ways(roll: tuple[int, ...]) -> int:
    """In how many orders the dice may have fallen."""
    return factorial(len(roll)) // prod(factorial(roll.count(face)) for face in set(roll))


_ROLLS = _all_rolls()
_ROW = {roll: row for row, roll in enumerate(_ROLLS)}

# [dice] the first row of the rolls of that many dice
FIRST = np.array([_ROW[(0,) * dice] for dice in range(MAX_DICE + 1)], dtype=np.int64)
# [row, face] how many dice show it
COUNTS = np.array([[roll.count(face) for face in range(MAX_FACES)] for roll in _ROLLS], dtype=np.int8)
# [row] in how many orders the dice may have fallen: the probability, times faces ** dice
WAYS = np.array([_ways(roll) for roll in _ROLLS], dtype=np.float64)
# [row, face] the row after one more die has shown that face
ONE_MORE = np.array(
    [
        [_ROW[tuple(sorted((*roll, face), reverse=True))] for face in range(MAX_FACES)]
        for roll in _ROLLS
        if len(roll) < MAX_DICE
    ],
    dtype=np.int16,
)


def roll_faces(row: int) -> tuple[int, ...]:
    """The faces of a roll as they are printed on the dice, lowest first."""
    return tuple(face + 1 for face in reversed(_ROLLS[row]))
