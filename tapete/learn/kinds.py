"""Which decisions look the same: in a small game most do, and a network says the same of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import STATES, WORDS, kernel
from tapete.core.rng import mix


@kernel(types.void(types.uint32[:, ::1], STATES, WORDS))
def _name(seen: Any, mask: Any, keys: Any) -> None:
    for i in range(len(keys)):
        key = np.uint64(0)
        for j in range(seen.shape[1]):
            key = mix(key, np.uint64(seen[i, j]))
        for j in range(mask.shape[1]):
            key = mix(key, np.uint64(mask[i, j]))
        keys[i] = key


def keys_of(seen: NDArray[np.float32], mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    """A number for each decision [N], the same for those that look the same, as information sets have keys."""
    keys = np.zeros(len(seen), dtype=np.uint64)
    _name(np.ascontiguousarray(seen).view(np.uint32), np.ascontiguousarray(mask).view(np.uint8), keys)
    return keys.view(np.int64)
