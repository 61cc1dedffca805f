"""Explicit randomness: xoshiro256++ (Blackman and Vigna, 2019), seeded by a hash of the keys that name the stream.

A generator is four words of memory. Rules and kernels take a pointer to them; people hold an :class:`Rng`. Nothing in
the package draws from a generator that it was not handed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numba import types

from tapete.core.compile import WORDS, helper, kernel, uint64_ptr
from tapete.core.errors import TapeteError

Item = TypeVar("Item")
WORD = np.dtype(np.uint64)


@helper
def _rotate(x: Any, k: int) -> Any:
    return (x << np.uint64(k)) | (x >> np.uint64(64 - k))


@helper
def next_u64(rng: Any) -> Any:
    """64 random bits."""
    result = _rotate(rng[0] + rng[3], 23) + rng[0]
    t = rng[1] << np.uint64(17)
    rng[2] ^= rng[0]
    rng[3] ^= rng[1]
    rng[1] ^= rng[2]
    rng[0] ^= rng[3]
    rng[2] ^= t
    rng[3] = _rotate(rng[3], 45)
    return result


@helper
def below(rng: Any, n: int) -> Any:
    """A whole number 0 <= x < n, n < 2**31; the bias is below n / 2**32."""
    return np.int64(((next_u64(rng) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@helper
def uniform(rng: Any) -> float:
    """A number 0 <= x < 1 with 53 random bits."""
    return np.float64(next_u64(rng) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@helper
def mix(key: Any, value: Any) -> Any:
    """Chains a value onto a 64-bit key (the finaliser of splitmix64): how information sets are named."""
    z = np.uint64(key) * np.uint64(0xD1342543DE82EF95) + np.uint64(value) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel(types.int64(WORDS, types.int64), is_short=True)
def _below(words: Any, n: int) -> int:
    return below(uint64_ptr(words), n)


@kernel(types.float64(WORDS), is_short=True)
def _uniform(words: Any) -> float:
    return uniform(uint64_ptr(words))


class Rng:
    """A stream of random numbers, named by a seed and any further keys.

    >>> Rng(1).below(100) == Rng(1).below(100)
    True
    >>> Rng(1).spawn("deal", 3).below(1000) == Rng(1, "deal", 3).below(1000)
    True
    """

    __slots__ = ("keys", "words")

    def __init__(self, *keys: int | str) -> None:
        self.keys = keys
        digest = bytearray(hashlib.sha256(repr(keys).encode()).digest())
        self.words = np.ndarray(4, dtype=WORD, buffer=digest)

    def spawn(self, *keys: int | str) -> Rng:
        """A stream of its own for a task, whichever worker runs it and whatever this one has drawn so far."""
        return Rng(*self.keys, *keys)

    def below(self, n: int) -> int:
        """A whole number 0 <= x < n, n < 2**31."""
        if not 0 < n < 1 << 31:
            raise TapeteError(f"can't draw below {n}: it must be between 1 and 2**31 - 1")
        return int(_below(self.words, n))

    def uniform(self) -> float:
        """A number 0 <= x < 1."""
        return float(_uniform(self.words))

    def choice(self, items: Sequence[Item]) -> Item:
        """One of the items, each as likely as the others."""
        return items[self.below(len(items))]

    def __repr__(self) -> str:
        return f"Rng({', '.join(map(repr, self.keys))})"


def check_rng(rng: object) -> None:
    """Says what is wanted where somebody hands over a seed, or a generator of NumPy's."""
    if not isinstance(rng, Rng):
        raise TapeteError(f"all that is drawn comes from a tapete.Rng, as in tapete.Rng(1), not from {rng!r:.60}")
