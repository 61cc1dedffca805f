"""Arrays in a file: safetensors with a header of JSON, nothing that could run."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from tapete.core.errors import TapeteError
from tapete.core.files import replacing

HEADER = "tapete"  # the only field of the metadata: safetensors puts several into any order, so that bytes would differ


def write_arrays(path: str | Path, arrays: dict[str, NDArray[Any]], header: dict[str, Any]) -> None:
    """Writes a safetensors file so that nobody ever sees half of it; the same content gives the same bytes."""
    path = Path(path)
    try:
        with replacing(path) as draft:
            save_file(arrays, draft, {HEADER: json.dumps(header, sort_keys=True)})
    except (OSError, SafetensorError) as error:
        raise TapeteError(f"can't write {path}: {getattr(error, 'strerror', None) or error}") from None


def read_arrays(path: str | Path, form: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The arrays and the header of a safetensors file of the given format."""
    arrays, header = _read(path, with_arrays=True)
    if header.get("format") != form:
        raise TapeteError(f"{path} has not the format {form!r}")
    return arrays, header


def read_format(path: str | Path) -> str:
    """The format of a safetensors file, which tells who can read it."""
    return str(_read(path, with_arrays=False)[1].get("format", ""))


def _read(path: str | Path, *, with_arrays: bool) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    if not os.path.isfile(path):  # reading a pipe might never end
        raise TapeteError(f"there is no file {path}")
    try:
        with safe_open(path, framework="np") as file:
            header = json.loads((file.metadata() or {}).get(HEADER, "{}"))
            arrays = {name: file.get_tensor(name) for name in file.keys() if with_arrays}  # noqa: SIM118
    except (OSError, SafetensorError, ValueError, RecursionError) as error:
        raise TapeteError(f"can't read {path}: {str(error).splitlines()[0]}") from None
    except (TypeError, AttributeError):  # numbers of a kind that NumPy doesn't have
        raise TapeteError(f"can't read {path}: it has numbers of another kind") from None
    return arrays, header if isinstance(header, dict) else {}
