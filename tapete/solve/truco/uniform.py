"""Random play as a strategy of the abstraction: stage by stage so that every legal move is equally likely."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tapete.solve.truco.abstraction import AXES, CALL_PLACES, PLACES, tables
from tapete.solve.truco.knowledge import PAIRS, TRIPLES

CARDS = {"0": 3, "1": 2, "2": 1}  # of a hand, by the trick that a table's name ends with; the others are of the first
ASKED = CALL_PLACES - 2  # places from here on: somebody is asked truco, and may answer with envido


def uniform(*, mazo: bool) -> NDArray[np.uint8]:
    """The weights of all choices, [PLACES]: how many moves each of them leads to."""
    weights = np.ones(PLACES, dtype=np.uint8)
    for name, table in tables(weights).items():
        if name == "call":  # three calls; to go on leads to three cards, truco and mazo, or to three answers
            table[:ASKED, ..., 0] = 4 + mazo
            table[ASKED:, ..., 0] = 3
        elif name.startswith("bet"):
            table[..., 0] = CARDS.get(name[-1], 3)
        elif name.startswith(("lead", "follow")):
            holdings = TRIPLES if AXES[name][0][0][1] == len(TRIPLES) else PAIRS
            table[:] = np.expand_dims(_copies(holdings), tuple(range(1, table.ndim - 1)))
    return weights


def _copies(holdings: Sequence[tuple[int, ...]]) -> NDArray[np.uint8]:
    """[holding, choice] how many cards a choice stands for: equal ones are one choice, the weakest is the first."""
    copies = np.zeros((len(holdings), 3), dtype=np.uint8)
    for row, cards in zip(copies, holdings, strict=True):
        counts = [Counter(cards)[rank] for rank in sorted({*cards})]
        row[: len(counts)] = counts
    return copies
