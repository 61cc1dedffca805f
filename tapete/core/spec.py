"""What a game declares about itself, without being compiled."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from tapete.core.errors import TapeteError

Value = int | float | bool | str


@dataclass(frozen=True, kw_only=True)
class Field:
    """A named part of an observation or of an action's features."""

    name: str
    shape: tuple[int, ...] = (1,)
    about: str = ""

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return math.prod(self.shape)


@dataclass(frozen=True, kw_only=True)
class Spec:
    """Everything that an algorithm or a table needs to know about a game before it starts."""

    title: str  # as a person would say it
    players: int
    actions: int  # action ids of players are 0 .. actions - 1
    max_actions: int  # most legal actions at once
    outcomes: int  # most chance outcomes at once; 0: chance never moves
    longest: int  # most transitions in a game, chance included
    utility: tuple[float, float]  # lowest and highest payoff of a seat
    zero_sum: bool  # payoffs always add up to nothing
    hidden: bool  # some seat may know less than another
    observations: tuple[tuple[Field, ...], ...]  # one tuple for all seats, or one a seat
    features: tuple[Field, ...]  # of an action
    teams: tuple[str, ...] = ()  # names of those who win and lose together; `notation.team` says who is in which
    params: tuple[float, ...] = ()  # what `start` is given
    tail: int = 0  # bytes of a state behind its record, in games whose size is a parameter
    labels: tuple[tuple[str, ...], ...] = ()  # names of the actions of each seat, where they are data
    name: str = ""  # as it is written: "dudo(5,2,2)"
    parameters: Mapping[str, Value] = field(default_factory=dict)

    def observation(self, seat: int) -> tuple[Field, ...]:
        """The fields that `observe` writes for that seat, in order."""
        return self.observations[seat if len(self.observations) > 1 else 0]

    @property
    def has_chance(self) -> bool:
        """Whether chance ever moves."""
        return self.outcomes > 0

    @property
    def observation_size(self) -> int:
        """Numbers in the longest observation of a seat."""
        return max(sum(part.size for part in fields) for fields in self.observations)

    @property
    def feature_size(self) -> int:
        """Numbers that describe an action."""
        return sum(part.size for part in self.features)

    def to_json(self) -> dict[str, Any]:
        """Plain data, for `tapete games --json`. Payoff tables and labels of matrix games are left out."""
        data = asdict(self)
        del data["params"], data["tail"], data["labels"]
        return {**data, "observation_size": self.observation_size, "feature_size": self.feature_size}


def within(name: str, value: float, low: float, high: float) -> None:
    """Refuses a parameter outside of low..high."""
    if not low <= value <= high:
        raise TapeteError(f"{name} must be between {low} and {high}, not {value}")
