"""A hash table from 64-bit keys to whole numbers that lives in two arrays and grows: for use inside kernels.

Keys are already well mixed (they name information sets), so the low bits are the address and probing is linear. The key
0 marks an empty slot; where a game gives it, it is stored as 1, as likely a collision as any other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapete.core.compile import helper


@helper
def new_map(capacity: int) -> Any:
    """Empty keys and values; the capacity is a power of two."""
    return np.zeros(capacity, np.uint64), np.empty(capacity, np.int64)


@helper
def find(keys: Any, key: Any) -> Any:
    """The slot that has the key, or the empty one where it belongs; compare `keys[slot]` with 0."""
    return find_among(keys, len(keys), key)


@helper
def find_among(keys: Any, slots: int, key: Any) -> Any:
    """The same where the keys are behind a pointer, which doesn't know how many slots there are."""
    wanted, mask = max(np.uint64(key), np.uint64(1)), np.uint64(slots - 1)
    slot = wanted & mask
    while keys[slot] != 0 and keys[slot] != wanted:
        slot = (slot + np.uint64(1)) & mask
    return np.int64(slot)


@helper
def put(keys: Any, values: Any, slot: int, key: Any, value: int) -> None:
    """Fills the empty slot that `find` gave."""
    keys[slot] = max(np.uint64(key), np.uint64(1))
    values[slot] = value


@helper
def grown(keys: Any, values: Any) -> Any:
    """The same in tables of twice the size."""
    more_keys, more_values = new_map(2 * len(keys))
    for i in range(len(keys)):
        if keys[i] != 0:
            slot = find(more_keys, keys[i])
            put(more_keys, more_values, slot, keys[i], values[i])
    return more_keys, more_values
