"""From payoffs to the Spec of a matrix game, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tapete.core.errors import TapeteError
from tapete.core.spec import Field, Spec

if TYPE_CHECKING:
    from tapete.core.game import Game

MOST_CELLS = 10_000  # they live in every state: 160 kB of it at most
SHAPE = 2  # numbers in Spec.params before the payoffs: how many rows, how many columns


def matrix_spec(title: str, rows: Sequence[str], columns: Sequence[str], cells: Any) -> Spec:
    """The game of a table. A cell is a pair of payoffs; or all are single numbers, which the other seat loses.

    The names of rows and columns are single words, and all rows differ, as do all columns.
    """
    paid = np.array(cells, dtype=np.float64)  # [rows, columns, 2] or [rows, columns]
    first, second = (paid[..., 0], paid[..., 1]) if paid.ndim == 3 else (paid, 0.0 - paid)
    numbers = (*first.ravel().tolist(), *second.ravel().tolist())
    widest = max(len(rows), len(columns))
    return Spec(
        title=title,
        players=2,
        actions=widest,
        max_actions=widest,
        outcomes=0,
        longest=2,
        utility=(min(numbers), max(numbers)),
        zero_sum=bool((first == -second).all()),
        hidden=True,
        observations=(
            (
                Field(name="seat", shape=(2,), about="one-hot: chooses a row, chooses a column"),
                Field(name="chosen", shape=(2,), about="1 for each seat that has chosen"),
                Field(name="choice", shape=(widest,), about="own, one-hot; zeros before it is made"),
            ),
        ),
        features=(Field(name="choice", shape=(widest,), about="one-hot"),),
        params=(len(rows), len(columns), *numbers),
        tail=8 * len(numbers),
        labels=(tuple(rows), tuple(columns)),
    )


def payoffs(game: Game | Spec) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What each of the two seats gets in a matrix game, [rows, columns] each.

    >>> from tapete.core import make
    >>> payoffs(make("pennies"))[0].tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    spec = game if isinstance(game, Spec) else game.spec
    shape = tuple(map(len, spec.labels))
    if len(shape) != 2 or len(spec.params) != SHAPE + 2 * shape[0] * shape[1]:
        raise TapeteError(f"{spec.name or spec.title} is not a matrix game")
    first, second = np.array(spec.params[SHAPE:]).reshape(2, *shape)
    return first, second


def payoffs_at(spec: Spec, row: int, column: int) -> tuple[float, float]:
    """What each of the two seats gets in one cell."""
    rows, columns = map(len, spec.labels)
    at = SHAPE + row * columns + column
    return spec.params[at], spec.params[at + rows * columns]
