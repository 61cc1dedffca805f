"""Those who play: a policy turns what a seat may know into what it thinks of its moves.

An agent is named like a game: ``random``, ``mcts(100)``. Every module here has a tuple ``AGENTS`` of functions that
take the game and the agent's parameters and return a :class:`Policy`. There is no list to register in.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Protocol

from tapete.core import Call, Game, Rng, TapeteError, View

__all__ = ["Policy", "Thought", "agents", "choose", "draw", "load"]


@dataclass(frozen=True)
class Thought:
    """What a policy makes of a position, for its seat. All but the probabilities may be unknown."""

    probabilities: dict[int, float]  # how likely it is to make each legal move; they add up to 1
    value: float | None = None  # the payoff it expects
    values: dict[int, float] = field(
        default_factory=dict
    )  # the payoff it expects after a move, for moves it has looked at
    visits: dict[int, int] = field(default_factory=dict)  # how often a search has tried a move
    line: tuple[int, ...] = ()  # the moves it expects from here, its own first


class Policy(Protocol):
    """Decides for a seat of one game. It is handed a View, never a State.

    It may remember what it has searched so far in that game, so another game needs another one: see `load`.
    """

    def think(self, view: View, rng: Rng) -> Thought:
        """Its thoughts where it is to move; what it draws, it draws from `rng`."""


def choose(policy: Policy, view: View, rng: Rng) -> int:
    """Draws a move from what the policy thinks."""
    return draw(policy.think(view, rng).probabilities, rng)


def draw(probabilities: dict[int, float], rng: Rng) -> int:
    """One of the moves, each with its probability."""
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
