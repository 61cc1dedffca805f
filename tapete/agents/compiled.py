"""Compiled players (`tapete.core.players`) as policies, so that they can sit down with anybody else."""

from __future__ import annotations

from tapete.core import Rng, Thought, View
from tapete.core.evaluator import Evaluator
from tapete.core.players import opinion


class Compiled:
    """Plays as a compiled player does, one view at a time."""

    def __init__(self, player: Evaluator) -> None:
        self.player = player

    def think(self, view: View, rng: Rng) -> Thought:
        """The player's probabilities; it draws nothing."""
        return Thought(probabilities=opinion(self.player, view))
