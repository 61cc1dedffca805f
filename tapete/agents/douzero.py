"""DouZero's own networks, from its checkpoints: `douzero(baselines/douzero_WP)`."""

from __future__ import annotations

from functools import lru_cache

from tapete.agents import NotForThisGame, Policy
from tapete.agents.compiled import Compiled
from tapete.agents.files import version
from tapete.core import Game
from tapete.nets.douzero import checkpoints, load_checkpoints
from tapete.nets.moves import MoveNetwork


def douzero(game: Game, folder: str = "") -> Policy:
    """The networks in a folder of DouZero's checkpoints: landlord.ckpt, landlord_down.ckpt, landlord_up.ckpt."""
    if not folder:
        raise NotForThisGame("DouZero's weights don't ship; douzero(FOLDER) reads its checkpoints for doudizhu")
    return Compiled(_network(game, folder, tuple(map(version, checkpoints(folder)))).evaluator(game))


@lru_cache(maxsize=4)
def _network(game: Game, folder: str, versions: tuple[tuple[int, ...], ...]) -> MoveNetwork:
    """Networks, read once as long as their files do not change."""
    return load_checkpoints(game, folder)


AGENTS = (douzero,)
