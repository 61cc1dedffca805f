"""Playing needs nothing that only one kind of system has: modules of POSIX are blocked, and games are played."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

POSIX = ["fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "posix", "syslog", "crypt", "readline", "curses"]

# What others import is theirs: only an import from our own modules is refused. Locks are those of Windows.
BLOCKED = f"""
import builtins, sys, types
ask = builtins.__import__
def import_it(name, globals=None, *rest, **more):
    if name in {POSIX!r} and (globals or {{}}).get("__name__", "").startswith(("tapete", "__main__")):
        raise ModuleNotFoundError(f"No module named {{name!r}}: this is another system", name=name)
    return ask(name, globals, *rest, **more)
builtins.__import__ = import_it
import asyncio, ctypes, multiprocessing, pathlib, socket, subprocess, tempfile
import numba, rich.console, safetensors.numpy, scipy.stats, typer
sys.modules["msvcrt"] = types.SimpleNamespace(LK_NBLCK=2, locking=lambda file, kind, size: None)
here, sys.platform = sys.platform, "win32"
import tapete.core.locks
sys.platform = here
"""

IMPORTS = """
import tapete, tapete.cli, tapete.arena, tapete.agents, tapete.core.locks, tapete.core.crew, tapete.scale
import tapete.terminal.play, tapete.learn.runs, tapete.solve, tapete.search
"""

PLAYS = """
from tapete import arena
from tapete.core import Rng, make
from tapete.core.locks import FileLock
FileLock(pathlib.Path(tempfile.mkdtemp()) / "lock").release()
from tapete.agents import load
game = make("kuhn")
state, rng, players = game.start(), Rng(1), [load("equilibrium", game), load("ismcts(20)", game)]
while not state.over:
    state.deal(rng)
    if not state.over:
        chances = players[state.player].think(state.view(state.player), rng).probabilities
        state.apply(max(chances, key=chances.get))
assert sum(state.returns()) == 0
assert len(arena.match("kuhn", "random", "equilibrium", games=10).games) == 10
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)


def test_blocking_blocks() -> None:
    for name in ("fcntl", "resource", "termios"):
        assert "this is another system" in run(BLOCKED + f"import {name}").stderr


def test_games_are_played_where_there_is_no_posix() -> None:
    done = run(BLOCKED + IMPORTS + PLAYS)
    assert done.returncode == 0, done.stderr


def test_the_server_is_imported_where_there_is_no_posix() -> None:
    pytest.importorskip("uvicorn")
    done = run(BLOCKED + "import tapete.web.serving; tapete.web.serving.server(pathlib.Path(tempfile.mkdtemp()))")
    assert done.returncode == 0, done.stderr


def test_the_wheel_carries_all_that_is_not_python() -> None:
    """What the build takes is the folder as a whole: data beside the code is found from the code."""
    import tapete

    root = Path(tapete.__file__).parent
    kinds = {path.suffix for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert {".toml", ".json", ".safetensors", ".js", ".css", ".html", ".svg", ".md"} <= kinds
    from importlib.resources import files

    assert files("tapete").joinpath("shipped", "manifest.toml").is_file()
    assert files("tapete").joinpath("web", "static", "index.html").is_file()
