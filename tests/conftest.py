from __future__ import annotations

import functools
import io
import os
import signal
import sys
from pathlib import Path
from typing import NamedTuple, Protocol

import pytest

# Tests run side by side, one a core. A library that starts a thread for every core at each small product of matrices
# makes them wait for each other: PyTorch and OpenBLAS read this when they are imported, here or in a process of a test.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import typer.main

from tapete.cli import main

# Tests ask for hundreds of commands in one process; to put all of them together takes Typer 40 ms each time.
typer.main.get_command = functools.cache(typer.main.get_command)


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a test, and no other, keeps saved games and solutions."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    return home


@pytest.fixture(autouse=True, scope="session")
def interrupts() -> None:
    """Ctrl-C is heeded, by those whom tests start too: who runs tests in the background may have switched it off."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Done(NamedTuple):
    """What a command did."""

    status: int
    out: str
    err: str


class Tapete(Protocol):
    """Runs `tapete`."""

    def __call__(self, *arguments: str, stdin: str = "") -> Done: ...


@pytest.fixture
def tapete(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Tapete:
    """Runs the command in this process: `tapete("play", "kuhn", stdin="1")`."""

    def run(*arguments: str, stdin: str = "") -> Done:
        monkeypatch.setattr(sys, "argv", ["tapete", *arguments])
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capsys.readouterr()
        return Done(int(stop.value.code or 0), out, err)

    return run
