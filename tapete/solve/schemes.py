"""The CFR family: how regrets are kept and how strategies are averaged.

All members share one update (`tapete.solve.regrets`) and differ in four things, which a :class:`Scheme` names:

============  ==================================================================================================
`cfr`         the sum of all regrets, the plain average (Zinkevich et al. 2007)
`cfr+`        negative sums are forgotten, linear average (Tammelin 2014)
`linear`      iteration t counts t times, in regrets and average (Brown and Sandholm 2019)
`dcfr`        discounts: old positive regrets by t^1.5 / (t^1.5 + 1), negative ones by half, average by t^2 (same)
`pcfr+`       CFR+ that expects the last regret to come again, average by t^2 (Farina, Kroer and Sandholm 2021)
`pdcfr+`      both: discounts by t^2.3 / (t^2.3 + 1) and prediction, average by t^5 (Xu et al. 2024)
============  ==================================================================================================
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tapete.core.errors import TapeteError


@dataclass(frozen=True)
class Scheme:
    """A member of the family."""

    name: str
    alpha: float  # positive regrets are multiplied by t^alpha / (t^alpha + 1) after iteration t; inf: not at all
    beta: float  # the same for negative ones
    gamma: float  # iteration t enters the average with weight t^gamma
    floor: bool = False  # negative regrets are set to zero
    predictive: bool = False  # the strategy is chosen as if the last regret came once more

    def weights(self, first: int, count: int) -> NDArray[np.float64]:
        """How much of the sums is kept in iterations first, first + 1, ...

        [count, 3]: of positive regrets and of negative ones after the iteration, of the average before it. Old
        iterations are made smaller instead of new ones larger, so that the numbers stay in the range of float32.
        """
        t = np.arange(first, first + count, dtype=np.float64)
        average = ((t - 1) / t) ** self.gamma if self.gamma else np.ones_like(t)
        return np.stack([_discount(t, self.alpha), _discount(t, self.beta), average], axis=1)


def _discount(t: NDArray[np.float64], power: float) -> NDArray[np.float64]:
    if math.isinf(power):
        return np.ones_like(t)
    grown = t**power
    return grown / (grown + 1)


SCHEMES = {
    scheme.name: scheme
    for scheme in (
        Scheme("cfr", math.inf, math.inf, 0),
        Scheme("cfr+", math.inf, math.inf, 1, floor=True),
        Scheme("linear", 1, 1, 1),
        Scheme("dcfr", 1.5, 0, 2),
        Scheme("pcfr+", math.inf, math.inf, 2, floor=True, predictive=True),
        Scheme("pdcfr+", 2.3, 0, 5, floor=True, predictive=True),
    )
}


def scheme(name: str) -> Scheme:
    """The member of that name."""
    if name not in SCHEMES:
        raise TapeteError(f"there is no algorithm {name!r}; there are {', '.join(SCHEMES)}")
    return SCHEMES[name]
