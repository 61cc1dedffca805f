"""Doors to other people's frameworks, each imported only when it is asked for: OpenSpiel, PettingZoo, Gymnasium."""

from __future__ import annotations

import importlib
from typing import Any

from tapete.core.errors import TapeteError


def needs(module: str, extra: str) -> Any:
    """A framework's module, or one line that says how to get it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:  # it is there, but something that it needs isn't
            raise
        raise TapeteError(f"{module} is not installed; `pip install tapete[{extra}]` brings it") from None
