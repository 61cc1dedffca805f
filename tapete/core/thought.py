"""What a policy or a search makes of a position."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tapete.core.contract import CHANCE, TERMINAL
from tapete.core.errors import TapeteError
from tapete.core.game import State, View

# A policy for many positions at once, as a network is: observations [N, observation_size] and what is legal
# [N, actions] to probabilities [N, actions].
BatchPolicy = Callable[[NDArray[np.float32], NDArray[np.bool_]], NDArray[Any]]


class Mixture(NamedTuple):
    """Many policies, of which a seat draws one before every game, and plays by it to the end."""

    seats: Sequence[Sequence[BatchPolicy]]  # [seats][N] the policies of each
    weights: NDArray[np.float64]  # [N] how likely each is drawn; they add up to 1


AnyPolicy = BatchPolicy | Mixture


@dataclass(frozen=True, kw_only=True)
class Thought:
    """For the seat that is to move. All but the probabilities may be unknown."""

    probabilities: dict[int, float]  # how likely each legal move is to be made; they add up to 1
    value: float | None = None  # the payoff that is expected
    values: dict[int, float] = field(default_factory=dict)  # the payoff expected after a move, where it was looked at
    visits: dict[int, int] = field(default_factory=dict)  # how often a search has tried a move
    line: tuple[int, ...] = ()  # the moves that are expected from here, the seat's own first


def check_thought(thought: object) -> Thought:
    """What `think` gave; says so where it is something else."""
    if not isinstance(thought, Thought):
        raise TapeteError(f"think gave {thought!r:.60}, not a tapete.Thought(probabilities={{action: share}})")
    return thought


def check_asked(view: object) -> View:
    """Somebody is asked with this: a View of the seat that is to move. Says what is wrong where it is not."""
    if isinstance(view, State):
        raise TapeteError("this is a State, which knows all hands; ask with a View: state.view(state.player)")
    if not isinstance(view, View):
        raise TapeteError(f"ask with a View, as in state.view(state.player), not with {view!r:.60}")
    player = view.player
    if player == view.seat:
        return view
    if player == TERMINAL:
        raise TapeteError("nobody is to move: the game is over")
    if player == CHANCE:
        raise TapeteError("chance is to move: state.deal(rng) lets it")
    raise TapeteError(f"seat {view.seat} is asked, but seat {player} is to move: state.view(state.player)")


def choices(view: object) -> list[int]:
    """The legal moves that somebody is asked about; says what is wrong where there is nobody to ask."""
    return check_asked(view).actions()
