"""The networks that ship, each in the search that it was made for."""

from __future__ import annotations

from pathlib import Path

from tapete.agents import Policy, levels
from tapete.agents.files import searcher
from tapete.core import Game, TapeteError
from tapete.shipped import find


def shipped(game: Game, learner: str) -> Path:
    """The network that a learner made for a game."""
    path = find(f"networks/{game.file_name}/{learner}.safetensors")
    if path is None:
        raise TapeteError(f"no network of {game} ships; `tapete train '{game}' --with {learner}` makes one")
    return path


@levels("mcts-value(100)", "mcts-value(1000)")
def mcts_value(
    game: Game, iterations: int = 0, *, seconds: float = 0.0, threads: int = 1, exact: bool = False, keep: bool = True
) -> Policy:
    """UCT with a network's value in place of playouts, as in the Othello paper."""
    return searcher(game, shipped(game, "mcts-value"), iterations, seconds, threads, exact, keep)


@levels("zero(100)", "zero(1000)")
def zero(
    game: Game, iterations: int = 0, *, seconds: float = 0.0, threads: int = 1, exact: bool = False, keep: bool = True
) -> Policy:
    """PUCT with a network for moves and values that taught itself (AlphaZero)."""
    return searcher(game, shipped(game, "zero"), iterations, seconds, threads, exact, keep)


@levels("ntuple(100)", "ntuple(1000)", "ntuple(10000)")
def ntuple(
    game: Game, iterations: int = 0, *, seconds: float = 0.0, threads: int = 1, exact: bool = False, keep: bool = True
) -> Policy:
    """PUCT with pattern tables (an n-tuple network) that taught themselves."""
    return searcher(game, shipped(game, "ntuple"), iterations, seconds, threads, exact, keep)


AGENTS = (mcts_value, zero, ntuple)
