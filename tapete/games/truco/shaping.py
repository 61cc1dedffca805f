"""How well a seat stands in a match, as OpenTruco shapes rewards with it: its lead, in matches."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tapete.core.spec import Spec


def potential(spec: Spec, seen: NDArray[np.float32], seats: NDArray[np.int32]) -> NDArray[np.float32]:
    """Own points minus the other's, / points of the match. In a single hand, paid in points, nobody stands anywhere."""
    if spec.parameters.get("hand"):
        return np.zeros(len(seen), dtype=np.float32)
    at = 0
    for part in spec.observation(0):
        if part.name == "score":
            break
        at += part.size
    lead = seen[:, at] - seen[:, at + 1]  # of seat 0
    return np.where(seats == 0, lead, -lead)
