"""Those who play: a policy turns what a seat may know into probabilities of its moves.

An agent is named like a game: ``random``, ``mcts(100)``. Every module here has a tuple ``AGENTS`` of functions that
take the game and the agent's parameters and return a :class:`Policy`. There is no list to register in.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache, partial
from typing import Protocol

from tapete.core import Call, Game, Rng, TapeteError, View

__all__ = ["Policy", "agents", "choose", "load"]


class Policy(Protocol):
    """Decides for a seat. It is handed a View, never a State."""

    def probabilities(self, view: View) -> dict[int, float]:
        """How likely it is to make each legal move; they add up to 1."""


def choose(policy: Policy, view: View, rng: Rng) -> int:
    """Draws a move from what the policy says."""
    probabilities = policy.probabilities(view)
    left = rng.uniform() * sum(probabilities.values())
    for action, probability in probabilities.items():
        left -= probability
        if left < 0:
            return action
    return max(probabilities, key=lambda action: probabilities[action])  # rounding ate the last crumb


@cache
def agents() -> dict[str, Callable[..., Policy]]:
    """Every agent there is, by name."""
    found: dict[str, Callable[..., Policy]] = {}
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        for function in importlib.import_module(module.name).AGENTS:
            found[function.__name__] = function
    return found


def load(text: str, game: Game) -> Policy:
    """The agent that a text names, ready to play that game; the path of a solution is a name too."""
    if isinstance(text, str) and text.endswith(".safetensors"):
        from tapete.agents.equilibrium import Equilibrium
        from tapete.solve import Table

        table = Table.load(text)
        if table.about.get("game") != str(game):
            raise TapeteError(f"{text} plays {table.about.get('game')}, not {game}")
        return Equilibrium(game, table)
    functions = {name: partial(function, game) for name, function in agents().items()}
    return Call.read(text, "agent", functions).run()
