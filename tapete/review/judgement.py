"""What a judge says of a decision."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from tapete.core import Rng
from tapete.review.choices import Choice


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What the moves of a seat are worth to it. Moves that nobody could judge are in none of the fields."""

    by: str  # who judged: the text of an agent
    how: str  # "exact", "solved", "trials" or "search"
    best: int  # the action that should have been chosen
    values: dict[int, float]  # the payoff that each action leads to
    in_wins: bool = False  # whether values are not payoffs, but how likely the game is won: 1 surely, -1 never
    doubts: dict[int, float] = field(default_factory=dict)  # half of a 95 % interval for how far it is behind the best
    shares: dict[int, float] = field(default_factory=dict)  # how often a solution would choose it

    def lost(self, action: int) -> float:
        """How much less than the best an action is worth."""
        return max(0.0, self.values[self.best] - self.values[action])

    def doubt(self, action: int) -> float:
        """By how much that may be wrong; exact judges have no doubt, and nothing is behind itself."""
        return self.doubts.get(action, 0.0) if action != self.best else 0.0


class Judge(Protocol):
    """Judges decisions. It is handed what the seat knew, and draws from `rng` alone."""

    def judge(self, choice: Choice, rng: Rng) -> Judgement | None:
        """What the moves are worth; None where this judge can't say."""
