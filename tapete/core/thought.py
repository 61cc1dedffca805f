"""What a policy or a search makes of a position."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Thought:
    """For the seat that is to move. All but the probabilities may be unknown."""

    probabilities: dict[int, float]  # how likely each legal move is to be made; they add up to 1
    value: float | None = None  # the payoff that is expected
    values: dict[int, float] = field(default_factory=dict)  # the payoff expected after a move, where it was looked at
    visits: dict[int, int] = field(default_factory=dict)  # how often a search has tried a move
    line: tuple[int, ...] = ()  # the moves that are expected from here, the seat's own first
