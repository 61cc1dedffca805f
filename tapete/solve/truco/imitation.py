"""What somebody was seen to do in games, as a strategy of the abstraction: a model of a player who can't be asked.

Rows that were seen seldom are filled up with what was done in others that are alike: at all scores first, then whatever
was bet before, then with any card on the table, then with any hand.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core import Record, TapeteError
from tapete.core.compile import BYTES, LONGS, first_of, kernel, state_ptr
from tapete.core.records import pointers
from tapete.games.truco.cards import STRENGTH
from tapete.games.truco.moves import view
from tapete.solve.truco.abstraction import AXES, CARD, PLACES, tables
from tapete.solve.truco.blueprint import in_steps
from tapete.solve.truco.knowledge import KNOWLEDGE, Knowledge
from tapete.solve.truco.rows import row_of
from tapete.solve.truco.stages import action_of, choices, next_stage, stage_of

# What is forgotten, one after the other, where nothing or little was seen.
FORGOTTEN = (
    {"mine", "his"},
    {"end", "raisers", "worth", "chain", "look", "place"},
    {"card"},
    {"envido", "level", "cards"},
)
TRUST = 10.0  # times that a row must be seen to count as much as those that are alike


@kernel(types.void(BYTES, types.int64, KNOWLEDGE, LONGS))
def note(data: Any, action: int, tables: Any, counts: Any) -> None:
    """Counts a move that is made in a state, stage by stage: counts[PLACES]."""
    s, known, count = view(state_ptr(data)), pointers(tables), first_of(counts)
    stage, is_made = stage_of(s), False
    while not is_made:
        n, made = choices(s, stage), 0
        for choice in range(n):
            meant = action_of(s, stage, choice)
            if meant == action or (stage == CARD and STRENGTH[meant] == STRENGTH[action]):
                made, is_made = choice, True
        if n > 1:
            count[row_of(s, known, int(s.mover), stage) + made] += 1
        stage = next_stage(s, stage)


def counted(records: Iterable[Record], name: str, known: Knowledge) -> NDArray[np.int64]:
    """How often a player made each choice of each row, [PLACES], in all games in which he sat.

    :raises TapeteError: if he sat in none of them, or they are of another game.
    """
    counts, met = np.zeros(PLACES, dtype=np.int64), False
    for record in records:
        if name not in record.seats:
            continue
        game, met = record.make(), True
        if game.package != "tapete.games.truco" or game.spec.parameters["flor"] or game.spec.parameters["buenas"]:
            raise TapeteError(f"what is seen is of truco, without flor and buenas, not of {game}")
        for state, word in zip(record.states(), record.moves, strict=False):
            if state.player >= 0 and record.seats[state.player] == name and len(state.actions()) > 1:
                note(state.data, state.read(word), known, counts)
    if not met:
        raise TapeteError(f"{name} plays in none of the games")
    return counts


def likely(counts: NDArray[np.int64]) -> NDArray[np.uint8]:
    """What he does in every row, [PLACES] in 255ths."""
    steps = np.zeros(PLACES, dtype=np.uint8)
    for (axes, width), seen, out in zip(AXES.values(), tables(counts).values(), tables(steps).values(), strict=True):
        names = [name for name, _ in axes]
        places: list[tuple[int, ...]] = [()]
        for forgotten in FORGOTTEN:
            places.append((*places[-1], *(names.index(name) for name in names if name in forgotten)))
        shares = np.full(width, 1.0 / width)
        for axis in reversed(places):
            alike = seen.sum(axis=axis, keepdims=True)
            shares = (alike + TRUST * shares) / (alike.sum(axis=-1, keepdims=True) + TRUST)
        out[:] = in_steps(shares.astype(np.float32))
    return steps
