"""Strategies of the abstraction in files: probabilities in 255ths, deflated, with the tables that they are read by."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapete.core.arrays import read_arrays, write_arrays
from tapete.core.errors import TapeteError
from tapete.solve.truco.abstraction import PLACES
from tapete.solve.truco.knowledge import Knowledge

FORMAT = "tapete-truco-blueprint-1"
STEPS = 255


def in_steps(probs: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Probabilities as they are kept, in files and in memory."""
    return np.rint(STEPS * probs).astype(np.uint8)


def write(path: Path, steps: NDArray[np.uint8], known: Knowledge, **about: Any) -> None:
    """Writes a strategy, [PLACES] in 255ths; `about` goes into the header."""
    arrays = {"probs": _deflated(steps)} | {name: _deflated(array) for name, array in known._asdict().items()}
    kinds = {name: array.dtype.str for name, array in known._asdict().items()}
    write_arrays(path, arrays, {"format": FORMAT, "kinds": kinds, **about})


def read(path: Path) -> tuple[NDArray[np.uint8], Knowledge, dict[str, Any]]:
    """The probabilities of all rows, [PLACES] in 255ths, the tables, and what the header tells."""
    arrays, header = read_arrays(path, FORMAT)
    try:
        steps = np.frombuffer(_inflated(arrays["probs"]), dtype=np.uint8).copy()
        tables = [np.frombuffer(_inflated(arrays[name]), header["kinds"][name]).copy() for name in Knowledge._fields]
    except (KeyError, TypeError, ValueError, zlib.error):
        raise TapeteError(f"{path} is not a strategy of truco") from None
    if steps.shape != (PLACES,):
        raise TapeteError(f"{path} is a strategy of another abstraction")
    return steps, Knowledge(*tables), header


def _deflated(array: NDArray[Any]) -> NDArray[np.uint8]:
    return np.frombuffer(zlib.compress(array.tobytes(), 9), dtype=np.uint8)


def _inflated(array: NDArray[np.uint8]) -> bytes:
    return zlib.decompressobj().decompress(array.tobytes(), 8 * PLACES)
