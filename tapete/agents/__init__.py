"""Those who play: a policy turns what a seat may know into what it thinks of its moves.

An agent is named like a game: ``random``, ``mcts(100)``. Every module here has a tuple ``AGENTS`` of functions that
take the game and the agent's parameters and return a :class:`Policy`. There is no list to register in.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Callable
from functools import cache, partial
from typing import Any, Protocol, TypeVar

from tapete.core import Call, Game, Rng, TapeteError, Thought, View, choices

__all__ = [
    "NotForThisGame",
    "Policy",
    "Thought",
    "agents",
    "bytes_of",
    "choose",
    "draw",
    "levels",
    "load",
    "opponents",
    "path_of",
]

Function = TypeVar("Function", bound=Callable[..., Any])


class NotForThisGame(TapeteError):
    """An agent can't play a game: there is no solution or network of it, or it is a game of another kind."""


class Policy(Protocol):
    """Decides for a seat of one game. It is handed a View, never a State.

    It may remember what it has searched so far in that game, so another game needs another one: see `load`. One that
    remembers much says how much in a property `bytes`: see `bytes_of`.
    """

    def think(self, view: View, rng: Rng) -> Thought:
        """Says what it makes of the position, where the view's seat is to move; what it draws, it draws from `rng`."""


def bytes_of(policy: Policy) -> int:
    """Memory that a policy's searches take now; 0 for one that doesn't say."""
    return int(getattr(policy, "bytes", 0))


def choose(policy: Policy, view: View, rng: Rng) -> int:
    """Draws a move from what the policy thinks."""
    choices(view)  # whoever wrote the policy: what is wrong is said here
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
        for function in getattr(importlib.import_module(module.name), "AGENTS", ()):
            found[function.__name__.replace("_", "-")] = function
    return found


def levels(*texts: str) -> Callable[[Function], Function]:
    """Says which texts an agent is offered by, the weakest first; without this, by its name."""

    def mark(function: Function) -> Function:
        function.levels = texts  # type: ignore[attr-defined]
        return function

    return mark


def opponents(game: Game) -> list[str]:
    """Those who can play a game, as they are offered to a person.

    One whose file is damaged is among them: whoever chooses it is told.
    """
    found: list[str] = []
    for name, function in sorted(agents().items()):
        texts = getattr(function, "levels", (name,))
        try:
            call = _call(texts[0], game)
            call.function(**call.values)
        except NotForThisGame:
            continue
        except TapeteError:
            pass
        found += texts
    return found


def load(text: str, game: Game) -> Policy:
    """Makes the agent that a text names, ready to play one game.

    A file or the folder of a training run is a name too, with the parameters of a search where it is a network:
    ``runs/othello-zero(400)``.
    """
    return _call(text, game).run()


def path_of(text: str) -> str:
    """The file or folder that a text names; "" where it names an agent of another kind."""
    path = text.partition("(")[0] if isinstance(text, str) else ""
    return path if path.endswith(".safetensors") or os.sep in path or os.path.isdir(path) else ""


def _call(text: str, game: Game) -> Call:
    if path := path_of(text):
        from tapete.agents.files import player

        return Call.read(f"player{text.removeprefix(path)}", "agent", {"player": player(path, game)})
    return Call.read(text, "agent", {name: partial(function, game) for name, function in agents().items()})
