"""Where solutions are kept, and whether one that is found there is of the game as it is today."""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from pathlib import Path

from tapete import shipped
from tapete.core.errors import TapeteError
from tapete.core.files import version_of
from tapete.core.game import Game
from tapete.solve.strategy import Strategy


class Stale(TapeteError):
    """A solution is of a game that had this name once: its table of payoffs is another one today."""


def store() -> Path:
    """Where solutions are kept unless somebody says otherwise."""
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "tapete" / "equilibria"


def file_name(game: Game) -> str:
    """What the solution of a game is called in a folder."""
    return f"{game.file_name}.safetensors"


def fingerprint(game: Game) -> str:
    """Changes when what the game is made of does, under the same name: the numbers and words of a table in a file."""
    return hashlib.sha256(repr((game.spec.params, game.spec.labels)).encode()).hexdigest()[:16]


def check_game(about: dict[str, object], game: Game, path: Path) -> None:
    """Raises unless that is the header of a solution of this game, as it is today."""
    if about.get("game") != str(game):
        raise TapeteError(f"{path} is a solution of {about.get('game')}, not of {game}")
    if about.get("fingerprint", fingerprint(game)) != fingerprint(game):  # older ones don't tell
        raise Stale(f"{path} solved {game} when its table was another; `tapete solve '{game}'` solves that of today")


def find(game: Game, folder: Path | None = None) -> Strategy | None:
    """The solution of a game from a folder; without one, from the store or from those that ship with the package."""
    path = (folder or store()) / file_name(game)
    ready = path if path.exists() else None if folder else shipped.find(f"equilibria/{file_name(game)}")
    if ready is None:
        return None
    strategy = _load(ready, version_of(ready))
    check_game(strategy.about, game, ready)
    return strategy


@lru_cache(maxsize=32)
def _load(path: Path, version: tuple[int, int, int]) -> Strategy:
    """A solution, read once as long as its file does not change: the arena asks for it before every game."""
    return Strategy.load(path)
