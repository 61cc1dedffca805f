"""What compiled code is made of, as plain Python: a source that takes its names from here runs as it is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapete.core import rng
from tapete.core.compile import DOUBLES, WORDS

Rng = rng.Rng

__all__ = ["DOUBLES", "WORDS", "Rng", "below", "helper", "kernel", "uint64_ptr"]


def helper(function: Any) -> Any:
    return function


def kernel(signature: Any) -> Callable[[Any], Any]:
    return helper


def uint64_ptr(words: Any) -> Any:
    return words


def below(words: Any, n: int) -> int:
    """The number that compiled code draws."""
    return int(rng._below(words, n))
