"""Agents that were trained or solved, from their files: what a file is, its header tells."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from tapete.agents import Policy
from tapete.agents.search import Options, Searcher, searching
from tapete.core import Game, TapeteError
from tapete.core.arrays import read_format
from tapete.nets import Network, network, ntuple
from tapete.search import MCTS

NETWORK = "network.safetensors"  # in the folder of a run
Model = Network | ntuple.NTuple


def player(path: str, game: Game) -> Callable[..., Policy]:
    """A function of the parameters that the agent in a file takes; `path` may be the folder of a run."""
    file = Path(path) / NETWORK if os.path.isdir(path) else Path(path)
    if read_format(file) not in (network.FORMAT, ntuple.FORMAT):
        return lambda: _solution(file, game)

    @searching
    def search(options: Options) -> Policy:
        return searcher(game, file, options)

    return search


def searcher(game: Game, file: Path, options: Options) -> Policy:
    """Searches with the network of a file in the tree."""
    model = _model(str(file), _version(file))
    if model.about.get("game") != str(game):
        raise TapeteError(f"{file} plays {model.about.get('game')}, not {game}")
    search = MCTS(game, lambda: model.evaluator(game), keep=options.keep, memory=options.memory)
    return Searcher(search, options)


def _version(file: Path) -> tuple[int, ...]:
    """Changes when the file does: the time of a change (ctime) can't be set, that of a modification can."""
    about = file.stat()
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns


@lru_cache(maxsize=8)  # a run that is watched while it learns gives a new network every few minutes
def _model(path: str, version: tuple[int, ...]) -> Model:
    """A network, read once as long as its file does not change."""
    return ntuple.NTuple.load(path) if read_format(path) == ntuple.FORMAT else Network.load(path)


def _solution(file: Path, game: Game) -> Policy:
    from tapete.agents.equilibrium import Equilibrium
    from tapete.solve import Strategy

    strategy = Strategy.load(file)
    if strategy.about.get("game") != str(game):
        raise TapeteError(f"{file} plays {strategy.about.get('game')}, not {game}")
    return Equilibrium(game, strategy)
