"""Choices are written by their names in the table: `rock`, `2-2-1`."""

from typing import Any

from tapete.core.spec import Spec
from tapete.games.matrix.spec import payoffs_at


def chosen(s: Any) -> int:
    """How many have chosen; the next to choose is the seat of that number."""
    return int((s["choice"] >= 0).sum())


def choice_name(spec: Spec, s: Any, seat: int) -> str:
    """What the seat chose."""
    return spec.labels[seat][s["choice"][seat]]


def write(spec: Spec, s: Any, action: int) -> str:
    """A row, or a column."""
    return spec.labels[chosen(s)][action]


def is_secret(spec: Spec, s: Any, seat: int) -> bool:
    """The row is chosen in secret; the column ends the game, and both are turned up."""
    return chosen(s) == 0


def describe(spec: Spec, s: Any, seat: int) -> str:
    """The seat's own choice, who has chosen, and in the end both choices and payoffs."""
    own = choice_name(spec, s, seat) if s["choice"][seat] >= 0 else "none"
    line = f"seat {seat}, chooses a {('row', 'column')[seat]}: {own}, {chosen(s)} chosen"
    if chosen(s) < 2:
        return line
    first, second = payoffs_at(spec, *s["choice"])
    return f"{line}, other's choice: {choice_name(spec, s, 1 - seat)}, payoffs {first:g} and {second:g}"
