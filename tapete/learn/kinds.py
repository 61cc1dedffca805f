"""Which decisions look the same: in a small game most do, and a network says the same of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from tapete.core.compile import LONGS, STATES, WORDS, kernel
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


@kernel(types.int64(LONGS, LONGS, LONGS, LONGS))
def _find(keys: Any, table: Any, first: Any, kind: Any) -> int:
    """Fills in the kinds of keys, which are spread evenly already; `table` has a kind and 1 at a place, or 0."""
    count, last = 0, len(table) - 1
    for i in range(len(keys)):
        place = keys[i] & last
        while table[place] and keys[first[table[place] - 1]] != keys[i]:
            place = (place + 1) & last
        if not table[place]:
            first[count] = i
            count += 1
            table[place] = count
        kind[i] = table[place] - 1
    return count


def alike(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each of K kinds of keys first stands [K], and the kind of each key [N].

    >>> first, kind = alike(np.array([70, 80, 70, 60]))
    >>> first.tolist(), kind.tolist()
    ([0, 1, 3], [0, 1, 0, 2])
    """
    first, kind = np.zeros((2, len(keys)), dtype=np.int64)
    table = np.zeros(1 << (2 * len(keys)).bit_length(), dtype=np.int64)
    return first[: _find(np.ascontiguousarray(keys), table, first, kind)].copy(), kind
