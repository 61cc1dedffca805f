"""Match equity of truco: how likely mano wins the match, by what both lack.

The table ships with the strategy that it goes with (`tapete.solve.truco`), and is the same for matches to 15 and to
30: who leads 20 to 18 in one to 30 stands as at 5 to 3 in one to 15. Only where both lack more than 15 points, which a
match to 15 doesn't know, does a falta envido win the match.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from tapete.core.arrays import read_arrays
from tapete.core.compile import helper
from tapete.core.errors import TapeteError
from tapete.core.spec import Spec
from tapete.shipped import find

FILE = "equity/truco.safetensors"
FORMAT = "tapete-equity-1"
SIDE = 31  # what a seat may lack: 0 to 30


@cache
def table() -> NDArray[np.float64]:
    """[mazo, what mano lacks, what the other lacks] how likely mano wins the match."""
    path = find(FILE)
    if path is None:
        raise TapeteError(f"{FILE} is not in the manifest of what ships")
    arrays, _ = read_arrays(path, FORMAT)
    return np.stack([arrays["plain"], arrays["mazo"]])


def chances(spec: Spec) -> NDArray[np.float64]:
    """[mano's points, the other's points] the same by scores, of a match of truco with its parameters."""
    points = int(spec.parameters["points"])
    lacks = points - np.arange(points)
    return table()[int(bool(spec.parameters["mazo"]))][np.ix_(lacks, lacks)]


_TABLE = table().reshape(-1)


@helper
def chance_of_mano(mazo: int, mano: int, other: int) -> float:
    """How likely the next mano wins the match, by what both lack; one of them may lack nothing any more."""
    return _TABLE[((mazo != 0) * SIDE + mano) * SIDE + other]
