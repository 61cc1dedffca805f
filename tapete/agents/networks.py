"""The networks that ship, each in the search that it was made for."""

from __future__ import annotations

from pathlib import Path

from tapete.agents import NotForThisGame, Policy, levels
from tapete.agents.auction import plain_game
from tapete.agents.files import trained
from tapete.agents.search import Options, searching
from tapete.core import Game, make
from tapete.shipped import find


def shipped(game: Game, learner: str) -> Path:
    """The network that a learner made for a game."""
    path = find(f"networks/{game.file_name}/{learner}.safetensors")
    if path is None:
        raise NotForThisGame(f"no network of {game} ships; `tapete train '{game}' --with {learner}` makes one")
    return path


@levels("mcts-value(100)", "mcts-value(1000)")
@searching
def mcts_value(game: Game, options: Options) -> Policy:
    """UCT with a network's value in place of playouts, as in the Othello paper."""
    return trained(game, shipped(game, "mcts-value"), options)


@levels("zero(100)", "zero(1000)")
@searching
def zero(game: Game, options: Options) -> Policy:
    """PUCT with a network for moves and values that taught itself (AlphaZero)."""
    return trained(game, shipped(game, "zero"), options)


@levels("ntuple(100)", "ntuple(1000)", "ntuple(10000)")
@searching
def ntuple(game: Game, options: Options) -> Policy:
    """PUCT with pattern tables (an n-tuple network) that taught themselves."""
    return trained(game, shipped(game, "ntuple"), options)


@levels("dmc", "dmc(100)", "dmc(1000)")
@searching
def dmc(game: Game, options: Options) -> Policy:
    """Networks that rate every move by how the game will end, taught by Deep Monte Carlo; told so, with a search."""
    plain = plain_game(game)
    return trained(game, shipped(make(plain) if plain else game, "dmc"), options)


AGENTS = (mcts_value, zero, ntuple, dmc)
