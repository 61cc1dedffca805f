"""What a learner remembers of what it has seen: rows in arrays that are allocated once.

A :class:`Ring` forgets the oldest; a :class:`Reservoir` keeps every row that it was ever given with the same
probability (Vitter 1985, algorithm R), as averages over a whole training need it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tapete.core.errors import TapeteError
from tapete.core.rng import Rng
from tapete.learn.run import Checkpoint

Column = tuple[DTypeLike, tuple[int, ...]]  # type and shape of what one row has of it
Rows = Mapping[str, NDArray[Any]]


class Ring:
    """The last `capacity` rows.

    >>> ring = Ring(4, {"action": (np.int32, ())})
    >>> ring.add({"action": np.arange(6)})
    >>> len(ring), sorted(ring.columns["action"].tolist())
    (4, [2, 3, 4, 5])
    """

    def __init__(self, capacity: int, columns: Mapping[str, Column]) -> None:
        if capacity < 1:
            raise TapeteError(f"a buffer has room for one row at least, not {capacity}")
        self.capacity = capacity
        self.columns = {name: np.zeros((capacity, *shape), dtype=kind) for name, (kind, shape) in columns.items()}
        self.seen = 0  # rows that it was ever given

    def __len__(self) -> int:
        return min(self.seen, self.capacity)

    def add(self, rows: Rows) -> None:
        """Takes rows, the newest last: an array a column, all of the same length."""
        count = len(next(iter(rows.values())))
        kept = np.arange(max(count - self.capacity, 0), count)
        self._write((self.seen + kept) % self.capacity, rows, kept)
        self.seen += count

    def _write(self, places: NDArray[np.int64], rows: Rows, kept: NDArray[np.int64]) -> None:
        if rows.keys() != self.columns.keys():
            raise TapeteError(f"a row has {', '.join(self.columns)}, not {', '.join(rows)}")
        for name, column in self.columns.items():
            column[places] = rows[name][kept]

    def sample(self, count: int, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        """So many rows, each drawn from all of them, with replacement: copies."""
        if not self.seen:
            raise TapeteError("nothing can be drawn from an empty buffer")
        return self.rows(rng.integers(len(self), size=count))

    def rows(self, places: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Copies of these rows."""
        return {name: column[places] for name, column in self.columns.items()}

    def arrays(self, prefix: str) -> dict[str, NDArray[Any]]:
        """All that it remembers, for a checkpoint. They are its own arrays, not copies."""
        found = {f"{prefix}.{name}": column[: len(self)] for name, column in self.columns.items()}
        return {**found, prefix: np.array([self.seen])}

    def restore(self, prefix: str, checkpoint: Checkpoint) -> None:
        """Goes back to what `arrays` said."""
        seen = int(checkpoint.take(prefix, np.int64, 1)[0])
        if seen < 0:
            raise checkpoint.misfit(prefix)
        self.seen = seen
        for name, column in self.columns.items():
            checkpoint.fill(f"{prefix}.{name}", column[: len(self)])


class Reservoir(Ring):
    """A uniform sample, of `capacity` rows, of all that it was ever given."""

    def __init__(self, capacity: int, columns: Mapping[str, Column], rng: Rng) -> None:
        """What is drawn comes from streams named by `rng` and by how many rows came before."""
        super().__init__(capacity, columns)
        self.rng = rng

    def add(self, rows: Rows) -> None:
        """Takes rows; each of them is kept as likely as all that came before it."""
        count = len(next(iter(rows.values())))
        numbers = self.seen + np.arange(count)
        drawn = numpy_generator(self.rng.spawn(self.seen)).integers(0, numbers + 1)
        places = np.where(numbers < self.capacity, numbers, drawn)
        kept = np.flatnonzero(places < self.capacity)
        self._write(places[kept], rows, kept)  # of two rows for one place, NumPy keeps the later
        self.seen += count


def numpy_generator(rng: Rng) -> np.random.Generator:
    """A generator of NumPy's own that begins where the stream is."""
    return np.random.Generator(np.random.PCG64([int(word) for word in rng.words]))
