"""Knobs: what can be set of a learner. Each is a field of its Config, with its usual value, a line of help and a range.

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True)
... class Config:
...     rate: float = knob(1e-3, "the step size of Adam", 0, 1)
...
...     def __post_init__(self):
...         check_knobs(self)
>>> knobs(Config)
[Knob(name='rate', usual=0.001, about='the step size of Adam')]
>>> Config(rate=2.0)
Traceback (most recent call last):
...
tapete.core.errors.TapeteError: rate must be between 0 and 1, not 2.0
"""

from __future__ import annotations

import math
from dataclasses import field, fields
from typing import Any, NamedTuple, TypeVar

from tapete.core.errors import TapeteError
from tapete.core.spec import Value, within

Usual = TypeVar("Usual", bound=Value)


class Knob(NamedTuple):
    """What a person is told of a knob."""

    name: str
    usual: Value
    about: str


def knob(
    usual: Usual, about: str, low: float = -math.inf, high: float = math.inf, *, among: tuple[str, ...] = ()
) -> Usual:
    """A field of a Config: its usual value and what it does. Numbers are within low..high, texts `among` these."""
    made: Any = field(default=usual, metadata={"about": about, "range": (low, high), "among": among})
    return made


def knobs(config: type) -> list[Knob]:
    """Every knob of a Config, in order."""
    parts: Any = fields(config)
    return [Knob(part.name, part.default, part.metadata["about"]) for part in parts]


def check_knobs(config: Any) -> None:
    """Refuses values that a knob can't have; what a Config does when it is made."""
    for part in fields(config):
        value, among = getattr(config, part.name), part.metadata["among"]
        if among and value not in among:
            raise TapeteError(f"{part.name} must be one of {', '.join(among)}, not {value!r}")
        if not isinstance(value, str | bool):
            within(part.name, value, *part.metadata["range"])
