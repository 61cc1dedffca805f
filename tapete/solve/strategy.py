"""A strategy: probabilities by information set, and the file that keeps them.

The file is safetensors: arrays and a header of JSON, nothing that could run. The header tells the game, how the
strategy was made, and how far from an equilibrium it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapete.core.arrays import read_arrays, write_arrays
from tapete.core.errors import TapeteError

FORMAT = "1"


@dataclass(frozen=True)
class Strategy:
    """Probabilities by information set; those with one action only are not in it."""

    keys: NDArray[np.uint64]  # [infosets] ascending
    counts: NDArray[Any]  # [infosets] actions; uint8, or uint16 where there are more than 255
    probs: NDArray[np.float32]  # [sum of counts] one infoset after another, actions ascending
    about: dict[str, Any] = field(default_factory=dict)  # game, algorithm, iterations, exploitability, ...

    @cached_property
    def start(self) -> NDArray[np.int64]:
        """Where the probabilities of each information set begin: [infosets + 1]."""
        return np.concatenate([[0], np.cumsum(self.counts, dtype=np.int64)])

    @classmethod
    def of(cls, keys: NDArray[np.uint64], counts: NDArray[Any], probs: NDArray[Any], **about: Any) -> Strategy:
        """Makes a strategy of information sets in any order, one after another as the fields have them."""
        most = int(np.max(counts, initial=0))
        if most > np.iinfo(np.uint16).max:
            raise TapeteError(f"there are {most:,} actions in one place; a strategy has room for 65,535")
        order = np.argsort(keys, kind="stable")
        start = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])[:-1]
        sizes = np.asarray(counts)[order].astype(np.int64)
        # Where each number comes from: the beginning of its infoset, and how far behind that it stands.
        within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return cls(
            np.ascontiguousarray(keys[order]),
            sizes.astype(np.uint8 if most <= np.iinfo(np.uint8).max else np.uint16),
            np.asarray(probs, dtype=np.float32)[np.repeat(start[order], sizes) + within],
            about,
        )

    def lookup(self, key: int) -> NDArray[np.float32] | None:
        """The probabilities at an information set; None where it is not among them."""
        i = int(np.searchsorted(self.keys, np.uint64(key)))
        if i == len(self.keys) or int(self.keys[i]) != key:
            return None
        return self.probs[self.start[i] : self.start[i + 1]]

    def save(self, path: str | Path) -> None:
        """Writes the file, all of it or nothing."""
        arrays: dict[str, NDArray[Any]] = {"keys": self.keys, "counts": self.counts, "probs": self.probs}
        write_arrays(path, arrays, {"format": FORMAT, "about": self.about})

    @classmethod
    def load(cls, path: str | Path) -> Strategy:
        """Reads a file and checks that it is a strategy."""
        arrays, header = read_arrays(path, FORMAT)
        try:
            strategy = cls(arrays["keys"], arrays["counts"], arrays["probs"], header["about"])
        except KeyError:
            raise TapeteError(f"{path} is not a strategy: something is missing in it") from None
        keys, counts, probs = strategy.keys, strategy.counts, strategy.probs
        right = keys.dtype == np.uint64 and counts.dtype in (np.uint8, np.uint16) and probs.dtype == np.float32
        right &= all(array.ndim == 1 for array in arrays.values()) and isinstance(strategy.about, dict)
        if not right or len(keys) != len(counts) or len(probs) != counts.sum(dtype=np.int64):
            raise TapeteError(f"{path} is not a strategy: its arrays don't fit together")
        if (keys[1:] <= keys[:-1]).any():
            raise TapeteError(f"{path} is not a strategy: its information sets are not in order")
        valid = ((probs >= 0) & (probs <= 1)).all() and (counts > 0).all()
        if valid:
            ends = np.cumsum(probs, dtype=np.float64)[strategy.start[1:] - 1]
            valid = (abs(np.diff(ends, prepend=0) - 1) < 1e-3).all()
        if not valid:
            raise TapeteError(f"{path} is not a strategy: it has numbers that are not probabilities")
        return strategy
